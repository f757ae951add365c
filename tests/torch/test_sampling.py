"""Images read at the places of a grid: values, nodes and first gradients are torch's."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import reference_impl

torch = pytest.importorskip("torch")

from op_torch import tree  # noqa: E402 -- needs torch

SIZES = [((2, 2, 4, 3), (2, 3, 2, 2)), ((1, 2, 3, 4, 2), (1, 2, 2, 2, 3))]
HOW = [
    *itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (True, False))
]


def sampled(namespace: Any, sizes: Any, *how: Any) -> tuple[list[Any], list[str]]:
    """The image at the places, both gradients, and the nodes of all three."""
    drawn = np.random.default_rng(5)
    arrays = drawn.normal(size=sizes[0]), drawn.uniform(-1.4, 1.4, sizes[1])
    image, grid = (namespace.tensor(a, dtype=namespace.float64).requires_grad_() for a in arrays)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = namespace.nn.functional.grid_sample(image, grid, *how)
        grads = namespace.autograd.grad(out.sin().sum(), [image, grid], create_graph=True)
    return [x.tolist() for x in (out, *grads)], [tree(x.grad_fn).partition("(")[0] for x in (out, *grads)]


@pytest.mark.parametrize(("mode", "padding", "corners"), HOW)
@pytest.mark.parametrize("sizes", SIZES, ids=["2d", "3d"])
def test_samples_and_gradients_are_torchs(sizes: Any, mode: str, padding: str, corners: bool) -> None:
    """Each mode, with each padding, corners aligned or not."""
    if len(sizes[0]) == 5 and mode == "bicubic":
        pytest.skip("torch has no such kernel")
    expected, nodes = sampled(torch, sizes, mode, padding, corners)
    actual, ours = sampled(reference_impl, sizes, mode, padding, corners)
    assert nodes == ours
    for theirs, mine in zip(expected, actual, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9)


def test_second_derivatives_of_samples_are_not_modelled() -> None:
    """They are named rather than computed wrongly."""
    image = reference_impl.ones(1, 1, 3, 3, requires_grad=True)
    grid = reference_impl.zeros(1, 2, 2, 2, requires_grad=True)
    out = reference_impl.nn.functional.grid_sample(image, grid, align_corners=False)
    (g,) = reference_impl.autograd.grad(out.sum(), grid, create_graph=True)
    with pytest.raises(NotImplementedError, match="second derivatives of torch"):
        g.sum().backward()
