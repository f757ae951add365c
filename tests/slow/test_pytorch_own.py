"""The script that runs PyTorch's own tests tells what passes, what fails, and what is wrongly on record."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import torch
from torch import absent
from torch.testing._internal.common_utils import TestCase, parametrize, skipIfTorchDynamo
from torch.testing._internal.unheard_of import odd

@odd(torch.nowhere)
class TestTiny(TestCase):
    @skipIfTorchDynamo("elsewhere")
    def test_passes(self):
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        (x * x).sum().backward()
        self.assertEqual(x.grad, torch.tensor([2.0, 4.0]))

    @parametrize("value", [1.0, 2.0])
    def test_half(self, value):
        self.assertEqual(torch.tensor(value), torch.tensor(1.0))

    def test_dtype(self):
        self.assertEqual(torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.float64))

    def test_absent(self):
        absent.something(1)

    def test_not_listed(self):
        raise AssertionError
"""


def run(folder: Path, names: str, failures: str = "", files: bool = True) -> subprocess.CompletedProcess[str]:
    """Run the script on the tiny file."""
    (folder / "autograd").mkdir(exist_ok=True)
    for name in ("test_autograd.py", "autograd/test_functional.py") if files else ():
        (folder / name).write_text(TESTS)
    (folder / "tests.toml").write_text(f"[core]\nTestTiny = {names.split()}\n")
    (folder / "failures.toml").write_text(failures)
    command = [sys.executable, "-m", "benchmarks.pytorch_own", "--tests", folder]
    options = ["--list", folder / "tests.toml", "--failures", folder / "failures.toml"]
    return subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True)


def on_record(name: str) -> str:
    return f'[failing]\n"TestTiny.{name}" = {{ cause = "because", needs = "work" }}\n'


def test_what_passes_is_counted(tmp_path):
    """Listed tests run unchanged, with the reference as torch; others do not run."""
    done = run(tmp_path, "test_passes")
    assert (0, "core: 1 of 1 pass; 0 not run, PyTorch has changed since\n") == (done.returncode, done.stdout)


def test_a_failure_that_is_not_on_record_fails_the_run(tmp_path):
    """Values (for any of a test's parameters), dtypes and missing names count."""
    done = run(tmp_path, "test_passes test_half test_dtype test_absent test_gone")
    assert done.returncode == 1
    assert "core: 1 of 5 pass" in done.stdout
    for name in ("half", "dtype", "absent", "gone"):
        assert f"NEW    TestTiny.test_{name}\n" in done.stdout
    assert "there is no torch.absent.something" in done.stdout


def test_a_failure_on_record_is_explained(tmp_path):
    """A failure on record is printed with its cause and what it would take, and the run passes."""
    done = run(tmp_path, "test_passes test_half", on_record("test_half"))
    assert done.returncode == 0
    assert "listed TestTiny.test_half\n         because; needs work\n" in done.stdout


def test_a_record_of_what_passes_is_stale(tmp_path):
    """A record of a test that passes fails the run."""
    done = run(tmp_path, "test_passes", on_record("test_passes"))
    assert done.returncode == 1
    assert "STALE  TestTiny.test_passes passes; on record: because" in done.stdout


def test_what_pytorch_has_changed_is_not_run(tmp_path):
    """Tests whose expectation is out of date are counted apart."""
    done = run(tmp_path, "test_passes test_half", '[changed]\n"TestTiny.test_half" = "no more so"\n')
    assert (0, "core: 1 of 1 pass; 1 not run, PyTorch has changed since\n") == (done.returncode, done.stdout)


def test_missing_files_say_where_they_are_to_be_had(tmp_path):
    """The tests are PyTorch's, and fetched."""
    done = run(tmp_path, "test_passes", files=False)
    assert done.returncode == 2
    assert "--branch v2.6.0" in done.stderr


def test_the_lists_name_no_test_twice_and_explain_only_what_is_listed():
    """Each listed test has one tier; each failure on record is a listed test, with its cause."""
    here = ROOT / "benchmarks" / "pytorch_own"
    tiers = tomllib.loads((here / "tests.toml").read_text())
    names = [f"{c}.{name}" for cases in tiers.values() for c, listed in cases.items() for name in listed]
    record = tomllib.loads((here / "failures.toml").read_text())
    assert len(names) == len(set(names))
    assert {*record["changed"], *record["failing"]} <= set(names)
    assert all(set(entry) == {"cause", "needs"} for entry in record["failing"].values())
