"""Hooks: registering them on tensors, leaves and nodes, and removing them.

The functions come from ``specs.callbacks``; backward passes call them.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import HOOKS, INPLACE
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import follow_up, step
from conformance.generate.state.tensor_info import TensorInfo, backward_ready, is_grad_leaf, needs_grad
from conformance.program import Function, Ref, ref
from specs import callbacks

_TENSOR = tuple(map(Function, callbacks.TENSOR_HOOKS))
_WRITING = tuple(map(Function, callbacks.WRITING_HOOKS))
_INVALID = tuple(map(Function, (*callbacks.WRONG_HOOKS, "lambda g: g.sum()")))
_POST = tuple(map(Function, callbacks.POST_HOOKS))
_BEFORE = tuple(map(Function, callbacks.BEFORE_NODE))
_AFTER = tuple(map(Function, callbacks.AFTER_NODE))
_OF_ALL = tuple(map(Function, callbacks.OF_ALL))
_OF_ANY = tuple(map(Function, callbacks.OF_ANY))
_MULTI_GRAD = "torch.autograd.graph.register_multi_grad_hook"


@step(9, HOOKS, emits=("register_hook",))
def tensor_hook(state: GenState, about: TensorInfo | None = None) -> bool:
    """``register_hook`` on a tensor that requires grad."""
    tensor = state.find(needs_grad)
    if tensor is None:
        return False
    menu = _INVALID if state.unchecked and state.below(2) else _WRITING if state.below(8) == 0 else _TENSOR
    done = _register(state, "register_hook", (tensor.ref, state.pick(menu)), (tensor,))
    if state.features & INPLACE and not (tensor.is_leaf or state.below(2)):
        state.schedule("add_history" if state.below(2) else "inplace_op", tensor)  # the hook stays behind
    return done


@follow_up
def hook_on_unused_output(state: GenState, tensor: TensorInfo) -> bool:
    """A hook on one output of an op while another is differentiated: it gets no gradient."""
    for other in reversed(state.tensors):
        siblings = other.multi_view and other is not tensor and other.parents == tensor.parents
        if siblings and backward_ready(other):
            menu = _INVALID if state.unchecked or state.below(2) else _TENSOR
            if state.emit("register_hook", (tensor.ref, state.pick(menu))):
                state.schedule("backward", other)
            return True
    return False


@step(3, HOOKS, emits=("register_post_accumulate_grad_hook",))
def post_accumulate_grad_hook(state: GenState, about: TensorInfo | None = None) -> bool:
    """``register_post_accumulate_grad_hook`` on a leaf."""
    tensor = state.find(is_grad_leaf)
    if tensor is None:
        return False
    return _register(state, "register_post_accumulate_grad_hook", (tensor.ref, state.pick(_POST)), (tensor,))


@step(6, HOOKS, emits=(".grad_fn", "register_prehook"))
def node_hook(state: GenState, about: TensorInfo | None = None) -> bool:
    """A hook on the node ``.grad_fn``, called before or after it."""
    tensor = state.find(backward_ready)
    if tensor is None:
        return False
    node = state.fresh_name()
    if not state.emit(".grad_fn", (tensor.ref,), (), (node,)):
        return True
    if state.below(2):
        return _register(state, "register_prehook", (ref(node), state.pick(_BEFORE)), (tensor,))
    return _register(state, "register_hook", (ref(node), state.pick(_AFTER)), (tensor,))


@step(2, HOOKS, emits=(_MULTI_GRAD,))
def multi_grad_hook(state: GenState, about: TensorInfo | None = None) -> bool:
    """One hook on several tensors, called with all gradients or with the first to arrive."""
    tensor = state.find(needs_grad)
    if tensor is None:
        return False
    others = [
        state.any_tensor() if state.unchecked else state.find(needs_grad) or tensor
        for _ in range(1 + state.below(2))
    ]
    tensors = (tensor, *others)
    hook = state.pick(_OF_ALL)
    kwargs: Kwargs = ()
    if state.below(2):
        hook = state.pick(_OF_ANY)
        kwargs = (("mode", "some" if state.unchecked and state.below(2) else "any"),)
    return _register(state, _MULTI_GRAD, ([one.ref for one in tensors], hook), tensors, kwargs)


def _register(
    state: GenState, op: str, args: tuple[Any, ...], tensors: tuple[TensorInfo, ...], kwargs: Kwargs = ()
) -> bool:
    """Register a hook, sometimes with a handle; a backward follows, less often for several tensors."""
    handle = state.fresh_name() if state.below(3) == 0 else None
    if state.emit(op, args, kwargs, (handle,) if handle else ()):
        state.prioritise(tensors)
        if len(tensors) == 1 or state.below(3) == 0:
            state.schedule("backward", tensors[0])
        if handle:
            state.schedule(_remove, ref(handle))
    return True


def _remove(state: GenState, handle: Ref) -> bool:
    """``handle.remove()``, possibly of a hook that is removed already."""
    return state.emit("remove", (handle,))
