"""A check can be timed against what it cost in another checkout."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def since(checkout: Path) -> subprocess.CompletedProcess[str]:
    few = ["--programs", "10", "--rounds", "1", "--turns", "1"]
    command = [sys.executable, "-m", "benchmarks.since", str(checkout), *few]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_each_part_is_compared_with_the_other_checkouts():
    done = since(ROOT)
    assert done.returncode == 0, done.stderr
    for part in (
        "draw",
        "bare torch",
        "reference, each",
        "torch, end",
        "compare, each",
        "whole check, looking at the end",
    ):
        assert f"│ {part} " in done.stdout
    assert "times bare torch" in done.stdout


def test_a_folder_that_is_no_checkout_is_named(tmp_path):
    done = since(tmp_path)
    assert done.returncode == 1
    assert f"{tmp_path} cannot be timed" in done.stderr
