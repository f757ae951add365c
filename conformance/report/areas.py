"""The areas of autograd in which scores are given, from the plainest to what only a copy of torch has.

This is the one place that says which area a rule belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from conformance.report.value import RuleResult, Status
from specs.rule import RULES


class Area(StrEnum):
    """The areas, in the order of what users rely on."""

    VALUES = "values"
    BOOKKEEPING = "bookkeeping"
    IN_PLACE = "in-place and views"
    ERRORS = "errors"
    HOOKS = "hooks and double"
    EXACT = "torch-exact"


MEANING = {
    Area.VALUES: "the numbers: results and gradients",
    Area.BOOKKEEPING: "leaves, flags, modes, and what fills .grad",
    Area.IN_PLACE: "writes, views, versions, and what is saved",
    Area.ERRORS: "what is refused, by which rule",
    Area.HOOKS: "hooks, custom functions, double backward",
    Area.EXACT: "warnings, devices, rarer features, the library around tensors",
}

CHAPTERS = {
    Area.VALUES: ("op",),
    Area.BOOKKEEPING: (
        "backward", "grad", "grad_call", "leaf", "mode", "nn", "optim", "requires_grad", "retain",
    ),
    Area.IN_PLACE: ("copy", "data", "detach", "save", "version", "view", "write"),
    Area.HOOKS: ("double", "function", "hook"),
    Area.EXACT: (
        "anomaly", "checkpoint", "device", "edge", "forward", "functional", "gradcheck", "inference",
        "resize", "saved_hooks", "window",
    ),
}  # fmt: skip
"""The chapters of each area. Of these, core rules that refuse are ``errors``; rules that are not core, or
warn, are ``torch-exact``.
"""

APART = {
    Area.VALUES: (
        "backward/gradient-is-upstream",
        "backward/implicit-one",
        "backward/leaf-root",
        "backward/several-roots",
        "copy/tensor-copies",
        "grad/reduces-broadcast",
        "grad/sums-paths",
        "grad_call/non-leaf-input",
        "grad_call/outputs-are-summed",
        "nn/loss-is-the-mean",
    ),
    Area.EXACT: ("backward/accumulate-first", "backward/latest-first", "leaf/edges-end-in-accumulators"),
}
"""The rules that belong elsewhere than their chapter."""

_OF_CHAPTER = {chapter: area for area, chapters in CHAPTERS.items() for chapter in chapters}
_OF_RULE = {rule: area for area, rules in APART.items() for rule in rules}


def area_of(id: str) -> Area:
    """Return the area of a rule."""
    rule, usual = RULES[id], _OF_CHAPTER[RULES[id].chapter]
    if rule.level != "core" or rule.warns or usual is Area.EXACT:
        return Area.EXACT
    return Area.ERRORS if rule.refuses else _OF_RULE.get(id, usual)


class Score(NamedTuple):
    """The rules of an area: those that were held, those expected not to hold, those that the capabilities do
    not exclude, and all.
    """

    held: int
    expected: int
    claimed: int
    all: int


def table_of_scores(rules: Iterable[RuleResult]) -> list[tuple[str, ...]]:
    """Return the scores as a heading and rows; a column in which nothing is expected is left out."""
    found = scores(rules)
    kept = [name for name in Score._fields if name != "expected" or any(s.expected for s in found.values())]
    rows = [(str(area), *(str(getattr(score, name)) for name in kept)) for area, score in found.items()]
    return [("area", *kept), *rows]


def scores(rules: Iterable[RuleResult]) -> Mapping[Area, Score]:
    """Return the score in each area that has rules among these."""
    found: dict[Area, list[Status]] = {area: [] for area in Area}
    for rule in rules:
        found[area_of(rule.id)].append(rule.status)
    return {
        area: Score(
            sum(status is Status.HELD for status in statuses),
            sum(status is Status.EXPECTED for status in statuses),
            sum(status is not Status.UNSUPPORTED for status in statuses),
            len(statuses),
        )
        for area, statuses in found.items()
        if statuses
    }
