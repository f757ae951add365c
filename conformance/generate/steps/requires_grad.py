"""requires_grad, retain_grad, detach, data, and switching recording off altogether.

Gradients are read and assigned in ``grad_attribute``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import DATA, DELETE, DETACH, INPLACE, MODES, REQUIRES_GRAD, RETAIN
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import TensorInfo, backward_ready, can_require_grad
from conformance.generate.steps import leaves
from specs.domain import AVOIDANCES

_FLAG = weighted({True: 3, False: 2})
_INVALID_FLAGS = (1, None, "yes", 0.0)


def _is_leaf(tensor: TensorInfo) -> bool:
    return tensor.is_leaf and tensor.kind in "fc"


def _is_constant_leaf(tensor: TensorInfo) -> bool:
    return tensor.is_leaf and not tensor.requires_grad and tensor.kind in "fc"


@step(7, REQUIRES_GRAD, emits=(".requires_grad=", "requires_grad_"))
def set_requires_grad(state: GenState, about: Any = None) -> bool:
    """``requires_grad_()`` or an assignment of ``requires_grad``."""
    flag = state.pick(_FLAG)
    tensor = state.find(_is_constant_leaf if flag and state.below(4) else _is_leaf)
    if tensor is None:
        return False
    if state.below(2):
        value: Any = state.pick(_INVALID_FLAGS) if state.unchecked and state.below(3) == 2 else flag
        done = state.emit(".requires_grad=", (tensor.ref, value))
    elif flag:
        done = state.emit("requires_grad_", (tensor.ref,))
    else:
        done = state.emit("requires_grad_", (tensor.ref, False))
    if done:
        state.refresh_aliases(tensor)
        state.prioritise((tensor,))
        if not flag and state.features & INPLACE and state.below(2):
            state.schedule("give_history", tensor)
    return True


@step(6, RETAIN, emits=("retain_grad",))
def retain_grad(state: GenState, about: TensorInfo | None = None) -> bool:
    """``retain_grad()``, mostly on a non-leaf."""
    tensor = about or state.find(backward_ready)
    if tensor is None:
        return False
    if state.emit("retain_grad", (tensor.ref,)):
        tensor.grad_likely = False
        state.prioritise((tensor,))
    return True


@step(5, DETACH, emits=("detach",))
def detach(state: GenState, about: TensorInfo | None = None) -> bool:
    """``detach()``, whose result shares memory and version counter."""
    return _alias(state, "detach", about)


@step(4, DATA, emits=(".data",))
def read_data(state: GenState, about: TensorInfo | None = None) -> bool:
    """``.data``, whose result shares memory but has a version counter of its own."""
    return _alias(state, ".data", about)


def _alias(state: GenState, op: str, about: TensorInfo | None) -> bool:
    tensor = about or state.any_tensor()
    name = state.result_name()
    if state.emit(op, (tensor.ref,), (), (name,)):
        alias = state.bind(name, tensor.store)
        if alias is not None:
            state.prioritise((alias, tensor))
    return True


@step(4, DETACH, emits=("detach_",))
def detach_(state: GenState, about: Any = None) -> bool:
    """``detach_()``, which turns a result into a leaf."""
    tensor = (_used(state) if state.below(4) else None) or state.find(backward_ready)
    if tensor is None or (tensor.base is not None and not state.unchecked and state.below(4)):
        return False
    if state.emit("detach_", (tensor.ref,)):
        tensor.parents = ()
        tensor.freed = False
        state.schedule("backward_through", tensor)
        state.refresh_aliases(tensor)
    return True


def _used(state: GenState) -> TensorInfo | None:
    """Return a result that another was made from, and so may be saved."""
    for one in reversed(state.tensors):
        if backward_ready(one):
            for x in one.parents:
                if backward_ready(x) and x.base is None and not x.deleted:
                    return x
    return None


@step(3, DATA, emits=(".data=",))
def set_data(state: GenState, about: TensorInfo | None = None) -> bool:
    """Assign ``.data``, mostly of the same dtype; a result whose shape changed is then differentiated."""
    tensor = about
    if tensor is None:
        tensor = _viewed(state) if state.below(2) else state.any_tensor() if state.below(4) == 3 else None
    tensor = tensor or state.find(can_require_grad)
    if tensor is None:
        return False
    views = [one for one in tensor.store.aliases if one.base is tensor]
    new = _smaller(state, tensor) if about or (views and state.below(2)) else None
    if new is None:
        new = (state.below(3) and state.like(tensor, excluding=tensor)) or state.any_tensor()
    if not state.unchecked and new.dtype != tensor.dtype:
        return False
    return assign_data(state, tensor, new, views)


def assign_data(
    state: GenState, tensor: TensorInfo, new: TensorInfo, views: Sequence[TensorInfo] = ()
) -> bool:
    """Assign ``.data``, if PyTorch says what comes of it."""
    arrays = (state.oracle.memory(tensor.name), state.oracle.memory(new.name))
    if arrays[0] is not None and any(
        AVOIDANCES[name].meets(arrays, {}) for name in ("data_of_other_rank", "data_of_complex_kind")
    ):
        return False
    shape = tensor.shape
    if state.emit(".data=", (tensor.ref, new.ref)):
        tensor.store.aliases.remove(tensor)
        tensor.store = new.store
        new.store.aliases.append(tensor)
        state.refresh_aliases(tensor)
        state.prioritise((tensor, new))
        if tensor.shape != shape and backward_ready(tensor):
            state.schedule("backward", tensor)
            if views:
                state.schedule("inplace_op", state.pick(views))
    return True


def _viewed(state: GenState) -> TensorInfo | None:
    """Return a result that has views."""
    bases = (one.base for one in reversed(state.tensors) if one.base is not None)
    return next((x for x in bases if backward_ready(x) and not x.deleted and x.size > 1), None)


def _smaller(state: GenState, tensor: TensorInfo) -> TensorInfo | None:
    """Find or make a tensor of the same rank and dtype with fewer elements, too few for existing views."""
    if tensor.size < 2:
        return None
    for other in reversed(state.tensors):
        same = other.dtype == tensor.dtype and len(other.shape) == len(tensor.shape)
        if same and other.size < tensor.size:
            return other
    values = {"i": "indices", "b": "bool", "c": "complex"}.get(tensor.kind, "any")
    return leaves.make_leaf(state, (1,) * len(tensor.shape), values, tensor.dtype)


@step(1, MODES, emits=("torch.set_grad_enabled",))
def disable_grad(state: GenState, about: Any = None) -> bool:
    """``torch.set_grad_enabled(False)`` as a statement: nothing is recorded for some turns."""
    if not state.no_grad_turns and state.emit("torch.set_grad_enabled", (False,)):
        state.no_grad_turns = 1 + state.below(5)
        return True
    return False


def count_down(state: GenState) -> None:
    """End one turn without recording; after the last, enable grad again, outside of any block."""
    state.no_grad_turns -= 1
    if not state.no_grad_turns:
        state.mode, state.mode_turns = (), 0
        state.emit("torch.set_grad_enabled", (True,))


def enable_grad(state: GenState) -> None:
    """Record again, if that was switched off."""
    if state.no_grad_turns:
        state.no_grad_turns = 1
        count_down(state)


@step(3, DELETE, emits=("del",))
def delete_name(state: GenState, about: Any = None) -> bool:
    """``del``: a tensor without references may be freed, or its memory stolen."""
    if len(state.tensors) < 3 or (state.mode and state.mode[-1][0] == "@"):
        return False
    tensor = state.any_tensor()
    if state.emit("del", (tensor.ref,)):
        state.drop(tensor)
    return True
