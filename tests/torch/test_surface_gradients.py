"""Functions with gradients that generated programs do not call: values, graphs and gradients are torch's.

The same expression runs on torch and on the reference, on the same numbers; compared are what it gives, the
node that made it, its first gradients with their graph, and the gradients of those.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reference_impl
from benchmarks.formulas.inputs import expressions

torch = pytest.importorskip("torch")

from op_torch import tree  # noqa: E402 -- needs torch
from together import called, together  # noqa: E402

NUMBERS = np.array([0.5, -1.25, 2.0, 0.75, -0.5, 1.5, 0.25, 3.0, -2.0, 1.0, -0.75, 1.75])


def rows(block: str) -> list[Any]:
    """The expressions under a heading, and the shapes of the operands x, y and z."""
    return list(expressions(block))


def seen(x: Any) -> tuple[str, tuple[int, ...], Any]:
    """Dtype, shape and elements, zeros without memory having been given some."""
    return str(x.dtype), tuple(x.shape), (x.detach() + x.new_zeros(())).tolist()


def measured(namespace: Any, expression: str, shapes: list[tuple[int, ...]]) -> tuple[list[Any], list[str]]:
    """Values and graphs: of the result, of its gradients, and of theirs, or why these are refused."""
    operands = {
        name: namespace.tensor(
            np.resize(np.roll(NUMBERS, -5 * n), shape), dtype=namespace.float32
        ).requires_grad_()
        for n, (name, shape) in enumerate(zip("xyz", shapes, strict=False))
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = eval(expression, {"torch": namespace, "F": namespace.nn.functional, **operands})
        g = namespace.ones_like(out).mul_(1.5).requires_grad_()
        grads = namespace.autograd.grad(out, list(operands.values()), g, create_graph=True, allow_unused=True)
        twice, refused = [], []
        for grad in grads:
            if grad is not None and grad.requires_grad:
                inputs = [g, *operands.values()]
                try:
                    root = grad.sin().sum()
                    twice.append(namespace.autograd.grad(root, inputs, allow_unused=True, retain_graph=True))
                except RuntimeError as error:
                    refused.append(str(error))
    values = [seen(out), *[seen(grad) for grad in grads if grad is not None]]
    zeros = [namespace.zeros_like(x) for x in (g, *operands.values())]
    for gradients in twice:
        values += [seen(z if x is None else x) for x, z in zip(gradients, zeros, strict=True)]
    graphs = [tree(out.grad_fn), *[tree(grad.grad_fn) for grad in grads if grad is not None]]
    return values, [*graphs, *refused]


@together("expression, shapes", [*rows("same graph"), *rows("same values")], by=lambda row: called(row[0]))
def test_values_and_gradients_are_torchs(expression: str, shapes: list[tuple[int, ...]]) -> None:
    """The result, its gradients and theirs, in value, shape and dtype."""
    expected, _ = measured(torch, expression, shapes)
    actual, _ = measured(reference_impl, expression, shapes)
    assert [row[:2] for row in expected] == [row[:2] for row in actual]
    for (*_, mine), (*_, theirs) in zip(actual, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=3e-5, atol=1e-6)


@together("expression, shapes", rows("same graph"), by=lambda row: called(row[0]))
def test_graphs_are_torchs(expression: str, shapes: list[tuple[int, ...]]) -> None:
    """The nodes of the result and, under create_graph, of its gradients."""
    assert measured(torch, expression, shapes)[1] == measured(reference_impl, expression, shapes)[1]
