"""``autograd.functional``, ``gradcheck``, modules and optimizers: the same on torch and on the reference."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reference_impl

torch = pytest.importorskip("torch")

CALLS = """
F.vjp(lambda x: x.exp(), X, X)
F.vjp(lambda x: x.exp().sum(), X)
F.vjp(lambda x, y: (x * y, x.sum()), (X, Y), (Y, X.sum()))
F.vjp(lambda x: x.detach(), X, X)
F.jvp(lambda x: x.exp(), X, X)
F.jvp(lambda x, y: x * y, (X, Y), (Y, X))
F.jvp(lambda x: (x, x.sin()), X, Y)
F.jacobian(lambda x: x.exp(), X)
F.jacobian(lambda x: x.exp(), M)
F.jacobian(lambda x, y: (x * 2, y.sum() * x), (X, Y))
F.jacobian(lambda x: x.sum(), X, vectorize=True)
F.jacobian(lambda x: x.detach(), X)
F.jacobian(lambda x: x.exp().sum(), X, create_graph=True)
F.hessian(lambda x: x.pow(3).sum(), X)
F.hessian(lambda x, y: (x * y.pow(2)).sum(), (X, Y))
F.hessian(lambda x: x.sum(), M)
F.vhp(lambda x: x.pow(3).sum(), X, Y)
F.vhp(lambda x, y: (x * y.pow(2)).sum(), (X, Y), (Y, X))
F.hvp(lambda x: x.pow(3).sum(), X, Y)
F.hvp(lambda x, y: (x * y.pow(2)).sum(), (X, Y), (Y, X))
"""

REFUSED = """
F.vjp(lambda x: x, 2, X)
F.vjp(lambda x: 2, X)
F.vjp(lambda x: x, X)
F.vjp(lambda x: x, X, (X, X))
F.vjp(lambda x: x, X, M)
F.vjp(lambda x: x.detach(), X, X, strict=True)
F.vjp(lambda x: x.detach().requires_grad_().clone(), X, X, strict=True)
F.jvp(lambda x: x, X)
F.jvp(lambda x: x.detach().requires_grad_().clone(), X, X, strict=True)
F.jacobian(lambda x: 2, X)
F.jacobian(lambda x: x, X, strict=True, vectorize=True)
F.jacobian(lambda x, y: x, (X, Y), strict=True)
F.jacobian(lambda x: x.detach(), X, strict=True)
F.hessian(lambda x: x, X)
F.hessian(lambda x: (x.sum(), x.sum()), X)
F.hessian(lambda x: x.sum(), X, strict=True)
F.vhp(lambda x: x, X, X)
F.vhp(lambda x: x.sum(), X, X, strict=True)
F.hvp(lambda x: x.sum(), X, (X, 2))
F.hvp(lambda x: x.sum(), X, X, strict=True)
"""


def called(expression: str, namespace: Any) -> Any:
    """The value of an expression over a vector X, another Y and a matrix M."""
    names = {
        "F": namespace.autograd.functional,
        "X": namespace.tensor([0.5, 1.0, 2.0], dtype=namespace.float64),
        "Y": namespace.tensor([1.0, -1.0, 0.25], dtype=namespace.float64),
        "M": namespace.tensor([[0.5, 1.0], [2.0, -0.5]], dtype=namespace.float64),
    }
    return eval(expression, names)


def plain(result: Any) -> Any:
    """Nested tuples of tensors as numbers with the flag."""
    if isinstance(result, tuple):
        return [plain(part) for part in result]
    return [tuple(result.shape), result.requires_grad, np.round(result.detach().numpy(), 9).tolist()]


@pytest.mark.parametrize("expression", CALLS.strip().splitlines())
def test_functional_gives_what_torch_gives(expression: str) -> None:
    """Values, shapes, nesting and whether the result has a history."""
    assert plain(called(expression, torch)) == plain(called(expression, reference_impl))


def runs(message: str) -> set[tuple[str, ...]]:
    """Every four consecutive words."""
    words = message.replace(".", "").split()
    return {tuple(words[n : n + 4]) for n in range(len(words) - 3)}


@pytest.mark.parametrize("expression", REFUSED.strip().splitlines())
def test_functional_refuses_what_torch_refuses(expression: str) -> None:
    """The reference refuses with torch's Python class, and some words of its message."""
    with pytest.raises((TypeError, RuntimeError)) as theirs:
        called(expression, torch)
    with pytest.raises(theirs.type) as ours:
        called(expression, reference_impl)
    assert runs(str(theirs.value)) & runs(str(ours.value))


def wrong(x: Any) -> Any:
    """The identity with a gradient that is slightly off."""
    y = x.clone()
    y.register_hook(lambda g: g * 1.01)
    return y


def shifted(x: Any) -> Any:
    """The identity with a gradient that is not linear in what comes in."""
    y = x.clone()
    y.register_hook(lambda g: g + 0.01)
    return y


def test_gradcheck_accepts_right_gradients(namespace: Any) -> None:
    """gradcheck takes one input or several, one output or several, and gradients of gradients."""
    x = namespace.tensor([[0.5, 1.0], [2.0, -0.5]], dtype=namespace.float64, requires_grad=True)
    y = namespace.tensor([1.5, -1.0], dtype=namespace.float64, requires_grad=True)
    for function in (
        lambda x, y: x.exp() * y,
        lambda x, y: (x @ y, y.sin()),
        lambda x, y: x.detach() * 0 + y,
    ):
        assert namespace.autograd.gradcheck(function, (x, y), check_batched_grad=False)
    assert namespace.autograd.gradgradcheck(lambda x, y: x.exp() * y.sin(), (x, y), check_batched_grad=False)
    assert namespace.autograd.gradcheck(lambda x: x.pow(3), x)


COMPLEX = (
    *("exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "reciprocal", "square", "abs", "sgn", "prod"),
    *("rsqrt", "expm1", "log1p", "tan", "asin", "acos", "atan", "sinh", "cosh", "conj"),
)


@pytest.mark.parametrize("name", COMPLEX)
def test_gradients_of_complex_numbers_are_right(name: str) -> None:
    """Gradients of functions of one complex operand are what small differences give."""
    ours = reference_impl
    z = ours.tensor([0.5 + 1j, -1.5 + 0.25j, 2 - 0.5j], dtype=ours.complex128, requires_grad=True)
    assert ours.autograd.gradcheck(lambda z: getattr(z, name)(), (z,), check_undefined_grad=False)


@pytest.mark.parametrize("name", ["mul", "div", "pow", "dot", "matmul", "mv"])
def test_gradients_of_two_complex_operands_are_right(name: str) -> None:
    """First and second gradients of functions of two complex operands are what small differences give."""
    ours = reference_impl
    z = ours.tensor([0.5 + 1j, -1.5 + 0.25j], dtype=ours.complex128, requires_grad=True)
    w = ours.tensor([1 + 1j, 0.5 - 2j], dtype=ours.complex128, requires_grad=True)
    m = ours.tensor([[1 + 1j, 0.5 - 2j], [0.25j, 1.5 + 0j]], dtype=ours.complex128, requires_grad=True)
    operands = (m, w) if name in ("matmul", "mv") else (z, w)
    assert ours.autograd.gradcheck(lambda a, b: getattr(a, name)(b), operands)
    assert ours.autograd.gradgradcheck(lambda a, b: getattr(a, name)(b), operands)


@pytest.mark.parametrize(
    ("function", "settings", "says"),
    [
        (wrong, {}, "Jacobian mismatch for output 0 with respect to input 0"),
        (shifted, {"atol": 0.1}, "backward not multiplied by grad_output"),
        (lambda x: x.detach(), {}, "Numerical gradient for function expected to be zero"),
    ],
    ids=["wrong", "shifted", "cut"],
)
def test_gradcheck_finds_wrong_gradients(namespace: Any, function: Any, settings: Any, says: str) -> None:
    """gradcheck raises, or returns False if asked to."""
    x = namespace.tensor([1.0, 2.0], dtype=namespace.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match=says):
        namespace.autograd.gradcheck(function, (x,), **settings)
    assert not namespace.autograd.gradcheck(function, (x,), raise_exception=False, **settings)


def test_gradcheck_needs_something_to_check(namespace: Any) -> None:
    """No input that requires grad is an error; one in single precision a warning."""
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        namespace.autograd.gradcheck(lambda x: x, (namespace.ones(2),))
    with pytest.warns(UserWarning, match="not a double precision"):
        namespace.autograd.gradcheck(lambda x: x, (namespace.ones(2, requires_grad=True),), atol=0.1)


# -- modules and optimizers ------------------------------------------------------------------------
def net_of(namespace: Any) -> Any:
    """A small net with weights that are the same everywhere."""
    nn = namespace.nn
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Sequential(nn.Linear(4, 2), nn.ReLU())).double()
    for n, x in enumerate(net.parameters()):
        with namespace.no_grad():
            numbers = np.resize(np.linspace(-1, 1, 7 + n), tuple(x.shape))
            x.copy_(namespace.tensor(numbers))
    return net


OPTIMIZERS = {
    "SGD": {"lr": 0.1},
    "momentum": {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1},
    "nesterov": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.1, "weight_decay": 0.1},
    "amsgrad": {"lr": 0.1, "amsgrad": True},
    "AdamW": {"lr": 0.1},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_as_under_torch(name: str) -> None:
    """The same losses step by step, and the same weights in the end."""
    told = []
    for namespace in (torch, reference_impl):
        net = net_of(namespace)
        kind = {"momentum": "SGD", "nesterov": "SGD", "amsgrad": "Adam"}.get(name, name)
        optimizer = getattr(namespace.optim, kind)(net.parameters(), **OPTIMIZERS[name])
        x = namespace.tensor([[1.0, 2.0, -1.0], [0.5, -1.0, 2.0]], dtype=namespace.float64)
        target = namespace.tensor([0, 1])
        losses = []
        for _ in range(5):
            optimizer.zero_grad()
            loss = namespace.nn.CrossEntropyLoss()(net(x), target)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        told.append(losses + [n for p in net.parameters() for n in p.flatten().tolist()])
    np.testing.assert_allclose(told[1], told[0], rtol=1e-7, atol=1e-9)


def test_a_module_finds_what_it_owns(namespace: Any) -> None:
    """Parameters, buffers and modules by dotted name; state goes out and in again."""
    net = net_of(namespace)
    names = ["0.weight", "0.bias", "2.0.weight", "2.0.bias"]
    assert names == [name for name, _ in net.named_parameters()] == list(net.state_dict())
    assert ["", "0", "1", "2", "2.0", "2.1"] == [name for name, _ in net.named_modules()]
    other = namespace.nn.Sequential(
        namespace.nn.Linear(3, 4), namespace.nn.Tanh(), net_of(namespace)[2]
    ).double()
    assert [] == list(other.load_state_dict(net.state_dict()).missing_keys)
    assert other[0].weight.equal(net[0].weight)
    with pytest.raises(RuntimeError, match="size mismatch"):
        namespace.nn.Linear(2, 2).load_state_dict(namespace.nn.Linear(3, 2).state_dict())
    with pytest.raises(RuntimeError, match="Missing key"):
        net.load_state_dict({})


def test_parameters_stay_leaves(namespace: Any) -> None:
    """Parameters stay leaves through casts and assignments to .data; results of them are plain tensors."""
    net = namespace.nn.Linear(2, 2)
    weight = net.weight
    net.double()
    assert weight is net.weight
    assert (True, True, namespace.float64) == (weight.is_leaf, weight.requires_grad, weight.dtype)
    weight.data = namespace.zeros(2, 2, dtype=namespace.float64)
    assert isinstance(weight, namespace.nn.Parameter)
    for made in (weight.data, weight.detach(), weight * 1, weight.view(4)):
        assert namespace.Tensor is type(made)
    assert repr(weight).startswith("Parameter containing:\ntensor([[0., 0.],")


def test_zero_grad_forgets_or_fills(namespace: Any) -> None:
    """zero_grad sets grads to None by default, to zeros if told so."""
    net = namespace.nn.Linear(2, 1)
    net(namespace.ones(1, 2)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert [[0.0, 0.0]] == net.weight.grad.tolist()
    net.zero_grad()
    assert net.weight.grad is None


def test_modes_of_a_module_reach_all_below(namespace: Any) -> None:
    """Evaluation makes dropout the identity; requires_grad_ freezes."""
    nn = namespace.nn
    net = nn.Sequential(nn.ModuleList([nn.Dropout(0.5)])[0], nn.Identity())
    x = namespace.ones(100)
    assert set(net(x).tolist()) == {0.0, 2.0}
    assert net.eval()(x) is x
    assert not net[0].training
    frozen = nn.Linear(2, 2).requires_grad_(False)
    assert [False, False] == [p.requires_grad for p in frozen.parameters()]


def test_forward_hooks_see_and_replace(namespace: Any) -> None:
    """A pre-hook may replace the arguments, a hook the result, until it is removed."""
    net = namespace.nn.Identity()
    before = net.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    after = net.register_forward_hook(lambda module, args, out: out * 10)
    assert 20.0 == net(namespace.tensor(1.0)).item()
    before.remove()
    after.remove()
    assert 1.0 == net(namespace.tensor(1.0)).item()


def test_batch_norm_keeps_running_estimates(namespace: Any) -> None:
    """Training updates them, evaluation uses them, and they are part of the state."""
    norm = namespace.nn.BatchNorm1d(2)
    x = namespace.tensor([[1.0, 2.0], [3.0, 6.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        norm(x)
        norm.eval()
        seen = norm(x)
    assert {"weight", "bias", "running_mean", "running_var", "num_batches_tracked"} == set(norm.state_dict())
    assert [pytest.approx(0.2), pytest.approx(0.4)] == norm.running_mean.tolist()
    assert pytest.approx((1.0 - 0.2) / (1.1**0.5), rel=1e-4) == seen[0, 0].item()


def test_full_backward_hooks_see_and_replace_gradients(namespace: Any) -> None:
    """A hook sees the gradient of the result and those of the arguments, and may replace the latter."""
    net = namespace.nn.Linear(2, 1)
    seen = []

    def hook(module: Any, to_inputs: Any, of_outputs: Any) -> Any:
        seen.append((module is net, [g.tolist() for g in to_inputs], [g.tolist() for g in of_outputs]))
        return (to_inputs[0] * 2,)

    handle = net.register_full_backward_hook(hook)
    x = namespace.ones(1, 2, requires_grad=True)
    (net(x) * 3).sum().backward()
    assert [(True, [(3 * net.weight).tolist()], [[[3.0]]])] == seen
    assert (6 * net.weight).tolist() == x.grad.tolist()
    handle.remove()
    net(x).sum().backward()
    assert 1 == len(seen)


def test_full_backward_hooks_are_not_called_by_gradients_of_gradients(namespace: Any) -> None:
    """A gradient of a gradient reaches the arguments without passing the result, so no hook is called."""
    calls = []
    loss = namespace.nn.MSELoss()
    loss.register_full_backward_hook(lambda *_: calls.append(1))
    x = namespace.ones(1, requires_grad=True)
    (g,) = namespace.autograd.grad(loss(x, namespace.zeros(1)), x, create_graph=True)
    namespace.autograd.grad(g, x)
    assert [1] == calls


def test_full_backward_hooks_run_without_gradients_of_arguments(namespace: Any) -> None:
    """Hooks get None for arguments that need no gradient."""
    net = namespace.nn.Linear(2, 1)
    seen = []
    net.register_full_backward_hook(lambda module, to_inputs, of_outputs: seen.append(to_inputs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net(namespace.ones(1, 2)).sum().backward()
    assert [(None,)] == seen
