"""Hooks: registering them on tensors, leaves and nodes, and taking them off again.

The functions are on the menu in ``specs.callbacks``; when they are called is the business of the backwards
that follow.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import TensorInfo, backward_ready, needs_grad
from conformance.generate.steps import backward
from conformance.program import Function, Ref, ref
from specs import callbacks

_TENSOR = tuple(map(Function, callbacks.TENSOR_HOOKS))
_WRITING = tuple(map(Function, callbacks.WRITING_HOOKS))
_WRONG = tuple(map(Function, callbacks.WRONG_HOOKS))
_POST = tuple(map(Function, callbacks.POST_HOOKS))
_BEFORE = tuple(map(Function, callbacks.BEFORE_NODE))
_AFTER = tuple(map(Function, callbacks.AFTER_NODE))
_OF_ALL = tuple(map(Function, callbacks.OF_ALL))
_OF_ANY = tuple(map(Function, callbacks.OF_ANY))
_SEVERAL = "torch.autograd.graph.register_multi_grad_hook"


def on_tensor(state: GenState, about: TensorInfo | None = None) -> bool:
    """``register_hook`` on what a gradient flows through."""
    tensor = state.find(needs_grad)
    if tensor is None:
        return False
    menu = _WRONG if state.unchecked and state.below(3) == 0 else _WRITING if state.below(8) == 0 else _TENSOR
    return _register(state, "register_hook", (tensor.ref, state.pick(menu)), (tensor,))


def on_sibling(state: GenState, tensor: TensorInfo) -> bool:
    """A hook of a view that came with others, which gets no gradient when another is differentiated."""
    for other in reversed(state.tensors):
        if (
            other.multi_view
            and other is not tensor
            and other.parents == tensor.parents
            and backward_ready(other)
        ):
            menu = _WRONG if state.unchecked or state.below(2) else _TENSOR
            if state.emit("register_hook", (tensor.ref, state.pick(menu))):
                state.schedule(backward.backward, other)
            return True
    return False


def on_leaf(state: GenState, about: TensorInfo | None = None) -> bool:
    """``register_post_accumulate_grad_hook`` on a leaf."""
    tensor = state.find(_leaf)
    if tensor is None:
        return False
    return _register(state, "register_post_accumulate_grad_hook", (tensor.ref, state.pick(_POST)), (tensor,))


def on_node(state: GenState, about: TensorInfo | None = None) -> bool:
    """A node by ``.grad_fn``, with a hook to be called before or after it."""
    tensor = state.find(backward_ready)
    if tensor is None:
        return False
    node = state.fresh_name()
    if not state.emit(".grad_fn", (tensor.ref,), (), (node,)):
        return True
    if state.below(2):
        return _register(state, "register_prehook", (ref(node), state.pick(_BEFORE)), (tensor,))
    return _register(state, "register_hook", (ref(node), state.pick(_AFTER)), (tensor,))


def on_several(state: GenState, about: TensorInfo | None = None) -> bool:
    """One hook of several tensors, for all their gradients or for the first that comes."""
    tensor = state.find(needs_grad)
    if tensor is None:
        return False
    others = [
        state.any_tensor() if state.unchecked else state.find(needs_grad) or tensor
        for _ in range(1 + state.below(2))
    ]
    tensors = (tensor, *others)
    hook = state.pick(_OF_ALL)
    kwargs: tuple[tuple[str, Any], ...] = ()
    if state.below(2):
        hook, kwargs = (
            state.pick(_OF_ANY),
            (("mode", "some" if state.unchecked and state.below(2) else "any"),),
        )
    return _register(state, _SEVERAL, ([one.ref for one in tensors], hook), tensors, kwargs)


def _register(
    state: GenState,
    op: str,
    args: tuple[Any, ...],
    tensors: tuple[TensorInfo, ...],
    kwargs: tuple[tuple[str, Any], ...] = (),
) -> bool:
    """Register a hook, with a handle now and then; the backward of one tensor follows, of several seldom."""
    handle = state.fresh_name() if state.below(3) == 0 else None
    if state.emit(op, args, kwargs, (handle,) if handle else ()):
        state.prioritise(tensors)
        if len(tensors) == 1 or state.below(3) == 0:
            state.schedule(backward.backward, tensors[0])
        if handle:
            state.schedule(_remove, ref(handle))
    return True


def _remove(state: GenState, handle: Ref) -> bool:
    """``handle.remove()``, perhaps twice."""
    return state.emit("remove", (handle,))


def _leaf(tensor: TensorInfo) -> Any:
    return tensor.requires_grad and tensor.is_leaf
