"""Functions of complex numbers: the reference refuses those that torch refuses, and their gradients.

The same expression runs on torch and the reference, on the same numbers. What it gives is tested elsewhere.
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

NUMBERS = np.array(
    [0.5 + 0.25j, -1.25 + 1j, 2 - 0.5j, 0.75, -0.5 - 1j, 1.5j, 0.25 + 2j, 3 - 1j, -2 + 0.5j, 1, -0.75 + 0.75j]
)
HEADINGS = [
    line.strip("# \n") for line in EXPRESSIONS.read_text("utf-8").splitlines() if line.startswith("#")
]
ROWS = {(text, tuple(shapes)) for heading in HEADINGS for text, shapes in expressions(heading)}

OTHERWISE = {
    "nan_to_num": "PyTorch records it from 2.15 on",
    "logcumsumexp": "numpy has no sums of complex exponentials that do not overflow",
    "cholesky_solve": "its formulas solve with the factor times its transpose, not conjugated",
    "istft": "it reads a half transform as a whole one",
    "logdet": "the sign of a complex determinant is none that is compared",
}
"""Functions that the reference refuses otherwise, with the reason."""


def refused(namespace: Any, expression: str, shapes: tuple[Any, ...], dtype: str) -> str:
    """The class with which an expression or its gradients are refused, or nothing."""
    operands = {
        name: namespace.tensor(
            np.resize(np.roll(NUMBERS, -5 * n), shape), dtype=getattr(namespace, dtype)
        ).requires_grad_()
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out = eval(expression, {"torch": namespace, "F": namespace.nn.functional, **operands})
            out = out[0] if isinstance(out, tuple | list) else out
            if out.requires_grad:
                g = namespace.ones_like(out)
                namespace.autograd.grad(out, list(operands.values()), g, create_graph=True, allow_unused=True)
        except NotModelled:
            raise
        except Exception as error:
            return type(error).__name__.removeprefix("Refused")
    return ""


@together("expression, shapes", sorted(ROWS), by=lambda row: called(row[0])[0])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_are_refused_where_torch_refuses_them(
    dtype: str, expression: str, shapes: tuple[Any, ...]
) -> None:
    """With the same class of exception, or by neither."""
    try:
        actual = refused(reference_impl, expression, shapes, dtype)
    except NotModelled:
        return
    if not any(f"{name}(" in expression for name in OTHERWISE):
        assert actual == refused(torch, expression, shapes, dtype)
