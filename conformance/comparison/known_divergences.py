"""Rules that torch is on record as breaking, and whether one explains a difference.

The records are the ``departs`` of ``specs/rules``. Likeness excuses nothing: torch must do, from first to
last step, what the reference does without the rule. Crashes on record stand in `known_crashes`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from conformance.comparison.compare import Agree, Comparison, Diverge, Incomparable, compare
from conformance.comparison.tolerance.bounds import Perturbed
from conformance.execution.trace import Trace
from specs.active_rules import knocked_out
from specs.rule import RULES


@dataclass(frozen=True, slots=True)
class KnownDivergence:
    """Rules that torch broke, and the reference's trace without them, which equals torch's as far as they can
    be compared; ``perturbed`` gives its traces under perturbation.
    """

    rules: tuple[str, ...]
    trace: Trace
    perturbed: Perturbed | None


def known_divergence(
    reference: Trace,
    torch: Trace,
    version: str,
    again: Callable[[], Trace],
    perturbed: Perturbed | None = None,
) -> KnownDivergence | None:
    """Return the rules on record that this version of torch broke, if they explain all of the difference.

    ``again`` runs the program on the reference once more, under whatever rules are in force then, and
    ``perturbed`` under perturbation.
    """
    rules = _departed(reference, version)
    found = compare(reference, torch, perturbed=perturbed) if rules else None
    left = [*dict.fromkeys([*((rule,) for rule in rules), tuple(rules)])] if rules else []
    while left:
        chosen = left.pop(0)
        with knocked_out(*chosen):
            trace = again()
        without = perturbed and partial(_without, chosen, perturbed)
        if _explains(compare(trace, torch, perturbed=without), found, torch):
            return KnownDivergence(chosen, trace, without)
        more = [rule for rule in _departed(trace, version) if rule not in rules]
        if more and not left:  # what the rules kept from running may break others
            rules = [*rules, *more]
            left.append(tuple(rules))
    return None


def _departed(trace: Trace, version: str) -> list[str]:
    """The rules on record that this version of torch breaks, of those that fired."""
    fired = {rule for seen in trace.observations for rule in seen.fired}
    return [rule for rule in sorted(fired) if RULES[rule].departed_by(version)]


def _without(rules: tuple[str, ...], perturbed: Perturbed) -> Sequence[Trace]:
    with knocked_out(*rules):
        return perturbed()


def _explains(without: Comparison, found: Comparison | None, torch: Trace) -> bool:
    """Tell whether nothing of the difference remains without the rules: no other difference, and no end of
    what can be compared (also torch's) before the difference is reached.
    """
    if isinstance(without, Agree) or not isinstance(found, Diverge):
        return isinstance(without, Agree)
    if isinstance(without, Incomparable):
        return found.first.step <= without.step
    ended = torch.observations[without.first.step].crash is not None
    return ended and found.first.step < without.first.step
