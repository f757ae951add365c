"""Count the generated programs needed to notice that a rule is gone: ``python -m benchmarks.kills``.

Each rule is knocked out of the reference in turn and the mutant is compared with the reference itself, on the
same drawn programs, until one tells them apart. A mutant is only run on programs in which its rule fired:
elsewhere it is the reference.

``--source mutating`` draws them by the directed search. ``--hard`` lists the mutants for which the PRNG needs
many programs, with what either source needs. ``--decides`` measures the facts that each rule decides instead,
those in which a mutant is first told apart, and writes them to ``specs/decides.toml``.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from conformance.adapters import capabilities, load
from conformance.comparison.compare import Agree, Diverge, compare
from conformance.execution.case import parse_case
from conformance.execution.run import run
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.mutating import NURSERY, RENEWED
from conformance.generate.state.choices import Prng
from conformance.grading.campaign import SIZE
from conformance.grading.case_diagnosis import rules_of
from conformance.grading.sources import programs_from
from conformance.program.parsing import ProgramError
from reference_impl.base.rules import knocked_out
from specs.case import cases
from specs.rule import DECIDABLE, DECIDES_FILE, RULES

MANY = 500
"""Programs past which a mutant is hard to kill."""

ENOUGH = 8
"""Programs that notice a rule's absence and are looked at for what it decides."""

HEAD = """\
# The facts that each rule decides: those in which the reference without it is first told apart. Made by
# `python -m benchmarks.kills --decides`."""

Decided = dict[str, set[str]]


@dataclass(frozen=True)
class Kills:
    """Per rule the number of programs until its mutant was told apart; what was not, in ``alive``."""

    programs: int
    seed: int
    after: dict[str, int]
    alive: tuple[str, ...]

    @property
    def geometric_mean(self) -> float:
        """Over the killed."""
        return math.exp(sum(map(math.log, self.after.values())) / max(len(self.after), 1))


def drawn_by(source: str, seed: int, programs: int) -> Iterator[Drawn]:
    """Draw the programs of a source, in the chunks of a campaign."""
    limits = capabilities(load("reference"))
    for first in range(0, programs, SIZE):
        found: list[Drawn] = []
        count = min(SIZE, programs - first)
        programs_from(source, seed, first, count, limits, lambda number, drawn, to=found: to.append(drawn))
        yield from found


def kills(programs: int = 5000, seed: int = 1, console: Console | None = None, source: str = "prng") -> Kills:
    """Draw programs until every rule's mutant is dead, at most ``programs``."""
    reference = load("reference")
    alive = {rule.id for rule in RULES.values() if rule.in_programs and rule.holds_for(reference.torch)}
    after: dict[str, int] = {}
    every = drawn_by(source, seed, programs)
    for index, drawn in track(
        enumerate(every), source, total=programs, console=console, disable=console is None
    ):
        if not alive:
            break
        assert drawn.trace is not None
        for rule in sorted(alive & rules_of(drawn.trace, len(drawn.trace))):
            with knocked_out(rule):
                mutant = run(drawn.program, reference, drawn.density)
            if not isinstance(compare(drawn.trace, mutant), Agree):
                after[rule] = index + 1
                alive.discard(rule)
    return Kills(programs, seed, dict(sorted(after.items(), key=lambda item: -item[1])), tuple(sorted(alive)))


def hard(programs: int, seed: int, console: Console) -> dict[str, tuple[int | None, int | None]]:
    """Return the mutants for which the PRNG needs more than `MANY` programs, and what either source needs:
    None where it did not do, of rules that one of them killed.
    """
    prng, mutating = (kills(programs, seed, console, source).after for source in ("prng", "mutating"))
    killed = {rule: (prng.get(rule), mutating.get(rule)) for rule in (*prng, *mutating)}
    return {rule: found for rule, found in killed.items() if found[0] is None or found[0] > MANY}


def judged_of(needed: int | None, nursery: bool = False) -> float:
    """Return how many programs were needed, with those that the search drew and did not judge or without."""
    if needed is None:
        return math.inf
    return needed + (1 + (needed - 1) // RENEWED) * NURSERY * nursery


def print_hard(found: dict[str, tuple[int | None, int | None]], programs: int, out: Console) -> None:
    """Print a line for each of the mutants, and how many of them the search killed sooner."""
    shown = [["?" if needed is None else str(needed) for needed in pair] for pair in found.values()]
    for rule, (prng, mutating) in zip(found, shown, strict=True):
        out.print(f"{prng:>6} {mutating:>6}  {rule}")
    sooner, in_all = (
        sum(judged_of(mutating, nursery) < judged_of(prng) for prng, mutating in found.values())
        for nursery in (False, True)
    )
    out.print(
        f"of {len(found)} mutants for which the PRNG needs more than {MANY} programs (?: over {programs}), "
        f"the search kills {sooner} in fewer programs, {in_all} if those that it drew and did not judge count"
    )


def decided(found: Diverge) -> set[str]:
    """The kinds of facts that differ at the first step that differs."""
    at_first = (d.fact for d in found.divergences if d.step == found.first.step)
    return {"outcome" if fact == "bound" else fact.partition(".")[0] for fact in at_first}


def measure(rules: Iterable[str], programs: int, seed: int = 1, console: Console | None = None) -> Decided:
    """The facts that each rule decides in programs: in the first ``ENOUGH`` that notice its absence."""
    reference = load("reference")
    left, seen, found = set(rules), Counter[str](), defaultdict[str, set[str]](set)
    for index in track(range(programs), "programs", console=console, disable=console is None):
        if not left:
            break
        drawn = draw(Prng(seed, index), reference)
        assert drawn.trace is not None
        for rule in sorted(left & rules_of(drawn.trace, len(drawn.trace))):
            with knocked_out(rule):
                mutant = run(drawn.program, reference, drawn.density)
            comparison = compare(drawn.trace, mutant)
            if isinstance(comparison, Diverge):
                seen[rule] += 1
                found[rule] |= decided(comparison)
            if seen[rule] >= ENOUGH:
                left.discard(rule)
    return dict(found)


def measure_in_cases(rules: Iterable[str]) -> Decided:
    """The facts that each rule decides in the cases that name it, as far as these are programs."""
    found = defaultdict[str, set[str]](set)
    wanted, reference = set(rules), load("reference")
    for case in cases():
        named = wanted & set(case.rules)
        if not (named and case.is_program and case.holds_for(reference.torch)):
            continue
        with suppress(ProgramError):
            program = parse_case(case).program
            right = run(program, reference)
            for rule in named:
                with knocked_out(rule):
                    comparison = compare(right, run(program, reference))
                if isinstance(comparison, Diverge):
                    found[rule] |= decided(comparison)
    return dict(found)


def write_decides(programs: int, seed: int, console: Console) -> None:
    """Measure what every rule decides, in cases where programs do not notice it, and write the file."""
    found = measure(RULES, programs, seed, console)
    found |= measure_in_cases(set(RULES) - set(found))
    listed = {rule: [fact for fact in DECIDABLE if fact in found[rule]] for rule in RULES if rule in found}
    lines = [f"{json.dumps(rule)} = {json.dumps(facts)}" for rule, facts in listed.items()]
    DECIDES_FILE.write_text("\n".join((HEAD, "", *lines, "")), encoding="utf-8")
    console.print(f"{len(found)} of {len(RULES)} rules decide facts: {DECIDES_FILE}")


def main(
    programs: Annotated[int, typer.Option(min=1, help="Give up on a mutant after so many programs.")] = 5000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    source: Annotated[str, typer.Option(help="prng, hypothesis or mutating.")] = "prng",
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
    compare_hard: Annotated[
        bool,
        typer.Option("--hard", help="Compare the search with the PRNG on what that needs many programs for."),
    ] = False,
    decides: Annotated[
        bool, typer.Option("--decides", help="Measure the facts that rules decide, and write them down.")
    ] = False,
) -> None:
    """Report the programs to a kill, rule by rule, and their geometric mean."""
    out = Console(stderr=as_json)
    if decides:
        write_decides(programs, seed, out)
        return
    if compare_hard:
        print_hard(hard(programs, seed, out), programs, out)
        return
    found = kills(programs, seed, out, source)
    if as_json:
        print(json.dumps(asdict(found) | {"geometric_mean": found.geometric_mean}, indent=2))
        return
    for rule, count in found.after.items():
        out.print(f"{count:6d}  {rule}")
    for rule in found.alive:
        out.print(f" alive  {rule}")
    dead = len(found.after)
    out.print(f"{dead} of {dead + len(found.alive)} mutants killed")
    out.print(f"geometric mean {found.geometric_mean:.1f} programs to a kill")


if __name__ == "__main__":
    typer.run(main)
