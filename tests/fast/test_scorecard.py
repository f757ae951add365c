"""The scorecard on a terminal: nothing is cut, a page is enough for what went well, and scores have areas."""

from __future__ import annotations

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from conformance.cli import screen
from conformance.report import Report, RuleResult, Status, terminal
from conformance.report.areas import APART, CHAPTERS, MEANING, Area, Score, area_of, scores
from reports import CRASH, FINDING, report
from specs.rule import RULES

LONG = "a reason that takes up more than half a line, as reasons do, " * 2
WIDE = replace(
    FINDING,
    line=f"b = a.mul({[0.5] * 30})",
    expected=str([0.5] * 30),
    because=tuple(RULES)[:20],
    explained_by=tuple(RULES)[:2],
    not_reduced=LONG,
    script=f"import torch\n\nb = torch.tensor({[0.5] * 30})\n# torch: {[0.5] * 30}\n",
    where="program 17, seen again on the device of a recording",
)


def of_status(status: Status, why: str = "", also: int = 0) -> dict[str, RuleResult]:
    """All rules with one status but for some that are held; ``also`` reasons are told apart."""
    return {
        rule: RuleResult(
            rule, status if index % 3 else Status.HELD, 12_345, 1_234_567, why=f"{why}{index % (also or 1)}"
        )
        for index, rule in enumerate(RULES)
    }


def printed(value: Report, width: int = 80, **how) -> list[str]:
    stream = io.StringIO()
    terminal.print_report(value, Console(file=stream, width=width), **how)
    return stream.getvalue().splitlines()


KNOWN = replace(CRASH, known="https://github.com/pytorch/pytorch/issues/196459")

EVERY = {
    rule: RuleResult(rule, list(Status)[index % len(Status)], why=LONG) for index, rule in enumerate(RULES)
}
REPORTS = {
    "all statuses": report(rules=EVERY, versions={f"package {n}": "1.2.3" for n in range(20)}),
    "findings": report(findings=(WIDE,) * 9, crashes=(replace(CRASH, error="SIGSEGV " * 30), KNOWN) * 5),
    "a selection": report(selection="view/*", elsewhere=(FINDING,), broken=(LONG,), known={"leaf/x": 3}),
    "unsupported": report(rules=of_status(Status.UNSUPPORTED, LONG, 50), device=f"cpu ({LONG})"),
    "not exercised": report(rules=of_status(Status.NOT_EXERCISED, LONG, 9)),
}


@pytest.mark.parametrize("value", REPORTS.values(), ids=REPORTS)
@pytest.mark.parametrize(
    "how", [{}, {"all_rules": True, "first": 9, "file": Path("report.json")}], ids=["short", "all"]
)
def test_nothing_is_cut_or_wider_than_the_terminal(value, how):
    text = printed(value, **how)
    assert [] == [line for line in text if len(line) > 80 or "\N{HORIZONTAL ELLIPSIS}" in line]


@pytest.mark.parametrize("name", ["unsupported", "not exercised"])
def test_what_conforms_is_told_in_a_page(name):
    """The scorecard stays short, however much is unsupported or not exercised."""
    assert 0 == REPORTS[name].exit_code
    assert len(printed(REPORTS[name])) < 80


def test_empty_columns_are_left_out():
    assert ["chapter", "held", "not", "exercised"] == printed(report())[2].split()


def test_every_rule_has_a_line_where_they_are_asked_for():
    lines = printed(report(rules=EVERY), all_rules=True)
    shown = {line.split()[0] for line in lines if line.startswith(" ")}
    assert {rule.partition("/")[2] for rule in RULES} <= shown


def test_scripts_are_printed_to_be_copied():
    """They have neither frame nor margin, and where they are broken they still run."""
    text = "\n".join(printed(REPORTS["findings"]))
    start = text.index("import torch")
    compile(text[start : text.index("\n\n", start + 20)], "shown", "exec")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({}, "more 6 findings: --json FILE writes them, --findings 9 prints them"),
        ({"file": Path("r.json")}, "more 6 findings: see r.json, --findings 9 prints them"),
        ({"first": 8}, "more 1 finding: --json FILE writes them, --findings 9 prints them"),
    ],
)
def test_what_is_not_printed_is_counted(how, said):
    assert said in [" ".join(line.split()) for line in printed(REPORTS["findings"], **how)]


def test_findings_of_programs_and_of_cases_are_told_apart():
    found = (FINDING, replace(FINDING, alike=2), replace(FINDING, where="case leaf/x", alike=1))
    assert "findings  2 by programs (5 programs), 1 by cases" in printed(report(findings=found))


def test_whole_chapters_go_by_name():
    rules = {rule: RuleResult(rule) for rule in RULES if rule.startswith("leaf/")}
    held = {"view/shares-storage": RuleResult("view/shares-storage", Status.HELD)}
    assert "not exercised  leaf/*" in printed(report(rules=rules | held))


def test_suspects_that_explain_most_come_first():
    names = ("leaf/op-result-is-no-leaf", "view/shares-storage", "grad/accumulates")
    rules = {rule: RuleResult(rule, Status.SUSPECT, explains=index) for index, rule in enumerate(names)}
    held = {rule: RuleResult(rule, Status.HELD) for rule in RULES if rule not in names}
    shown = " ".join(" ".join(printed(report(rules=held | rules))).split())
    assert f"suspect {', '.join(reversed(names))}" in shown


@pytest.mark.parametrize(
    ("columns", "terminal", "width"),
    [("100", False, 100), ("", False, 80), ("x", False, 80), ("60", True, 60)],
)
def test_a_pipe_is_80_columns_wide_unless_columns_says_otherwise(monkeypatch, columns, terminal, width):
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal, raising=False)
    assert width == screen.console().width


# -- areas


def test_every_rule_is_in_one_area():
    """The tables name chapters and rules that exist, each once, and none without need."""
    chapters = [chapter for area in CHAPTERS.values() for chapter in area]
    assert sorted({rule.chapter for rule in RULES.values()}) == sorted(chapters)
    assert set(Area) == set(map(area_of, RULES)) == set(MEANING)
    apart = [(rule, area) for area, rules in APART.items() for rule in rules]
    assert apart == [(rule, area_of(rule)) for rule, _ in apart]
    assert [] == [rule for rule, area in apart if RULES[rule].chapter in CHAPTERS[area]]


def test_a_score_is_of_what_is_claimed_and_of_all():
    rules = [
        RuleResult("leaf/op-result-is-no-leaf", Status.HELD),
        RuleResult("leaf/no-history-without-requires-grad", Status.UNSUPPORTED),
        RuleResult("grad/accumulates", Status.NOT_EXERCISED),
        RuleResult("save/freed-refused", Status.BROKEN),
    ]
    assert {Area.BOOKKEEPING: Score(1, 0, 2, 3), Area.ERRORS: Score(0, 0, 1, 1)} == scores(rules)
