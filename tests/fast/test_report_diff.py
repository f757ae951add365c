"""Two reports compared: worse, better and newly claimed rules, and the exit code that says so."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from conformance.cli import main
from conformance.report import Status, as_json
from conformance.report.difference import Trend, difference
from reports import FINDING, report

RULE = "leaf/op-result-is-no-leaf"


def with_status(status: Status):
    return report(rules={RULE: replace(report().rules[RULE], status=status)})


CHANGES = [
    (Status.HELD, Status.BROKEN, Trend.WORSE),
    (Status.HELD, Status.NOT_EXERCISED, Trend.WORSE),
    (Status.HELD, Status.UNSUPPORTED, Trend.WORSE),
    (Status.HELD, Status.EXPECTED, Trend.WORSE),
    (Status.UNSUPPORTED, Status.BROKEN, Trend.WORSE),
    (Status.UNSUPPORTED, Status.HELD, Trend.CLAIMED),
    (Status.BROKEN, Status.UNSUPPORTED, Trend.DROPPED),
    (Status.BROKEN, Status.HELD, Trend.BETTER),
    (Status.BROKEN, Status.EXPECTED, Trend.BETTER),
    (Status.SUSPECT, Status.BROKEN, Trend.OTHER),
]


@pytest.mark.parametrize(("old", "new", "change"), CHANGES)
def test_a_change_of_status_has_a_name(old, new, change):
    found = difference(*(as_json.report_form(with_status(status)) for status in (old, new)))
    assert [change] == [each.change for each in found.changed]
    assert (change is Trend.WORSE) is any(each.change is Trend.WORSE for each in found.changed)


def test_reports_that_were_asked_otherwise_say_so():
    forms = [as_json.report_form(value) for value in (report(), report(seed=2))]
    assert ("seed 1, then 2",) == difference(*forms).unlike


@pytest.fixture
def diff(monkeypatch, capfd, tmp_path):
    """Calls `report diff` on two texts; gives exit code, standard output and standard error."""

    def call(*texts: str) -> tuple[int, str, str]:
        files = [tmp_path / f"{number}.json" for number in range(2)]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text)
        monkeypatch.setattr(sys, "argv", ["autograd-conformance", "report", "diff", *map(str, files)])
        with pytest.raises(SystemExit) as exited:
            main()
        return int(exited.value.code or 0), *capfd.readouterr()

    return call


def test_worse_is_exit_code_1(diff):
    held, broken = (as_json.render(with_status(status)) for status in (Status.HELD, Status.BROKEN))
    assert [1, 0, 0] == [diff(*pair)[0] for pair in ((held, broken), (broken, held), (held, held))]


def test_a_worse_verdict_is_worse():
    """Programs may find what no rule's status tells."""
    forms = [as_json.report_form(value) for value in (report(), report(findings=(FINDING,)))]
    assert [True, False] == [difference(*forms).worse, difference(*forms[::-1]).worse]


@pytest.mark.parametrize("text", ["", "[]", "{}", "\ud800".encode("utf-8", "replace").decode()])
def test_what_is_no_report_is_told_in_a_line(diff, text):
    code, _, error = diff(text, as_json.render(report()))
    assert 2 == code
    assert error.startswith("error: ")
    assert 1 == error.count("\n")
