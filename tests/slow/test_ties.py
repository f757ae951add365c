"""The four ties of every rule: cited by the reference, witnessed by a case, reached by programs, missed
when gone.

That a case's assertions hold on torch is ``test_cases``; that generated programs reach the rules is
``tests/quality``.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

import reference_impl
from reference_impl.base.rules import knocked_out
from specs.active_rules import modelling
from specs.case import Case, cases, run_case
from specs.rule import CHANGING_RELEASES, RULES

ROOT = Path(__file__).parents[2]
MARKS = ("by", "refuse", "refuse_by", "warn", "warn_once", "warn_or_hold")


@cache
def cited() -> frozenset[str]:
    """Every rule-shaped string in the reference and in the op bodies."""
    found: set[str] = set()
    for folder in ("reference_impl", "specs"):
        for path in (ROOT / folder).rglob("*.py"):
            if "cases" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                marks = isinstance(node, ast.Call) and getattr(node.func, "id", "") in MARKS and node.args
                if marks and isinstance(node.args[0], ast.Constant):
                    found.add(node.args[0].value)
                if isinstance(node, ast.Dict):
                    found |= {
                        v.value for v in node.values if isinstance(v, ast.Constant) and v.value in RULES
                    }
    return frozenset(found)


def test_every_rule_is_cited_by_the_reference() -> None:
    """No rule stands without a line that embodies it."""
    assert sorted(set(RULES) - cited()) == []


def test_every_citation_is_a_rule() -> None:
    """No line claims a rule that nobody wrote down."""
    assert sorted(cited() - set(RULES)) == []


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.id)
def test_the_reference_passes_every_case(case: Case) -> None:
    """A case holds on the reference, whichever torch it models of those that know the case's rules."""
    releases = [release for release in CHANGING_RELEASES if case.holds_for(release)]
    assert releases
    for release in releases:
        with modelling(release):
            result = run_case(case, reference_impl)
        assert result.passed, f"as torch {release}: {result}"


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_is_missed_when_it_is_knocked_out(rule: str) -> None:
    """Without the rule, one of the cases that name it fails: a rule nobody misses is decoration."""
    witnesses = [case for case in cases() if rule in case.rules]
    assert witnesses, f"no case names {rule}"
    killers = [case.id for case in witnesses if not _as_latest(case, rule)]
    assert killers, f"{rule} can be knocked out without any of {[case.id for case in witnesses]} failing"


def _as_latest(case: Case, without: str) -> bool:
    """True if the case passes without the rule, on the latest torch that knows all of its rules."""
    release = next(release for release in reversed(CHANGING_RELEASES) if case.holds_for(release))
    with modelling(release), knocked_out(without):
        return run_case(case, reference_impl).passed
