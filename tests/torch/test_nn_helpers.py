"""Helpers around modules: initial values, functions of all parameters, one_hot, parameters by path."""

from __future__ import annotations

import pytest

import reference_impl

torch = pytest.importorskip("torch")
SIDES = (torch, reference_impl)
INITIAL = [
    ("uniform_", {"a": -2.0, "b": 3.0}),
    ("normal_", {"mean": 1.0, "std": 0.5}),
    ("constant_", {"val": 2.5}),
    ("zeros_", {}),
    ("ones_", {}),
    ("xavier_uniform_", {"gain": 2.0}),
    ("xavier_normal_", {}),
    ("kaiming_uniform_", {"a": 5**0.5}),
    ("kaiming_normal_", {"nonlinearity": "relu"}),
    ("kaiming_normal_", {"nonlinearity": "linear"}),
    ("kaiming_uniform_", {"nonlinearity": "tanh"}),
]


@pytest.mark.parametrize(("name", "how"), INITIAL, ids=[f"{name} {how}" for name, how in INITIAL])
def test_initial_values_have_torchs_distribution_and_are_not_recorded(name, how):
    """Mean and spread are those of torch; the leaf stays one, written once."""
    found = []
    for side in SIDES:
        side.manual_seed(0)
        weight = side.nn.Parameter(side.empty(200, 300))
        assert weight is getattr(side.nn.init, name)(weight, **how)
        assert (True, True, None, 1) == (
            weight.is_leaf,
            weight.requires_grad,
            weight.grad_fn,
            weight._version,
        )
        values = weight.detach()
        found.append([values.mean().item(), values.std().item(), values.max().item()])
    torchs, ours = found
    assert torchs[:2] == pytest.approx(ours[:2], rel=0.03, abs=0.01)
    assert torchs[2] == pytest.approx(ours[2], rel=0.03 if "uniform" in name else 0.3)


@pytest.mark.parametrize("name", ["linear", "sigmoid", "tanh", "relu", "selu", "leaky_relu"])
def test_gains_are_torchs(name):
    for param in (None, 0.3):
        assert torch.nn.init.calculate_gain(name, param) == reference_impl.nn.init.calculate_gain(name, param)


def test_one_hot_encodes_along_a_new_last_dimension():
    shown = []
    for side in SIDES:
        labels = side.tensor([[0, 2], [1, 0]])
        one_hot = side.nn.functional.one_hot
        shown.append(
            [repr(one_hot(labels)), repr(one_hot(labels, 4)), repr(one_hot(labels, num_classes=3).dtype)]
        )
    assert shown[0] == shown[1]


def test_a_parameter_is_found_by_its_path():
    for side in SIDES:
        net = side.nn.Sequential(side.nn.Linear(2, 3), side.nn.Sequential(side.nn.Linear(3, 1)))
        assert net[1][0].weight is net.get_parameter("1.0.weight")
        assert net.get_submodule("1") is net[1]
        with pytest.raises(AttributeError):
            net.get_parameter("1.0.nothing")
        with pytest.raises(AttributeError):
            net.get_parameter("2.weight")


def test_parameters_become_a_vector_and_back():
    """The vector is recorded; writing it back replaces the data of each parameter."""
    shown = []
    for side in SIDES:
        utils = side.nn.utils
        net = side.nn.Linear(2, 2)
        vector = utils.parameters_to_vector(net.parameters())
        assert vector.requires_grad is True
        utils.vector_to_parameters(side.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), net.parameters())
        shown.append([net.weight.tolist(), net.bias.tolist(), net.weight.is_leaf])
    assert shown[0] == shown[1]


def test_grads_are_clipped_in_place():
    """By the norm of all of them, which is returned, or each value by itself."""
    shown = []
    for side in SIDES:
        x, y = (side.tensor(values, requires_grad=True) for values in ([3.0, -4.0], [12.0]))
        x.grad, y.grad = side.tensor([3.0, -4.0]), side.tensor([12.0])
        norm = side.nn.utils.clip_grad_norm_([x, y], 6.5)
        by_norm = [norm.item(), *x.grad.tolist(), *y.grad.tolist()]
        side.nn.utils.clip_grad_value_([x, y], 1.75)
        shown.append([*by_norm, *x.grad.tolist(), *y.grad.tolist(), x.grad._version])
    assert shown[0] == pytest.approx(shown[1])
