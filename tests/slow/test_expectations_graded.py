"""Expectations of a library and of a mode of torch: an entry too few or too many fails the run.

No programs are drawn: entries and cases show the same whatever seeds draw.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import check
from conformance.grading.expectations import read_expectations
from conformance.report.expectation import Expectation
from graded_here import graded

FILES = Path(__file__).parents[2] / "docs" / "expect"
TARGETS = {
    "micrograd": ("micrograd", "micrograd.toml", "backward/a_leaf_can_be_the_root", "backward/leaf-root"),
    "checkpoint": (
        "conformance.targets.torch_regions:checkpoint",
        "torch-checkpoint.toml",
        "save/a_saved_tensor_detached_in_place_is_refused",
        "save/detached-refused",
    ),
}
"""The adapter, its file, a case that is in it, and a rule that the case witnesses."""
HOLDS = Expectation(
    rule="leaf/op-result-is-no-leaf",
    reason="it is claimed that results are leaves",
    program="import torch\n\nx = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)\ny = x.mul(x)",
)


@pytest.mark.parametrize(("asked", "given"), [(3, {}), (2, {"programs": 2})])
def test_a_file_says_how_many_programs_it_is_for(tmp_path, asked, given):
    """Grading with it draws as many, unless another number is given."""
    file = tmp_path / "expect.toml"
    file.write_text("programs = 3")
    report = check("reference", against="reference", cases=False, workers=1, expect=file, **given)
    assert asked == report.asked == report.totals.programs


DIES = """
import os
from conformance.adapters.reference import Reference

class Dies(Reference):
    def resolve(self, op):
        return os.abort() if op == "exp" else super().resolve(op)

adapter = Dies()
"""
RAISES = """
name, version = "raises", "1"
def start(): pass
def perform(session, step, operands): return object()
def facts(session, value): raise KeyError("facts")
def refusal(error): return None
"""


@pytest.mark.parametrize(("adapter", "code"), [(DIES, 1), (RAISES, 3)])
def test_nothing_that_becomes_of_an_example_is_passed_over(tmp_path, adapter, code):
    """It may die of it, or turn out not to be an adapter."""
    (tmp_path / "mine.py").write_text(adapter)
    file = tmp_path / "expect.toml"
    file.write_text('programs = 0\n[[example]]\nprogram = "x = torch.tensor(3.0)\\ny = x.exp()"')
    report = check(tmp_path / "mine.py", against="reference", cases=False, workers=1, expect=file)
    assert code == report.exit_code


@pytest.mark.parametrize("name", TARGETS)
def test_exactly_what_differs_must_be_said(name):
    """As it stands the file passes; without an entry its difference is a finding; one that holds is unmet."""
    pytest.importorskip({"checkpoint": "torch"}.get(name, name))
    spec, file, case, rule = TARGETS[name]
    entries = read_expectations(FILES / file).entries
    shown = [entry for entry in entries if entry.case == case]
    assert 1 == len(shown)

    whole, lacking, more = (
        graded(spec, programs=0, rules=rule, expect=given) for given in (shown, [], [*shown, HOLDS])
    )
    assert [0, 1, 1] == [report.exit_code for report in (whole, lacking, more)]
    assert [f"case {case}"] == [found.where for found in lacking.findings]
    assert [HOLDS] == [unmet.entry for unmet in more.unmet]
    assert () == more.findings
