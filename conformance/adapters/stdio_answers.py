"""The answers of a command in JSON, checked: what is none is a `WireError` with the place."""

from __future__ import annotations

import json
from typing import Any

from conformance.adapters.capabilities import Capabilities
from conformance.execution.json_form import from_argument
from conformance.execution.shown import BadFact, facts_of
from conformance.execution.trace import (
    DONE,
    UNBOUND,
    Calls,
    Crashed,
    Observation,
    Outcome,
    Unsupported,
)
from conformance.execution.wire import WireError, in_whole_characters, refused_by
from specs.fact import GRAD_FACTS, TOPOLOGY, UNSEEN

_WRONG = (KeyError, TypeError, ValueError, AttributeError, RecursionError)

Message = dict[str, Any]


def started_of(line: bytes, protocol: int) -> tuple[str, str, Capabilities]:
    """Return the name, version and capabilities that a command says of itself."""
    held = _message(line, "started")
    if held.get("protocol") != protocol:
        raise WireError(f"it speaks protocol {held.get('protocol')!r:.20}, and this is {protocol}")
    claimed = held.get("capabilities", {})
    if not isinstance(claimed, dict) or not all(isinstance(held.get(k), str) for k in ("name", "version")):
        raise WireError("name and version are no text, or capabilities no object")
    try:
        sets = {k: frozenset(v) if k != "facts" else tuple(v) for k, v in claimed.items() if type(v) is list}
        return held["name"], held["version"], Capabilities(**{**claimed, **sets})
    except (TypeError, ValueError, AttributeError) as error:
        raise WireError(f"capabilities that are none: {error}") from None


def answer_of(line: bytes, number: int) -> Message:
    """Return the message that answers the program of a number."""
    held = _message(line, "observations")
    if type(held.get("id")) is not int or held["id"] != number:
        raise WireError(f"an answer to program {held.get('id')!r:.40}, and {number} was asked")
    return held


def _message(line: bytes, kind: str) -> Message:
    """Read a line, which must be a message of that kind."""
    try:
        held = json.loads(in_whole_characters(line))
    except (ValueError, RecursionError):
        raise WireError(f"a line that is no JSON: {line[:60]!r}") from None
    if not isinstance(held, dict):
        raise WireError(f"a line that is no message: {line[:60]!r}")
    if held.get("type") == "broken":
        raise WireError(f"it is broken: {held.get('reason', '')!s:.500}")
    if held.get("type") != kind:
        raise WireError(f"a message that is no {kind!r}: {json.dumps(held):.60}")
    return held


def observations_of(listed: Any, steps: int) -> tuple[Observation, ...]:
    """Return the observations of a program of so many steps."""
    if not isinstance(listed, list) or len(listed) != steps:
        count = len(listed) if isinstance(listed, list) else "no list of"
        raise WireError(f"{count} observations of a program of {steps} steps")
    return tuple([_observation(at, held, steps) for at, held in enumerate(listed)])


def wiring_of(held: Any) -> dict[str, tuple[Any, ...]] | None:
    """Return the topology at the end of a program, None where none is told."""
    if held is None:
        return None
    try:
        return {name: _topology(facts) for name, facts in held.items()}
    except _WRONG as error:
        raise WireError(f"the wiring is none: {type(error).__name__}: {error}") from None


def regions_of(held: Any, steps: int) -> tuple[tuple[int, int], ...]:
    """Return the regions in which a program of so many steps was run."""
    try:
        regions = tuple((int(start), int(stop)) for start, stop in held)
    except _WRONG as error:
        raise WireError(f"the regions are none: {type(error).__name__}: {error}") from None
    ends = [0, *(end for region in regions for end in region), steps]
    if ends != sorted(ends) or any(start == stop for start, stop in regions):
        raise WireError(f"regions {held!r:.60} of a program of {steps} steps")
    return regions


def _observation(at: int, held: Any, steps: int) -> Observation:
    try:
        outcome, shown = _outcome(held["outcome"]), held.get("facts", {})
        facts = {name: _facts(each) for name, each in shown.items()}
        calls = _calls(held.get("calls"), steps)
        return Observation(outcome, facts, _warnings(held.get("warnings")), (), calls)
    except BadFact as error:
        raise WireError(f"observation {at}: {error}") from None
    except _WRONG as error:
        raise WireError(f"observation {at} is none: {type(error).__name__}: {error}") from None


def _outcome(held: dict[str, Any]) -> Outcome:
    match held:
        case {"done": True}:
            return DONE
        case {"unbound": True}:
            return UNBOUND
        case {"refused": str(rule)}:
            return refused_by(rule, str(held.get("message", "")))
        case {"unsupported": str(why)}:
            return Unsupported(why)
        case {"crashed": str(error)}:
            return Crashed(error)
    raise ValueError(f"{held!r:.60} is no outcome")


def _facts(held: dict[str, Any]) -> tuple[Any, ...]:
    if "plain" in held:
        return (from_argument(held["plain"]),)
    return facts_of({name: _fact(name, value) for name, value in held.items()})


def _fact(name: str, value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        for word in ("refused", "crashed"):
            if word in value:
                return (word, str(value[word]))
        if name == "grad":
            return {key: _fact(key, each) for key, each in value.items()}
    return _number(value) if name == "value" else value


def _number(form: Any) -> Any:
    """Return the number, or the nested lists, of a JSON form."""
    if type(form) is list:
        return [_number(each) for each in form]
    return from_argument(form) if type(form) is dict else form


def _warnings(held: Any) -> tuple[str, ...] | None:
    if held is None:
        return None
    if type(held) is not list or not all(type(each) is str for each in held):
        raise TypeError(f"warnings {held!r:.60} are no list of rules")
    return tuple(held)


def _calls(held: Any, steps: int) -> Calls | None:
    """Return the calls of functions that the program, of so many steps, handed over."""
    if held is None:
        return None
    return tuple((_step(each["of"], steps), tuple(map(_given, each["given"]))) for each in held)


def _given(held: Any) -> Any:
    """Return what a function was given: the facts of a tensor, nothing, a name, or several of those."""
    if type(held) is list:
        return tuple(map(_given, held))
    if type(held) is dict:
        return facts_of({name: _fact(name, value) for name, value in held.items()}, GRAD_FACTS, " of a grad")
    if held is None or type(held) is str:
        return held
    raise TypeError(f"{held!r:.40} was given to a function")


def _topology(held: dict[str, Any]) -> tuple[Any, ...]:
    if unknown := held.keys() - set(TOPOLOGY):
        raise ValueError(f"{min(unknown)!r} is no fact of it")
    return tuple(_tuples(held[fact]) if fact in held else UNSEEN for fact in TOPOLOGY)


def _tuples(held: Any) -> Any:
    return tuple(map(_tuples, held)) if type(held) is list else _whole_or_word(held)


def _step(held: Any, steps: int) -> int:
    if type(held) is not int or not 0 <= held < steps:
        raise TypeError(f"{held!r:.40} is no number of a step")
    return held


def _whole_or_word(held: Any) -> Any:
    if held is not None and type(held) not in (int, str, bool):
        raise TypeError(f"{held!r:.40} is no fact of it")
    return held
