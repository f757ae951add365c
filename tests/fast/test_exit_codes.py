"""One table of exit codes: code, README and ``--help`` agree; an error of the suite itself has its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance import cli
from conformance.report.exit_codes import EXIT_CODES
from conformance.report.value import Verdict

README = Path(__file__).parents[2] / "README.md"


def test_every_verdict_has_an_exit_code():
    assert set(EXIT_CODES) >= set(Verdict)


def test_the_readme_shows_the_table():
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(str(int(code)), meaning) for code, meaning in EXIT_CODES.items()] == rows


@pytest.mark.parametrize("arguments", [["--help"], ["grade", "--help"]], ids=" ".join)
def test_help_shows_the_table(arguments):
    shown = " ".join(CliRunner().invoke(cli.app, arguments).output.split())
    for code, meaning in EXIT_CODES.items():
        assert f"{int(code)}: {meaning}" in shown


def test_an_error_of_the_suite_itself_is_one_line_and_a_traceback_in_a_file(monkeypatch, capsys):
    """It exits with 5, so that nobody takes it for a verdict."""

    def fails(**_):
        raise KeyError("boo")

    monkeypatch.setattr(cli, "app", fails)
    with pytest.raises(SystemExit) as exited:
        cli.main()
    line = capsys.readouterr().err
    file = Path(re.search(r"traceback in (\S+)\)", line)[1])
    assert (5, 1) == (exited.value.code, len(line.splitlines()))
    assert "in fails" in file.read_text(encoding="utf-8")
    file.unlink()
