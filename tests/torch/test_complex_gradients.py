"""Functions on complex numbers: values, gradients and those of gradients are torch's, or both refuse.

The expressions are those that real numbers are tried with, whatever PyTorch makes of them here.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reference_impl
from benchmarks.formulas.inputs import EXPRESSIONS, expressions
from reference_impl.base.not_modelled import NotModelled

torch = pytest.importorskip("torch")

from together import called, together  # noqa: E402 -- needs torch

HEADINGS = [
    line.strip("# \n") for line in EXPRESSIONS.read_text("utf-8").splitlines() if line.startswith("#")
]
NUMBERS = np.array(
    [0.5 + 0.25j, -1.25 + 1j, 2 - 0.5j, 0.75, -0.5 - 1j, 1.5j, 0.25 + 2j, 3 - 1j, -2 + 0.5j, 1, -0.75 + 0.75j]
)

UNLIKE = {
    "torch.linalg.eigvalsh(x.mm(x.t()))": "a product that is not Hermitian: what is read of it is chance",
    "x.mul(torch.tensor([[1], [0]])).det()": "second derivatives of a singular complex matrix are chance",
    "torch.linalg.det(x.mul(0))": "second derivatives of a singular complex matrix are chance",
    "x.nan_to_num()": "PyTorch records it from 2.15 on",
    "x.nan_to_num(2.0)": "PyTorch records it from 2.15 on",
}
"""Expressions that are left out, and why."""


def rows() -> list[Any]:
    every = {(text, tuple(shapes)) for heading in HEADINGS for text, shapes in expressions(heading)}
    return sorted(row for row in every if row[0] not in UNLIKE)


def seen(x: Any) -> tuple[str, tuple[int, ...], Any]:
    """Dtype, shape and elements; a gradient that is missing is one of zeros."""
    return str(x.dtype), tuple(x.shape), np.array(x.detach().tolist())


def measured(namespace: Any, expression: str, shapes: tuple[tuple[int, ...], ...]) -> list[Any] | str:
    """The result, its gradients and theirs, or the exception with which any of them is refused."""
    operands = {
        name: namespace.tensor(np.resize(np.roll(NUMBERS, -5 * n), shape), dtype=namespace.complex128)
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False))
    }
    leaves = [x.requires_grad_() for x in operands.values()]
    try:
        out = eval(expression, {"torch": namespace, "F": namespace.nn.functional, **operands})
        if not out.requires_grad:
            return [seen(out)]
        g = namespace.ones_like(out).mul_(1.5 + 0.5j if out.is_complex() else 1.5).requires_grad_()
        grads = namespace.autograd.grad(out, leaves, g, create_graph=True, allow_unused=True)
        found = [seen(x) for x in (out, *grads) if x is not None]
        for grad in grads:
            if grad is not None and grad.requires_grad:
                onto = namespace.ones_like(grad).mul_(1 - 0.5j if grad.is_complex() else 1.5)
                twice = namespace.autograd.grad(
                    grad, [g, *leaves], onto, allow_unused=True, retain_graph=True, materialize_grads=True
                )
                found += [seen(x) for x in twice]
    except NotModelled:
        raise
    except Exception as error:
        return type(error).__name__.removeprefix("Refused")
    return found


@together("expression, shapes", rows(), by=lambda row: called(row[0])[0])
def test_values_and_gradients_are_torchs(expression: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    """The result, its gradients and theirs, in value, shape and dtype; what torch refuses is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, actual = (measured(each, expression, shapes) for each in (torch, reference_impl))
    if isinstance(expected, str) or isinstance(actual, str):
        assert expected == actual
        return
    assert [row[:2] for row in expected] == [row[:2] for row in actual]
    for (*_, mine), (*_, theirs) in zip(actual, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-4)
