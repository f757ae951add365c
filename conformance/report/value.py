"""The report: what one check found, as frozen values that add up.

No words for people are made here (``terminal``), nothing is judged (``conformance.grading``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum

from conformance.report.ending import INTERRUPTED, PROCESSES_KILLED, Ending
from conformance.report.expectation import Expected, Unmet
from conformance.report.finding import Crash, Finding, Verdict, crashes_told_once


class Status(StrEnum):
    """The statuses of a rule after a check."""

    HELD = "held"
    BROKEN = "broken"
    BLOCKED = "blocked"
    SUSPECT = "suspect"
    FLAKY = "flaky"
    EXPECTED = "expected"
    UNSUPPORTED = "unsupported"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True)
class Subject:
    """An implementation that took part, and its version."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts over the generated programs, of which ``placed`` ran once more with everything on the device,
    ``otherwise`` of these to another verdict there; all else counts both runs. ``known`` are those that
    differ where torch is on record as departing from a rule, ``compared`` and ``unseen`` count facts,
    ``error_steps`` refusals.

    Of those that ``diverge``, ``stepped_over`` showed the cause of an earlier finding and nothing else, and
    ``left_off`` were not compared past a first difference that is like an earlier finding's.
    """

    programs: int = 0
    placed: int = 0
    otherwise: int = 0
    agree: int = 0
    diverge: int = 0
    known: int = 0
    incomparable: int = 0
    crashed: int = 0
    steps: int = 0
    error_steps: int = 0
    compared: int = 0
    unseen: int = 0
    stepped_over: int = 0
    left_off: int = 0

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule's status: ``fired`` in so many steps, so many facts ``compared`` there, witnessed by
    ``cases``; ``why`` is the reason where it is unsupported, not exercised, blocked or expected not to hold.
    It ``explains`` so many failed cases, and programs that differ.
    """

    id: str
    status: Status = Status.NOT_EXERCISED
    fired: int = 0
    compared: int = 0
    cases: int = 0
    cases_failed: int = 0
    why: str = ""
    explains: int = 0

    @property
    def chapter(self) -> str:
        return self.id.partition("/")[0]


HELD, BROKEN, UNSUPPORTED, NOT_EXERCISED = "held", "broken", "unsupported", "not exercised"
CASE_STATUSES = (HELD, BROKEN, UNSUPPORTED, NOT_EXERCISED)
"""Results of a case; it is not exercised where torch or the reference cannot run it here, or where the
adapter is at fault.
"""


DIED = "the process died"
"""The line of a case whose process died, where no step is known."""
_DEATH = re.compile(r"(crashed: )?(SIG[A-Z]+|exit code -?\d+|no answer for .*)")


@dataclass(frozen=True, slots=True)
class Witnessed:
    """The result of one case on one implementation; ``line`` and ``why`` say where and how it broke.

    ``adapter`` is what the adapter itself raised, where its contract says that it does not. ``lacking`` are
    the rules that a case which held does not show, each with the fact that was not seen. Of one that broke,
    ``explained_by`` are the rules without which the reference does the same, ``beside`` those that explain
    what else differs at that step, ``alike`` those without which it fails at the same line, and ``fired``
    those that it applies on the way.
    """

    case: str
    rules: tuple[str, ...]
    status: str
    line: str = ""
    why: str = ""
    adapter: str = ""
    lacking: tuple[tuple[str, str], ...] = ()
    explained_by: tuple[str, ...] = ()
    beside: tuple[tuple[str, ...], ...] = ()
    alike: tuple[str, ...] = ()
    fired: tuple[str, ...] = ()

    def holds(self, rule: str) -> bool:
        """Tell whether it held and showed the rule."""
        return self.held and rule not in dict(self.lacking)

    @property
    def died(self) -> bool:
        """Tell whether the process died of the case, or of a step of it."""
        return self.broken and _DEATH.fullmatch(self.why) is not None

    @property
    def held(self) -> bool:
        return self.status == HELD

    @property
    def broken(self) -> bool:
        return self.status == BROKEN

    @property
    def unsupported(self) -> bool:
        return self.status == UNSUPPORTED

    @property
    def not_exercised(self) -> bool:
        return self.status == NOT_EXERCISED


@dataclass(frozen=True, slots=True)
class ReplayedRecording:
    """A recording that took the place of torch: where it comes from, how many ``cases`` and ``programs`` of
    it were held against, and how many ``stale`` ones not, since their text has changed.
    """

    name: str
    torch: str
    device: str
    device_name: str | None
    driver: str | None
    cases: int
    programs: int
    stale: int


@dataclass(frozen=True, slots=True)
class Report:
    """The results of one check of ``subject``; frozen, and the same for the same seed whatever ran it.

    ``rules`` are those that the glob ``selection`` selects; findings about others stand ``elsewhere``.
    ``expected`` are the expectations that were met, and ``by_design`` what they spoke of: that fails nothing
    and shows that no rule holds; those that were not met are ``unmet``, and fail the check.
    ``known`` counts the programs with a known divergence of torch, by rule; ``recordings`` are those that
    took torch's place. Of the programs that were ``asked`` for ``unrun`` did not run, for the reason that
    ``ended`` gives; of those on record it is not known how many can be read. Raises ValueError where programs
    are lost.
    """

    subject: Subject
    against: str
    seed: int
    source: str
    device: str
    versions: Mapping[str, str]
    selection: str = "*"
    totals: Totals = field(default_factory=Totals)
    cases: Mapping[str, int] = field(default_factory=dict)
    rules: Mapping[str, RuleResult] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    elsewhere: tuple[Finding, ...] = ()
    by_design: tuple[Finding, ...] = ()
    expected: tuple[Expected, ...] = ()
    unmet: tuple[Unmet, ...] = ()
    crashes: tuple[Crash, ...] = ()
    incomparable: Mapping[str, int] = field(default_factory=dict)
    known: Mapping[str, int] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    unrun: int = 0
    recordings: tuple[ReplayedRecording, ...] = ()
    times: Mapping[str, float] | None = None
    asked: int | None = None
    ended: Ending = Ending.NONE

    def __post_init__(self) -> None:
        run = self.totals.programs
        if self.asked is not None and run + self.unrun != self.asked:
            raise ValueError(f"{run} programs run and {self.unrun} not are not the {self.asked} asked for")

    @property
    def verdict(self) -> Verdict:
        """The worst that was found: a broken suite before a broken adapter before nonconformance.

        Agreement over nothing is no agreement: a check that exercised nothing exits as a broken adapter does.
        """
        blamed = {finding.blames for finding in (*self.findings, *self.elsewhere)}
        blamed |= {crash.blames for crash in self.unknown_crashes}
        if Verdict.BROKEN_SUITE in blamed:
            return Verdict.BROKEN_SUITE
        if self.broken:
            return Verdict.BROKEN_ADAPTER
        if blamed or self.broken_rules or self.unmet:
            return Verdict.NONCONFORMANCE
        return Verdict.BROKEN_ADAPTER if self.nothing_exercised else Verdict.CONFORMS

    @property
    def told(self) -> tuple[Finding, ...]:
        """The findings as people read them: what crashes many cases alike is told once."""
        return crashes_told_once(self.findings)

    @property
    def nothing_exercised(self) -> bool:
        """True if nothing was found, nor was any rule held by a case or by programs that compared facts."""
        differs = self.findings or self.elsewhere or self.by_design or self.unmet
        found = self.broken or differs or self.unknown_crashes or self.broken_rules
        compared = self.totals.compared or self.cases.get(HELD)
        return not (found or (compared and self.count(Status.HELD)))

    @property
    def exit_code(self) -> int:
        """The verdict's, or that of a check which something outside ended before anything was found."""
        if self.undecided:
            return PROCESSES_KILLED if self.ended is Ending.KILLED else INTERRUPTED
        return int(self.verdict)

    @property
    def undecided(self) -> bool:
        """True if something outside ended the check before anything was found."""
        nothing = self.verdict is Verdict.CONFORMS or self.nothing_exercised
        return self.ended.from_outside and nothing

    @property
    def unknown_crashes(self) -> tuple[Crash, ...]:
        return tuple(crash for crash in self.crashes if crash.known is None)

    @property
    def broken_rules(self) -> tuple[str, ...]:
        """The rules that are broken or suspect, those first that explain most."""
        found = [r for r in self.rules.values() if r.status in (Status.BROKEN, Status.SUSPECT)]
        return tuple(r.id for r in sorted(found, key=lambda r: -r.explains))

    @property
    def statuses(self) -> list[Status]:
        """The statuses that rules have, and ``held`` in any case."""
        return [status for status in Status if status is Status.HELD or self.count(status)]

    def count(self, status: Status, rules: Iterable[RuleResult] | None = None) -> int:
        """Return how many rules (of ``rules``, or all) have that status."""
        return sum(r.status is status for r in (self.rules.values() if rules is None else rules))

    def without_times(self) -> Report:
        """The same report, free of what differs between two runs."""
        return replace(self, times=None)
