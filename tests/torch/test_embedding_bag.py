"""Bags of embeddings, against torch."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import pytest

import reference_impl

pytest.importorskip("torch")

import torch

SIDES = (torch, reference_impl)
TABLE = [[1.0, 5.0], [3.0, 2.0], [3.0, 7.0], [-1.0, -2.0]]
MODES = ("sum", "mean", "max")


def near(one: Any, other: Any) -> bool:
    """Tell whether two nested values are the same to rounding."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(near, one, other))
    return bool(one == (pytest.approx(other, rel=1e-5) if isinstance(one, float) else other))


def outcome(call: Any) -> Any:
    """The result of a call, or the class of exception by which it is refused."""
    try:
        return call()
    except Exception as error:
        return next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")


BAGS = {
    "two": ([1, 2, 1, 1], {"offsets": [0, 3]}),
    "an empty one": ([1, 2, 1, 3], {"offsets": [0, 2, 2]}),
    "an empty one at the end": ([1, 2], {"offsets": [0, 2]}),
    "negative elements": ([3, 3], {"offsets": [0, 1]}),
    "none": ([], {"offsets": []}),
    "only empty ones": ([], {"offsets": [0, 0]}),
    "rows": ([[1, 2], [0, 3]], {}),
    "the last offset": ([1, 2, 0], {"offsets": [0, 1, 3], "include_last_offset": True}),
    "padding": ([1, 2, 1, 1], {"offsets": [0, 3], "padding_idx": 1}),
    "padding from the end": ([1, 2, 1, 1], {"offsets": [0, 3], "padding_idx": -2}),
}


def bag(t: Any, name: str, mode: str, factors: Any = None) -> Any:
    """The result of bags of that name, its node, and its gradients with their nodes."""
    index, how = BAGS[name]
    given = how | ({"offsets": t.tensor(how["offsets"], dtype=t.int64)} if "offsets" in how else {})
    weight = t.tensor(TABLE, requires_grad=True)
    if factors is not None:
        given["per_sample_weights"] = factors
    at = t.tensor(index, dtype=t.int64)
    y = t.nn.functional.embedding_bag(at, weight, mode=mode, **given)
    wanted = [weight, *([] if factors is None else [factors])]
    grads = t.autograd.grad(y.pow(2).sum(), wanted, create_graph=True)
    again = [outcome(partial(t.autograd.grad, g.sum(), wanted, retain_graph=True)) for g in grads]
    return (
        y.tolist(), y.grad_fn.name(), [g.tolist() for g in grads], [g.grad_fn.name() for g in grads], again
    )  # fmt: skip


@pytest.mark.parametrize("name", BAGS)
def test_values_and_gradients_are_torchs(name: str) -> None:
    """In each mode; differentiated twice they are refused."""
    for mode in MODES:
        theirs, ours = [outcome(partial(bag, t, name, mode)) for t in SIDES]
        assert near(theirs, ours), (mode, theirs, ours)


@pytest.mark.parametrize("name", ["two", "an empty one", "padding", "the last offset"])
def test_factors_have_gradients(name: str) -> None:
    """``per_sample_weights`` scale the rows of sums."""
    numbers = [1.0, -2.0, 3.0, 0.5][: len(BAGS[name][0])]
    theirs, ours = [bag(t, name, "sum", t.tensor(numbers, requires_grad=True)) for t in SIDES]
    assert near(theirs, ours), (theirs, ours)


@pytest.mark.parametrize("written", ["weight", "index", "offsets", "factors"])
def test_what_is_written_to_is_noticed_where_it_was_saved(written: str) -> None:
    """The table is saved for the factors alone, the indices always."""
    found = []
    for t, scaled, mode in product(SIDES, (True, False), MODES):
        weight = t.tensor(TABLE, requires_grad=True)
        of = {
            "weight": weight * 1, "index": t.tensor([1, 2, 1, 1]), "offsets": t.tensor([0, 3]),
            "factors": t.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True) * 1,
        }  # fmt: skip
        if scaled and mode != "sum":
            continue
        y = t.nn.functional.embedding_bag(
            of["index"], of["weight"], of["offsets"], mode=mode,
            per_sample_weights=of["factors"] if scaled else None,
        )  # fmt: skip
        with t.no_grad():
            of[written].mul_(1)
        found.append(outcome(lambda t=t, y=y, w=weight: t.autograd.grad(y.sum(), w)[0].tolist()))
    half = len(found) // 2
    assert near(found[:half], found[half:]), found


def call(t: Any, name: str) -> Any:
    """A call that torch refuses."""
    w, i, o = t.tensor(TABLE), t.tensor([1, 2, 1, 1]), t.tensor([0, 3])
    f = t.ones(4)
    args, how = {
        "no offsets": ((i, w), {}),
        "offsets of rows": ((i.view(2, 2), w, o), {}),
        "three dimensions": ((i.view(1, 2, 2), w), {}),
        "a matrix of offsets": ((i, w, o.view(1, 2)), {}),
        "a first offset": ((i, w, o + 1), {}),
        "a last offset": ((i, w, o * 2), {}),
        "another mode": ((i, w, o), {"mode": "min"}),
        "too large": ((i + 3, w, o), {}),
        "negative": ((i - 2, w, o), {}),
        "floats as indices": ((i.float(), w, o), {}),
        "floats as offsets": ((i, w, o.float()), {}),
        "a vector as table": ((i, w[0], o), {}),
        "integers as table": ((i, w.long(), o), {}),
        "padding outside": ((i, w, o), {"padding_idx": 4}),
        "sparse maxima": ((i, w, o), {"mode": "max", "sparse": True}),
        "factors of means": ((i, w, o), {"per_sample_weights": f}),
        "too few factors": ((i, w, o), {"mode": "sum", "per_sample_weights": f[:2]}),
        "factors of another dtype": ((i, w, o), {"mode": "sum", "per_sample_weights": f.double()}),
    }[name]
    return t.nn.functional.embedding_bag(*args, **how)


@pytest.mark.parametrize("name", [
    "no offsets", "offsets of rows", "three dimensions", "a matrix of offsets", "a first offset",
    "a last offset", "another mode", "too large", "negative", "floats as indices", "floats as offsets",
    "a vector as table", "integers as table", "padding outside", "sparse maxima", "factors of means",
    "too few factors", "factors of another dtype",
])  # fmt: skip
def test_what_torch_refuses_is_refused(name: str) -> None:
    """By the same class of exception, in the same words."""
    told = []
    for t in SIDES:
        with pytest.raises((RuntimeError, ValueError, TypeError)) as caught:
            call(t, name)
        told.append((type(caught.value).__name__, str(caught.value).splitlines()[0].split(" of type")[0]))
    assert told[0] == told[1]


def test_the_layer_is_torchs() -> None:
    """Its state, its text, its result; padding begins with zeros."""
    found = []
    for t in SIDES:
        layer = t.nn.EmbeddingBag(4, 2, mode="sum", padding_idx=-1)
        zero = layer.weight[3].tolist()
        with t.no_grad():
            layer.weight.copy_(t.tensor(TABLE))
        y = layer(t.tensor([1, 2, 3]), t.tensor([0, 1]))
        y.sum().backward()
        kept = t.nn.EmbeddingBag.from_pretrained(t.tensor(TABLE))
        found.append((
            zero, str(layer), list(layer.state_dict()), y.tolist(), layer.weight.grad.tolist(),
            kept.weight.requires_grad, kept(t.tensor([[0, 1]])).tolist(), str(kept),
        ))  # fmt: skip
    assert near(*found), found
