"""Pruning of modules: masks, what they do to gradients, and what is left of them, as in torch."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
import torch

import reference_impl

PAIR = (torch, reference_impl)
WEIGHTS = [[1.0, -2.0, 3.0, -4.0], [0.5, 6.0, -0.25, 8.0]]


def _both(script: Any) -> tuple[Any, Any]:
    """The results of a script for torch and its `prune`, and for the reference and its own."""
    results = []
    for namespace in PAIR:
        prune = importlib.import_module(f"{namespace.__name__}.nn.utils.prune")
        layer = namespace.nn.Linear(4, 2)
        with namespace.no_grad():
            layer.weight.copy_(namespace.tensor(WEIGHTS))
            layer.bias.copy_(namespace.tensor([0.5, -3.0]))
        results.append(script(namespace, prune, layer))
    return results[0], results[1]


def _shown(layer: Any) -> Any:
    """The tensors that a pruned layer has, by name, and whether its weight is pruned."""
    names = [name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()]
    tensors = {name: x.tolist() for name, x in layer.state_dict().items()}
    return names, tensors, layer.weight.tolist(), layer.weight.requires_grad, len(layer._forward_pre_hooks)


CALLS = {
    "an amount": lambda t, p, m: p.l1_unstructured(m, "weight", 3),
    "a share": lambda t, p, m: p.l1_unstructured(m, "weight", 0.3),
    "scores": lambda t, p, m: p.l1_unstructured(m, "weight", 4, t.arange(8.0).view(2, 4)),
    "rows by norm": lambda t, p, m: p.ln_structured(m, "weight", 1, 2, 0),
    "columns by norm": lambda t, p, m: p.ln_structured(m, "weight", 2, 1, 1),
    "columns by the largest": lambda t, p, m: p.ln_structured(m, "weight", 0.5, float("inf"), -1),
    "scored columns": lambda t, p, m: p.ln_structured(m, "weight", 1, 1, 1, t.ones(2, 4) * t.arange(4.0)),
    "a mask": lambda t, p, m: p.custom_from_mask(m, "weight", t.tensor([[1, 0, 0, 1], [0, 1, 1, 0]])),
    "nothing": lambda t, p, m: p.identity(m, "weight"),
    "all": lambda t, p, m: p.l1_unstructured(m, "weight", 1.0),
    "twice": lambda t, p, m: (p.l1_unstructured(m, "weight", 2), p.l1_unstructured(m, "weight", 0.5)),
    "two ways": lambda t, p, m: (p.ln_structured(m, "weight", 1, 2, 1), p.l1_unstructured(m, "weight", 3)),
    "bias too": lambda t, p, m: (p.l1_unstructured(m, "weight", 2), p.l1_unstructured(m, "bias", 1)),
    "together": lambda t, p, m: p.global_unstructured(
        [(m, "weight"), (m, "bias")], pruning_method=p.L1Unstructured, amount=4
    ),
}
"""Ways to prune a layer, by what decides."""


@pytest.mark.parametrize("way", CALLS)
def test_a_layer_is_pruned_as_in_torch(way: str) -> None:
    """Mask, original, product and hooks are those of torch, and so is the gradient behind the mask."""

    def script(namespace: Any, prune: Any, layer: Any) -> Any:
        CALLS[way](namespace, prune, layer)
        before = _shown(layer), prune.is_pruned(layer)
        layer(namespace.ones(1, 4)).sum().backward()
        grads = {name: x.grad.tolist() for name, x in layer.named_parameters()}
        with namespace.no_grad():
            layer.weight_orig.mul_(2)
        stale = layer.weight.tolist()
        layer(namespace.ones(1, 4))
        return before, grads, stale, layer.weight.tolist()

    expected, actual = _both(script)
    assert expected == actual


@pytest.mark.parametrize("way", [way for way in CALLS if way != "bias too"])
def test_removing_leaves_the_pruned_values(way: str) -> None:
    """A parameter of the old name holds them; mask, original and hook are gone."""

    def script(namespace: Any, prune: Any, layer: Any) -> Any:
        CALLS[way](namespace, prune, layer)
        prune.remove(layer, "weight")
        return _shown(layer), type(layer.weight).__name__, layer.weight.is_leaf

    expected, actual = _both(script)
    assert expected == actual


@pytest.mark.parametrize("method", ["random_unstructured", "random_structured"])
def test_chance_takes_as_many_as_asked_for(method: str) -> None:
    """The number of elements that go is fixed, not the choice of them."""

    def script(namespace: Any, prune: Any, layer: Any) -> Any:
        how = (2, 1) if method == "random_structured" else (3,)
        getattr(prune, method)(layer, "weight", *how)
        return int(layer.weight_mask.sum()), layer.weight_mask.dtype == namespace.float32

    expected, actual = _both(script)
    assert expected == actual


REFUSED = {
    "more than there is": lambda t, p, m: p.l1_unstructured(m, "weight", 9),
    "more columns than there are": lambda t, p, m: p.ln_structured(m, "weight", 5, 2, 1),
    "a share beyond one": lambda t, p, m: p.l1_unstructured(m, "weight", 1.5),
    "a negative amount": lambda t, p, m: p.random_unstructured(m, "weight", -1),
    "a text": lambda t, p, m: p.l1_unstructured(m, "weight", "two"),
    "a vector by columns": lambda t, p, m: p.ln_structured(m, "bias", 1, 2, 0),
    "a missing dimension": lambda t, p, m: p.ln_structured(m, "weight", 1, 2, 2),
    "a mask of another shape": lambda t, p, m: p.custom_from_mask(m, "weight", t.ones(4, 2)),
    "scores of another shape": lambda t, p, m: p.l1_unstructured(m, "weight", 1, t.ones(4, 2)),
    "what is not pruned": lambda t, p, m: p.remove(m, "weight"),
    "pairs without pairs": lambda t, p, m: p.global_unstructured(
        m, pruning_method=p.L1Unstructured, amount=1
    ),
    "columns together": lambda t, p, m: p.global_unstructured(
        [(m, "weight")], pruning_method=p.LnStructured, amount=1
    ),
}
"""Calls that are refused, by what is wrong."""


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_refused_alike(what: str) -> None:
    """The kind of error is that of torch."""

    def script(namespace: Any, prune: Any, layer: Any) -> Any:
        try:
            REFUSED[what](namespace, prune, layer)
        except Exception as error:
            return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
        return "none", _shown(layer)

    expected, actual = _both(script)
    assert expected == actual
