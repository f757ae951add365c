"""The sums of a campaign: what one chunk of programs found, as a frozen value that adds up in the order of
the chunks.

How a program is judged lives in ``participants``, how a chunk is worked through in ``campaign``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from conformance.report.value import Crash, Finding, Totals


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts and findings; ``findings`` and ``crashes`` are keyed by what tells them apart, the first of a
    kind is kept; ``confirmed`` counts the programs that showed a rule to hold, ``lacking`` names the fact
    that another had needed; ``stale`` counts programs on record that can no longer be read, ``unrun`` those
    that an interruption left.
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

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            totals=self.totals + other.totals,
            fired=dict(Counter(self.fired) + Counter(other.fired)),
            compared=dict(Counter(self.compared) + Counter(other.compared)),
            incomparable=dict(Counter(self.incomparable) + Counter(other.incomparable)),
            known=dict(Counter(self.known) + Counter(other.known)),
            findings=distinct_findings((*self.findings, *other.findings)),
            crashes=distinct_crashes((*self.crashes, *other.crashes)),
            broken=tuple(dict.fromkeys((*self.broken, *other.broken))),
            confirmed=dict(Counter(self.confirmed) + Counter(other.confirmed)),
            lacking={**other.lacking, **self.lacking},
            stale=self.stale + other.stale,
            unrun=self.unrun + other.unrun,
        )


def distinct_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a bucket, the first, which counts the others."""
    kept: dict[object, Finding] = {}
    for finding in findings:
        first = kept.get(finding.bucket)
        kept[finding.bucket] = finding if first is None else replace(first, alike=first.alike + finding.alike)
    return tuple(kept.values())


def by_cause(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One finding a cause: the fewest rules that explain the findings that rules explain, each with the
    shortest of its programs, which counts the others; and the findings that no rule explains.
    """
    left = list(findings)
    merged: dict[int, Finding] = {}
    order = {id(finding): place for place, finding in enumerate(left)}
    for place, finding in enumerate(left):
        if not finding.explained_by or finding.flaky:
            merged[place] = finding
    left = [finding for finding in left if finding.explained_by and not finding.flaky]
    while left:
        votes: dict[tuple[object, str], list[int]] = {}
        for finding in left:
            for rank, rule in enumerate(finding.explained_by):
                vote = votes.setdefault((finding.blames, rule), [0, 0, 0])
                votes[finding.blames, rule] = [vote[0] + 1, vote[1] - rank, vote[2] + finding.alike]
        blames, rule = min(votes, key=lambda each: ([-count for count in votes[each]], each[1]))
        group = [f for f in left if f.blames == blames and rule in f.explained_by]
        left = [f for f in left if f not in group]
        merged[min(order[id(f)] for f in group)] = _merged(group, rule)
    return tuple(merged[place] for place in sorted(merged))


def _merged(group: list[Finding], rule: str) -> Finding:
    """Return the shortest of the findings that a rule explains, which counts them all."""
    shortest = min(group, key=lambda f: (bool(f.not_reduced), len(f.script.splitlines()), -f.alike))
    common = [r for r in shortest.explained_by if all(r in f.explained_by for f in group)]
    return replace(
        shortest,
        alike=sum(f.alike for f in group),
        explained_by=tuple(dict.fromkeys((rule, *common))),
        because=tuple(dict.fromkeys((rule, *common, *shortest.because))),
    )


def distinct_crashes(crashes: Iterable[Crash]) -> tuple[Crash, ...]:
    """One crash for each side, error and issue on record, the first, which counts the others."""
    kept: dict[object, Crash] = {}
    for crash in crashes:
        key = crash.side, crash.error, crash.known
        first = kept.get(key)
        kept[key] = crash if first is None else replace(first, alike=first.alike + crash.alike)
    return tuple(kept.values())
