"""Backends of torch that nobody knows, graded by name: the stand-in under another, and bugs planted in it.

One bug each time; all of them under the profile ``soak``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.adapters import load, standin, torch_device
from conformance.adapters.capabilities import DEVICE_VARIABLE, IMPORT_VARIABLE
from conformance.adapters.errors import AdapterError
from conformance.cli.loading import use
from conformance.cli.trouble import Trouble

ADAPTERS = Path(__file__).parents[1] / "adapters"
FEW = ("--no-cases", "--source", "prng", "--workers", "1", "--findings", "0")

needs_standin = pytest.mark.skipif(load("torch").device != standin.NAME, reason="there is no stand-in here")


def graded(*arguments):
    """Run the command with the planted devices within reach; give its exit code and what it said."""
    paths = os.pathsep.join([str(ADAPTERS), str(ADAPTERS.parents[1]), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        [sys.executable, "-m", "conformance", "grade", *map(str, arguments)],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    return ended.returncode, ended.stdout + ended.stderr


@needs_standin
def test_a_device_from_outside_is_graded_by_its_name():
    """It is asked what it lacks, and conforms."""
    device = "planted_devices.without_convolution"
    code, said = graded("torch", "--device", "elsewhere", "--import", device, "--programs", 10, *FEW)
    assert 0 == code, said
    assert "device elsewhere, without convolution" in said
    assert "torch (isolated) conforms" in said


BUGS = {
    "uncounted_copy": (1, 40, "version"),
    "lost_strides": (0, 400, "value"),
    "stranded_gradient": (1, 60, "grad"),
}
"""The planted bugs, each with a seed, more programs than find it, and a fact that shows it."""


@needs_standin
@pytest.mark.parametrize("bug", BUGS if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else [*BUGS][:1])
def test_a_bug_planted_in_a_device_is_found(bug, tmp_path):
    """Programs show it in a few lines, and the device is to blame, not the suite."""
    seed, programs, fact = BUGS[bug]
    report = tmp_path / "report.json"
    code, said = graded(
        "torch", "--device", "elsewhere", "--import", f"planted_devices.{bug}", "--programs", programs,
        "--seed", seed, "--json", report, *FEW,
    )  # fmt: skip
    assert 1 == code, said
    found = json.loads(report.read_text())["findings"]
    assert fact in {finding["fact"] for finding in found}
    assert all("cuda" in finding["script"] for finding in found)
    assert min(len(finding["script"].split("\n\n", 1)[1].splitlines()) for finding in found) <= 8


@pytest.mark.parametrize(
    ("kind", "problem", "hint"),
    [
        ("mpx", "this torch has no device 'mpx'", "did you mean mps?"),
        ("qqqqq", "this torch has no device 'qqqqq'", "--import MODULE loads a backend"),
        ("meta", "tensors on meta have no values", "choose a device that computes"),
        ("xla", "torch finds no xla device", "--import MODULE loads a backend"),
        ("mps:0", "mps:0 is one device of its kind", "give the kind: mps"),
    ],
)
def test_a_device_that_cannot_be_is_an_error_with_a_hint(kind, problem, hint):
    """It is told before anything runs."""
    with pytest.raises(AdapterError) as told:
        torch_device.find(pytest.importorskip("torch"), kind)
    assert problem in told.value.problem
    assert hint in told.value.hint


def test_a_module_that_cannot_be_imported_is_an_error_with_a_hint(monkeypatch):
    """Its own error is told."""
    monkeypatch.setenv(IMPORT_VARIABLE, "torch_npu_that_is_not_there")
    with pytest.raises(AdapterError, match="cannot be imported: ModuleNotFoundError"):
        torch_device.import_backends()


@pytest.mark.parametrize(("device", "modules"), [("a b", []), ("mps", ["a-b"]), ("mps", [""])])
def test_what_is_no_name_is_refused(device, modules, monkeypatch):
    """Neither of a device nor of a module."""
    monkeypatch.setenv(DEVICE_VARIABLE, "auto")
    monkeypatch.setenv(IMPORT_VARIABLE, "")
    with pytest.raises(Trouble, match="is no name of a"):
        use(device, modules)
