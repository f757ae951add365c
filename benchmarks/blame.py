"""Measure what findings tell of a known fault: ``python -m benchmarks.blame``.

The implementation is the reference without one rule, so that the cause and the line are known. Each rule is
knocked out in turn, and its mutant judged on drawn programs; elsewhere than where the rule fires it is the
reference. With ``--keep FILE`` each mutant is kept once it is judged, and the same command goes on where
it was stopped.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from benchmarks.mutant import mutants_here
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

LONGEST = 600.0
"""Seconds for one mutant."""


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


@mutants_here()
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


@dataclass(frozen=True)
class Judged:
    """A rule whose mutant was judged: what was ``told`` of it, None if no program noticed it; or why it
    ``failed``.
    """

    rule: str
    told: Told | None = None
    failed: str = ""


class Kept:
    """The mutants that were judged, a line of JSON each in a file, so that a later call goes on; without a
    file they are kept in memory.
    """

    def __init__(self, settings: dict[str, int], path: Path | None) -> None:
        self._path, self.judged = path, dict[str, Judged]()
        if path is None:
            return
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
        if lines and not lines[-1].endswith("\n"):  # cut off while it was written
            lines.pop()
            path.write_text("".join(lines), encoding="utf-8")
        if not lines:
            path.write_text(json.dumps(settings) + "\n", encoding="utf-8")
        elif json.loads(lines[0]) != settings:
            raise typer.BadParameter(
                f"{path} holds mutants judged with {lines[0].strip()}: take another file"
            )
        for line in lines[1:]:
            values = json.loads(line)
            told = values["told"]
            values["told"] = told and Told(**told | {"because": tuple(told["because"])})
            self.judged[values["rule"]] = Judged(**values)

    def add(self, judged: Judged) -> None:
        """Keep one more."""
        self.judged[judged.rule] = judged
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(judged)) + "\n")


def in_turn(seed: int) -> list[str]:
    """Return the rules that programs can show, a chapter after the other in turn, in a random order of each:
    so the first of them are a sample of all chapters.
    """
    release = adapters.load("reference").torch
    chapters = defaultdict[str, list[str]](list)
    for rule in RULES.values():
        if rule.in_programs and rule.holds_for(release):
            chapters[rule.chapter].append(rule.id)
    placed = []
    for rules in chapters.values():
        random.Random(seed).shuffle(rules)
        placed += [((at + 0.5) / len(rules), rule) for at, rule in enumerate(rules)]
    return [rule for _, rule in sorted(placed)]


def _judge(job: tuple[str, int, int, int]) -> Judged:
    rule, programs, seed, most = job
    try:
        return Judged(rule, told_of(rule, programs, seed, most))
    except Exception as error:  # the other mutants are judged all the same
        return Judged(rule, failed=f"{type(error).__name__}: {error}")


def blame(
    programs: int,
    seed: int,
    most: int,
    rules: Iterable[str],
    kept: Kept,
    workers: int,
    seconds: float,
    console: Console,
) -> None:
    """Judge the mutants of the rules that are not among those kept, for so many seconds."""
    until = time.monotonic() + seconds
    left = [rule for rule in rules if rule not in kept.judged]
    jobs = [(rule, programs, seed, most) for rule in left]
    found = survive(_judge, jobs, workers=workers, chunk=1, timeout=LONGEST)
    with closing(found):  # type: ignore[type-var]
        for rule, judged in zip(left, track(found, "mutants", total=len(jobs), console=console), strict=True):
            kept.add(judged if isinstance(judged, Judged) else Judged(rule, failed=judged.how))
            if time.monotonic() > until:
                return


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


def print_missed(told: Iterable[Told], out: Console) -> None:
    """Print a line for each mutant whose first finding does not begin with its rule, stands elsewhere, or
    is not the only one.
    """
    for one in told:
        if one.rank == 0 and one.right and one.kinds == 1:
            continue
        place = "not named" if one.rank is None else f"number {one.rank + 1}"
        elsewhere = "" if one.right else ", not where it shows first"
        out.print(f"{one.rule}: {place}, kinds {one.kinds}: {one.fact} at `{one.line}`{elsewhere}; because ")
        out.print(f"    {', '.join(one.because)}")


def main(
    programs: Annotated[int, typer.Option(min=1, help="Draw so many programs.")] = 2000,
    most: Annotated[int, typer.Option(min=1, help="Judge a mutant on so many of them.")] = 50,
    sample: Annotated[
        int, typer.Option(min=0, help="Take so many rules, of all chapters alike; 0: all.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    workers: Annotated[int, typer.Option(min=1)] = 2,
    keep: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Keep what was judged in FILE, and go on from there.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="Stop after so many, with what there is.")] = math.inf,
    of_micrograd: Annotated[
        bool, typer.Option("--micrograd/--no-micrograd", help="Grade micrograd, too.")
    ] = True,
    missed: Annotated[
        bool, typer.Option("--missed", help="List the mutants told of less than well.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print every mutant as JSON.")] = False,
) -> None:
    """Report how often findings name the rule, stand at the right line, and how many there are.

    With --keep FILE an interrupted measurement is not lost: the same command goes on.
    """
    out = Console(stderr=True, soft_wrap=True, markup=False, highlight=False)
    kept = Kept({"programs": programs, "seed": seed, "most": most}, keep)
    rules = in_turn(seed)[: sample or None]
    blame(programs, seed, most, rules, kept, workers, seconds, out)
    judged = [kept.judged[rule] for rule in rules if rule in kept.judged]
    told = sorted((one.told for one in judged if one.told is not None), key=lambda one: one.rule)
    found = {"mutants": len(rules), "mutants judged": len(judged), **figures(told)}
    if of_micrograd:
        found |= micrograd(1000, workers)
    if as_json:
        print(json.dumps(found | {"told": [asdict(one) for one in told]}, indent=2))
    else:
        for label, figure in found.items():
            print(f"{label:34} {figure:8.2f}".rstrip("0").rstrip("."))
    if missed:
        print_missed(told, out)
    failed = [one for one in judged if one.failed]
    for one in failed:
        out.print(f"error: {one.rule}: {one.failed}")
    raise typer.Exit(bool(failed))


if __name__ == "__main__":
    typer.run(main)
