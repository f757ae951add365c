"""The report as JUnit XML and as Markdown. The value itself, JSON and the terminal are ``test_report``."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree as Xml

import pytest

from conformance.report import Report, RuleResult, Status, Subject, Totals, Verdict, as_junit, as_markdown
from reports import CRASH, FINDING, report

RULE = "leaf/op-result-is-no-leaf"
CASE = replace(FINDING, where="case leaf/a_case", because=(RULE,))
FLAKY = replace(FINDING, where="program 20", blames=Verdict.CONFORMS, flaky=True)
KNOWN = replace(CRASH, known="pytorch#1")
NASTY = "a\x00\x1b[0m]]> & <b> \"'\n| `x` *y* \ud800 \N{GREEK SMALL LETTER ALPHA} \ufffe \U0001f600"
NOWHERE = RuleResult("device/copy-is-an-op", Status.NOT_EXERCISED, why="torch finds no CUDA device")


def ruled(status: Status) -> dict[str, RuleResult]:
    return {RULE: RuleResult(RULE, status, cases=2, cases_failed=1)}


REPORTS = {
    "all is well": report(),
    "a known crash": report(crashes=(KNOWN,)),
    "an unknown crash": report(crashes=(CRASH, KNOWN)),
    "a broken rule": report(rules=ruled(Status.BROKEN), findings=(FINDING, CASE)),
    "a broken rule without a finding": report(rules=ruled(Status.BROKEN)),
    "a suspect rule": report(rules=ruled(Status.SUSPECT), findings=(FINDING,)),
    "a flaky rule": report(rules=ruled(Status.FLAKY), findings=(FLAKY,)),
    "a stale case": report(findings=(replace(CASE, blames=Verdict.BROKEN_SUITE),)),
    "a broken adapter": report(broken=("facts() raised",)),
    "nothing compared": report(totals=Totals(), cases={"held": 0}),
    "nothing at all": Report(Subject("empty", "0"), "reference", 0, "prng", "cpu", {}),
}


def junit(value: Report) -> Xml.Element:
    return Xml.fromstring(as_junit.render(value).encode())


def by_name(value: Report) -> dict[str, Xml.Element]:
    """The test cases by name."""
    return {test.get("name", ""): test for test in junit(value).iter("testcase")}


@pytest.mark.parametrize("value", REPORTS.values(), ids=REPORTS)
def test_a_test_case_fails_where_the_check_does_not_conform(value):
    """The JUnit file alone gives the verdict of the exit code."""
    failing = [*junit(value).iter("failure"), *junit(value).iter("error")]
    assert (value.verdict is not Verdict.CONFORMS) is bool(failing)


@pytest.mark.parametrize("value", REPORTS.values(), ids=REPORTS)
def test_counts_are_those_of_the_test_cases(value):
    """The numbers on the whole and on each suite say what is in it, and names are told apart."""
    root = junit(value)
    for element in (root, *root):
        inside = list(element.iter("testcase"))
        assert len(inside) == int(element.get("tests", "")) == len({test.get("name") for test in inside})
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert len(list(element.iter(tag))) == int(element.get(attribute, ""))


def test_a_rule_is_a_test_case_of_its_area_and_chapter():
    """Suites are areas, in their order; each says what took part."""
    root = junit(report())
    assert ["bookkeeping", "in-place and views"] == [suite.get("name") for suite in root]
    assert [("leaf", RULE), ("view", "view/shares-storage")] == [
        (test.get("classname"), test.get("name")) for test in root.iter("testcase")
    ]
    for suite in root:
        told = {entry.get("name"): entry.get("value") for entry in suite.iter("property")}
        expected = {"seed": "1", "source": "prng", "device": "cpu", "version of torch": "2.13.0"}
        assert expected.items() <= told.items()


def test_a_broken_rule_fails_with_its_case():
    """The failure shows the case that convicts the rule, in all it has, and counts the programs; the case is
    no failure of its own.
    """
    found = by_name(report(rules=ruled(Status.BROKEN), findings=(FINDING, CASE)))
    assert {RULE, "program 17: b.is_leaf"} == set(found)
    (failure,) = found[RULE]
    assert ("failure", "broken") == (failure.tag, failure.get("type"))
    assert "case leaf/a_case" in failure.get("message", "")
    assert "and 1 more that name it" in (failure.text or "")
    for words in (CASE.line, "b.is_leaf", "torch: False", "mine: True", f"because: {RULE}", CASE.script):
        assert words in (failure.text or "")


@pytest.mark.parametrize("status", [Status.SUSPECT, Status.FLAKY])
def test_the_type_of_a_failure_says_which(status):
    """A suspect rule and a flaky one fail, each as that, with the program that says so."""
    found = by_name(REPORTS[f"a {status} rule"])
    (failure,) = found[RULE]
    assert str(status) == failure.get("type")
    kinds = {test[0].get("type") for name, test in found.items() if name.startswith("program")}
    assert {"flaky" if status is Status.FLAKY else "divergence"} == kinds


def test_a_rule_that_nothing_reached_is_skipped_with_the_reason():
    """Skipped is not passed, and says why."""
    value = report(rules={NOWHERE.id: NOWHERE})
    (skipped,) = by_name(value)[NOWHERE.id]
    assert ("skipped", "not exercised", NOWHERE.why) == (
        skipped.tag,
        skipped.get("type"),
        skipped.get("message"),
    )


def test_only_crashes_that_are_not_on_record_are_errors():
    """A new crash is an error with its program; one on record is no test case."""
    (error,) = junit(REPORTS["an unknown crash"]).iter("error")
    assert ("crash", CRASH.script) == (error.get("type"), error.text)
    assert "SIGSEGV" in error.get("message", "")


def test_no_text_breaks_the_xml():
    """Control characters, halves of characters and markup come out as text or escapes, never as bad XML."""
    nasty = replace(FINDING, expected=NASTY, script=NASTY, line=NASTY, where=NASTY)
    value = report(findings=(nasty,), broken=(NASTY,), device=NASTY, crashes=(replace(CRASH, error=NASTY),))
    (failure,) = junit(value).iter("failure")
    said = failure.text or ""
    greek, smile = "\N{GREEK SMALL LETTER ALPHA}", "\U0001f600"
    for shown in (r"a\x00\x1b[0m]]> & <b>", r"\ud800", r"\ufffe", greek, smile):
        assert shown in said


# -- Markdown ----------------------------------------------------------------------------------------
def cells(line: str) -> list[str]:
    """The cells of a row, as GitHub takes it apart."""
    return re.split(r"(?<!\\)\|", line)[1:-1]


def rows(text: str) -> dict[str, list[str]]:
    return {cells(line)[0].strip(): cells(line) for line in text.splitlines() if line.startswith("| ")}


def test_a_summary_says_what_a_reader_of_ci_asks():
    """Verdict, who, counts, versions, seed and device, rules by chapter, the divergence and the crash."""
    value = report(
        rules=ruled(Status.BROKEN) | {NOWHERE.id: NOWHERE},
        findings=(FINDING,),
        crashes=(KNOWN, CRASH),
        device="cpu (there is no c++)",
    )
    text = as_markdown.render(value)
    assert text.startswith("## mine broken suite")
    for words in (
        "mine 1.0 against torch",
        "seed | 1, source prng, device cpu (there is no c++) |",
        "- programs that move between devices, on cpu (there is no c++)",
        "- rules (torch finds no CUDA device): device/copy-is-an-op",
        "| chapter | held | broken | not exercised |",
        "| bookkeeping | 0 | 1 | 1 |",
        "| leaf |  | 1 |  |",
        "| **all** |  | 1 | 1 |",
        f"- broken: {RULE}",
        "#### program 17: the implementation differs",
        "| fact | `b.is_leaf` |",
        f"| because | `{RULE}` |",
        f"```python\n{FINDING.script}```\n",
    ):
        assert words in text
    assert text.index("SIGSEGV: not on record") < text.index("SIGSEGV: known: pytorch#1")


def test_only_the_first_divergences_are_told():
    """A summary stays short, and says how many there are."""
    found = tuple(replace(FINDING, where=f"program {index}") for index in range(9))
    text = as_markdown.render(report(findings=found))
    assert "### Divergences (the first 3 of 9)" in text
    assert "program 2:" in text
    assert "program 3:" not in text


def test_no_text_breaks_a_table_or_a_block():
    """A row has as many cells as its header whatever is in it, and backticks end no block."""
    nasty = replace(FINDING, expected=NASTY, actual="", sides=("a|b", "c"), script="x = '```'\n", line="`|`")
    text = as_markdown.render(report(findings=(nasty,), device="a|b\n<i>"))
    found = rows(text)
    for label in ("at", r"a\|b", "c", "seed"):
        assert 2 == len(found[label])
    assert r" 1, source prng, device a\|b \<i\> " == found["seed"][1]
    assert r" `` `\|` `` " == found["at"][1]
    assert "````python\nx = '```'\n````\n" in text


@pytest.mark.parametrize("form", [as_junit, as_markdown])
def test_times_are_told_only_when_measured(form):
    """Two runs of one seed write the same bytes."""
    timed = report(times={"programs": 1.5})
    assert form.render(report()) == form.render(timed.without_times())
