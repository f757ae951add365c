"""Many programs, each observed more and less densely: how many differ, and why.

Programs are drawn, counted and reported here; one program is examined in ``examine``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from conformance.comparison.compare import Incomparable
from conformance.generate.guide.guide import Drawn
from conformance.grading.arguments import check_arguments
from conformance.grading.campaign import Chunk, Sums, tally_of
from conformance.grading.check import versions_of
from conformance.grading.chunks import Progress, in_chunks
from conformance.grading.participants import REFERENCE, TORCH
from conformance.grading.tally import Tally
from conformance.observer_effect.examine import (
    Dependent,
    compared,
    examine,
    reading_behind,
    rules_behind,
    run_both,
    same_difference,
    shown_by_the_reference,
    traces_on,
    with_reading,
)
from conformance.program import Program
from conformance.program.shrink import shrink_program
from conformance.report import findings
from conformance.report.observed import Observed
from conformance.report.value import Finding, Verdict

OBSERVED = ("observed", "not observed")
"""The sides of a finding on a program that one more reading changes."""


def search(
    *,
    programs: int = 1000,
    seed: int = 0,
    source: str = "prng",
    workers: int | None = None,
    progress: Progress | None = None,
) -> Observed:
    """Run drawn programs on torch at every density, and explain by rules what differs."""
    check_arguments(programs=programs, seed=seed, source=source, workers=workers, progress=progress)
    tick = progress or (lambda what, done, total: None)
    whole = Chunk(TORCH, REFERENCE, source, seed, 0, programs)
    found = in_chunks(whole, workers or os.cpu_count() or 1, tick, observe_chunk)
    lost = [f"{found.ended}: {found.unrun:,} programs were not run"] if found.ended.from_outside else []
    unexplained = tuple(one for one in found.findings if one.blames)
    explained = [one for one in found.findings if not one.blames]
    return Observed(
        seed,
        source,
        versions_of(TORCH),
        found.totals,
        kinds(explained),
        unexplained,
        found.crashes,
        (*found.broken, *lost),
        found.ended,
    )


def kinds(findings: list[Finding]) -> tuple[Finding, ...]:
    """One finding for each set of rules, the shortest, counting the others; the most frequent first."""
    by_rules: dict[tuple[str, ...], Finding] = {}
    for one in findings:
        known = by_rules.get(one.because)
        if known is not None:
            one = replace(min(known, one, key=_length), alike=known.alike + one.alike)
        by_rules[one.because] = one
    return tuple(sorted(by_rules.values(), key=lambda one: -one.alike))


def _length(finding: Finding) -> int:
    return len(finding.script.splitlines())


class ObserverEffects(Sums):
    """The counts of a chunk in progress."""

    def program(self, number: int, drawn: Drawn) -> None:
        """Run one program at each density, and count what comes of it."""
        program, counts = drawn.program, self.counts
        if self.over:
            return
        counts["programs"] += 1
        counts["steps"] += len(program)
        if self.kills(program):
            counts["crashed"] += 1
            return
        traces = traces_on(TORCH, program)
        for density, trace in traces.items():
            if any(seen.crash is not None for seen in trace.observations):
                counts["crashed"] += 1
                self._crash(self.chunk.named(number), drawn._replace(density=density))
                return
        pairs = compared(traces).values()
        counts["compared"] += sum(pair.compared for pair in pairs)
        if any(isinstance(pair, Incomparable) for pair in pairs):
            counts["incomparable"] += 1
            return
        found = examine(program, traces)
        if found is None:
            counts["agree"] += 1
        else:
            counts["diverge" if found.unexplained else "known"] += 1
            self.findings.append(self._told(f"program {number}", drawn, found))

    def _told(self, where: str, drawn: Drawn, found: Dependent) -> Finding:
        """The finding about a program that depends on being observed, reduced."""
        if found.unexplained is not None:
            density, judgement = found.unexplained
            if judgement.first is not None:
                told = self.kinds.alone(where, drawn._replace(density=density), judgement, self.participants)
                return replace(told, blames=Verdict.NONCONFORMANCE)
            return replace(to_finding(where, drawn.program, found, self.kills), blames=Verdict.NONCONFORMANCE)
        small, again = self._smallest(drawn.program, found)
        return to_finding(where, small, again, self.kills)

    def _smallest(self, program: Program, found: Dependent) -> tuple[Program, Dependent]:
        """The program reduced as far as the reference shows the same, and how it depends on torch."""
        if shown_by_the_reference(program, found, program):
            small = shrink_program(
                program, lambda smaller: shown_by_the_reference(program, found, smaller)
            ).program
            again = None if self.kills(small) else examine(small)
            if (
                again is not None
                and not again.unexplained
                and same_difference(program, found.first, small, again.first)
            ):
                return small, again
        return program, found


def to_finding(where: str, program: Program, found: Dependent, kills: Callable[[Program], bool]) -> Finding:
    """Make the finding of a program: by the one reading that makes the difference if there is one, else by
    the densities.
    """
    shown, first, sides, at = program, found.first, found.densities, None
    refused: set[int] = set()
    reading = reading_behind(program, found)
    if reading is not None and not kills(longer := with_reading(program, reading)):
        runs = run_both(TORCH, program, found.densities, reading)
        if runs.first is not None and same_difference(program, first, program, runs.first):
            shown, first, sides, at = longer, runs.first, OBSERVED, reading.after + 1
            refused = {step + (step > reading.after) for step in runs.refused}
    because = rules_behind(program, found, reading)
    return findings.of_divergence(
        where, shown, first, sides, refused, blames=Verdict.CONFORMS, because=because, reading=at
    )


def observe_chunk(chunk: Chunk) -> Tally:
    """Work through a chunk; the same chunk gives the same tally in any process."""
    return tally_of(ObserverEffects(chunk))
