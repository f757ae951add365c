"""Files without an end or a writer, or larger than memory, are refused in a line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import conformance
from conformance.cli import main
from conformance.input_files import TEXT, read_file, read_lines
from sources import ROOT

pytestmark = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a POSIX system")

COMMANDS = {
    "run": lambda file: ("run", file),
    "explain": lambda file: ("explain", file),
    "grade --expect": lambda file: ("grade", "reference", "--expect", file),
    "grade --recording": lambda file: ("grade", "reference", "--against", "recorded", "--recording", file),
    "record --drop": lambda file: ("record", "--out", file, "--drop", "leaf/x"),
    "report diff": lambda file: ("report", "diff", file, file),
    "an adapter": lambda file: ("grade", file),
}
FILES = ("/dev/zero", "/dev/urandom", "pipe", "folder", "sparse", "/dev/null", "nothing")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with a pipe that nobody writes to, a folder, and a file of ten gigabytes."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10 << 30)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_no_file_that_ends_is_refused_in_a_line(place, monkeypatch, capfd, command, file):
    """It is wrong usage."""
    if (file, command) == ("/dev/null", COMMANDS["grade --expect"]):
        return  # no expectations
    monkeypatch.setattr(sys, "argv", ["x", *command(file)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr().err
    assert (2, 1) == (ended.value.code, len(said.splitlines())), said
    assert said.startswith("error: ")


def test_a_limit_is_named(place):
    with pytest.raises(OSError, match="it is larger than 4 MB"):
        conformance.explain(place / "sparse")
    with pytest.raises(OSError, match="it is larger than 4 MB"):
        read_file(Path("/dev/zero"), TEXT)
    with pytest.raises(OSError, match="it is a named pipe"):
        read_file(place / "pipe", TEXT)


def test_standard_input_without_an_end_is_refused():
    with open("/dev/zero", "rb") as zeros:
        command = [sys.executable, "-m", "conformance", "explain", "-"]
        ended = subprocess.run(command, stdin=zeros, cwd=ROOT, capture_output=True, text=True)
    assert (2, 1) == (ended.returncode, ended.stderr.count("\n")), ended.stderr


def test_a_pipe_of_the_shell_is_read(tmp_path):
    """It has its writer, and a carriage return before a line's end is none of the line's."""
    ours, theirs = os.pipe()
    os.write(theirs, b"x = 1\r\ny = 2\n")
    os.close(theirs)
    try:
        assert "x = 1\ny = 2\n" == read_lines(Path(f"/dev/fd/{ours}"), TEXT)
    finally:
        os.close(ours)


NAMED_LIKE = ("types", "queue", "random", "json", "copy", "multiprocessing", "numpy", "torch", "hypothesis")


@pytest.mark.parametrize(
    ("arguments", "last"),
    [
        (("grade", "--no-cases", "--programs", "3", "--device", "cpu"), "reference conforms"),
        (("explain", "script.py"), "prints [1.0, 1.0]"),
        (("adapter", "smoke", "mine.py"), "agree: it works"),
    ],
    ids=["grade", "explain", "smoke"],
)
def test_files_that_are_named_like_modules_disturb_nobody(tmp_path, arguments, last):
    """A folder often has a `random.py` or a `types.py`; the command finds the modules that it means."""
    for name in NAMED_LIKE:
        (tmp_path / f"{name}.py").write_text("raise SystemExit(0)\n", encoding="utf-8")
    (tmp_path / "script.py").write_text("print([1.0, 1.0])\n", encoding="utf-8")
    (tmp_path / "mine.py").write_text(
        "from conformance.adapters import load_here\nadapter = load_here('reference')\n", encoding="utf-8"
    )
    tool = tmp_path / "bin" / "tool.py"  # as the command is installed: its own folder is on the path
    tool.parent.mkdir()
    tool.write_text("from conformance.cli import main\nif __name__ == '__main__': main()\n", encoding="utf-8")
    command = [sys.executable, tool, *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert 0 == ran.returncode, ran.stderr
    assert last in ran.stdout
