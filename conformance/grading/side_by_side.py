"""The judgement on a few implementations that ran one program, for the traces that `run` prints.

Traces are compared and judged as in a campaign (`participants`); what is printed lives in `cli.run`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from conformance.comparison.compare import Diverge, Incomparable, compare
from conformance.comparison.judge import Decision
from conformance.comparison.tolerance.perturb import perturbed
from conformance.execution.trace import Trace
from conformance.grading.participants import REFERENCE, TORCH, judged
from conformance.report import findings
from conformance.report.value import Finding

Location = tuple[int, str | None, str]
"""A step, a name (None: the step itself) and a fact, as in a Divergence."""


class SideBySide(NamedTuple):
    """The divergences of traces of one program from the baseline, and the judgement on them."""

    baseline: Trace
    divergences: frozenset[Location]
    known: frozenset[Location]
    """Divergences that are on record, or from what torch does there."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]


def side_by_side(traces: Sequence[Trace], where: str) -> SideBySide:
    """Judge traces of one program, taken at one density.

    The baseline is torch's if it took part, else the reference's, else the first.
    """
    by_name = {trace.adapter: trace for trace in reversed(traces)}
    torch, reference = by_name.get(TORCH), by_name.get(REFERENCE)
    baseline = torch or reference or traces[0]
    places: dict[bool, set[Location]] = {True: set(), False: set()}
    found: dict[Finding, None] = {}
    notes: dict[str, None] = {}
    for trace in traces:
        if trace is baseline:
            continue
        comparison = compare(
            baseline, trace, perturbed=partial(perturbed, baseline.program, baseline.density)
        )
        judgement = judged(reference or baseline, trace, torch)
        wrong = judgement.decision in (Decision.NONCONFORMANCE, Decision.SUITE, Decision.CRASH)
        if isinstance(comparison, Diverge):
            places[wrong].update((d.step, d.name, d.fact) for d in comparison.divergences)
        if wrong:
            finding = findings.of_judgement(where, trace.program, judgement, baseline.refused)
            found[finding] = None
        elif judgement.decision is Decision.KNOWN:
            notes |= dict.fromkeys(f"known divergence: torch breaks {rule}" for rule in judgement.because)
        elif isinstance(judgement.comparison, Incomparable):
            left = judgement.comparison
            notes[f"{trace.adapter} cannot be compared from step {left.step + 1} on: {left.why}"] = None
    known = frozenset(places[False] - places[True])
    return SideBySide(baseline, frozenset(places[True]), known, tuple(found), tuple(notes))
