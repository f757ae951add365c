"""The sums of a campaign: what one chunk of programs found, as a frozen value that adds up in the order of
the chunks.

How a program is judged lives in ``participants``, how a chunk is worked through in ``campaign``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from conformance.report.value import Crash, Ending, Finding, Totals

T = TypeVar("T", Finding, Crash)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts and findings; ``findings`` and ``crashes`` are keyed by what tells them apart, the first of a
    kind is kept; ``confirmed`` counts the programs that showed a rule to hold, ``lacking`` names the fact
    that another had needed; ``stale`` counts programs on record that can no longer be read, ``unrun`` those
    that were not run, for the reason that ``ended`` gives.
    """

    totals: Totals = field(default_factory=Totals)
    fired: Mapping[str, int] = field(default_factory=dict)
    compared: Mapping[str, int] = field(default_factory=dict)
    incomparable: Mapping[str, int] = field(default_factory=dict)
    known: Mapping[str, int] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    crashes: tuple[Crash, ...] = ()
    broken: tuple[str, ...] = ()
    confirmed: Mapping[str, int] = field(default_factory=dict)
    lacking: Mapping[str, str] = field(default_factory=dict)
    stale: int = 0
    unrun: int = 0
    ended: Ending = Ending.NONE

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            totals=self.totals + other.totals,
            fired=dict(Counter(self.fired) + Counter(other.fired)),
            compared=dict(Counter(self.compared) + Counter(other.compared)),
            incomparable=dict(Counter(self.incomparable) + Counter(other.incomparable)),
            known=dict(Counter(self.known) + Counter(other.known)),
            findings=distinct((*self.findings, *other.findings)),
            crashes=distinct((*self.crashes, *other.crashes)),
            broken=tuple(dict.fromkeys((*self.broken, *other.broken))),
            confirmed=dict(Counter(self.confirmed) + Counter(other.confirmed)),
            lacking={**other.lacking, **self.lacking},
            stale=self.stale + other.stale,
            unrun=self.unrun + other.unrun,
            ended=self.ended or other.ended,
        )


def distinct(found: Iterable[T]) -> tuple[T, ...]:
    """Return one finding or crash a bucket, the first, which counts the others."""
    kept: dict[object, T] = {}
    for each in found:
        first = kept.get(each.bucket)
        kept[each.bucket] = each if first is None else replace(first, alike=first.alike + each.alike)
    return tuple(kept.values())
