"""Backward passes: roots, upstream gradients, what is kept and who receives.

``torch.autograd.grad`` and what is done with its results live in ``grad_call``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import DOUBLE, ROOTS
from conformance.generate.state.features import RETAIN as _RETAINING
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import (
    TensorInfo,
    ancestors,
    backward_ready,
    can_require_grad,
    needs_grad,
)
from conformance.generate.steps import grad_attribute, requires_grad
from specs.domain import AVOIDANCES

RETAIN: tuple[tuple[str, Any], ...] = (("retain_graph", True),)
CREATE: tuple[tuple[str, Any], ...] = (("create_graph", True),)

_ENDINGS = weighted({"none": 4, "read": 3, "again": 2, "write": 3, "use": 1, "twice": 1})


def root(state: GenState) -> TensorInfo | None:
    """Something to differentiate: a result no backward has passed, now and then one that it has, or a
    leaf.
    """
    if state.below(6) == 5:
        return state.find(needs_grad)
    return state.find(backward_ready) or (state.find(needs_grad) if state.below(4) == 0 else None)


def upstream_gradient(state: GenState, tensor: TensorInfo) -> Any:
    """A tensor to start from, None where none is needed, or False where one is needed and there is none."""
    if (
        tensor.size == 1
        and (tensor.kind != "c" or state.unchecked)
        and (not state.full_api or state.below(6))
    ):
        return None
    if state.unchecked and state.below(3) == 0:
        return None
    if not state.full_api:
        return False
    if state.dtypes and state.below(8) == 7:
        for other in reversed(state.tensors):
            if other.shape == tensor.shape and other.dtype != tensor.dtype and can_require_grad(other):
                return other
    return state.like(tensor, excluding=tensor) or (
        tensor if tensor.kind == "c" or state.below(4) == 3 else False
    )


def backward(state: GenState, about: TensorInfo | None = None) -> bool:
    """One backward pass from one root, in one of its many forms."""
    tensor = about or root(state)
    if tensor is None:
        return False
    g = upstream_gradient(state, tensor)
    if g is False:
        return reduce(state, tensor)
    kwargs = _options(state, tensor)
    if state.full_api and state.features & ROOTS and state.below(8) == 7:
        return _function(state, tensor, g, kwargs)
    return _run(
        state, "backward", (tensor.ref,) if g is None else (tensor.ref, g.ref), kwargs, (tensor,), (g,)
    )


def reach(state: GenState, tensor: TensorInfo) -> bool:
    """A pass that reaches a tensor; if nothing was made from it, something is, and the pass may follow."""
    for one in reversed(state.tensors):
        if backward_ready(one) and tensor in ancestors(one):
            return backward(state, one)
    if tensor.requires_grad and state.below(2):
        state.schedule(reach, tensor)
        return bool(state.vocabulary.use(state, tensor))
    return False


def reduce(state: GenState, tensor: TensorInfo) -> bool:
    """Sum a root up so that it has an implicit gradient; the backward follows."""
    if not state.supports("sum") or tensor.size < 2:
        return False
    bits = tensor.store.bits + tensor.size.bit_length()
    if not state.fits(tensor.dtype, bits, tensor.store.frac):
        return False
    name = state.result_name()
    if state.emit("sum", (tensor.ref,), (), (name,)):
        total = state.bind(name, type(tensor.store)(bits, tensor.store.frac, tensor.store.inexact), (tensor,))
        if total is not None and total.requires_grad:
            state.schedule(backward, total)
    return True


def _options(state: GenState, tensor: TensorInfo) -> tuple[tuple[str, Any], ...]:
    """Keywords of a backward pass."""
    if not state.full_api:
        return ()
    k = state.below(12)
    kwargs: tuple[tuple[str, Any], ...] = ()
    if k >= 7:
        kwargs = RETAIN
        if k >= 10 and state.features & DOUBLE:
            kwargs = CREATE
    elif k == 6 and state.unchecked:
        kwargs = (("retain_graph", False), ("create_graph", True))
    if state.features & ROOTS and state.below(4) == 3:
        kwargs = (*kwargs, ("inputs", backward_inputs(state, tensor)))
    return kwargs


def backward_inputs(state: GenState, tensor: TensorInfo) -> Any:
    """Some of what a root was made from, as the inputs a pass is restricted to."""
    if state.unchecked and state.below(3) == 2:
        return [state.any_tensor().ref, state.any_tensor().ref] if state.below(3) else []
    path = [one for one in ancestors(tensor) if one.requires_grad and (one.is_leaf or one is not tensor)] or [
        tensor
    ]
    first = state.pick(path)
    if state.below(3):
        return first.ref if state.below(2) else [first.ref]
    return [first.ref, state.pick(path).ref]


def _function(
    state: GenState, tensor: TensorInfo, g: TensorInfo | None, kwargs: tuple[tuple[str, Any], ...]
) -> bool:
    """``torch.autograd.backward`` with one root or several."""
    roots, gs = [tensor], [g]
    if state.below(4):
        other = state.find(backward_ready)
        if other is not None:
            h = upstream_gradient(state, other)
            if h is not False:
                roots.append(other)
                gs.append(h)
    args: tuple[Any, ...] = ([one.ref for one in roots],)
    if any(gs):
        args = (*args, [h and h.ref for h in gs])
        if state.unchecked and state.below(2):
            args[1].pop()
    return _run(state, "torch.autograd.backward", args, kwargs, tuple(roots), tuple(gs))


def _run(
    state: GenState,
    op: str,
    args: tuple[Any, ...],
    kwargs: tuple[tuple[str, Any], ...],
    roots: tuple[TensorInfo, ...],
    gs: tuple[TensorInfo | None, ...],
) -> bool:
    for g in gs:
        if g is not None:
            if aliases_a_grad(state, g):
                return False
            g.store.may_hold_grad = True  # what arrives may be (part of) the very tensor
    done = state.emit(op, args, kwargs)
    path = ancestors(roots[0]) if len(roots) == 1 else [one for each in roots for one in ancestors(each)]
    if done:
        freed = not kwargs or kwargs[0][0] == "inputs"
        for one in path:
            if one.is_leaf:
                one.grad_likely = one.requires_grad
            elif freed:
                one.freed = True
    for one in state.tensors:
        if one.store.may_hold_grad:  # it may have been added to
            state.remeasure(one)
    state.focus = path[:5]
    if path:
        follow(state, roots[0], path)
    return True


def aliases_a_grad(state: GenState, g: TensorInfo) -> bool:
    """Whether an upstream gradient is (part of) a grad that the pass may write. Through numpy it may be any
    part of that of a leaf without a name, which torch then does not know to be the same memory.
    """
    if not g.store.may_hold_grad:
        return False
    array = state.oracle.memory(g.name)
    if array is None:
        return False
    return bool(
        AVOIDANCES["gradient_shares_a_grad"].meets(
            (array, *state.oracle.grads(g.store.shared_with_numpy)), {}
        )
    )


def follow(state: GenState, tensor: TensorInfo, path: list[TensorInfo]) -> None:
    """What people do after a backward, and what breaks engines: read, run again, write into its path,
    use it.
    """
    ending = state.pick(_ENDINGS)
    if ending == "read":
        leaf = next((one for one in path if one.is_leaf and one.requires_grad), None)
        if leaf is not None:
            state.schedule(grad_attribute.read, leaf)
    elif ending == "again":
        state.schedule(backward, tensor)
    elif ending == "twice":
        state.schedule(backward, tensor)
        retaining = state.features & _RETAINING and state.supports("retain_grad")
        state.schedule(requires_grad.retain if retaining else backward, tensor)
    elif ending == "write" and state.vocabulary.inplace:
        state.schedule(backward, tensor)
        state.schedule(grad_attribute.edit, path[-1] if len(path) > 1 else tensor)
    elif ending == "use":
        state.schedule(state.vocabulary.use, path[-1])
