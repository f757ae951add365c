"""Functions of tensors on several devices: results and gradients are where torch's are, or both refuse.

The expressions are those that one device is tried with. Each puts another share of its tensors on the device.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reference_impl
from benchmarks.formulas.inputs import EXPRESSIONS, expressions
from conformance.adapters import load, standin
from together import called, together

TORCH = load("torch")
pytestmark = pytest.mark.skipif(TORCH.device != standin.NAME, reason="`cuda` is not the stand-in here")

NUMBERS = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75])
HEADINGS = [
    line.strip("# \n") for line in EXPRESSIONS.read_text("utf-8").splitlines() if line.startswith("#")
]
SHARES = ("x", "y", "xy", "yz", "xyz")
LEFT_OUT = {
    "F.ctc_loss": "the stand-in takes labels of the CPU, as CUDA does not",
    "put(": "a function of another test",
}
"""Expressions that are not tried, by how they begin."""

PAIRS = """
torch.equal(x, y)
torch.isclose(x, y)
torch.allclose(x, y)
torch.logical_and(x, y)
torch.logical_xor(x, y)
torch.bitwise_or(x.long(), y.long())
torch.bitwise_left_shift(x.long(), y.long())
torch.nextafter(x, y)
torch.gcd(x.long(), y.long())
torch.isin(x, y)
torch.searchsorted(x.view(-1), y)
torch.bucketize(x, y.view(-1))
torch.logaddexp(x, y)
torch.logaddexp2(x, y)
torch.atan2(x, y)
torch.dist(x, y)
torch.maximum(x, y)
torch.nn.functional.smooth_l1_loss(x.detach(), y.detach())
torch.nn.functional.mse_loss(x, y)
torch.nn.functional.huber_loss(x, y)
torch.where(x > 0, x, y)
torch.lerp(x, y, 0.5)
torch.ones(3).index_fill(0, torch.tensor([0, 2]), y.sum())
"""


def cases() -> list[tuple[str, tuple[tuple[int, ...], ...], str]]:
    """Expressions, the shapes of their operands, and which of these are on the device."""
    every = {(text, tuple(shapes)) for heading in HEADINGS for text, shapes in expressions(heading)}
    listed = [
        (text, shapes, share)
        for text, shapes in sorted(every)
        for share in SHARES
        if set(share) <= set("xyz"[: len(shapes)]) and not text.startswith(tuple(LEFT_OUT))
    ]
    sizes = (((), (2,)), ((2,), ()), ((1,), (2,)), ((2,), (1,)), ((), ()))
    return listed + [
        (text, pair, share) for text in PAIRS.split("\n") if text for pair in sizes for share in ("x", "y")
    ]


def found(side: Any, device: str, text: str, shapes: Any, share: str) -> Any:
    """The places of a result and its gradients, or that they are refused."""
    operands = {}
    for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False)):
        x = side.tensor(np.resize(np.roll(NUMBERS, -5 * n), shape).tolist())
        operands[name] = (x.to(device) if name in share else x).requires_grad_()
    try:
        out = eval(text, {"torch": side, "F": side.nn.functional, **operands})
        out = out[0] if isinstance(out, tuple) else out
        if not isinstance(out, side.Tensor):
            return out
        if not out.requires_grad:
            return out.is_cpu, ()
        grads = side.autograd.grad(out, list(operands.values()), side.ones_like(out), allow_unused=True)
        return out.is_cpu, tuple(g is not None and (g.is_cpu, tuple(g.shape)) for g in grads)
    except (RuntimeError, TypeError, IndexError, ValueError):
        return "refused"


@together("text, shapes, share", cases(), by=lambda row: called(row[0]))
def test_results_are_where_torchs_are(text: str, shapes: Any, share: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = found(TORCH.namespace, standin.NAME, text, shapes, share)
        assert wanted == found(reference_impl, "cuda", text, shapes, share)
