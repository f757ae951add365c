"""The cost of a check is measured in seconds or instructions, here and in another checkout."""

import json
import os
import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import benchmarks
from benchmarks.cost import CALLGRIND, LEG

ROOT = Path(__file__).parents[2]


def benchmark(*options: str, **more: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", "--programs", "10", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **more)


def test_every_benchmark_finds_what_it_measures():
    """None names what is no longer there."""
    for module in pkgutil.walk_packages(benchmarks.__path__, "benchmarks."):
        import_module(module.name)


def test_seconds_are_measured_here_and_in_another_checkout():
    done = benchmark("--core", "--rounds", "1", "--against", str(ROOT))
    assert 0 == done.returncode, done.stderr
    for row in ("microseconds a program", "draw", "whole check, as drawn", "change"):
        assert row in done.stdout


def test_a_folder_that_is_no_checkout_is_named(tmp_path):
    done = benchmark("--against", str(tmp_path))
    assert 2 == done.returncode
    assert f"{tmp_path} cannot be measured" in done.stderr


def test_without_valgrind_it_says_so(tmp_path):
    """A missing valgrind is reported before anything is drawn."""
    done = benchmark("--instructions", env={"PATH": str(tmp_path)})
    assert 2 == done.returncode
    assert done.stderr.startswith("error: instructions are counted by valgrind on x86-64, which is not here")
    assert "hint: install the package valgrind" in done.stderr


TWO = """
from benchmarks.callgrind import counted
counted({"few": lambda: sum(range(10_000)), "many": lambda: sum(range(90_000))})
"""
NO_VALGRIND = pytest.mark.skipif(shutil.which("valgrind") is None, reason="valgrind is not installed")


@NO_VALGRIND
def test_instructions_of_a_function_are_counted(tmp_path):
    """Nine times the work is about nine times the instructions, and what goes before counts for nothing."""
    out = tmp_path / "out"
    command = [*CALLGRIND, f"--callgrind-out-file={out}", sys.executable, "-S", "-c", TWO]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    counts = {name: int(count) for name, count in LEG.findall(out.read_text())}
    assert ["few", "many"] == list(counts)
    assert 7 < counts["many"] / counts["few"] < 9.5


@NO_VALGRIND
@pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "soak", reason="soak: valgrind takes minutes")
def test_instructions_are_counted():
    """A leg that does more work counts more instructions."""
    done = benchmark("--instructions", "--json")
    assert 0 == done.returncode, done.stderr
    here = json.loads(done.stdout)["here"]
    assert here["compare, each"] < here["bare torch"] < here["torch, stepped"] < here["torch, each"]
