"""Transforms of ``torch.func`` against torch: what they refuse, empty tensors, and inference mode."""

from __future__ import annotations

from typing import Any

import pytest

import reference_impl
import reference_impl.func

pytest.importorskip("torch")

import torch
import torch.func

pytestmark = pytest.mark.filterwarnings("ignore")

SIDES: tuple[Any, ...] = (torch, reference_impl)


def within_hooks(t: Any, call: Any) -> Any:
    """Call a function while tensors are saved through hooks."""
    with t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        return call()


def hooked(t: Any) -> Any:
    """A module with a hook on its gradients."""
    layer = t.nn.Tanh()
    layer.register_full_backward_hook(lambda module, before, behind: None)
    return layer


REFUSED = {
    "a complex result": lambda t, f, x: f.jacrev(lambda a: t.complex(a, a))(x),
    "a complex result forward": lambda t, f, x: f.jacfwd(lambda a: t.complex(a, a))(x),
    "a complex argument": lambda t, f, x: f.jacrev(lambda a: a.abs())(x + 0j),
    "a complex argument forward": lambda t, f, x: f.jacfwd(lambda a: a.abs())(x + 0j),
    "a number": lambda t, f, x: f.jacrev(lambda a: 3)(x),
    "a number forward": lambda t, f, x: f.jacfwd(lambda a: (a, 3))(x),
    "nothing": lambda t, f, x: f.jacrev(lambda a: None)(x),
    "an empty tuple": lambda t, f, x: f.vjp(lambda a: (), x),
    "integers": lambda t, f, x: f.jacrev(lambda a: a.long())(x),
    "by integers": lambda t, f, x: f.jacfwd(lambda a: a * 2)(x.long()),
    "by a number": lambda t, f, x: f.grad(lambda a, b: (a * b).sum(), argnums=(0, 1))(x, 3),
    "the same twice": lambda t, f, x: f.jacrev(lambda a: a * 2, argnums=(0, 0))(x),
    "by a word": lambda t, f, x: f.jacrev(lambda a: a * 2, argnums="a")(x),
    "by words": lambda t, f, x: f.grad(lambda a: a.sum(), argnums=("a",))(x),
    "by none": lambda t, f, x: f.grad(lambda a: a.sum(), argnums=())(x),
    "chunks of nothing": lambda t, f, x: f.jacrev(lambda a: a * 2, chunk_size=0),
    "a number beside": lambda t, f, x: f.jacrev(lambda a: (a * 2, 3), has_aux=True)(x),
    "nothing beside": lambda t, f, x: f.jacrev(lambda a: a, has_aux=True)(x),
    "nothing beside a gradient": lambda t, f, x: f.grad(lambda a: a.sum(), has_aux=True)(x),
    "a list": lambda t, f, x: f.grad(lambda a: [a.sum()])(x),
    "cotangents of two": lambda t, f, x: f.vjp(lambda a: (a, [a]), x)[1](x),
    "a number as cotangent": lambda t, f, x: f.vjp(lambda a: a, x)[1](3),
    "no tuple of primals": lambda t, f, x: f.jvp(lambda a: a, x, x),
    "a longer tangent": lambda t, f, x: f.jvp(lambda a: a, (x,), (t.ones(3),)),
    "a number as tangent": lambda t, f, x: f.jvp(lambda a: a, (x,), (3,)),
    "no primals": lambda t, f, x: f.jvp(lambda: x, (), ()),
    "an independent result": lambda t, f, x: f.jvp(lambda a: x, (x,), (x,), strict=True),
    "within hooks": lambda t, f, x: within_hooks(t, lambda: f.grad(lambda a: (a * a).sum())(x)),
    "hooks within": lambda t, f, x: f.jacrev(lambda a: within_hooks(t, lambda: a * a))(x),
    "a hook of a module": lambda t, f, x: f.grad(lambda a: hooked(t)(a).sum())(x),
    "a tangent that does not fit": lambda t, f, x: f.linearize(lambda a: a.sin(), x)[1](t.ones(3)),
}

GIVEN = {
    "rows of nothing": lambda t, f, x: f.jacrev(lambda a: (a[:0], a * 2))(x),
    "nothing by rows": lambda t, f, x: f.jacfwd(lambda a: a @ t.ones(3, 2))(t.zeros(0, 3)),
    "integers forward": lambda t, f, x: f.jacfwd(lambda a: (a.long(), a > 0, a * a))(x),
    "integers pushed": lambda t, f, x: f.jvp(lambda a: (a.long(), a * 2), (x,), (x,)),
    "no primals": lambda t, f, x: f.vjp(lambda: x)[0],
    "inference": lambda t, f, x: t.inference_mode()(f.grad(lambda a: (a * a).sum()))(x),
    "a value in inference": lambda t, f, x: t.inference_mode()(f.grad_and_value(lambda a: (a * a).sum()))(x),
    "rows in inference": lambda t, f, x: t.inference_mode()(f.jacrev(lambda a: a * a))(x),
    "directions in inference": lambda t, f, x: t.inference_mode()(f.jacfwd(lambda a: a * a))(x),
    "pushed in inference": lambda t, f, x: t.inference_mode()(f.jvp)(lambda a: a * a, (x,), (x,)),
    "pulled in inference": lambda t, f, x: t.inference_mode()(lambda: f.vjp(lambda a: a * a, x)[1](x))(),
    "of inference tensors": lambda t, f, x: f.grad(lambda a, b: (a * b).sum())(
        *t.inference_mode()(lambda: (x * 1, x * 2))()
    ),
    "maps in inference": lambda t, f, x: t.inference_mode()(f.vmap(f.grad(lambda a: a**3)))(x),
}


def told(t: Any, value: Any) -> Any:
    """Values, dtypes and flags of the tensors in a result."""
    if isinstance(value, (tuple, list)):
        return [told(t, part) for part in value]
    return (
        value.tolist(),
        str(value.dtype)[-5:],
        tuple(value.shape),
        value.requires_grad,
        value.is_inference(),
    )


@pytest.mark.parametrize("call", REFUSED)
def test_what_a_transform_refuses(call):
    """The class and the words are torch's."""
    said = []
    for t in SIDES:
        with pytest.raises((RuntimeError, ValueError, TypeError)) as refused:
            REFUSED[call](t, t.func, t.tensor([1.0, 2.0]))
        kinds = [kind for kind in (RuntimeError, ValueError, TypeError) if issubclass(refused.type, kind)]
        said.append((kinds, str(refused.value).split("Got primals with")[0]))
    assert said[0] == said[1]


@pytest.mark.parametrize("call", GIVEN)
def test_what_a_transform_gives_in_rarer_states(call):
    """Values, dtypes, shapes and flags are torch's."""
    assert told(torch, GIVEN[call](torch, torch.func, torch.tensor([1.0, 2.0]))) == told(
        reference_impl, GIVEN[call](reference_impl, reference_impl.func, reference_impl.tensor([1.0, 2.0]))
    )
