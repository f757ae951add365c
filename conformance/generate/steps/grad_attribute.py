"""The state of ``.grad``: reading, assigning, clearing and editing it.

Who fills it is ``backward``'s business; edits of a gradient once it has a name are ordinary writes.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import TensorInfo, needs_grad
from conformance.generate.steps import leaves
from conformance.program import Dtype


def _filled(tensor: TensorInfo) -> bool:
    return tensor.grad_likely


def _receiver(tensor: TensorInfo) -> bool:
    return tensor.requires_grad and (tensor.is_leaf or tensor.grad_likely)


_GRAD_DTYPES = (Dtype("float64"), Dtype("float32"), None)
_OWNERS = (_filled, _filled, _receiver, needs_grad)


def read(state: GenState, about: TensorInfo | None = None) -> bool:
    """``.grad`` of something a backward has likely filled, under a name of its own."""
    tensor = about or state.find(_filled) or (state.find(_receiver) if state.below(4) == 0 else None)
    if tensor is None or not state.supports(".grad"):
        return False
    name = state.result_name()
    if state.emit(".grad", (tensor.ref,), (), (name,)):
        g = state.bind_measured(name)
        if g is not None:
            state.prioritise((g, tensor))
            if state.vocabulary.inplace and state.below(3) == 0:
                state.schedule(edit, g)
    return True


def edit(state: GenState, g: TensorInfo) -> bool:
    """A write to a gradient that was read under a name."""
    return state.vocabulary.edit(state, g)


def assign(state: GenState, about: Any = None) -> bool:
    """An assignment to ``.grad``: None, or a tensor like the one it belongs to."""
    tensor = state.find(state.pick(_OWNERS))
    if tensor is None:
        return False
    kind = state.below(4)
    if kind == 0:
        if state.emit(".grad=", (tensor.ref, None)):
            tensor.grad_likely = False
        return True
    g = state.like(tensor, excluding=tensor)
    if (
        kind == 1
        and tensor.kind == "f"
        and len(tensor.shape) == 2
        and not state.unchecked
        and state.supports("t")
    ):
        g = _turned(state, tensor) or g
    if state.unchecked:
        g = state.any_tensor()
        if kind == 1:
            state.emit(".grad=", (tensor.ref, 1.0))
            return True
    if g is None or state.self_overlapping(g):  # it may be added to in place
        return False
    if state.emit(".grad=", (tensor.ref, g.ref)):
        tensor.grad_likely = g.store.may_hold_grad = True
        state.prioritise((g, tensor))
        state.schedule(state.vocabulary.reach, tensor)
    return True


def own_dtype(state: GenState, about: TensorInfo | None = None) -> bool:
    """A dtype for the grad of a leaf, or of anything."""
    tensor = state.any_tensor() if state.unchecked else state.find(_receiver)
    if tensor is None or tensor.kind != "f":
        return False
    if state.emit(".grad_dtype=", (tensor.ref, state.pick(_GRAD_DTYPES))):
        state.prioritise((tensor,))
        state.schedule(state.vocabulary.reach, tensor)
    return True


def _turned(state: GenState, tensor: TensorInfo) -> TensorInfo | None:
    """A tensor of the same shape that lies in memory the other way round, made for the purpose."""
    shape = tensor.shape[::-1]
    plain = (
        x
        for x in reversed(state.tensors)
        if x.shape == shape and x.dtype == tensor.dtype and not x.requires_grad
    )
    other = next(plain, None) or leaves.make_leaf(state, shape, "any", tensor.dtype)
    name = state.fresh_name()
    if state.emit("t", (other.ref,), (), (name,)):
        g = state.bind(name, other.store, (other,))
        if g is not None:
            g.base = other.base or other
        return g
    return None
