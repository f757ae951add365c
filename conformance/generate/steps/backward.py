"""``backward()``: roots, upstream gradients, keywords, and the steps that follow a pass.

``torch.autograd.grad`` lives in ``autograd_grad``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state import features
from conformance.generate.state.choices import weighted
from conformance.generate.state.features import DERIVATIVES, DOUBLE, LAYER_FUNCTIONS, ROOTS
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import FOLLOW_UPS, follow_up, step
from conformance.generate.state.tensor_info import (
    Store,
    TensorInfo,
    ancestors,
    backward_ready,
    can_require_grad,
    is_grad_leaf,
    needs_grad,
)
from specs.domain import AVOIDANCES

RETAIN: Kwargs = (("retain_graph", True),)
CREATE: Kwargs = (("create_graph", True),)

_AFTER = weighted({"none": 4, "read": 3, "again": 2, "write": 3, "use": 1, "twice": 1})


def root(state: GenState) -> TensorInfo | None:
    """Pick a tensor to differentiate: mostly a result that no backward has gone through."""
    if state.below(6) == 5:
        return state.find(needs_grad)
    return state.find(backward_ready) or (state.find(needs_grad) if state.below(4) == 0 else None)


def upstream_gradient(state: GenState, tensor: TensorInfo) -> Any:
    """Pick a gradient for a root: None if it needs none, False if it needs one and there is none."""
    implicit = tensor.size == 1 and (tensor.kind != "c" or state.unchecked)
    if implicit and (not state.full_api or state.below(6)):
        return None
    if state.unchecked and state.below(3) == 0:
        return None
    if not state.full_api:
        return False
    if state.dtypes and state.below(8) == 7:
        for other in reversed(state.tensors):
            if other.shape == tensor.shape and other.dtype != tensor.dtype and can_require_grad(other):
                return other if _leaves_room(state, other) else False
    found = state.like(tensor, excluding=tensor)
    if found is None and (tensor.kind == "c" or state.below(4) == 3):
        found = tensor
    return found if found is not None and _leaves_room(state, found) else False


def _leaves_room(state: GenState, g: TensorInfo) -> bool:
    """True if products with a gradient stay exact.

    Gradients of gradients have no bounds of their own: beyond the mantissa, the order of a sum would show.
    """
    return state.fits(g.dtype, g.store.bits, 0 if g.store.inexact else g.store.frac)


@step(11)
def backward(state: GenState, about: TensorInfo | None = None) -> bool:
    """One backward pass from one root, in one of its many forms."""
    tensor = about or root(state)
    if tensor is None:
        return False
    g = upstream_gradient(state, tensor)
    if g is False:
        return _sum_first(state, tensor)
    kwargs = _keywords(state, tensor)
    if state.full_api and state.features & ROOTS and state.below(8) == 7:
        return _autograd_backward(state, tensor, g, kwargs)
    args = (tensor.ref,) if g is None else (tensor.ref, g.ref)
    return _run(state, "backward", args, kwargs, (tensor,), (g,))


def backward_with(state: GenState, tensor: TensorInfo, g: TensorInfo) -> bool:
    """A plain pass from a root with that upstream gradient."""
    return _run(state, "backward", (tensor.ref, g.ref), (), (tensor,), (g,))


@follow_up
def backward_through(state: GenState, tensor: TensorInfo) -> bool:
    """A pass that goes through a tensor; if nothing was made from it, an op on it, and the pass later."""
    for one in reversed(state.tensors):
        if backward_ready(one) and tensor in ancestors(one):
            return backward(state, one)
    if tensor.requires_grad and state.below(2):
        state.schedule(backward_through, tensor)
        return FOLLOW_UPS["functional_op"](state, tensor)
    return False


def _sum_first(state: GenState, tensor: TensorInfo) -> bool:
    """Sum a root up so that it has an implicit gradient; the backward follows."""
    if not state.supports("sum") or tensor.size < 2:
        return False
    old = tensor.store
    bits = old.bits + tensor.size.bit_length()
    if not state.fits(tensor.dtype, bits, old.frac):
        return False
    name = state.result_name()
    if state.emit("sum", (tensor.ref,), (), (name,)):
        total = state.bind(name, Store(bits, old.frac, old.inexact), (tensor,))
        if total is not None and total.requires_grad:
            state.schedule(backward, total)
    return True


def _keywords(state: GenState, tensor: TensorInfo) -> Kwargs:
    """Keywords of a backward pass."""
    if not state.full_api:
        return ()
    k = state.below(12)
    kwargs: Kwargs = ()
    if k >= 7:
        kwargs = RETAIN
        if k >= 10 and state.features & DOUBLE:
            kwargs = CREATE
    elif k == 6 and state.unchecked and not state.features & (LAYER_FUNCTIONS | DERIVATIVES):
        kwargs = (("retain_graph", False), ("create_graph", True))
    if state.features & ROOTS and state.below(4) == 3:
        kwargs = (*kwargs, ("inputs", _inputs(state, tensor)))
    return kwargs


def _inputs(state: GenState, tensor: TensorInfo) -> Any:
    """Pick ``inputs=`` from the tensors that a root was made from."""
    if state.unchecked and state.below(3) == 2:
        return [state.any_tensor().ref, state.any_tensor().ref] if state.below(3) else []
    path = [one for one in ancestors(tensor) if one.requires_grad and (one.is_leaf or one is not tensor)]
    path = path or [tensor]
    first = state.pick(path)
    if state.below(3):
        return first.ref if state.below(2) else [first.ref]
    return [first.ref, state.pick(path).ref]


def _autograd_backward(state: GenState, tensor: TensorInfo, g: TensorInfo | None, kwargs: Kwargs) -> bool:
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
    kwargs: Kwargs,
    roots: tuple[TensorInfo, ...],
    gs: tuple[TensorInfo | None, ...],
) -> bool:
    for g in gs:
        if g is not None:
            if aliases_a_grad(state, g):
                return False
            g.store.may_hold_grad = True  # a leaf's grad may become (part of) this tensor
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
        _schedule_after(state, roots[0], path)
    return True


def aliases_a_grad(state: GenState, g: TensorInfo) -> bool:
    """True if an upstream gradient is (part of) a grad that the pass may write.

    Through numpy it may also be part of the grad of a leaf without a name; torch does not know then that
    they share memory.
    """
    if not g.store.may_hold_grad:
        return False
    array = state.oracle.memory(g.name)
    if array is None:
        return False
    grads = state.oracle.grads(g.store.shared_with_numpy)
    return bool(AVOIDANCES["gradient_shares_a_grad"].meets((array, *grads), {}))


def _schedule_after(state: GenState, tensor: TensorInfo, path: list[TensorInfo]) -> None:
    """Schedule a step that people do after a backward, and that breaks engines.

    Read a grad, run again, write to a tensor that the pass went through, or use one.
    """
    choice = state.pick(_AFTER)
    if choice == "read":
        leaf = next((one for one in path if is_grad_leaf(one)), None)
        if leaf is not None:
            state.schedule("read_grad", leaf)
    elif choice == "again":
        state.schedule(backward, tensor)
    elif choice == "twice":
        state.schedule(backward, tensor)
        retaining = state.features & features.RETAIN and state.supports("retain_grad")
        state.schedule("retain_grad" if retaining else backward, tensor)
    elif choice == "write" and state.vocabulary.inplace:
        state.schedule(backward, tensor)
        state.schedule("inplace_op", path[-1] if len(path) > 1 else tensor)
    elif choice == "use":
        state.schedule("functional_op", path[-1])
