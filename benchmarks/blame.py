"""Measure what findings tell of a known fault: ``python -m benchmarks.blame``.

The implementation is the reference without one rule, so that the cause and the line are known. Each rule is
knocked out in turn, and its mutant judged on drawn programs; elsewhere than where the rule fires it is the
reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from statistics import median
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from conformance import adapters
from conformance.comparison.compare import Diverge, compare
from conformance.execution.isolate import survive
from conformance.execution.run import run
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.state.choices import Prng
from conformance.grading.campaign import Chunk, Sums
from conformance.grading.causes import by_cause
from conformance.grading.check import check
from conformance.program import Program
from conformance.program.parsing import parse
from conformance.program.printing import statement
from conformance.report.value import Finding
from specs.rule import RULES

LONGEST = 3600.0
"""Seconds for one process's share of the rules."""


@dataclass(frozen=True)
class Told:
    """The findings about one mutant: the ``rank`` of its rule in the first one's because (0 is first, None
    nowhere), if that stands at the ``right`` line, and how many ``kinds`` there are.
    """

    rule: str
    rank: int | None
    right: bool
    kinds: int
    not_reduced: int
    line: str
    fact: str
    because: tuple[str, ...]


def told_of(rule: str, programs: int, seed: int, most: int) -> Told | None:
    """Judge a rule's mutant on the ``most`` first programs in which the rule fires; None if none differs."""
    spec = f"benchmarks.mutant:{rule}"
    sums = Sums(Chunk(spec, "reference", "prng", seed, 0, programs))
    reached = 0
    for number, drawn in enumerate(drawn_programs(programs, seed)):
        if reached < most and fires(rule, drawn):
            reached += 1
            sums.program(number, drawn)
    tally = sums.tally()
    if tally.crashes or tally.broken:
        raise RuntimeError(f"{rule}: {tally.crashes or tally.broken}")
    kinds = by_cause(tally.findings)
    if not kinds:
        return None
    first = kinds[0]
    rank = first.because.index(rule) if rule in first.because else None
    unreduced = sum(bool(kind.not_reduced) for kind in kinds)
    right = first.line == right_line(rule, parse(first.script))
    return Told(rule, rank, right, len(kinds), unreduced, first.line, first.fact, first.because)


def right_line(rule: str, program: Program) -> str | None:
    """Return the first statement after which a look at everything shows a difference; before it nobody
    looks.
    """
    reference, mutant = adapters.load("reference"), adapters.load(f"benchmarks.mutant:{rule}")
    for end in range(1, len(program) + 1):
        start = Program(program.steps[:end])
        if isinstance(compare(run(start, reference, "end"), run(start, mutant, "end")), Diverge):
            return statement(start[-1])
    return None


@cache
def drawn_programs(programs: int, seed: int) -> tuple[Drawn, ...]:
    """The programs, drawn once a process."""
    reference = adapters.load("reference")
    return tuple(draw(Prng(seed, number), reference) for number in range(programs))


def fires(rule: str, drawn: Drawn) -> bool:
    """Tell whether a rule fires in a program, or is a warning that it gives."""
    assert drawn.trace is not None
    return any(rule in seen.fired or rule in (seen.warnings or ()) for seen in drawn.trace.observations)


def _share(job: tuple[tuple[str, ...], int, int, int]) -> list[Told]:
    rules, programs, seed, most = job
    return [told for rule in rules if (told := told_of(rule, programs, seed, most)) is not None]


def blame(programs: int, seed: int, most: int, every: int, workers: int, console: Console) -> list[Told]:
    """Measure every so many of the rules that programs can show."""
    release = adapters.load("reference").torch
    rules = [rule.id for rule in RULES.values() if rule.in_programs and rule.holds_for(release)][::every]
    jobs = [(tuple(rules[at :: workers * 4]), programs, seed, most) for at in range(workers * 4)]
    shares = survive(_share, jobs, workers=workers, chunk=1, timeout=LONGEST)
    told = [one for share in track(shares, "mutants", total=len(jobs), console=console) for one in share]
    return sorted(told, key=lambda one: one.rule)


def figures(told: Iterable[Told]) -> dict[str, float]:
    """Return shares of the mutants, and kinds a mutant."""
    told = list(told)
    count = max(len(told), 1)
    return {
        "mutants noticed": len(told),
        "rule in because": sum(one.rank is not None for one in told) / count,
        "rule first in because": sum(one.rank == 0 for one in told) / count,
        "at the right line": sum(one.right for one in told) / count,
        "kinds, median": median(one.kinds for one in told) if told else 0,
        "kinds, most": max((one.kinds for one in told), default=0),
    }


def lines_of(finding: Finding) -> int:
    """Return the statements in a finding's script: lines but for the import, comments and blank ones."""
    lines = (line.strip() for line in finding.script.splitlines())
    return sum(bool(line) and not line.startswith(("#", "import ")) for line in lines)


def micrograd(programs: int, workers: int) -> dict[str, float]:
    """Return how many kinds micrograd comes to, and the lines of the longest script."""
    report = check(
        "micrograd", against="reference", programs=programs, source="prng", workers=workers, cases=False
    )
    return {
        "micrograd: programs that differ": report.totals.diverge,
        "micrograd: kinds": len(report.findings),
        "micrograd: lines, most": max(map(lines_of, report.findings), default=0),
    }


def main(
    programs: Annotated[int, typer.Option(min=1, help="Draw so many programs.")] = 2000,
    most: Annotated[int, typer.Option(min=1, help="Judge a mutant on so many of them.")] = 50,
    every: Annotated[int, typer.Option(min=1, help="Take one rule in so many.")] = 1,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    workers: Annotated[int, typer.Option(min=1)] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print every mutant as JSON.")] = False,
) -> None:
    """Report how often findings name the rule, stand at the right line, and how many there are."""
    out = Console(stderr=True)
    told = blame(programs, seed, most, every, workers, out)
    found = figures(told) | micrograd(1000, workers)
    if as_json:
        print(json.dumps(found | {"mutants": [asdict(one) for one in told]}, indent=2))
        return
    for label, figure in found.items():
        print(f"{label:34} {figure:8.2f}".rstrip("0").rstrip("."))


if __name__ == "__main__":
    typer.run(main)
