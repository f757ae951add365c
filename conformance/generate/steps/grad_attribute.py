"""The state of ``.grad``: reading, assigning and clearing it, and ``.grad_dtype``.

Backward passes fill it (``backward``); writes to a gradient that has a name are ordinary in-place ops.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import DTYPES, GRADS
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import follow_up, step
from conformance.generate.state.tensor_info import TensorInfo, needs_grad
from conformance.generate.steps import backward, leaves
from conformance.program import Dtype


def _grad_likely(tensor: TensorInfo) -> bool:
    return tensor.grad_likely


def _receives(tensor: TensorInfo) -> bool:
    return tensor.requires_grad and (tensor.is_leaf or tensor.grad_likely)


_GRAD_DTYPES = (Dtype("float64"), Dtype("float32"), None)
_OWNERS = (_grad_likely, _grad_likely, _receives, needs_grad)


@step(3, GRADS, emits=(".grad",))
@step(3, emits=(".grad",))
def read_grad(state: GenState, about: TensorInfo | None = None) -> bool:
    """Read ``.grad`` of a tensor that likely has one, and bind it to a name."""
    tensor = about or state.find(_grad_likely) or (state.find(_receives) if state.below(4) == 0 else None)
    if tensor is None or not state.supports(".grad"):
        return False
    name = state.result_name()
    if state.emit(".grad", (tensor.ref,), (), (name,)):
        g = state.bind_measured(name)
        if g is not None:
            state.prioritise((g, tensor))
            if state.vocabulary.inplace and state.below(3) == 0:
                state.schedule("inplace_op", g)
    return True


@step(6, GRADS, emits=(".grad=",))
def assign_grad(state: GenState, about: Any = None) -> bool:
    """Assign ``.grad``: None, or a tensor like the one it belongs to."""
    tensor = state.find(state.pick(_OWNERS))
    if tensor is None:
        return False
    kind = state.below(4)
    if kind == 0:
        if state.emit(".grad=", (tensor.ref, None)):
            tensor.grad_likely = False
        return True
    g = state.like(tensor, excluding=tensor)
    matrix = tensor.kind == "f" and len(tensor.shape) == 2
    if kind == 1 and matrix and not state.unchecked and state.supports("t"):
        g = _transposed(state, tensor) or g
    if state.unchecked:
        g = state.any_tensor()
        if kind == 1:
            state.emit(".grad=", (tensor.ref, 1.0))
            return True
    return g is not None and _assign(state, tensor, g)


@step(3, DTYPES, emits=(".grad_dtype=",))
def assign_grad_dtype(state: GenState, about: TensorInfo | None = None) -> bool:
    """Assign ``.grad_dtype``, mostly of a leaf."""
    tensor = state.any_tensor() if state.unchecked else state.find(_receives)
    if tensor is None or tensor.kind != "f":
        return False
    if state.emit(".grad_dtype=", (tensor.ref, state.pick(_GRAD_DTYPES))):
        state.prioritise((tensor,))
        state.schedule(gradient_of_another_dtype if state.below(2) else "backward_through", tensor)
    return True


@follow_up
def gradient_of_another_dtype(state: GenState, tensor: TensorInfo) -> bool:
    """A grad, assigned or arriving from a pass, of a dtype that the leaf itself has not."""
    if not (tensor.requires_grad and tensor.is_leaf and state.full_api):
        return False
    g = next((x for x in reversed(state.tensors) if _fits_but_for_dtype(x, tensor)), None)
    if g is None:
        others = [dtype for dtype in state.float_dtypes if dtype != tensor.dtype]
        if not others:
            return False
        g = leaves.make_leaf(state, tensor.shape, "any", state.pick(others))
    if state.below(2) or not state.supports(".grad="):
        return backward.backward_with(state, tensor, g)
    return _assign(state, tensor, g)


def _fits_but_for_dtype(g: TensorInfo, tensor: TensorInfo) -> bool:
    return g.shape == tensor.shape and g.kind == "f" and g.dtype != tensor.dtype


def _assign(state: GenState, tensor: TensorInfo, g: TensorInfo) -> bool:
    """Assign a grad, and go on to a pass that adds to it."""
    if state.self_overlapping(g):  # it may be added to in place
        return False
    if state.emit(".grad=", (tensor.ref, g.ref)):
        tensor.grad_likely = g.store.may_hold_grad = True
        state.prioritise((g, tensor))
        state.schedule("backward_through", tensor)
    return True


def _transposed(state: GenState, tensor: TensorInfo) -> TensorInfo | None:
    """Make a tensor of the same shape with transposed strides."""
    shape = tensor.shape[::-1]
    fitting = (
        x
        for x in reversed(state.tensors)
        if x.shape == shape and x.dtype == tensor.dtype and not x.requires_grad
    )
    other = next(fitting, None) or leaves.make_leaf(state, shape, "any", tensor.dtype)
    name = state.fresh_name()
    if state.emit("t", (other.ref,), (), (name,)):
        g = state.bind(name, other.store, (other,))
        if g is not None:
            g.base = other.base or other
        return g
    return None
