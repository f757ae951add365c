"""The ``vmap`` staticmethod of a custom function against torch: when it is called, and what comes of it."""

from __future__ import annotations

from typing import Any

import pytest

import reference_impl
import reference_impl.func

pytest.importorskip("torch")

import torch
import torch.func

SIDES: dict[str, Any] = {"torch": torch, "reference": reference_impl}


def product(t: Any, **facts: Any) -> Any:
    """A function of two tensors that says how its rule is called; the rule adds one."""

    def forward(x, y):
        return x * y

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x

    def vmap(info, in_dims, x, y):
        print(info.batch_size, info.randomness, in_dims, tuple(x.shape), tuple(y.shape))
        return x * y + 1, 0

    static = {"forward": forward, "setup_context": setup_context, "backward": backward, "vmap": vmap} | facts
    members = {name: staticmethod(f) if callable(f) else f for name, f in static.items() if f is not None}
    return type("Product", (t.autograd.Function,), members)


def sine(t: Any) -> Any:
    """A function of one tensor whose rule calls the function."""

    def forward(x):
        return x.sin()

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def backward(ctx, g):
        return g * ctx.saved_tensors[0].cos()

    def vmap(info, in_dims, x):
        print(tuple(info), in_dims, tuple(x.shape))
        return Sine.apply(x), in_dims[0]

    static = {"forward": forward, "setup_context": setup_context, "backward": backward, "vmap": vmap}
    members = {name: staticmethod(f) for name, f in static.items()}
    Sine = type("Sine", (t.autograd.Function,), members)
    return Sine


CALLS = {
    "one of two is mapped": lambda t, f, s, x, y: t.func.vmap(f.apply, (0, None))(x, y),
    "along another dimension": lambda t, f, s, x, y: t.func.vmap(s.apply, 1, 1)(x),
    "of what was computed": lambda t, f, s, x, y: t.func.vmap(lambda x: f.apply(x, x * 2).sum())(x),
    "several calls": lambda t, f, s, x, y: t.func.vmap(lambda x: s.apply(x) + s.apply(f.apply(x, y)))(x),
    "of nothing that is mapped": lambda t, f, s, x, y: t.func.vmap(lambda x: s.apply(y) + x)(x),
    "differentiated within": lambda t, f, s, x, y: t.func.vmap(
        t.func.grad(lambda x: s.apply(f.apply(x, x * 2)).sum())
    )(x),
    "differentiated around": lambda t, f, s, x, y: t.func.grad(
        lambda x: t.func.vmap(lambda x: s.apply(f.apply(x, y)).sum())(x).sum()
    )(x),
    "a map within a map": lambda t, f, s, x, y: t.func.vmap(t.func.vmap(s.apply))(x),
    "a map within a map, differentiated": lambda t, f, s, x, y: t.func.vmap(
        t.func.vmap(t.func.grad(s.apply))
    )(x),
    "differentiated twice": lambda t, f, s, x, y: t.func.grad(
        lambda x: t.func.vmap(t.func.grad(lambda x: s.apply(x).sum()))(x).sum()
    )(x),
    "beside random numbers": lambda t, f, s, x, y: t.func.vmap(
        lambda x: s.apply(x) + 0 * t.rand(3), randomness="different"
    )(x),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_rule_is_called_once_with_all_elements(call, capsys):
    """Its result counts; within a derivative it stands for forward."""
    found = {}
    for name, t in SIDES.items():
        x, y = t.arange(6.0).reshape(2, 3), t.tensor([1.0, 2.0, 3.0])
        out = CALLS[call](t, product(t), sine(t), x, y)
        found[name] = [[round(v, 4) for v in out.reshape(-1).tolist()], capsys.readouterr().out]
    assert found["reference"] == found["torch"]


@pytest.mark.parametrize("name", SIDES)
def test_what_a_call_wrote_is_there_when_it_goes_on(name):
    """Although the others had come as far meanwhile."""
    t = SIDES[name]
    s = sine(t)
    u = t.zeros(3)

    def one(x: Any) -> Any:
        u.add_(1)
        own = x.clone().mul_(2)
        return s.apply(own) * 0 + own + u

    assert t.func.vmap(one)(t.ones(2, 3)).tolist() == [[3.0] * 3] * 2
    assert u.tolist() == [1.0] * 3


REFUSED = {
    "one return": {"vmap": lambda info, in_dims, x, y: x * y},
    "three returns": {"vmap": lambda info, in_dims, x, y: (x * y, 0, 1)},
    "both": {"generate_vmap_rule": True},
    "neither": {"vmap": None},
    "no setup_context": {"setup_context": None, "forward": lambda ctx, x, y: x * y},
}


@pytest.mark.parametrize("which", REFUSED)
def test_it_is_refused_in_torch_s_words(which):
    """A rule beside a generated one, none at all, and one whose result is no pair."""
    found = {}
    for name, t in SIDES.items():
        with pytest.raises(RuntimeError) as refused:
            t.func.vmap(product(t, **REFUSED[which]).apply)(t.ones(2, 3), t.ones(2, 3))
        found[name] = str(getattr(refused.value, "says", refused.value))[:60]
    if which in ("neither", "no setup_context"):
        return  # rules of the reference, whose words the rules' own tests compare
    assert found["reference"] == found["torch"]
