"""``torch.autograd.grad``, gradient edges, and the second derivatives that begin with their results.

Roots and upstream gradients are picked in ``backward``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import DOUBLE, GRAD_CALL, INPLACE, ROOTS
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import FOLLOW_UPS, follow_up, step
from conformance.generate.state.tensor_info import TensorInfo, ancestors, needs_grad
from conformance.generate.steps.backward import (
    CREATE,
    RETAIN,
    aliases_a_grad,
    backward,
    root,
    upstream_gradient,
)
from conformance.program import ref

_UNUSED: Kwargs = (("allow_unused", True),)
_ZEROS: Kwargs = (("materialize_grads", True),)
_EDGE_KEYWORDS = ((), RETAIN, RETAIN, _UNUSED, _ZEROS, _ZEROS)


def _inputs(state: GenState, tensor: TensorInfo) -> list[TensorInfo]:
    """Pick tensors to differentiate with respect to, mostly some that the root was made from."""
    path = [one for one in ancestors(tensor)[1:] if one.requires_grad] or [tensor]
    found = [state.pick(path)]
    k = state.below(6)
    if k >= 4:
        found.append(state.pick(path) if k == 4 else state.find(needs_grad) or tensor)
    if state.unchecked:
        found.append(state.any_tensor())
    return found


@step(8, GRAD_CALL, emits=("torch.autograd.grad",))
def autograd_grad(state: GenState, about: TensorInfo | None = None) -> bool:
    """``torch.autograd.grad`` of one or two outputs with respect to one or more inputs."""
    tensor = about or root(state)
    if tensor is None:
        return False
    g = upstream_gradient(state, tensor)
    if g is False:
        return False
    if g is not None:
        g.store.may_hold_grad = True  # a gradient may be (part of) this tensor
    outputs: Any = tensor.ref
    gs: Any = g and g.ref
    if state.features & ROOTS and state.below(4) == 3:
        other = root(state)
        h: Any = upstream_gradient(state, other) if other is not None else False
        if other is not None and h is not False:
            if h is not None:
                h.store.may_hold_grad = True
            outputs, gs = [tensor.ref, other.ref], [gs, h and h.ref] if gs or h else None
    inputs = _inputs(state, tensor)
    args: tuple[Any, ...] = (outputs, inputs[0].ref if len(inputs) == 1 else [one.ref for one in inputs])
    if gs is not None:
        args = (*args, gs)
    kwargs, create = _keywords(state, len(inputs))
    names = tuple(state.fresh_name() for _ in inputs)
    if state.emit("torch.autograd.grad", args, kwargs, names):
        frees = not kwargs or kwargs[0][0] not in ("create_graph", "retain_graph")
        _bind_gradients(state, tensor, inputs, names, create, frees)
    return True


def _keywords(state: GenState, inputs: int) -> tuple[Kwargs, bool]:
    """Keywords of a call with so many inputs, and if it creates a graph."""
    k = state.below(8)
    create = bool(k >= 4 and state.features & DOUBLE)
    kwargs: Kwargs = CREATE if create else RETAIN if k & 1 else ()
    k = state.below(12)
    if k >= 9 or (inputs > 1 and k >= 5):
        kwargs = (*kwargs, ("allow_unused", True))
    elif k >= 7 or (inputs > 1 and k >= 3):
        kwargs = (*kwargs, ("materialize_grads", True))
        if state.unchecked:
            kwargs = (*kwargs, ("allow_unused", False))
    return kwargs, create


def _bind_gradients(
    state: GenState,
    tensor: TensorInfo,
    inputs: list[TensorInfo],
    names: tuple[str, ...],
    create: bool,
    frees: bool,
) -> None:
    """Record the gradients; a second derivative often follows if they have a graph."""
    path = ancestors(tensor)
    if frees:
        for one in path:
            one.freed = not one.is_leaf
    for name, x in zip(names, inputs, strict=True):
        g = state.bind_measured(name, (tensor, x) if create else ())
        if g is not None and create:
            g.store.bits += 1
            state.prioritise((g, x))
            if g.requires_grad and state.below(3):
                state.schedule(backward if state.below(2) else autograd_grad, g)


@step(4, GRAD_CALL, emits=("torch.autograd.graph.get_gradient_edge",))
def by_gradient_edge(state: GenState, about: TensorInfo | None = None) -> bool:
    """A derivative of a gradient edge or with respect to one, sometimes one that the root does not reach."""
    tensor = root(state)
    if tensor is None:
        return False
    of_edge = state.below(3) == 0
    x = tensor if of_edge else state.pick(_inputs(state, tensor))
    if state.below(6) == 0:
        x = state.any_tensor()
    g = upstream_gradient(state, tensor)
    if g is False or (of_edge and g is not None and aliases_a_grad(state, g)):
        return False
    edge = state.fresh_name()
    if not state.emit("torch.autograd.graph.get_gradient_edge", (x.ref,), (), (edge,)):
        return True
    if g is not None:
        g.store.may_hold_grad = True
    kwargs = state.pick(_EDGE_KEYWORDS)
    given = () if g is None else (g.ref,)
    if of_edge:
        keep = kwargs is RETAIN
        if state.emit("torch.autograd.backward", (ref(edge), *given), RETAIN if keep else ()) and not keep:
            for one in ancestors(tensor):
                one.freed = not one.is_leaf
        return True
    name = state.fresh_name()
    if state.emit("torch.autograd.grad", (tensor.ref, ref(edge), *given), kwargs, (name,)):
        _bind_gradients(state, tensor, [x], (name,), False, kwargs is not RETAIN)
    return True


@follow_up
def differentiate_twice(state: GenState, about: TensorInfo) -> bool:
    """Differentiate a result twice and go on with the second derivative (of abs: a ZeroTensor)."""
    x = next((parent for parent in about.parents if parent.requires_grad and not parent.deleted), None)
    if x is None or about.deleted or not state.supports("torch.autograd.grad"):
        return False
    first = _derivative(state, about, x, CREATE)
    if first is None or not first.requires_grad:
        return True
    if not state.below(4):
        state.schedule(backward, first)
        return backward(state, first)
    second = _derivative(state, first, x, RETAIN)
    if second is not None:
        state.prioritise((second, second))
        state.schedule(use_and_write, second)
        state.schedule("inplace_op", second)
    return True


@follow_up
def use_and_write(state: GenState, x: TensorInfo) -> bool:
    """A view of a tensor, or an op on it, and a write to the result."""
    made = len(state.tensors)
    use = "view_op" if state.vocabulary.views and state.below(4) else "functional_op"
    if not FOLLOW_UPS[use](state, x):
        return False
    if len(state.tensors) > made and state.features & INPLACE:
        state.schedule("inplace_op", state.tensors[made])
    return True


def _derivative(state: GenState, y: TensorInfo, x: TensorInfo, kwargs: Kwargs) -> TensorInfo | None:
    g = upstream_gradient(state, y)
    if g is False:
        return None
    name = state.fresh_name()
    args = (y.ref, x.ref) if g is None else (y.ref, x.ref, g.ref)
    if not state.emit("torch.autograd.grad", args, kwargs, (name,)):
        return None
    return state.bind_measured(name, (y, x) if kwargs is CREATE else ())
