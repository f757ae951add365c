"""The report of a search for programs whose result depends on how they are observed, as a frozen value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.report.ending import INTERRUPTED, PROCESSES_KILLED, Ending
from conformance.report.value import Crash, Finding, Totals, Verdict


@dataclass(frozen=True, slots=True)
class Observed:
    """The results for programs observed more and less densely: in ``totals`` those whose densities agree
    ``agree``, of the others the explained are ``known`` and the unexplained ``diverge``.

    ``kinds`` holds for each set of rules that explains any the shortest program, which counts the others.
    """

    seed: int
    source: str
    versions: Mapping[str, str]
    totals: Totals
    kinds: tuple[Finding, ...] = ()
    unexplained: tuple[Finding, ...] = ()
    crashes: tuple[Crash, ...] = ()
    broken: tuple[str, ...] = ()
    ended: Ending = Ending.NONE

    @property
    def unknown_crashes(self) -> tuple[Crash, ...]:
        return tuple(crash for crash in self.crashes if crash.known is None)

    @property
    def verdict(self) -> Verdict:
        """Conforms if everything is explained, and every crash is on record."""
        bad = self.unexplained or self.unknown_crashes or self.broken
        return Verdict.NONCONFORMANCE if bad else Verdict.CONFORMS

    @property
    def exit_code(self) -> int:
        """The verdict's, or that of a search which something outside ended before anything was found."""
        if self.ended.from_outside and not (self.unexplained or self.unknown_crashes):
            return PROCESSES_KILLED if self.ended is Ending.KILLED else INTERRUPTED
        return int(self.verdict)
