"""Programs and traces as versioned JSON values; the schemas beside the specs say what is in them.

The text form of a program is what people read (`printing`); this one is for other languages and files. What
JSON has no word for is spelled as an object with one key: {"ref": "x"}, {"dtype": "float64"}, {"float":
"nan"}, {"function": "lambda g: None"}, {"complex": [re, im]}, {"tuple": [...]}, {"slice": [a, b, c]},
{"ellipsis": true}.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import specs
from conformance.execution.trace import (
    Crashed,
    Done,
    Observation,
    Outcome,
    Refused,
    Trace,
    Unbound,
    Unsupported,
)
from conformance.program import Device, Dtype, Function, Program, Ref, Step
from specs.fact import FACTS, GRAD_FACTS, TOPOLOGY, UNSEEN

FORMAT = 1
SCHEMAS = Path(specs.__file__).parent / "schema"


def schema(name: str) -> dict[str, Any]:
    """Return a JSON schema: `program`, `trace`, `report`, `observed`, or `recorded` (of one line)."""
    return json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))


# arguments


def argument(value: Any) -> Any:
    """An argument of a step as a JSON value."""
    kind = type(value)
    if kind is Ref:
        return {"ref": value.name}
    if kind is Dtype:
        return {"dtype": value.name}
    if kind is Device:
        return {"device": value.name}
    if kind is Function:
        return {"function": value.text}
    if kind is float and not math.isfinite(value):
        return {"float": str(value)}
    if kind is complex:
        return {"complex": [argument(value.real), argument(value.imag)]}
    if kind is tuple:
        return {"tuple": list(map(argument, value))}
    if kind is list:
        return list(map(argument, value))
    if kind is slice:
        return {"slice": [argument(value.start), argument(value.stop), argument(value.step)]}
    if value is Ellipsis:
        return {"ellipsis": True}
    if value is None or kind in (bool, int, float, str):
        return value
    raise ValueError(f"a program cannot hold {value!r}")


def from_argument(form: Any) -> Any:
    """The argument that a JSON value spells."""
    if isinstance(form, list):
        return list(map(from_argument, form))
    if not isinstance(form, dict):
        return form
    ((kind, held),) = form.items()
    match kind:
        case "ref":
            return Ref(held)
        case "dtype":
            return Dtype(held)
        case "device":
            return Device(held)
        case "function":
            return Function(held)
        case "float":
            return float(held)
        case "complex":
            return complex(*map(from_argument, held))
        case "tuple":
            return tuple(map(from_argument, held))
        case "slice":
            return slice(*map(from_argument, held))
        case "ellipsis":
            return Ellipsis
    raise ValueError(f"no argument is spelled {form!r}")


# programs


def step_form(step: Step) -> dict[str, Any]:
    """One step; what is empty is left out."""
    form: dict[str, Any] = {"op": step.op}
    if step.args:
        form["args"] = list(map(argument, step.args))
    if step.kwargs:
        form["kwargs"] = {key: argument(value) for key, value in step.kwargs}
    if step.out:
        form["out"] = list(step.out)
    if step.mode:
        form["mode"] = list(step.mode)
    return form


def from_step_form(form: dict[str, Any]) -> Step:
    """The step of its JSON form."""
    return Step(
        form["op"],
        tuple(map(from_argument, form.get("args", ()))),
        tuple((key, from_argument(value)) for key, value in form.get("kwargs", {}).items()),
        tuple(form.get("out", ())),
        tuple(form.get("mode", ())),
    )


def to_json(program: Program) -> dict[str, Any]:
    """A program as a JSON value."""
    return {"format": FORMAT, "steps": list(map(step_form, program.steps))}


def from_json(form: dict[str, Any]) -> Program:
    """The program of its JSON form; a format of another version is refused."""
    if form.get("format") != FORMAT:
        raise ValueError(f"program format {form.get('format')!r} is not {FORMAT}")
    return Program(tuple(map(from_step_form, form["steps"])))


# traces


def fact_form(value: Any) -> Any:
    """A fact's value as JSON; what was refused or crashed while reading says so."""
    if isinstance(value, list):
        return list(map(fact_form, value))
    if isinstance(value, tuple):
        if len(value) == 2 and value[0] in ("refused", "crashed"):
            return {value[0]: value[1]}
        if len(value) == len(GRAD_FACTS) and isinstance(value[0], str):
            return {
                name: fact_form(held)
                for name, held in zip(GRAD_FACTS, value, strict=True)
                if held is not UNSEEN
            }
        return list(map(fact_form, value))
    return argument(value)


def outcome_form(outcome: Outcome) -> dict[str, Any]:
    """An outcome as an object with one key."""
    match outcome:
        case Done():
            return {"done": True}
        case Refused(rule, message):
            return {"refused": rule, "message": message}
        case Unsupported(why):
            return {"unsupported": why}
        case Crashed(error):
            return {"crashed": error}
        case Unbound():
            return {"unbound": True}


def observation_form(seen: Observation) -> dict[str, Any]:
    """One observation; unseen facts are left out."""
    form: dict[str, Any] = {"outcome": outcome_form(seen.outcome), "facts": {}}
    for name, facts in seen.facts.items():
        if len(facts) == 1:
            form["facts"][name] = {"plain": fact_form(facts[0])}
        else:
            shown = zip(FACTS, facts, strict=True)
            form["facts"][name] = {fact: fact_form(value) for fact, value in shown if value is not UNSEEN}
    if seen.warnings is not None:
        form["warnings"] = list(seen.warnings)
    if seen.fired:
        form["fired"] = sorted(seen.fired)
    if seen.calls is None:
        form["calls"] = None
    elif seen.calls:
        form["calls"] = [{"of": of, "given": list(map(fact_form, given))} for of, given in seen.calls]
    return form


def trace_to_json(trace: Trace) -> dict[str, Any]:
    """A trace as a JSON value, its program included."""
    form = {
        "format": FORMAT,
        "adapter": trace.adapter,
        "density": trace.density,
        "program": to_json(trace.program),
        "observations": list(map(observation_form, trace.observations)),
    }
    if trace.topology is not None:
        form["wiring"] = _wiring_form(trace.topology)
    return form


def message_of(trace: Trace) -> str:
    """Return what a trace tells beside its program as JSON text, as a message of the stdio protocol holds it.

    NB: numbers stand as they are, and only where JSON lacks one of them each is looked at.
    """
    form: dict[str, Any] = {"observations": list(map(_told_at_once, trace.observations))}
    if trace.topology is not None:
        form["wiring"] = _wiring_form(trace.topology)
    if trace.regions:
        form["regions"] = list(map(list, trace.regions))
    try:
        return json.dumps(form, separators=(",", ":"), allow_nan=False, default=_complex_form)
    except ValueError:
        form["observations"] = [_without_defaults(o) | observation_form(o) for o in trace.observations]
        return json.dumps(form, separators=(",", ":"), allow_nan=False)


def _told_at_once(seen: Observation) -> dict[str, Any]:
    """Return the form of an observation whose numbers JSON has."""
    form = _without_defaults(seen) | observation_form(seen._replace(facts={}))
    facts = form["facts"]
    for name, shown in seen.facts.items():
        if len(shown) == 1:
            facts[name] = {"plain": fact_form(shown[0])}
            continue
        facts[name] = told = {}
        for fact, value in zip(FACTS, shown, strict=True):
            if type(value) is tuple:
                told[fact] = fact_form(value)
            elif value is not UNSEEN:
                told[fact] = value
    return form


def _without_defaults(seen: Observation) -> dict[str, Any]:
    """Return what a trace leaves out where there is nothing: there it may be unseen as well."""
    return {"calls": []} if seen.calls == () else {}


def _complex_form(value: Any) -> Any:
    if type(value) is not complex:
        raise TypeError(f"{type(value).__name__} is no plain value")
    return argument(value)


def _wiring_form(topology: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    by_name = {name: zip(TOPOLOGY, facts, strict=True) for name, facts in topology.items()}
    return {
        name: {fact: _lists(value) for fact, value in facts if value is not UNSEEN}
        for name, facts in by_name.items()
    }


def _lists(value: Any) -> Any:
    return list(map(_lists, value)) if isinstance(value, tuple) else value


def _tuples(form: Any) -> Any:
    return tuple(map(_tuples, form)) if isinstance(form, list) else form


def _from_fact(name: str, form: Any) -> Any:
    if isinstance(form, dict):
        for word in ("refused", "crashed"):
            if word in form:
                return (word, form[word])
        if name == "grad":
            return tuple(_from_fact(fact, form[fact]) if fact in form else UNSEEN for fact in GRAD_FACTS)
    if name == "shape":
        return tuple(form)
    return from_argument(form)


def _from_outcome(form: dict[str, Any]) -> Outcome:
    if "refused" in form:
        return Refused(form["refused"], form.get("message", ""))
    if "unsupported" in form:
        return Unsupported(form["unsupported"])
    if "crashed" in form:
        return Crashed(form["crashed"])
    return Done() if form.get("done", not form.get("unbound")) else Unbound()


def _from_observation(form: dict[str, Any]) -> Observation:
    facts: dict[str, tuple[Any, ...]] = {}
    for name, shown in form["facts"].items():
        if "plain" in shown:
            facts[name] = (from_argument(shown["plain"]),)
        else:
            facts[name] = tuple(_from_fact(fact, shown[fact]) if fact in shown else UNSEEN for fact in FACTS)
    warned, calls = form.get("warnings"), form.get("calls", ())
    return Observation(
        _from_outcome(form["outcome"]),
        facts,
        None if warned is None else tuple(warned),
        tuple(form.get("fired", ())),
        None if calls is None else tuple(map(_from_call, calls)),
    )


def _from_call(form: dict[str, Any]) -> tuple[int, tuple[Any, ...]]:
    return form["of"], tuple(map(_from_given, form["given"]))


def _from_given(form: Any) -> Any:
    """Read what a function was given: a tensor's facts, None, or a tuple of those."""
    if isinstance(form, list):
        return tuple(map(_from_given, form))
    return form if form is None else _from_fact("grad", form)


def trace_from_json(form: dict[str, Any]) -> Trace:
    """The trace of its JSON form; a format of another version is refused."""
    if form.get("format") != FORMAT:
        raise ValueError(f"trace format {form.get('format')!r} is not {FORMAT}")
    observations = tuple(map(_from_observation, form["observations"]))
    complete = not any(UNSEEN in facts for seen in observations for facts in seen.facts.values())
    wiring = form.get("wiring")
    if wiring is not None:
        wiring = {
            name: tuple(_tuples(shown[fact]) if fact in shown else UNSEEN for fact in TOPOLOGY)
            for name, shown in wiring.items()
        }
    program = from_json(form["program"])
    return Trace(program, form["adapter"], form["density"], observations, complete, wiring)
