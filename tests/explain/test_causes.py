"""Causes and cures of errors that scripts meet: what is named, and what is said to do."""

from __future__ import annotations

import pytest

from explained import explained

BEGIN = "import torch\nfrom torch import nn\nx = torch.rand(4, 3, requires_grad=True)\n"
ERRORS = {
    "s = x.sigmoid()\ns.mul_(2)\ns.sum().backward()\n": (
        (5, 4),
        "Write out of place at line 5: s.mul(...) for",
    ),
    "act = nn.ReLU(inplace=True)\ns = x.sigmoid()\nact(s).sum().backward()\n": (
        (6, 5),
        "Leave inplace=True out",
    ),
    "y = x * 2\ny.register_hook(lambda g: g[0])\ny.sum().backward()\n": (
        (5, 6),
        "Return a gradient of the shape",
    ),
    "nn.Linear(3, 2).load_state_dict(nn.Linear(3, 4).state_dict())\n": ((4,), "state.pop('weight')"),
    "nn.Linear(3, 2).load_state_dict({'module.weight': x})\n": ((4,), 'k.removeprefix("module.")'),
    "nn.Linear(3, 2).load_state_dict({'weights': x})\n": ((4,), "own state_dict().keys()"),
    "nn.LayerNorm(3)(x.double())\n": ((), "x.float()"),
    "nn.PReLU()(x.double())\n": ((), "x.float()"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_has_its_lines_and_its_cure(text: str) -> None:
    """The decisive line first."""
    lines, cure = ERRORS[text]
    error = explained(BEGIN + text).error
    assert error is not None
    assert lines == error.causes
    assert cure in error.cure


def test_a_state_that_does_not_fit_names_no_tensor() -> None:
    """It is about keys and sizes."""
    error = explained(f"{BEGIN}nn.Linear(3, 2).load_state_dict({{'weights': x}})\n").error
    assert error is not None
    assert () == error.tensors


def test_an_op_is_told_by_its_public_name() -> None:
    """The name is that of its node."""
    script = "with torch.no_grad():\n    y = nn.Conv1d(4, 2, 1)(x)\ny.sum().backward()\n"
    error = explained(BEGIN + script).error
    assert error is not None
    assert "ran convolution() while" in error.sentence


def test_a_mapped_function_is_told_once() -> None:
    """As often as PyTorch calls it."""
    script = "def f(row):\n    y = row * 2\n    return y\nz = torch.func.vmap(f)(x)\n"
    passes = [step.passes for step in explained(BEGIN + script).steps if step.line == 5]
    assert [1] == passes
