"""Refusals as far as an implementation claims them: by rule, any exception, or none at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.execution.region import belongs
from conformance.execution.trace import DONE, Crashed, Observation, Refused, Trace, Unbound, Unsupported
from specs.fact import UNSEEN

_SHOWN = ("refused", "crashed")
"""The first words of facts whose reading failed."""


def as_claimed(actual: Trace, expected: Trace, refusals: str) -> Trace:
    """Return a trace whose refusals are judged by the ``refusals`` of its adapter's capabilities: with
    "some", any exception counts as the refusal that is expected there; with "none", nothing is compared from
    there on, nor with "outside" where a region was run. What was run in regions is held against the steps
    first.
    """
    actual = by_steps(actual, expected) if actual.regions else actual
    if refusals == "rules":
        return actual
    pairs = zip(actual.observations, expected.observations, strict=True)
    if refusals == "outside":
        steps = zip(actual.program, pairs, strict=True)
        seen = tuple(_none(*pair) if belongs(step) else pair[0] for step, pair in steps)
    else:
        lenient = _some if refusals == "some" else _none
        seen = tuple(lenient(got, wanted) for got, wanted in pairs)
    return replace(actual, observations=seen)


def by_steps(actual: Trace, expected: Trace) -> Trace:
    """Return a trace that was run in regions as one of single steps, of which all but the last show nothing.

    The error of a region is that of the step which is expected to be refused; where none is, it is that of
    the last step. Nothing is compared after it, unless the region is that step alone.
    """
    seen = list(actual.observations)
    for start, stop in actual.regions:
        came_to = seen[stop - 1].outcome
        steps = range(start, stop)
        refused = next((at for at in steps if type(expected[at].outcome) in (Refused, Unbound)), stop - 1)
        for at in steps[:-1]:
            seen[at] = Observation(DONE, _hidden(expected[at]), None, (), None)
        if came_to is not DONE:
            if type(expected[refused].outcome) is Unbound:  # there Python has an error, and a region that one
                came_to = expected[refused].outcome
            if len(steps) == 1:
                seen[refused] = seen[refused]._replace(outcome=came_to)
                continue
            seen[refused] = Observation(came_to, _hidden(expected[refused]), None, (), None)
            ended = Observation(Unsupported("a region ends at its error"), {}, None)
            seen[refused + 1 :] = [ended] * (len(seen) - refused - 1)
            break
    return replace(actual, observations=tuple(seen), regions=())


def _hidden(wanted: Observation) -> dict[str, tuple[Any, ...]]:
    return {name: (UNSEEN,) * len(facts) for name, facts in wanted.facts.items()}


def _some(got: Observation, wanted: Observation) -> Observation:
    if type(got.outcome) is Refused:
        refused = type(wanted.outcome) is Refused
        got = got._replace(outcome=wanted.outcome if refused else Crashed(got.outcome.message))
    return got._replace(facts=_facts(got, wanted, lambda x, y: y if _failed(x) else x))


def _none(got: Observation, wanted: Observation) -> Observation:
    if type(wanted.outcome) is Refused:
        return got._replace(outcome=Unsupported("refusals are not claimed"))
    return got._replace(facts=_facts(got, wanted, lambda x, y: UNSEEN))


def _facts(got: Observation, wanted: Observation, instead: Any) -> dict[str, tuple[Any, ...]]:
    """The facts, with others in place of those whose reading is expected to be refused."""
    return {
        name: tuple(
            instead(x, y) if _failed(y) else x
            for x, y in zip(facts, wanted.facts.get(name, facts), strict=False)
        )
        if any(map(_failed, wanted.facts.get(name, ())))
        else facts
        for name, facts in got.facts.items()
    }


def _failed(fact: Any) -> bool:
    return type(fact) is tuple and len(fact) == 2 and fact[0] in _SHOWN
