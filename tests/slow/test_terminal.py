"""The whole command on a terminal and in a pipe: nothing is cut, and a page is enough if all goes well."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from conformance.cli import main

ROOT = Path(__file__).parents[2]
GRADE = [sys.executable, "-m", "conformance", "grade"]
CODES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\r")


def environment(**changed: str) -> dict[str, str]:
    usual = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    return usual | {"TERM": "xterm", "PYTHONPATH": str(ROOT), **changed}


def on_a_terminal(command: list[str], columns: int) -> tuple[int, list[str]]:
    """Run a command whose standard output is a terminal; return its exit code and its lines."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env=environment()) as process:
        os.close(theirs)
        read = b""
        while block := _read(ours):
            read += block
    os.close(ours)
    return process.returncode, CODES.sub("", read.decode()).splitlines()


def in_a_fork(arguments: list[str], columns: int) -> tuple[int, list[str]]:
    """The same of a command line in a fork of the tests, which have imported everything already."""
    child, terminal = pty.fork()
    if child == 0:
        code = 1
        try:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
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
    while block := _read(terminal):
        read += block
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, CODES.sub("", read.decode()).splitlines()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


def check(lines: list[str], columns: int) -> None:
    assert [] == [line for line in lines if len(line) > columns or "\N{HORIZONTAL ELLIPSIS}" in line]


@pytest.mark.parametrize("command", ["", "grade", "run", "record", "rules", "ops", "observed"])
def test_help_fits(command):
    """Of every command, on a terminal of 80 columns."""
    code, lines = in_a_fork([*command.split(), "--help"], 80)
    check(lines, 80)
    assert code == 0
    assert lines


def test_a_conforming_run_is_a_page_on_a_terminal():
    code, lines = on_a_terminal([*GRADE, "--programs", "10"], 80)
    check(lines, 80)
    assert (0, "reference conforms") == (code, lines[-1])
    assert len(lines) < 80


@pytest.mark.parametrize(("changed", "columns"), [({}, 80), ({"COLUMNS": "60"}, 60)])
def test_a_pipe_obeys_columns(changed, columns):
    """Findings with their scripts fit as well."""
    command = [
        *GRADE,
        "null",
        "--against",
        "reference",
        "--rules",
        "retain/*",
        "--programs",
        "5",
        "--source",
        "prng",
        "--findings",
        "9",
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(**changed))
    check(done.stdout.splitlines(), columns)
    assert "null does not conform as far as retain/*" in done.stdout
