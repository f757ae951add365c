"""Traces as a line of JSON, for an implementation that runs in a process of its own.

What comes from there is nobody's but the implementation's: reading it runs no code, and anything that is no
trace is a `WireError`.
"""

from __future__ import annotations

import json
import struct
from difflib import get_close_matches
from typing import Any

from conformance.execution.trace import (
    DONE,
    UNBOUND,
    Crashed,
    Observation,
    Outcome,
    Refused,
    Trace,
    Unsupported,
)
from conformance.program import Program
from specs.fact import FACTS, GRAD_FACTS, TOPOLOGY, UNSEEN
from specs.rule import RULES

LARGEST = 1 << 24
"""Bytes that the trace of a program may take."""

LENGTH = struct.Struct("<q")
"""The length of a request, which goes before it."""

_GRAD_SHAPE = GRAD_FACTS.index("shape")
_KEY = "\0"
"""The key of what JSON has no word for; no name of a program is like it."""
_OUTCOMES: dict[type, str] = {Refused: "refused", Unsupported: "unsupported", Crashed: "crashed"}


class WireError(ValueError):
    """A line that is no trace."""


def encode(trace: Trace) -> str:
    """Return a trace as a line; raises WireError where it is too large."""
    observations = [(_outcome(o.outcome), o.facts, o.warnings, o.calls) for o in trace.observations]
    try:
        whole = observations, trace.complete, trace.topology, trace.regions, trace.loose
        line = json.dumps(whole, separators=(",", ":"), default=_special)
    except (RecursionError, TypeError, ValueError) as error:
        raise WireError(f"facts that are no plain values: {error}") from None
    return sized(line)


def sized(line: str) -> str:
    """Return a line that is not too large; raises WireError for others."""
    if len(line) > LARGEST:
        raise WireError(f"facts of {len(line):,} bytes are too large (more than {LARGEST:,})")
    return line


def in_whole_characters(line: bytes) -> bytes:
    """The line of JSON with escapes for halves of characters (surrogates), which no report could be written
    with. Raises ValueError for what is no JSON.
    """
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return json.dumps(_escaped(json.loads(line))).encode()


def _escaped(held: Any) -> Any:
    if type(held) is str:
        return held.encode("utf-8", "backslashreplace").decode()
    if type(held) is list:
        return [_escaped(each) for each in held]
    return {_escaped(k): _escaped(v) for k, v in held.items()} if type(held) is dict else held


def decode(line: str | bytes, program: Program, adapter: str, density: str) -> Trace:
    """Return the trace of a line; raises WireError where it is none of that program."""
    try:
        observations, complete, topology, regions, loose = json.loads(line, object_hook=_value)
        seen = tuple(
            Observation(_done(o), _facts(f), _tuples(w), (), _calls(c)) for o, f, w, c in observations
        )
        hung = None if topology is None else {str(name): _topology(each) for name, each in topology.items()}
        held = tuple((int(start), int(stop)) for start, stop in regions)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        raise WireError(f"an answer that is no trace: {type(error).__name__}: {error}") from None
    if len(seen) != len(program):
        raise WireError(f"{len(seen)} observations of a program of {len(program)} steps")
    if any(not 0 <= start < stop <= len(program) for start, stop in held):
        raise WireError("regions outside of a program")
    return Trace(program, adapter, density, seen, complete is True, hung, held, loose is True)


def _special(value: Any) -> Any:
    if value is UNSEEN:
        return {_KEY: None}
    if type(value) is complex:
        return {_KEY: (value.real, value.imag)}
    raise TypeError(f"{type(value).__name__} is none")


def _value(held: dict[str, Any]) -> Any:
    if _KEY not in held:
        return held
    parts = held[_KEY]
    return UNSEEN if parts is None else complex(*parts)


def _outcome(outcome: Outcome) -> Any:
    match outcome:
        case Refused(rule, message):
            return "refused", rule, message
        case Unsupported(why):
            return "unsupported", why
        case Crashed(error):
            return "crashed", error
    return "done" if outcome is DONE else "unbound"


def _done(held: Any) -> Outcome:
    match held:
        case "done":
            return DONE
        case "unbound":
            return UNBOUND
        case ["refused", str(rule), str(message)]:
            return refused_by(rule, message)
        case ["unsupported", str(why)]:
            return Unsupported(why)
        case ["crashed", str(error)]:
            return Crashed(error)
    raise WireError(f"{held!r:.60} is no outcome")


def refused_by(rule: str, message: str) -> Refused:
    """Return a refusal by a rule, or by an empty name; raises WireError where no rule has that name."""
    if rule and rule not in RULES:
        near = get_close_matches(rule, RULES, 1, 0.5)
        raise WireError(f"{rule!r:.60} is no rule{f', did you mean {near[0]!r}?' if near else ''}")
    return Refused(rule, message)


def _facts(held: dict[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The facts of names: of tensors a value for each fact, of what else they are bound to one value."""
    found: dict[str, tuple[Any, ...]] = {}
    for name, facts in held.items():
        if len(facts) == 1:
            found[name] = (facts[0],)
            continue
        if len(facts) != len(FACTS):
            raise WireError(f"{len(facts)} facts of {name}")
        value, *rest = facts
        found[name] = (
            tuple(value) if _is_failure(value) else value,
            *(tuple(each) if type(each) is list else each for each in rest[:-1]),
            _grad(rest[-1]) if type(rest[-1]) is list else rest[-1],
        )
    return found


def _is_failure(value: Any) -> bool:
    """Tell whether a value is that of a reading which failed: a word, and what it failed of."""
    return type(value) is list and len(value) == 2 and type(value[0]) is str


def _grad(held: list[Any]) -> tuple[Any, ...]:
    if len(held) != len(GRAD_FACTS):
        return tuple(held)  # a reading that failed
    held[_GRAD_SHAPE] = _tuples(held[_GRAD_SHAPE])
    return tuple(tuple(each) if _is_failure(each) else each for each in held)


def _calls(held: Any) -> Any:
    return None if held is None else tuple((int(step), tuple(map(_given, given))) for step, given in held)


def _given(held: Any) -> Any:
    """Return what a function was given: nothing, the facts of a gradient, or several of those."""
    if type(held) is not list:
        return held
    if len(held) == len(GRAD_FACTS) and type(held[0]) is not list:
        return _grad(held)
    return tuple(map(_given, held))


def _topology(held: Any) -> tuple[Any, ...]:
    if len(held) != len(TOPOLOGY):
        raise WireError(f"{len(held)} facts of topology")
    return _tuples(held)


def _tuples(held: Any) -> Any:
    return tuple(map(_tuples, held)) if type(held) is list else held
