"""One chunk of a campaign: draw programs beside the reference, run them on the other sides, judge, reduce,
add up.

A chunk is a plain value that any process can work through with the same result. ``check`` hands chunks
out and handles one that dies; ``cases`` runs the witness cases, which are not drawn.
"""

from __future__ import annotations

import traceback
from collections import Counter, deque
from dataclasses import dataclass
from pathlib import Path

from conformance import adapters
from conformance.comparison.judge import Decision
from conformance.comparison.known_crashes import issue_of, words_of
from conformance.execution.isolate import TIMEOUT
from conformance.execution.run import run
from conformance.generate.guide.guide import Drawn
from conformance.grading import compared
from conformance.grading.confirm import Confirming
from conformance.grading.kinds import DIFFERENT, Kinds
from conformance.grading.participants import REFERENCE, TORCH, AdapterBroke, Judged, Participants
from conformance.grading.sources import programs_from
from conformance.grading.tally import Tally, distinct
from conformance.program import Program
from conformance.program.on_device import relocate
from conformance.program.printing import to_text
from conformance.program.shrink import shrink_program
from conformance.report.expectation import Expectation
from conformance.report.value import Crash, Finding, Totals, Verdict

SIZE = 100
"""Programs in a chunk; part of what a seed means, so not to be tuned by machine."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of programs from one source and seed, from number ``first`` on; ``skip`` holds texts that
    killed a process, ``unconfirmed`` the rules that no case has held: programs confirm them. Each program may
    take ``timeout`` seconds. What is ``expected`` ends nothing where the first difference would.
    """

    subject: str
    against: str
    source: str
    seed: int
    first: int
    count: int
    fail_fast: bool = False
    skip: frozenset[str] = frozenset()
    unconfirmed: frozenset[str] = frozenset()
    timeout: float = TIMEOUT
    expected: tuple[Expectation, ...] = ()

    def excuses(self, finding: Finding) -> bool:
        """Tell whether a finding is by design."""
        return any(entry.matches(finding) for entry in self.expected)

    def named(self, number: int) -> str:
        """Return the name of a program in a report."""
        return f"program {number}"


class Sums:
    """The counts of a chunk in progress; ``tally`` freezes them."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk
        self.participants = Participants(chunk.subject, chunk.against)
        self.twice = "devices" in self.participants.capabilities.features
        self.counts: Counter[str] = Counter()
        self.fired: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        self.incomparable: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.findings: list[Finding] = []
        self.kinds = Kinds(self.kills, self.fired)
        self.confirming = Confirming(chunk.unconfirmed, self.participants.capabilities.refusals)
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
        there = relocate(drawn.program) if self.twice and not self.over else None
        if there is not None:
            where = f"{self.chunk.named(number)} on the device"
            if self._judged("placed", where, drawn._replace(program=there, trace=None)) != verdict:
                self.counts["otherwise"] += 1

    def announced(self, drawn: Drawn) -> int:
        """Let an implementation elsewhere begin with a program; return how many it may have before it."""
        subject = adapters.load(self.chunk.subject)
        if self.over or self.kills(drawn.program) or not hasattr(subject, "announce"):
            return 0
        subject.announce(drawn.program, drawn.density)
        ahead: int = subject.ahead
        return ahead

    def _judged(self, counted_as: str, where: str, drawn: Drawn) -> str:
        """The verdict on one program, which is counted."""
        self.counts[counted_as] += 1
        if self.kills(drawn.program):
            self.counts["crashed"] += 1
            self.counts["steps"] += len(drawn.program)
            return "crashed"
        try:
            judged = self.participants.judged(drawn.program, drawn.density, drawn.trace)
            drawn = drawn._replace(program=judged.reference.program)
            self._count(judged)
            if judged.found.decision in DIFFERENT:
                self.kinds.add(where, drawn, judged.found, self.participants)
        except AdapterBroke as broke:
            self.broken.append(str(broke))
            self.over = True
            return "broken"
        found = judged.found
        if self.chunk.unconfirmed:
            self._confirm(judged)
        if found.decision in DIFFERENT:
            self.over = self.chunk.fail_fast and not all(map(self.chunk.excuses, self.kinds.findings))
        elif found.decision is Decision.CRASH:
            self._crash(where, drawn)
        elif found.decision in (Decision.INCOMPARABLE, Decision.VACUOUS):
            self.incomparable[getattr(found.comparison, "why", "nothing was compared")] += 1
        elif found.decision is Decision.KNOWN:
            self.known.update(found.because)
        return COUNTED_AS[found.decision]

    def fail(self, where: str, error: Exception, program: Program | None = None) -> None:
        """Record a failure of the suite itself, which costs no other program."""
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
        """Tell whether the program is known to kill a process."""
        return bool(self.chunk.skip) and to_text(program) in self.chunk.skip

    def _count(self, judged: Judged) -> None:
        found, reference = judged.found, judged.reference
        counts = self.counts
        counts[COUNTED_AS[found.decision]] += 1
        counts["steps"] += len(reference)
        counts["error_steps"] += len(reference.refused)
        counts["compared"] += found.comparison.compared
        counts["unseen"] += found.comparison.unseen
        last = found.first.step if found.first else getattr(found.comparison, "step", len(reference))
        for seen in reference.observations[: last + 1]:
            if seen.fired:
                self.fired.update(seen.fired)
        if judged.other.adapter in found.decided_by:
            compared.count(reference, judged.other, last, self.compared)

    def _confirm(self, judged: Judged) -> None:
        found = judged.found
        agreed = found.decision is not Decision.KNOWN and found.first is None
        if agreed and judged.other.adapter in found.decided_by:
            last = getattr(found.comparison, "step", len(judged.reference)) - 1
            self.confirming.program(judged.reference, judged.other, last)
        else:
            self.confirming.program(judged.reference, None, 0)

    def _crash(self, where: str, drawn: Drawn) -> None:
        """Add an exception that no rule words, of the reference or of torch, reduced."""
        side, at, error = self._death(drawn.program, drawn.density)

        def still_dies(program: Program) -> bool:
            return not self.kills(program) and self._death(program, drawn.density)[::2] == (side, error)

        program = shrink_program(drawn.program, still_dies).program
        side, at, error = self._death(program, drawn.density)
        cut = Program(program.steps[: at + 1])
        known = None
        own = TORCH if side == self.chunk.subject and self.participants.torch_elsewhere else side
        if own in (REFERENCE, TORCH):
            known = issue_of(words_of(cut), own, adapters.load(side).version, error)
        self.crashes.append(Crash(where, side, Verdict.BROKEN_SUITE, error, to_text(cut), known))

    def _death(self, program: Program, density: str) -> tuple[str, int, str]:
        """Return which side crashed on the program, at which step, and with what error."""
        others = (self.chunk.subject,) if self.participants.torch_elsewhere else ()
        for side in (REFERENCE, *((TORCH,) if self.participants.with_torch else ()), *others):
            trace = run(program, adapters.load(side), density)
            for index, seen in enumerate(trace.observations):
                if (error := seen.crash) is not None:
                    return side, index, error
        return "nobody", len(program) - 1, "a crash that was not seen again"

    def tally(self) -> Tally:
        return Tally(
            totals=Totals(**self.counts + self.kinds.counts),
            fired=dict(self.fired),
            compared=dict(self.compared),
            incomparable=dict(self.incomparable),
            known=dict(self.known),
            findings=distinct((*self.findings, *self.kinds.findings)),
            crashes=tuple(self.crashes),
            confirmed=self.confirming.confirmed,
            lacking=self.confirming.lacking,
            broken=tuple(self.broken),
        )


COUNTED_AS = {
    Decision.AGREE: "agree",
    Decision.NONCONFORMANCE: "diverge",
    Decision.SUITE: "diverge",
    Decision.CRASH: "crashed",
    Decision.INCOMPARABLE: "incomparable",
    Decision.VACUOUS: "incomparable",
    Decision.KNOWN: "known",
}


def judge_chunk(chunk: Chunk) -> Tally:
    """Work through a chunk; the same chunk gives the same tally in any process."""
    return tally_of(Sums(chunk))


def tally_of(sums: Sums) -> Tally:
    """The tally of the programs of its chunk, as far as they can be drawn."""
    chunk = sums.chunk
    adapters.allow(chunk.subject, chunk.timeout)
    capabilities = Participants(chunk.subject, chunk.against).capabilities
    upcoming = chunk.first
    waiting: deque[tuple[int, Drawn]] = deque()

    def work(number: int, drawn: Drawn) -> None:
        try:
            sums.program(number, drawn)
        except Exception as error:
            sums.fail(chunk.named(number), error, drawn.program)

    def take(number: int, drawn: Drawn) -> None:
        nonlocal upcoming
        upcoming = number + 1
        waiting.append((number, drawn))
        if len(waiting) > sums.announced(drawn):
            work(*waiting.popleft())

    failed: Exception | None = None
    try:
        programs_from(chunk.source, chunk.seed, chunk.first, chunk.count, capabilities, take)
    except Exception as error:
        failed = error
    for each in waiting:
        work(*each)
    if failed is not None:
        sums.fail(f"{chunk.named(upcoming)}, while it was drawn", failed)
    return sums.tally()
