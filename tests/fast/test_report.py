"""The report as a value, as JSON and on a terminal. How reports come about is tested in ``test_check``."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import jsonschema
import pytest
from rich.console import Console

from conformance.execution import json_form
from conformance.report import Crash, Report, RuleResult, Status, Subject, Totals, Verdict, as_json, terminal
from reports import CRASH, FINDING, report


def printed(value: Report) -> str:
    stream = io.StringIO()
    terminal.print_report(value, Console(file=stream, width=80))
    return stream.getvalue()


@pytest.mark.parametrize(
    "value",
    [
        report(),
        report(findings=(FINDING,), crashes=(CRASH,), incomparable={"density": 2}, broken=("no facts",)),
        report(times={"programs": 1.23456}),
        Report(
            Subject("empty", "0"),
            "reference",
            0,
            "hypothesis",
            "cpu",
            {},
            cases={"held": 0, "broken": 0, "unsupported": 0, "not exercised": 0},
        ),
    ],
)
def test_json_keeps_to_its_schema(value):
    """The JSON of a report keeps to the published schema, whatever the report holds."""
    jsonschema.Draft202012Validator.check_schema(json_form.schema("report"))
    jsonschema.validate(as_json.report_form(value), json_form.schema("report"))


def test_the_schema_refuses_what_it_does_not_name():
    """A misspelt key or an unknown status is an error, so that the schema test can fail."""
    for spoil in ({"total": {}}, {"exit_code": 7}, {"rules": {"leaf/x": {"status": "fine"}}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(as_json.report_form(report()) | spoil, json_form.schema("report"))


def test_times_are_in_the_json_only_when_measured():
    """Two runs of one seed write the same bytes, because times are left out unless asked for."""
    assert "times" not in json.loads(as_json.render(report()))
    assert as_json.render(report()) == as_json.render(report(times={"all": 2.0}).without_times())
    assert json.loads(as_json.render(report(times={"all": 2.0})))["times"] == {"all": 2.0}


@pytest.mark.parametrize(
    ("verdict", "changed"),
    [
        (Verdict.CONFORMS, {}),
        (Verdict.NONCONFORMANCE, {"findings": (FINDING,)}),
        (Verdict.NONCONFORMANCE, {"rules": {"a/b": RuleResult("a/b", Status.BROKEN)}}),
        (Verdict.BROKEN_SUITE, {"crashes": (CRASH,)}),
        (Verdict.BROKEN_ADAPTER, {"broken": ("facts() raised",)}),
        (Verdict.BROKEN_ADAPTER, {"totals": Totals(), "cases": {"held": 0}}),
    ],
)
def test_the_worst_finding_is_the_verdict(verdict, changed):
    """Each kind of failure has its own verdict, and comparing nothing is never conformance."""
    assert verdict == report(**changed).verdict


def test_a_known_crash_fails_nothing():
    """A crash on record is counted and shown, and the run still conforms."""
    known = Crash(
        "program 4", "torch", Verdict.BROKEN_SUITE, "SIGSEGV", "import torch\n", known="pytorch#196459"
    )
    value = report(crashes=(known,))
    assert Verdict.CONFORMS == value.verdict
    assert "pytorch#196459" in printed(value)


def test_totals_add_up():
    """Chunks of a campaign are summed count by count."""
    assert Totals(programs=3, agree=2, steps=7) == Totals(programs=1, agree=1) + Totals(
        programs=2, agree=1, steps=7
    )


def test_the_scorecard_names_chapters_and_what_they_rest_on():
    """A reader sees each chapter, what was not exercised, the divergence with its because and script, and the
    seed.
    """
    text = printed(report(findings=(FINDING,)))
    for words in (
        "leaf ",
        "not exercised  view/shares-storage",
        "program 17",
        "b.is_leaf",
        "because",
        "seed",
        "does not conform",
    ):
        assert words in text
    for line in FINDING.script.splitlines():
        assert line in text


def test_cases_that_crash_alike_are_told_once():
    """The same error has one cause; programs, and other errors, are told by themselves."""
    crash = replace(FINDING, where="case a/b", actual="crashed: TypeError: no", script="x\n")
    longer = [replace(crash, where=f"case a/{n}", script="x\n" * n) for n in (3, 2)]
    other = replace(crash, where="case a/o", actual="crashed: TypeError: other")
    differs = [replace(crash, where=f"case a/d{n}", actual="expected 1, got 2") for n in range(2)]
    program = replace(crash, where="program 1")
    value = report(findings=(*longer, crash, other, *differs, program))
    assert (
        replace(crash, alike=crash.alike + sum(one.alike for one in longer)),
        other,
        *differs,
        program,
    ) == value.told
    assert "2 findings: --json" in printed(value)
