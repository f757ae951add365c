"""``torch.func`` against torch: values, what requires grad, and gradients through transforms."""

from __future__ import annotations

from typing import Any

import pytest

import reference_impl
import reference_impl.func

pytest.importorskip("torch")

import torch
import torch.func

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

SIDES = {"torch": torch, "reference": reference_impl}


def tensors(t: Any) -> tuple[Any, Any, Any]:
    """A vector, a matrix, and a weight that requires grad."""
    return (
        t.tensor([0.5, -1.0, 2.0]),
        t.tensor([[1.0, 0.5, -0.5], [0.0, 2.0, 1.0]]),
        t.tensor([1.0, 2.0, 3.0], requires_grad=True),
    )


def ensemble(t: Any) -> Any:
    """Return the gradients of each sample of a linear layer."""
    layer = t.nn.Linear(3, 1)
    state = {"weight": t.ones(1, 3), "bias": t.zeros(1)}

    def loss(params: Any, x: Any, y: Any) -> Any:
        return ((t.func.functional_call(layer, params, (x,)) - y) ** 2).sum()

    x, m, _ = tensors(t)
    return t.func.vmap(t.func.grad(loss), in_dims=(None, 0, 0))(state, m, x[:2])


CALLS = {
    "grad": lambda t, x, m, w: t.func.grad(lambda x: (x**3).sum())(x),
    "grad of grad": lambda t, x, m, w: t.func.grad(t.func.grad(lambda a: a**4))(x[2]),
    "not recorded": lambda t, x, m, w: t.no_grad()(t.func.grad(lambda a: (a**3).sum()))(w),
    "jacrev not recorded": lambda t, x, m, w: t.no_grad()(t.func.jacrev(lambda a: a * a))(w),
    "argnums": lambda t, x, m, w: t.func.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, x + 1),
    "aux": lambda t, x, m, w: t.func.grad(lambda a: ((a * a).sum(), a * 2), has_aux=True)(x),
    "grad_and_value": lambda t, x, m, w: t.func.grad_and_value(lambda a: (a.sin()).sum())(x),
    "of a dict": lambda t, x, m, w: t.func.grad(lambda d: (d["a"] * d["b"]).sum())({"a": x, "b": x * 2}),
    "closed over": lambda t, x, m, w: t.func.grad(lambda a: (a * a * w).sum())(x),
    "outer history": lambda t, x, m, w: t.func.grad(lambda a: (a**3).sum())(w),
    "outer value": lambda t, x, m, w: t.func.grad_and_value(lambda a: (a**3).sum())(w),
    "unused": lambda t, x, m, w: t.func.grad(lambda a, b: (a * 2).sum(), argnums=1)(x, x),
    "jacrev": lambda t, x, m, w: t.func.jacrev(lambda a: m @ a)(x),
    "jacfwd": lambda t, x, m, w: t.func.jacfwd(lambda a: (m @ a).exp())(x),
    "jacrev of both": lambda t, x, m, w: t.func.jacrev(lambda a, b: a * b, argnums=(0, 1))(x, x + 1),
    "hessian": lambda t, x, m, w: t.func.hessian(lambda a: (a**3).sum())(x),
    "vjp": lambda t, x, m, w: t.func.vjp(lambda a: m @ a, x)[1](x[:2])[0],
    "vjp of two": lambda t, x, m, w: t.func.vjp(lambda a, b: a * b, x, x + 1)[1](x),
    "jvp": lambda t, x, m, w: t.func.jvp(lambda a: (a**2), (x,), (x,)),
    "vmap": lambda t, x, m, w: t.func.vmap(lambda row: (row * x).sum())(m),
    "vmap of two": lambda t, x, m, w: t.func.vmap(lambda a, b: a * b, in_dims=(1, 0), out_dims=1)(m, x),
    "vmap of grad": lambda t, x, m, w: t.func.vmap(t.func.grad(lambda row: (row**2).sum()))(m),
    "functional_call": lambda t, x, m, w: t.func.functional_call(
        t.nn.Linear(3, 2), {"weight": m, "bias": x[:2]}, (w,)
    ),
    "per sample": lambda t, x, m, w: ensemble(t),
}  # fmt: skip


def told(t: Any, value: Any, w: Any) -> Any:
    """The values of a result, what requires grad in it, and the gradient of ``w`` through it."""
    parts = [value]
    found = []
    while parts:
        part = parts.pop(0)
        if isinstance(part, t.Tensor):
            found.append(part)
        else:
            parts = [*(part.values() if isinstance(part, dict) else part), *parts]
    rooted = [x for x in found if x.requires_grad]
    for x in rooted:
        x.sum().backward(retain_graph=True)
    return (
        [x.detach().tolist() for x in found], [(x.requires_grad, x.is_leaf) for x in found],
        None if w.grad is None else w.grad.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_a_transform_gives_what_torch_gives(call):
    """Values, flags, and the gradient of what the function closes over."""
    outcomes = []
    for t in SIDES.values():
        x, m, w = tensors(t)
        outcomes.append(told(t, CALLS[call](t, x, m, w), w))
    assert outcomes[1][1:] == outcomes[0][1:]
    assert str(outcomes[1][0]) == str(outcomes[0][0]) or _near(outcomes[1][0], outcomes[0][0])


def _near(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_near, one, other))
    return one == pytest.approx(other, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", SIDES)
def test_a_gradient_needs_a_scalar(name):
    """It is refused in torch's words."""
    t = SIDES[name]
    with pytest.raises(RuntimeError, match="got tensor with 1 dims"):
        t.func.grad(lambda x: x * 2)(t.ones(2))


@pytest.mark.parametrize("name", SIDES)
def test_a_module_keeps_its_own_tensors(name):
    """A functional call leaves parameters as they were, tied ones are replaced together."""
    t = SIDES[name]
    layer, tied = t.nn.Linear(2, 2, bias=False), t.nn.Linear(2, 2, bias=False)
    tied.weight = before = layer.weight
    model = t.nn.Sequential(layer, tied)
    out = t.func.functional_call(model, {"0.weight": t.eye(2) * 2}, (t.ones(1, 2),))
    assert out.tolist() == [[4.0, 4.0]]
    assert layer.weight is tied.weight is before


@pytest.mark.parametrize("name", SIDES)
def test_a_pullback_runs_again_unless_it_is_told_not_to(name):
    """Without ``retain_graph`` it frees what was saved."""
    t = SIDES[name]
    x = t.tensor([1.0, 2.0])
    value, pulled = t.func.vjp(lambda a: a * a, x)
    assert [1.0, 4.0] == value.tolist()
    for keep in (True, False):
        assert [2.0, 4.0] == pulled(t.ones(2), retain_graph=keep)[0].tolist()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        pulled(t.ones(2))


@pytest.mark.parametrize("name", SIDES)
def test_a_map_is_refused_at_once(name):
    """Chunks of nothing, and a function that says twice how it maps."""
    t = SIDES[name]

    class Twice(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, x: Any) -> Any:
            return x * 2, 0

    with pytest.raises(ValueError, match="chunk_size should be None or greater than 0"):
        t.func.vmap(lambda x: x, chunk_size=0)
    with pytest.raises(RuntimeError, match="both generate_vmap_rule=True and an overridden"):
        t.func.vmap(Twice.apply)(t.ones(2))
