"""Commands on a terminal and in a pipe: nothing is cut."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import main
from terminals import check_width, lines_of, make_wide, read_from

ROOT = Path(__file__).parents[2]


def in_a_fork(arguments: list[str], columns: int) -> tuple[int, list[str]]:
    """Run a command line on a terminal, in a fork of the tests, which have imported everything already;
    return its exit code and its lines.
    """
    child, terminal = pty.fork()
    if child == 0:
        code = 1
        try:
            make_wide(1, columns)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os.environ.update(TERM="xterm")
            os.environ.pop("COLUMNS", None)
            sys.argv = ["autograd-conformance", *arguments]
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)  # noqa: SIM115
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else ended.code is not None
        finally:
            sys.stdout.flush()
            os._exit(code)
    read = b""
    while block := read_from(terminal):
        read += block
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, lines_of(read)


@pytest.mark.parametrize("command", ["", "grade", "run", "record", "rules", "ops", "observed"])
def test_help_fits(command):
    """Of every command, on a terminal of 80 columns."""
    code, lines = in_a_fork([*command.split(), "--help"], 80)
    check_width(lines, 80)
    assert code == 0
    assert lines


NULL = [
    "grade", "null", "--against", "reference", "--rules", "retain/*", "--programs", "5", "--source", "prng",
    "--findings", "9",
]  # fmt: skip


def check_findings(text, columns):
    """Assert that findings with their scripts are there, and fit."""
    check_width(text.splitlines(), columns)
    assert "null does not conform as far as retain/*" in text


def test_a_pipe_is_80_columns_wide():
    """Findings with their scripts fit as well."""
    usual = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    environment = usual | {"TERM": "xterm", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "conformance", *NULL]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    check_findings(done.stdout, 80)


def test_what_is_no_terminal_obeys_columns(cli, monkeypatch):
    """COLUMNS says how wide it is."""
    monkeypatch.setenv("COLUMNS", "60")
    check_findings(cli(*NULL)[1], 60)
