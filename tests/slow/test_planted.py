"""Bugs planted in real torch: each is found, and the rule that it breaks is the one convicted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance import check
from conformance.report import Report, Status

ADAPTERS = Path(__file__).parents[1] / "adapters"
sys.path.append(str(ADAPTERS))

from planted import BUGS  # noqa: E402

RARE = {"flag_of_a_non_leaf_dropped": 800}
"""Programs that it takes to meet a bug that few programs meet."""


@pytest.fixture(autouse=True)
def _found_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ADAPTERS))


def convicts(report: Report, rule: str, others: int = 5) -> None:
    """Assert that the rule is broken, or the first suspect, and that few others are blamed with it."""
    blamed = report.broken_rules
    assert report.exit_code == 1
    assert report.rules[rule].status is Status.BROKEN or blamed[:1] == (rule,), blamed
    assert len(set(blamed) - {rule}) <= others, blamed


@pytest.mark.parametrize("bug", BUGS)
def test_cases_convict_the_rule_that_a_bug_breaks(bug: str) -> None:
    """Everything else that fails is put down to it."""
    convicts(check(f"planted:having.{bug}", against="reference", programs=0), BUGS[bug][0])


@pytest.mark.parametrize("bug", BUGS)
def test_programs_alone_find_the_rule_that_a_bug_breaks(bug: str) -> None:
    """Without cases the programs that differ name it."""
    programs = RARE.get(bug, 200)
    report = check(
        f"planted:having.{bug}", against="reference", programs=programs, source="prng", cases=False
    )
    convicts(report, BUGS[bug][0])
