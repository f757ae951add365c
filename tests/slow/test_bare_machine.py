"""A machine with neither a GPU nor a compiler: the same commands work there, and say what was not exercised.

What stands for `cuda` elsewhere is tested in ``test_devices``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import jsonschema
import pytest

from conformance.adapters.torch import DEVICE_VARIABLE
from conformance.execution import json_form

ROOT = Path(__file__).parents[2]
LACKING = "torch finds no CUDA device, and the stand-in device cannot be built: there is no no-such-compiler"


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """Runs Python in a process that finds no device and could build none; gives exit code and output."""
    for name in (DEVICE_VARIABLE, "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    nothing = {"CXX": "no-such-compiler", "TORCH_EXTENSIONS_DIR": str(tmp_path), "CUDA_VISIBLE_DEVICES": ""}

    def call(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | nothing, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    return call


def test_grade_conforms_and_says_what_was_not_exercised(bare, tmp_path):
    """Rules of devices do not count as held; each form says so, with the reason. Checkpoints, for which torch
    counts devices, hold.
    """
    files = [tmp_path / name for name in ("report.json", "report.xml", "summary.md")]
    options = ("--json", files[0], "--junit", files[1], "--markdown", files[2])
    code, out = bare("conformance", "grade", "--programs", "10", "--rules", "[cd][eh]*", *options)
    assert 0 == code, out
    written = files[0].read_text(encoding="utf-8")
    report = json.loads(written)
    jsonschema.validate(report, json_form.schema("report"))
    assert f"cpu ({LACKING})" == report["device"]
    rules = {id: rule for id, rule in report["rules"].items() if rule["status"] != "held"}
    assert {"device/copy-is-an-op", "device/copy-crosses", "device/one-for-all"} <= set(rules)
    assert {("not exercised", LACKING)} == {(rule["status"], rule["why"]) for rule in rules.values()}
    assert report["cases"]["not exercised"] >= len(rules)
    assert "held" == report["rules"]["checkpoint/computes-again"]["status"]
    skipped = [
        test.get("name") for test in Xml.parse(files[1]).iter("testcase") if test.find("skipped") is not None
    ]
    assert list(rules) == skipped
    for text in (" ".join(out.split()), files[2].read_text(encoding="utf-8")):
        assert "programs that move between devices, on cpu (torch finds no CUDA device" in text
        assert re.search(rf"{re.escape(LACKING)}\)?: device/", text)


def test_tests_skip_with_the_reason(bare):
    """The tests of devices run as far as they can, and the others are skipped with the reason."""
    code, out = bare("pytest", "-q", "-p", "no:cacheprovider", "-m", "device", "tests/torch/test_devices.py")
    assert 0 == code, out
    assert f"skipped 1: Skipped: {LACKING}" in out


@pytest.mark.parametrize("command", [("pytest", "-m", "device"), ("conformance", "grade")])
def test_a_device_that_is_asked_for_is_missed_in_one_line(bare, monkeypatch, command):
    """`tox run -e gpu` on such a machine ends at once, with a hint."""
    monkeypatch.setenv(DEVICE_VARIABLE, "cuda")
    code, out = bare(*command)
    assert 0 != code
    assert "error: torch finds no cuda device (hint: choose standin, or auto)" == out.strip().lower()
