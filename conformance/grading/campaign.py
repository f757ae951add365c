"""One chunk of a campaign: draw programs beside the reference, run them on the other sides, judge, reduce,
add up.

A chunk is a plain value that any process can work through with the same result. Who hands chunks out, and
what becomes of one that dies, lives in ``grading``; the witness cases are not drawn and live in ``witness``.
"""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.comparison.compare import Divergence, Incomparable
from conformance.comparison.judge import Finding as Found
from conformance.comparison.judge import Judgement, judge
from conformance.comparison.known_crashes import issue_of, said
from conformance.comparison.known_divergences import Departed, departed
from conformance.comparison.tolerance.perturb import shaken
from conformance.execution.isolate import note
from conformance.execution.run import run
from conformance.execution.trace import Crashed, Trace
from conformance.generate.guide.guide import Drawn
from conformance.grading.sources import programs_from
from conformance.grading.tally import Tally, distinct
from conformance.program import Program
from conformance.program.on_device import placed
from conformance.program.printing import READING, statement, to_text
from conformance.program.printing import script as text_of
from conformance.program.shrink import reduce
from conformance.report import words
from conformance.report.value import Crash, Finding, Totals, Verdict

SIZE = 100
"""Programs in a chunk; part of what a seed means, so not to be tuned by machine."""

REDUCED = 4
"""How many kinds of divergence a chunk reduces; what else it finds counts with the first of its kind."""

REFERENCE, TORCH = "reference", "torch"


@dataclass(frozen=True, slots=True)
class Chunk:
    """So many programs from one source and seed, from number ``first`` on; ``skip`` holds texts that killed a
    process.
    """

    subject: str
    against: str
    source: str
    seed: int
    first: int
    count: int
    fail_fast: bool = False
    skip: frozenset[str] = frozenset()

    def named(self, number: int) -> str:
        """How a report speaks of a program."""
        return f"program {number}"


class AdapterBroke(Exception):
    """The adapter itself raised where its contract says that it does not."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Who takes part in judging one subject; a trace of torch on record, of release ``torch``, stands for it
    in judging its own program, where the reference alone is right about any other.
    """

    subject: str
    against: str
    recorded: Trace | None = None
    torch: str = ""

    @property
    def with_torch(self) -> bool:
        return TORCH in (self.subject, self.against)

    @property
    def capabilities(self) -> Capabilities:
        """What may be drawn: what the subject can do, and torch if it takes part; the reference does what
        torch does.
        """
        own = adapters.capabilities(adapters.load(self.subject))
        if not self.with_torch:
            return own
        torch = adapters.capabilities(adapters.load(TORCH))
        return torch if self.subject == REFERENCE else replace(own, features=own.features & torch.features)

    def judged(
        self, program: Program, density: str, reference: Trace | None = None
    ) -> tuple[Judgement, Trace, Trace]:
        """Run the program on all sides; the judgement, the reference's trace and the one that settles what is
        right.
        """
        if reference is None:
            reference = run(program, adapters.load(REFERENCE), density)
        torch = None
        if self.recorded is not None:
            torch = self.recorded if self.recorded.program is program else None
        elif self.with_torch:
            note(program, 0)
            torch = run(program, adapters.load(TORCH), density)
        actual = self._actual(program, density, reference, torch)
        found = judge(reference, actual, torch, partial(shaken, program, density))
        if found.finding is Found.SUITE and torch is not None:
            known = departed(
                reference,
                torch,
                self.torch or adapters.load(TORCH).version,
                lambda: run(program, adapters.load(REFERENCE), density),
            )
            if known is not None:
                return self._despite(found, known, reference, actual, torch), reference, torch
        return found, reference, torch or reference

    def _despite(
        self, difference: Judgement, known: Departed, reference: Trace, actual: Trace, torch: Trace
    ) -> Judgement:
        """The judgement where torch departs from a rule: nobody else is blamed for keeping it, nor for not
        doing so.
        """
        if actual is reference or actual is torch:
            found = judge(known.trace, torch, torch)
            if found.finding is Found.CRASH:
                return found
            left, first = found.comparison, difference.first
            if isinstance(left, Incomparable) and first is not None and left.step == first.step:
                return found  # what torch did cannot be told from what is open there
            return replace(judge(known.trace, torch), finding=Found.KNOWN, because=known.rules)
        found = judge(known.trace, actual, torch)
        return judge(reference, actual) if found.finding is Found.NONCONFORMANCE else found

    def _actual(self, program: Program, density: str, reference: Trace, torch: Trace | None) -> Trace:
        if self.subject == REFERENCE:
            return reference
        if self.subject == TORCH and torch is not None and self.recorded is None:
            return torch
        note(program, 1)
        try:
            return run(program, adapters.load(self.subject), density)
        except Exception as error:
            where = to_text(program).replace("\n", "; ")
            raise AdapterBroke(f"{type(error).__name__}: {error}, on: {where}") from error


class Sums:
    """The counts of a chunk in progress; ``tally`` freezes them."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.sides = Sides(chunk.subject, chunk.against)
        self.twice = "devices" in self.sides.capabilities.features
        self.counts: Counter[str] = Counter()
        self.fired: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        self.incomparable: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.findings: dict[object, Finding] = {}
        self.crashes: list[Crash] = []
        self.broken: list[str] = []
        self.over = False

    def program(self, number: int, drawn: Drawn) -> None:
        """Judge one program and count what comes of it; where there is a device, judge it with everything
        there, too, and compare the verdicts.
        """
        if self.over:
            return
        verdict = self._judged("programs", self.chunk.named(number), drawn)
        there = placed(drawn.program) if self.twice and not self.over else None
        if there is not None:
            where = f"{self.chunk.named(number)} on the device"
            if self._judged("placed", where, drawn._replace(program=there, trace=None)) != verdict:
                self.counts["otherwise"] += 1

    def _judged(self, counted_as: str, where: str, drawn: Drawn) -> str:
        """The verdict on one program, which is counted."""
        self.counts[counted_as] += 1
        if self.kills(drawn.program):
            self.counts["crashed"] += 1
            self.counts["steps"] += len(drawn.program)
            return "crashed"
        try:
            found, reference, right = self.sides.judged(drawn.program, drawn.density, drawn.trace)
        except AdapterBroke as broke:
            self.broken.append(str(broke))
            self.over = True
            return "broken"
        self._count(found, reference)
        if found.finding in (Found.NONCONFORMANCE, Found.SUITE):
            self._differ(where, drawn, found, right)
        elif found.finding is Found.CRASH:
            self._crash(where, drawn)
        elif found.finding in (Found.INCOMPARABLE, Found.VACUOUS):
            self.incomparable[getattr(found.comparison, "why", "nothing was compared")] += 1
        elif found.finding is Found.KNOWN:
            self.known.update(found.because)
        return COUNTED_AS[found.finding]

    def fail(self, where: str, error: Exception, program: Program | None = None) -> None:
        """Take down a failure of the suite itself, which costs no other program."""
        at = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} ({Path(at.filename).name}, line {at.lineno})"
        text = "" if program is None else to_text(program)
        counts = self.counts
        if (
            sum(counts[verdict] for verdict in set(COUNTED_AS.values()))
            < counts["programs"] + counts["placed"]
        ):
            counts["crashed"] += 1  # NB: unless it is counted already, and failed while it was reduced
        self.crashes.append(Crash(where, "suite", Verdict.BROKEN_SUITE, told, text))

    def kills(self, program: Program) -> bool:
        """Whether the program is known to kill a process."""
        return bool(self.chunk.skip) and to_text(program) in self.chunk.skip

    def _count(self, found: Judgement, reference: Trace) -> None:
        counts = self.counts
        counts[COUNTED_AS[found.finding]] += 1
        counts["steps"] += len(reference)
        counts["error_steps"] += len(reference.refused)
        counts["compared"] += found.comparison.compared
        counts["unseen"] += found.comparison.unseen
        last = found.first.step if found.first else getattr(found.comparison, "step", len(reference))
        for seen in reference.observations[: last + 1]:
            if seen.fired:
                self.fired.update(seen.fired)
                facts = 1 + sum(map(len, seen.facts.values()))
                for rule in seen.fired:
                    self.compared[rule] += facts

    def _differ(self, where: str, drawn: Drawn, found: Judgement, right: Trace) -> None:
        self.over = self.chunk.fail_fast
        assert found.first is not None
        kind = (found.finding, found.first.fact, drawn.program[found.first.step].op)
        if kind in self.findings:
            self.findings[kind] = replace(self.findings[kind], alike=self.findings[kind].alike + 1)
        elif len(self.findings) < REDUCED:
            self.findings[kind] = self._reduced(where, drawn, found)
        else:
            self.findings[kind] = explain(where, drawn.program, found, right)

    def _reduced(self, where: str, drawn: Drawn, found: Judgement) -> Finding:
        again, _, right = self.sides.judged(drawn.program, drawn.density)
        flaky = replace(explain(where, drawn.program, found, right), blames=Verdict.CONFORMS, flaky=True)
        if not same(found, again, drawn.program, drawn.program):
            return flaky

        def still_fails(program: Program) -> bool:
            return not self.kills(program) and same(
                found, self.sides.judged(program, drawn.density)[0], drawn.program, program
            )

        small = reduce(drawn.program, still_fails).program
        final, _, settled = self.sides.judged(small, drawn.density)
        if final.first is not None:
            return explain(where, small, final, settled)
        held = still_fails(drawn.program)  # then it is told as it was drawn
        return explain(where, drawn.program, found, right) if held else flaky

    def _crash(self, where: str, drawn: Drawn) -> None:
        """An exception that no rule words, of the reference or of torch: the first of each chunk is
        reduced.
        """
        dead = self._death(drawn.program, drawn.density)
        program, (side, at, error) = drawn.program, dead
        if not self.crashes:

            def still_dies(program: Program) -> bool:
                return not self.kills(program) and self._death(program, drawn.density)[::2] == (side, error)

            program = reduce(program, still_dies).program
            side, at, error = self._death(program, drawn.density)
        cut = Program(program.steps[: at + 1])
        known = None
        if side in (REFERENCE, TORCH):
            known = issue_of(said(cut), side, adapters.load(side).version, error)
        self.crashes.append(Crash(where, side, Verdict.BROKEN_SUITE, error, to_text(cut), known))

    def _death(self, program: Program, density: str) -> tuple[str, int, str]:
        """Which side crashed on the program, at which step, and of what."""
        for side in (REFERENCE, TORCH) if self.sides.with_torch else (REFERENCE,):
            trace = run(program, adapters.load(side), density)
            for index, seen in enumerate(trace.observations):
                if (error := seen.crash) is not None:
                    return side, index, error
        return "nobody", len(program) - 1, "a crash that was not seen again"

    def tally(self) -> Tally:
        return Tally(
            totals=Totals(**self.counts),
            fired=dict(self.fired),
            compared=dict(self.compared),
            incomparable=dict(self.incomparable),
            known=dict(self.known),
            findings=distinct(self.findings.values()),
            crashes=tuple(self.crashes),
            broken=tuple(self.broken),
        )


COUNTED_AS = {
    Found.AGREE: "agree",
    Found.NONCONFORMANCE: "diverge",
    Found.SUITE: "diverge",
    Found.CRASH: "crashed",
    Found.INCOMPARABLE: "incomparable",
    Found.VACUOUS: "incomparable",
    Found.KNOWN: "known",
}


def work(chunk: Chunk) -> Tally:
    """Work through a chunk; the same chunk gives the same tally in any process."""
    return of_chunk(Sums(chunk))


def of_chunk(sums: Sums) -> Tally:
    """The tally of the programs of its chunk, as far as they can be drawn."""
    chunk = sums.chunk
    capabilities = Sides(chunk.subject, chunk.against).capabilities
    upcoming = chunk.first

    def take(number: int, drawn: Drawn) -> None:
        nonlocal upcoming
        upcoming = number + 1
        try:
            sums.program(number, drawn)
        except Exception as error:
            sums.fail(chunk.named(number), error, drawn.program)

    try:
        programs_from(chunk.source, chunk.seed, chunk.first, chunk.count, capabilities, take)
    except Exception as error:
        sums.fail(f"{chunk.named(upcoming)}, while it was drawn", error)
    return sums.tally()


def same(found: Judgement, again: Judgement, program: Program, other: Program) -> bool:
    """Whether two judgements tell of the same defect: one finding, about one fact, after one operation."""
    x, y = found.first, again.first
    if found.finding is not again.finding or x is None or y is None:
        return False
    alike = (x.fact, type(x.expected), type(x.actual)) == (y.fact, type(y.expected), type(y.actual))
    return (
        alike
        and isinstance(x.actual, Crashed) is isinstance(y.actual, Crashed)
        and program[x.step].op == other[y.step].op
    )


def explain(where: str, program: Program, found: Judgement, right: Trace) -> Finding:
    """The finding about a program as the report tells it; torch's value is the expected one wherever it took
    part.
    """
    first = found.first
    assert first is not None
    expected, actual, sides = first.expected, first.actual, found.decided_by
    suite = found.finding is Found.SUITE
    if suite and sides[1] == TORCH:
        expected, actual, sides = actual, expected, (sides[1], sides[0])
    told = words.value(expected), words.value(actual)
    return Finding(
        where=where,
        blames=Verdict.BROKEN_SUITE if suite else Verdict.NONCONFORMANCE,
        line=statement(program[first.step]),
        name=first.name or "",
        fact=first.fact,
        expected=told[0],
        actual=told[1],
        because=found.because,
        downstream=sum(d.downstream for d in found.comparison.divergences),  # type: ignore[union-attr]
        script=script(program, right, first, sides, told),
        sides=sides,
        ops=tuple(dict.fromkeys(step.op for step in program)),
    )


def script(
    program: Program, right: Trace, first: Divergence, sides: tuple[str, str], told: tuple[str, str]
) -> str:
    """A script that runs by itself under torch and prints the fact in question where it differs."""
    return text_of(program, refused=right.refused, notes={first.step: printing(first, sides, told)})


def printing(first: Divergence, sides: tuple[str, str], told: tuple[str, str]) -> list[str]:
    """The lines that print the fact in question, and what each side shows."""
    fact = first.fact.partition(".")[0]
    note = [f"# {side}: {value}" for side, value in zip(sides, told, strict=True)]
    if first.name is not None and fact in READING:
        note.insert(0, f"print({READING[fact].format(first.name)})")
    return note
