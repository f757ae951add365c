"""Scattered reductions, against torch."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import pytest

import reference_impl

pytest.importorskip("torch")

import torch

SIDES = (torch, reference_impl)
REDUCTIONS = ("sum", "mean", "prod", "amax", "amin")
OPERANDS = {
    "ties": ([1.0, 1.0, 3.0], [1.0, 2.0, 1.0, 3.0], [0, 1, 0, 2], 0),
    "zeros": ([2.0, 0.0, 3.0], [0.0, 2.0, 4.0, 5.0], [0, 1, 0, 1], 0),
    "unnamed place": ([2.0, 4.0, 3.0], [7.0, 2.0, 4.0, 5.0], [0, 1, 0, 1], -1),
    "nan": ([1.0, float("nan"), 2.0], [float("nan"), 1.0, 2.0, 3.0], [0, 1, 0, 2], 0),
    "rows": ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[3.0, 2.0], [7.0, 8.0]], [[0, 1], [1, 1]], 0),
    "columns": ([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[3.0, 2.0], [7.0, 8.0]], [[2, 2], [0, 1]], 1),
    "fewer indices": ([1.0, 2.0], [3.0, 4.0, 5.0], [1], 0),
    "no indices": ([1.0, 2.0], [3.0], [], 0),
    "scalars": (2.0, 3.0, 0, 0),
}


def tensors(t: Any, name: str) -> Any:
    """The operands of that name, of which self and src require grad."""
    x, src, index, dim = OPERANDS[name]
    at = t.tensor(index, dtype=t.int64)
    return t.tensor(x, requires_grad=True), dim, at, t.tensor(src, requires_grad=True)


def near(one: Any, other: Any) -> bool:
    """Tell whether two nested values are the same to rounding."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(near, one, other))
    return bool(one == (pytest.approx(other, rel=1e-5, nan_ok=True) if isinstance(one, float) else other))


def outcome(call: Any) -> Any:
    """The result of a call, or the class of exception by which it is refused."""
    try:
        return call()
    except Exception as error:
        return next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")


def differentiated(t: Any, name: str, reduce: str, include_self: bool) -> Any:
    """The result, its node, its gradients with their nodes, and what differentiating those gives."""
    x, dim, index, src = tensors(t, name)
    y = x.scatter_reduce(dim, index, src, reduce, include_self=include_self)
    v = t.ones_like(y).mul(1.5).requires_grad_()
    grads = t.autograd.grad(y, [x, src], v, create_graph=True)
    again = [
        outcome(lambda g=g: [
            h if h is None else h.tolist()
            for h in t.autograd.grad(g.sum(), [x, src, v], retain_graph=True, allow_unused=True)
        ])
        for g in grads
    ]  # fmt: skip
    return (
        y.tolist(), y.grad_fn.name(), [g.tolist() for g in grads],
        [g.grad_fn and g.grad_fn.name() for g in grads], again,
    )  # fmt: skip


@pytest.mark.parametrize("name", OPERANDS)
def test_values_and_gradients_are_torchs(name: str) -> None:
    """Every reduction, with and without self, and differentiated twice."""
    for reduce, include_self in product(REDUCTIONS, (True, False)):
        how = name, reduce, include_self
        theirs, ours = [outcome(partial(differentiated, t, *how)) for t in SIDES]
        assert near(theirs, ours), (reduce, include_self, theirs, ours)


def test_in_place_is_a_write() -> None:
    """The version counts, and the gradient goes to what stood there before."""
    found = []
    for t in SIDES:
        x, dim, index, src = tensors(t, "ties")
        z = x * 1
        z.scatter_reduce_(dim, index, src, "amax")
        z.sum().backward()
        found.append((z._version, z.grad_fn.name(), z.tolist(), x.grad.tolist(), src.grad.tolist()))
    assert near(*found)


def test_src_is_saved() -> None:
    """A write to it is noticed, whatever the reduction."""
    for t, reduce in product(SIDES, REDUCTIONS):
        x, dim, index, src = tensors(t, "ties")
        kept = src * 1
        y = x.scatter_reduce(dim, index, kept, reduce)
        kept.add_(1)
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation|was written"):
            y.sum().backward()


DTYPES = ("bool", "int32", "int64", "float64", "float16", "complex64")


def of_dtype(t: Any, dtype: str, reduce: str, include_self: bool) -> Any:
    """The result for numbers of that dtype."""
    x, src = [t.tensor(values).to(getattr(t, dtype)) for values in ([1, -2, 3], [-4, -5, -6, 0])]
    return x.scatter_reduce(0, t.tensor([0, 1, 0, 2]), src, reduce, include_self=include_self).tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_gives_what_torch_gives(dtype: str) -> None:
    """Integers divide downwards; some reductions lack some dtypes."""
    for how in product(REDUCTIONS, (True, False)):
        theirs, ours = [outcome(partial(of_dtype, t, dtype, *how)) for t in SIDES]
        assert near(theirs, ours), (how, theirs, ours)


WRONG = {
    "another reduction": lambda t, x, i, s: x.scatter_reduce(0, i, s, "median"),
    "no reduction": lambda t, x, i, s: x.scatter_reduce(0, i, s),
    "a number": lambda t, x, i, s: x.scatter_reduce(0, i, 1.0, "sum"),
    "another dtype": lambda t, x, i, s: x.scatter_reduce(0, i, s.double(), "sum"),
    "floats as indices": lambda t, x, i, s: x.scatter_reduce(0, i.float(), s, "sum"),
    "too large": lambda t, x, i, s: x.scatter_reduce(0, i + 1, s, "sum"),
    "negative": lambda t, x, i, s: x.scatter_reduce(0, i - 1, s, "mean"),
    "another dimension": lambda t, x, i, s: x.scatter_reduce(1, i, s, "sum"),
    "another rank": lambda t, x, i, s: x.scatter_reduce(0, i.unsqueeze(0), s.unsqueeze(0), "sum"),
    "src of another rank": lambda t, x, i, s: x.scatter_reduce(0, i, s.unsqueeze(0), "sum"),
    "src too small": lambda t, x, i, s: x.scatter_reduce(0, i, s[:3], "sum"),
    "a leaf": lambda t, x, i, s: x.requires_grad_().scatter_reduce_(0, i, s, "sum"),
    "its own memory": lambda t, x, i, s: x.scatter_reduce_(0, i[:3], x, "sum"),
    "expanded": lambda t, x, i, s: x.expand(2, 3).scatter_reduce_(
        0, i[:3].expand(2, 3), x.expand(2, 3), "sum"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_torch_refuses_is_refused(name: str) -> None:
    """By the same class of exception."""
    found = [
        outcome(lambda t=t: WRONG[name](
            t, t.tensor([1.0, 2.0, 3.0]), t.tensor([0, 1, 0, 2]), t.tensor([1.0, 2.0, 3.0, 4.0])
        ))
        for t in SIDES
    ]  # fmt: skip
    assert isinstance(found[0], str)
    assert found[0] == found[1]


def test_it_is_a_function_too() -> None:
    """``torch.scatter_reduce``, by keywords."""
    found = [
        t.scatter_reduce(
            input=t.tensor([1.0, 2.0]), dim=0, index=t.tensor([1]), src=t.tensor([3.0]), reduce="mean",
            include_self=True,
        ).tolist()
        for t in SIDES
    ]  # fmt: skip
    assert found[0] == found[1] == [1.0, 2.5]
