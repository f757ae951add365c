"""An implementation in an interpreter of its own: graded as everywhere, with its libraries and not ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.adapters import load
from conformance.adapters.errors import AdapterError
from conformance.adapters.interpreter import interpreter_of, named_in
from conformance.execution.run import run
from conformance.program.parsing import parse

PROGRAM = parse("""
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(3.0)
y.sum().backward()
x.add_(1.0)
""")
ADAPTER = """
import sys
name, version = "mine", sys.executable[:90]
def start(): assert "torch" not in sys.modules and "hypothesis" not in sys.modules
def perform(session, step, operands): return 1.0
def facts(session, value): return {"value": value}
def refusal(error): return None
"""


@pytest.fixture
def bare(tmp_path):
    """Return a function that makes an interpreter which finds numpy alone, or nothing at all."""

    def make(*packages: str) -> Path:
        site = tmp_path / "site"
        site.mkdir()
        for package in packages:
            where = Path(__import__(package).__file__).parent
            (site / package).symlink_to(where)
            for libraries in where.parent.glob(f"{package}.libs"):
                (site / libraries.name).symlink_to(libraries)
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH="{site}:$PYTHONPATH" exec {sys.executable} -S "$@"\n')
        python.chmod(0o755)
        return python

    return make


def test_a_library_that_is_not_there_is_told_with_the_interpreter(tmp_path):
    """The hint says where it is missing, and how to take the interpreter that has it."""
    file = tmp_path / "mine.py"
    file.write_text("import no_such_library")
    with pytest.raises(AdapterError, match="has no no_such_library; --python PATH") as caught:
        load(str(file))
    assert sys.executable in caught.value.hint


def test_an_adapter_needs_only_numpy_in_its_own_interpreter(bare, tmp_path):
    """Neither torch nor what the command line is made of is there."""
    file = tmp_path / "mine.py"
    file.write_text(ADAPTER)
    python = bare("numpy")
    found = subprocess.run([python, "-c", "import rich"], capture_output=True, check=False)
    assert found.returncode
    adapter = load(named_in(str(file), str(python), False))
    try:
        trace = run(PROGRAM, adapter)
        assert [1.0] * 2 == [trace[1].facts[name][0] for name in ("x", "y")]
    finally:
        adapter.close()


def test_an_interpreter_without_numpy_says_what_to_do(bare, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(ADAPTER)
    with pytest.raises(AdapterError, match=r"has no numpy .*hint: install numpy there"):
        load(named_in(str(file), str(bare()), False))


@pytest.mark.parametrize("python", ["/nowhere/python", "", "no-such-python"])
def test_an_interpreter_that_is_none_is_told(python):
    with pytest.raises(AdapterError, match="there is no Python interpreter"):
        load(named_in("mine.py", python, False))


def test_what_is_no_interpreter_is_no_adapter(tmp_path):
    """A program that says nothing, or something else, costs no traceback."""
    with pytest.raises(AdapterError):
        load(named_in("reference", "/bin/true" if os.path.exists("/bin/true") else "/usr/bin/true", False))


def test_what_is_built_in_is_the_same_in_a_process_of_its_own():
    """It goes by another name, since it may be held against itself."""
    adapter = load("isolated:reference")
    try:
        assert "reference (isolated)" == adapter.name
        here, there = run(PROGRAM, load("reference")), run(PROGRAM, adapter)
        assert [(seen.outcome, seen.facts) for seen in here.observations] == [
            (seen.outcome, seen.facts) for seen in there.observations
        ]
    finally:
        adapter.close()


def test_a_file_that_shows_what_is_built_in_goes_by_the_name_of_the_file(tmp_path):
    """Reports would tell two participants of one name."""
    (tmp_path / "patched.py").write_text(
        "from conformance.adapters import load_here\nadapter = load_here('reference')\n", encoding="utf-8"
    )
    adapter = load(str(tmp_path / "patched.py"))
    try:
        assert adapter.name == "reference (patched.py)"
    finally:
        adapter.close()


def test_another_interpreter_gets_no_path_of_this_one():
    place = interpreter_of(f"python:{sys.executable}:torch")
    assert not any("site-packages" in path for path in place.environment["PYTHONPATH"].split(os.pathsep))
