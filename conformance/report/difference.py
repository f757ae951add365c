"""The differences between two reports of one implementation, rule by rule: better, worse, newly claimed.

Reports are read as the JSON that ``grade --json`` writes; how they are made lives in ``as_json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from conformance.report.value import Status

RANK = {
    Status.HELD: 2,
    Status.EXPECTED: 1,
    Status.NOT_EXERCISED: 1,
    Status.BLOCKED: 1,
    Status.UNSUPPORTED: 1,
    Status.FLAKY: 0,
    Status.SUSPECT: 0,
    Status.BROKEN: 0,
}
"""The statuses from good to bad; those between say neither that a rule holds nor that it does not."""


class Trend(StrEnum):
    """The ways in which the status of a rule changes from one report to the next."""

    WORSE = "worse"
    BETTER = "better"
    CLAIMED = "newly claimed"
    DROPPED = "no longer claimed"
    OTHER = "otherwise"
    ADDED = "in the new one alone"
    GONE = "in the old one alone"


@dataclass(frozen=True, slots=True)
class Changed:
    """A rule whose status is another: the old and the new one, nothing where a report does not have it."""

    rule: str
    old: str
    new: str
    change: Trend


@dataclass(frozen=True, slots=True)
class Difference:
    """The rules that differ between two reports, the verdicts, and what was not asked for alike."""

    verdicts: tuple[str, str]
    changed: tuple[Changed, ...]
    unlike: tuple[str, ...]

    @property
    def worse(self) -> bool:
        """True if some rule got worse, or the verdict did."""
        old, new = self.verdicts
        fell = new != old and GOOD.get(new, 0) < GOOD.get(old, 0)
        return fell or any(each.change is Trend.WORSE for each in self.changed)


GOOD = {"conforms": 2, "nonconformance": 1}


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> Difference:
    """Return what changed between two reports."""
    rules = dict.fromkeys((*old["rules"], *new["rules"]))
    statuses = [(rule, _status(old, rule), _status(new, rule)) for rule in rules]
    changed = tuple(Changed(rule, a, b, _change(a, b)) for rule, a, b in statuses if a != b)
    return Difference((old["verdict"], new["verdict"]), changed, tuple(_unlike(old, new)))


def _status(report: Mapping[str, Any], rule: str) -> str:
    return str(report["rules"].get(rule, {}).get("status", ""))


def _change(old: str, new: str) -> Trend:
    if not (old and new):
        return Trend.ADDED if new else Trend.GONE
    before, after = RANK[Status(old)], RANK[Status(new)]
    if after == 0 and before != 0:
        return Trend.WORSE
    if old == Status.UNSUPPORTED:
        return Trend.CLAIMED
    if new == Status.UNSUPPORTED:
        return Trend.WORSE if before == 2 else Trend.DROPPED
    if before == after:
        return Trend.OTHER
    return Trend.BETTER if after > before else Trend.WORSE


def _unlike(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the settings in which the reports differ, in words."""
    told = []
    for key in ("subject", "against", "selection", "seed", "source", "device"):
        before, after = ("/".join(r[key].values()) if key == "subject" else r[key] for r in (old, new))
        if before != after:
            told.append(f"{key} {before}, then {after}")
    counts = [report["totals"]["programs"] for report in (old, new)]
    return told + ([f"programs {counts[0]:,}, then {counts[1]:,}"] if counts[0] != counts[1] else [])
