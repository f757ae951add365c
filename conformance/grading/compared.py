"""The facts compared with the subject for each rule: of the kinds that the rule decides, where it fired.

The kinds are those of `specs/decides.toml`. That facts were compared holds no rule; see ``confirm``.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

from conformance.execution.trace import Observation, Trace
from specs.fact import FACTS, TOPOLOGY, UNSEEN
from specs.rule import RULES

_PLAIN = frozenset(FACTS) - {"grad"}


@cache
def _weights(rule: str) -> tuple[int, bool, bool, bool, bool]:
    """Return the number of facts of a tensor that the rule decides beside its grad, and whether it decides
    grads, outcomes, warnings and calls.
    """
    kinds = set(RULES[rule].decides)
    return len(kinds & _PLAIN), "grad" in kinds, "outcome" in kinds, "warnings" in kinds, "calls" in kinds


@cache
def _of_topology(rule: str) -> tuple[int, ...]:
    """The places of the facts of the topology that the rule decides."""
    return tuple(at for at, fact in enumerate(TOPOLOGY) if fact in RULES[rule].decides)


def count(reference: Trace, other: Trace, last: int, compared: Counter[str]) -> None:
    """Add up the facts that two traces both show up to the ``last`` step, for the rules that fired there."""
    complete = reference.complete and other.complete
    fired: set[str] = set()
    for expected, actual in zip(reference.observations[: last + 1], other.observations, strict=False):
        if expected.fired:
            fired.update(expected.fired)
            if complete:
                _complete(expected, compared)
            else:
                _partial(expected, actual, compared)
    if last >= len(reference) - 1 and reference.topology and other.topology:
        both = [(facts, other.topology.get(name)) for name, facts in reference.topology.items()]
        for rule in fired:
            for at in _of_topology(rule):
                compared[rule] += sum(
                    shown is not None and facts[at] is not UNSEEN and shown[at] is not UNSEEN
                    for facts, shown in both
                )


def _complete(expected: Observation, compared: Counter[str]) -> None:
    """Count a step all of whose facts were compared."""
    _, facts, warnings, fired, calls = expected
    grads = [seen[-1] for seen in facts.values() if len(seen) > 1]
    tensors, hidden = len(grads), grads.count(UNSEEN)
    for rule in fired:
        plain, grad, outcome, warned, called = _weights(rule)
        compared[rule] += plain * tensors + grad * (tensors - hidden) + outcome
        if warnings and warned:
            compared[rule] += 1
        if calls and called:
            compared[rule] += len(calls)


def _partial(expected: Observation, actual: Observation, compared: Counter[str]) -> None:
    """Count a step of which each side may show less."""
    seen: Counter[str] = Counter(outcome=1)
    for name, wanted in expected.facts.items():
        got = actual.facts.get(name, ())
        if len(wanted) == len(got) > 1:
            for fact, x, y in zip(FACTS, wanted, got, strict=True):
                seen[fact] += x is not UNSEEN and y is not UNSEEN
    seen["warnings"] = bool(expected.warnings and actual.warnings is not None)
    seen["calls"] = len(expected.calls) if expected.calls and actual.calls is not None else 0
    for rule in expected.fired:
        compared[rule] += sum(seen[kind] for kind in RULES[rule].decides)
