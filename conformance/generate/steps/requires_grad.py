"""Flags and cuts: requires_grad, retain_grad, detach, data, and whether anything is recorded at all.

Gradients themselves are read and assigned in ``grads``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import TensorInfo, backward_ready, can_require_grad
from conformance.generate.steps import leaves
from specs.domain import AVOIDANCES

_SET = weighted({True: 3, False: 2})
_ODD = (1, None, "yes", 0.0)


def _leaf(tensor: TensorInfo) -> bool:
    return tensor.is_leaf and tensor.kind in "fc"


def _plain_leaf(tensor: TensorInfo) -> bool:
    return tensor.is_leaf and not tensor.requires_grad and tensor.kind in "fc"


def set_flag(state: GenState, about: Any = None) -> bool:
    """``requires_grad_()`` or an assignment of ``requires_grad``."""
    flag = state.pick(_SET)
    tensor = state.find(_plain_leaf if flag and state.below(4) else _leaf)
    if tensor is None:
        return False
    if state.below(2):
        value: Any = state.pick(_ODD) if state.unchecked and state.below(3) == 2 else flag
        done = state.emit(".requires_grad=", (tensor.ref, value))
    elif flag:
        done = state.emit("requires_grad_", (tensor.ref,))
    else:
        done = state.emit("requires_grad_", (tensor.ref, False))
    if done:
        state.refresh_aliases(tensor)
        state.prioritise((tensor,))
    return True


def retain(state: GenState, about: TensorInfo | None = None) -> bool:
    """``retain_grad()``, as a rule on a result."""
    tensor = about or state.find(backward_ready)
    if tensor is None:
        return False
    if state.emit("retain_grad", (tensor.ref,)):
        tensor.grad_likely = False
        state.prioritise((tensor,))
    return True


def detach(state: GenState, about: TensorInfo | None = None) -> bool:
    """``detach()``, whose result shares memory and versions."""
    return _alias(state, "detach", about)


def data(state: GenState, about: TensorInfo | None = None) -> bool:
    """``.data``, whose result shares memory but no versions."""
    return _alias(state, ".data", about)


def _alias(state: GenState, op: str, about: TensorInfo | None) -> bool:
    tensor = about or state.any_tensor()
    name = state.result_name()
    if state.emit(op, (tensor.ref,), (), (name,)):
        alias = state.bind(name, tensor.store)
        if alias is not None:
            state.prioritise((alias, tensor))
    return True


def detach_in_place(state: GenState, about: Any = None) -> bool:
    """``detach_()``, which makes a leaf of a result."""
    tensor = state.find(backward_ready)
    if tensor is None or (tensor.base is not None and not state.unchecked and state.below(4)):
        return False
    if state.emit("detach_", (tensor.ref,)):
        tensor.parents = ()
        tensor.freed = False
        state.schedule(state.vocabulary.reach, tensor)
        state.refresh_aliases(tensor)
    return True


def set_data(state: GenState, about: TensorInfo | None = None) -> bool:
    """An assignment to ``data``, as a rule of something with the same dtype; a result that has got another
    shape is then differentiated.
    """
    tensor = about or (
        _viewed(state) if state.below(2) else state.any_tensor() if state.below(4) == 3 else None
    )
    tensor = tensor or state.find(can_require_grad)
    if tensor is None:
        return False
    views = [one for one in tensor.store.aliases if one.base is tensor]
    new = _smaller(state, tensor) if about or (views and state.below(2)) else None
    if new is None:
        new = (state.below(3) and state.like(tensor, excluding=tensor)) or state.any_tensor()
    if not state.unchecked and new.dtype != tensor.dtype:
        return False
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
            state.schedule(state.vocabulary.backward, tensor)
            if views:
                state.schedule(state.vocabulary.edit, state.pick(views))
    return True


def _viewed(state: GenState) -> TensorInfo | None:
    """A result that views were taken of."""
    return next(
        (one.base for one in reversed(state.tensors) if one.base is not None and _whole(one.base)), None
    )


def _whole(tensor: TensorInfo) -> bool:
    return backward_ready(tensor) and not tensor.deleted and tensor.size > 1


def _smaller(state: GenState, tensor: TensorInfo) -> TensorInfo | None:
    """A tensor of the same rank and dtype with fewer elements: too small for the windows on the old data, or
    for what was done with it.
    """
    if tensor.size < 2:
        return None
    for other in reversed(state.tensors):
        if other.dtype == tensor.dtype and len(other.shape) == len(tensor.shape) and other.size < tensor.size:
            return other
    held = {"i": "indices", "b": "bool", "c": "complex"}.get(tensor.kind, "any")
    return leaves.make_leaf(state, (1,) * len(tensor.shape), held, tensor.dtype)


def switch_off(state: GenState, about: Any = None) -> bool:
    """``torch.set_grad_enabled(False)`` as a statement: nothing is recorded until it is said again, or the
    block ends that it stands in.
    """
    if not state.no_grad_turns and state.emit("torch.set_grad_enabled", (False,)):
        state.no_grad_turns = 1 + state.below(5)
        return True
    return False


def count_down(state: GenState) -> None:
    """One turn without recording is over; after the last, recording is on again, outside of any block."""
    state.no_grad_turns -= 1
    if not state.no_grad_turns:
        state.mode, state.mode_turns = (), 0
        state.emit("torch.set_grad_enabled", (True,))


def switch_on(state: GenState) -> None:
    """Record again, if that was switched off."""
    if state.no_grad_turns:
        state.no_grad_turns = 1
        count_down(state)


def delete(state: GenState, about: Any = None) -> bool:
    """``del``: what nobody refers to any more may be freed, or stolen."""
    if len(state.tensors) < 3 or (state.mode and state.mode[-1][0] == "@"):
        return False
    tensor = state.any_tensor()
    if state.emit("del", (tensor.ref,)):
        state.drop(tensor)
    return True
