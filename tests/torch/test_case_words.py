"""At each refusal of a case the reference says what PyTorch says, and PyTorch says what is on file."""

from __future__ import annotations

import pytest
import torch

from benchmarks.torch_words import listened
from conformance.adapters import load
from specs.case import Case, cases, run_case
from specs.case_words import heard, says_the_same, words_on_file
from specs.errors import refusal
from together import together

RELEASE, ON_FILE = words_on_file()
OF_THIS_TORCH = pytest.mark.skipif(
    torch.__version__.partition("+")[0] != RELEASE, reason=f"the words on file are those of torch {RELEASE}"
)


@OF_THIS_TORCH
@together("case", cases(), by=lambda case: case.chapter, row_id=lambda case: case.id)
def test_what_torch_says_is_on_file(case: Case) -> None:
    """All cases that can run here on the CPU, in their order, with nothing left out."""
    here = not case.devices and case.holds_for(torch.__version__) and not case.departed_by(torch.__version__)
    said = listened(case, torch, "cuda").words if here else []
    assert ON_FILE.get(case.id, []) == (said if any(said) else [])


def test_a_case_breaks_at_other_words(monkeypatch):
    """A refusal by the right rule fails its case if its text is not PyTorch's."""
    reference = load("reference")
    case = next(case for case in cases() if case.id == "backward/root_must_require_grad")
    with reference.modelling(RELEASE):
        assert run_case(case, reference.namespace, says=reference.says).passed
        monkeypatch.setattr(reference, "says", lambda error: "no grad_fn")
        other = run_case(case, reference.namespace, says=reference.says)
    assert not other.passed
    assert "RuntimeError: no grad_fn" in (other.why or "")
    with reference.modelling("2.11.0"):  # whose words are not on file
        assert run_case(case, reference.namespace, says=reference.says).passed


@pytest.mark.parametrize(
    ("said", "same"),
    [
        ("IndexError: index 3 is out of range", True),
        ("IndexError: index ... is out of range", True),
        ("IndexError: index 4 is out of range", False),
        ("IndexError: index ... is out of", False),
        ("ValueError: index 3 is out of range", False),
    ],
)
def test_words_may_leave_open_what_is_not_known(said, same):
    """Three dots stand for it; the rest is compared to the letter, and the class with it."""
    assert same is says_the_same("IndexError: index 3 is out of range", said)


def test_the_class_is_the_one_that_torch_raises():
    """Not the reference's own, which derives from it; of the text the first line counts."""
    error = refusal("backward/root-needs-grad", index=0)
    assert "RuntimeError: one" == heard(error, "one\ntwo")
