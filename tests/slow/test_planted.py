"""Bugs planted in real torch: each is found, and the rule that it breaks is the one convicted.

A fourth of them each time; all of them under the profile ``soak``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance import check
from conformance.grading.cases import run_cases
from conformance.report import Report, Status
from conformance.report.value import Witnessed

ADAPTERS = Path(__file__).parents[1] / "adapters"
sys.path.append(str(ADAPTERS))

from planted import BUGS  # noqa: E402

RARE = {"flag_of_a_non_leaf_dropped": 800, "hooks_in_reverse": 300}
"""Programs that it takes to meet a bug that few programs meet."""
NAMED_BY_PROGRAMS = {"tensors_are_packed_twice": "save/only-what-a-formula-needs"}
"""Bugs whose rule only cases can show, with the rule that programs name instead."""
OTHERS = 5
"""The most other rules that may be blamed with it."""
TRIED = list(BUGS) if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else list(BUGS)[::4]


@pytest.fixture(autouse=True)
def _found_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ADAPTERS))


@cache
def _of_the_reference(cases: tuple[Any, ...], workers: int) -> tuple[Witnessed, ...]:
    return tuple(run_cases("reference", cases, workers))


@pytest.fixture(autouse=True)
def _reference_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference, which is right each time, runs the cases once for all bugs."""

    def run(side: str, cases: Any, workers: int, **options: Any) -> Iterator[Witnessed]:
        if side == "reference":
            return iter(_of_the_reference(tuple(cases), workers))
        return run_cases(side, cases, workers, **options)

    monkeypatch.setattr("conformance.grading.check.run_cases", run)


def convicts(report: Report, rule: str) -> None:
    """Assert that the rule is broken, or the first suspect, and that few others are blamed with it."""
    blamed = report.broken_rules
    assert report.exit_code == 1
    assert report.rules[rule].status is Status.BROKEN or blamed[:1] == (rule,), blamed
    assert len(set(blamed) - {rule}) <= OTHERS, blamed


@pytest.mark.parametrize("bug", TRIED)
def test_cases_convict_the_rule_that_a_bug_breaks(bug: str) -> None:
    """Everything else that fails is put down to it."""
    report = check(f"planted:having.{bug}", against="reference", programs=0, workers=1)
    convicts(report, BUGS[bug][0])


@pytest.mark.parametrize("bug", TRIED)
def test_programs_alone_find_the_rule_that_a_bug_breaks(bug: str) -> None:
    """Without cases the programs that differ name it."""
    programs = RARE.get(bug, 200)
    options = {"programs": programs, "source": "prng", "cases": False, "workers": 1}
    report = check(f"planted:having.{bug}", against="reference", **options)
    convicts(report, NAMED_BY_PROGRAMS.get(bug, BUGS[bug][0]))
