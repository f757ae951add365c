"""Programs judged and programs not run are all that were asked for, and it is said why some were not run."""

from __future__ import annotations

import json
import sys

import jsonschema
import pytest

import conformance
from conformance.cli import main
from conformance.execution import json_form
from conformance.execution.isolate import ProcessesKilled
from conformance.grading import check, chunks
from conformance.report import Totals, as_json, as_junit, gaps, words
from conformance.report.value import INTERRUPTED, PROCESSES_KILLED, Ending
from reports import FINDING, report

NOTHING_RUN = {"totals": Totals(), "asked": 10, "unrun": 10}


@pytest.mark.parametrize("unrun", [0, 1, 10])
def test_a_report_that_loses_programs_cannot_be_made(unrun):
    with pytest.raises(ValueError, match="10 programs run and"):
        report(asked=12, unrun=unrun)
    assert 12 == report(asked=12, unrun=2).asked


@pytest.mark.parametrize(
    ("ended", "code"), [(Ending.INTERRUPTED, INTERRUPTED), (Ending.KILLED, PROCESSES_KILLED)]
)
def test_what_ended_a_check_from_outside_is_no_verdict(ended, code):
    """It has an exit code of its own, unless something was found before; nothing run is no conformance."""
    some, none = report(asked=12, unrun=2, ended=ended), report(**NOTHING_RUN, ended=ended)
    found = report(asked=12, unrun=2, ended=ended, findings=(FINDING,))
    assert [code, code, 1] == [each.exit_code for each in (some, none, found)]
    assert f"mine conforms, as far as it was run: {ended}" == words.verdict(some)
    assert f"mine: no program was run: {ended}" == words.verdict(none)
    assert "2 programs" in gaps.programs_not_run(some)[0]
    assert 'errors="1"' in as_junit.render(none)
    jsonschema.validate(as_json.report_form(some), json_form.schema("report"))


@pytest.mark.parametrize("ended", [Ending.STOPPED, Ending.BROKEN, Ending.FEWER])
def test_other_endings_change_no_verdict(ended):
    assert (0, "mine conforms") == (report(ended=ended).exit_code, words.verdict(report(ended=ended)))


def test_what_fail_fast_left_counts_as_not_run():
    """Within a chunk as well as after it."""
    options = {"against": "reference", "source": "prng", "programs": 250, "workers": 1, "cases": False}
    found = conformance.check("null", fail_fast=True, **options)
    assert (250, Ending.STOPPED) == (found.totals.programs + found.unrun, found.ended)
    assert 0 < found.totals.programs < 250


def kills(after: int):
    """A machine that kills the suite's processes after so many results."""

    def survive(function, items, *_, **__):
        for item in list(items)[:after]:
            yield function(item)
        raise ProcessesKilled("SIGKILL")

    return survive


@pytest.mark.parametrize("after", [0, 1])
def test_a_machine_that_goes_on_killing_ends_with_a_report(monkeypatch, capsys, tmp_path, after):
    """It is said in those words, and has its exit code."""
    monkeypatch.setattr(chunks, "survive", kills(after))
    file = tmp_path / "x.json"
    options = ["--against", "reference", "--source", "prng", "--programs", "150", "--no-cases"]
    monkeypatch.setattr(sys, "argv", ["x", "grade", "reference", *options, "--json", str(file)])
    with pytest.raises(SystemExit) as exited:
        main()
    assert PROCESSES_KILLED == exited.value.code
    assert "the machine keeps killing the suite's processes" in " ".join(capsys.readouterr().out.split())
    assert 150 - 100 * after == json.loads(file.read_text(encoding="utf-8"))["unrun"]


def test_one_that_kills_during_the_cases_does_too(monkeypatch):
    monkeypatch.setattr(check, "run_cases", kills(0))
    found = conformance.check("reference", against="reference", programs=7)
    assert (PROCESSES_KILLED, 7) == (found.exit_code, found.unrun)
