"""Weights that are computed from others before each forward, against torch."""

from __future__ import annotations

from typing import Any

import pytest

import reference_impl
import reference_impl.nn.utils as reference_utils

pytest.importorskip("torch")

import torch
import torch.nn.utils.parametrizations
import torch.nn.utils.parametrize

SIDES = {"torch": torch, "reference": reference_impl}
WEIGHT = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.5]]


def linear(t: Any) -> Any:
    """A linear layer with a known weight."""
    layer = t.nn.Linear(3, 2)
    with t.no_grad():
        layer.weight.copy_(t.tensor(WEIGHT))
        layer.bias.zero_()
    return layer


def told(layer: Any) -> Any:
    """The names of parameters and buffers, and what the weight is."""
    weight = layer.weight
    return (
        [(name, x.tolist()) for name, x in layer.named_parameters()],
        sorted(name for name, _ in layer.named_buffers()), weight.is_leaf, weight.requires_grad,
    )  # fmt: skip


def trained(t: Any, layer: Any) -> Any:
    """The gradients after a backward, by name."""
    layer(t.tensor([[1.0, 2.0, 3.0]])).pow(2).sum().backward()
    return [(name, x.grad.flatten().tolist()) for name, x in layer.named_parameters()]


def near(one: Any, other: Any) -> bool:
    """Tell whether two nested values are the same to rounding."""
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(near, one, other))
    return one == (pytest.approx(other, rel=1e-5, abs=1e-6) if isinstance(one, float) else other)


@pytest.mark.filterwarnings("ignore:.*weight_norm:FutureWarning")
@pytest.mark.parametrize("dim", [0, 1, None])
def test_weight_norm_splits_a_weight(dim):
    """Parameters, gradients, and what is left when it is removed."""
    outcomes = []
    for t in SIDES.values():
        layer = t.nn.utils.weight_norm(linear(t), dim=dim)
        before, grads = told(layer), trained(t, layer)
        t.nn.utils.remove_weight_norm(layer)
        outcomes.append([before, grads, told(layer)[1:], sorted(n for n, _ in layer.named_parameters())])
    assert near(*outcomes)


def test_spectral_norm_divides_by_the_largest_singular_value():
    """From the same vectors: parameters, buffers, gradients, in training and in evaluation."""
    outcomes = []
    for t in SIDES.values():
        layer = t.nn.utils.spectral_norm(linear(t))
        layer.weight_u.copy_(t.tensor([0.6, 0.8]))
        layer.weight_v.copy_(t.tensor([1.0, 0.0, 0.0]))
        before, grads = told(layer), trained(t, layer)
        vectors = [layer.weight_u.tolist(), layer.weight_v.tolist()]
        layer.eval()
        shown = layer(t.ones(1, 3)).tolist()
        t.nn.utils.remove_spectral_norm(layer)
        outcomes.append([before, grads, vectors, shown, layer.weight.tolist(), layer.weight.is_leaf])
    assert near(*outcomes)


@pytest.mark.parametrize("name", SIDES)
def test_a_weight_is_normalised_once(name):
    """A second time is refused."""
    utils = torch.nn.utils if name == "torch" else reference_utils
    layer = utils.spectral_norm(linear(SIDES[name]))
    with pytest.raises((RuntimeError, KeyError)):
        utils.spectral_norm(layer)


class Symmetric:
    """Makes the class of a parametrization on one side."""

    def __new__(cls, t: Any) -> Any:
        class _Symmetric(t.nn.Module):
            def forward(self, x):
                return x.triu() + x.triu(1).transpose(-1, -2)

        return _Symmetric()


def test_a_parametrized_weight_is_computed_when_it_is_read():
    """Its original is the parameter that is trained; removed, the weight is a parameter again."""
    outcomes = []
    for t in SIDES.values():
        parametrize = t.nn.utils.parametrize
        layer = t.nn.Linear(2, 2)
        with t.no_grad():
            layer.weight.copy_(t.tensor([[1.0, 2.0], [3.0, 4.0]]))
            layer.bias.zero_()
        parametrize.register_parametrization(layer, "weight", Symmetric(t))
        first = told(layer), type(layer).__name__, parametrize.is_parametrized(layer, "weight")
        layer(t.tensor([[1.0, 2.0]])).sum().backward()
        grad = layer.parametrizations.weight.original.grad.tolist()
        with parametrize.cached():
            same = layer.weight is layer.weight
        parametrize.remove_parametrizations(layer, "weight")
        outcomes.append([first, grad, same, told(layer), type(layer).__name__])
    assert outcomes[0] == outcomes[1]


def test_weight_norm_is_a_parametrization_too():
    """It is split into two originals, and may be assigned."""
    outcomes = []
    for t in SIDES.values():
        layer = t.nn.utils.parametrizations.weight_norm(linear(t))
        before = told(layer)
        layer(t.tensor([[1.0, 2.0, 3.0]])).pow(2).sum().backward()
        grads = [x.grad.flatten().tolist() for x in layer.parameters()]
        layer.weight = t.tensor(WEIGHT) * 2
        outcomes.append([before, grads, told(layer)])
    assert near(*outcomes)


@pytest.mark.parametrize("name", SIDES)
def test_a_parametrization_keeps_the_shape(name):
    """Another shape is refused in torch's words."""
    t = SIDES[name]

    class Sum(t.nn.Module):
        def forward(self, x):
            return x.sum()

    with pytest.raises(ValueError, match="may not change the shape of the tensor"):
        t.nn.utils.parametrize.register_parametrization(t.nn.Linear(2, 2), "weight", Sum())


def test_spectral_norm_is_a_parametrization_too():
    """From the same vectors it computes the same weight and gradient."""
    outcomes = []
    for t in SIDES.values():
        layer = t.nn.utils.parametrizations.spectral_norm(linear(t))
        norm = layer.parametrizations.weight[0]
        norm._u.copy_(t.tensor([0.6, 0.8]))
        norm._v.copy_(t.tensor([1.0, 0.0, 0.0]))
        layer(t.tensor([[1.0, 2.0, 3.0]])).pow(2).sum().backward()
        grad = layer.parametrizations.weight.original.grad.tolist()
        outcomes.append([grad, norm._u.tolist(), norm._v.tolist(), layer.eval().weight.tolist()])
        outcomes[-1].append(list(layer.state_dict()))
    assert near(*outcomes)
