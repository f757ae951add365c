"""Three-way judgement: who is at fault when implementation, reference and torch do not all agree.

What was observed is not judged here but in `compare`; how a judgement is told belongs to the report.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from conformance.comparison.compare import Agree, Comparison, Diverge, Divergence, Incomparable, compare
from conformance.comparison.tolerance.bounds import Perturbed
from conformance.execution.trace import Trace


class Decision(StrEnum):
    """The outcome of a judgement; each blames somebody else."""

    AGREE = "agree"
    NONCONFORMANCE = "nonconformance"
    SUITE = "suite"
    CRASH = "crash"
    INCOMPARABLE = "incomparable"
    VACUOUS = "vacuous"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The decision about one program, with the comparison that decided it.

    `decided_by` says which two were compared, expected first. `because` are the rules behind the expected
    value of the first divergence, from the reference's run; of a KNOWN one, those that torch breaks.
    """

    decision: Decision
    comparison: Comparison
    decided_by: tuple[str, str]
    because: tuple[str, ...] = ()

    @property
    def first(self) -> Divergence | None:
        return self.comparison.first if isinstance(self.comparison, Diverge) else None


def judge(
    reference: Trace, actual: Trace, torch: Trace | None = None, perturbed: Perturbed | None = None
) -> Judgement:
    """Judge `actual` by what the reference and torch say; without torch the reference alone decides.

    `perturbed` runs the reference again with its roundings off, as `compare` takes it.

    Where reference and torch differ the suite is at fault (or torch), and nobody else is blamed. A step at
    which torch or the reference crashed ends the matter as a crash.
    """
    if torch is not None:
        tie = compare(reference, torch, perturbed=perturbed)
        pair = (reference.adapter, torch.adapter)
        dead = _crash(tie, reference, torch)
        if dead is not None and (actual is torch or not _earlier(tie, dead)):
            return Judgement(Decision.CRASH, tie, pair, _because(reference, tie))
        if isinstance(tie, Diverge):
            return Judgement(Decision.SUITE, tie, pair, _because(reference, tie))
        if isinstance(tie, Incomparable):
            return Judgement(Decision.INCOMPARABLE, tie, pair)
        if actual is torch:
            return _verdict(tie, pair, reference)
        return _verdict(
            _explained(compare(torch, actual, perturbed=perturbed), reference),
            (torch.adapter, actual.adapter),
            reference,
        )
    return _verdict(
        compare(reference, actual, perturbed=perturbed), (reference.adapter, actual.adapter), reference
    )


def _verdict(found: Comparison, pair: tuple[str, str], reference: Trace) -> Judgement:
    if isinstance(found, Diverge):
        return Judgement(Decision.NONCONFORMANCE, found, pair, _because(reference, found))
    if isinstance(found, Incomparable):
        return Judgement(Decision.INCOMPARABLE, found, pair)
    return Judgement(Decision.VACUOUS if found.vacuous else Decision.AGREE, found, pair)


def _crash(tie: Comparison, *traces: Trace) -> int | None:
    """The first step at which any of the traces crashed; a crash equals nothing, so there is none without a
    difference.
    """
    if not isinstance(tie, Diverge):
        return None
    steps = [i for t in traces for i, seen in enumerate(t.observations) if seen.crash is not None]
    return min(steps, default=None)


def _earlier(found: Comparison, step: int) -> bool:
    """Tell whether a difference was found before that step."""
    return isinstance(found, Diverge) and found.first.step < step


def _because(reference: Trace, found: Comparison) -> tuple[str, ...]:
    if not isinstance(found, Diverge):
        return ()
    return tuple(sorted(reference.observations[found.first.step].fired))


def _explained(found: Comparison, reference: Trace) -> Comparison:
    """Divergences from torch, explained by the rules that fired in the reference at the same step."""
    if not isinstance(found, Diverge):
        return found
    fired = [tuple(sorted(seen.fired)) for seen in reference.observations]
    return replace(found, divergences=tuple(replace(d, because=fired[d.step]) for d in found.divergences))


__all__ = ["Agree", "Decision", "Judgement", "judge"]
