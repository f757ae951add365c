"""In-place ops: methods, operators, fills and indexed assignments, sometimes under ``no_grad`` of their own.

The call itself is drawn by ``call_op``. Chosen here: the tensor to write to, and if the write may be refused.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import INPLACE, MODES
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import follow_up, step
from conformance.generate.state.tensor_info import Store, TensorInfo, can_require_grad
from conformance.generate.steps import leaves
from conformance.generate.steps.call_op import apply, note_write

_POSITIONS = ([0], [-1], [0, 0], [0, -1])
_VALUES = (1.0, 2.0, 0.0, -1.0)
_NO_GRAD = (("no_grad",), ("@no_grad",), ("no_grad",), ("set_grad_enabled(False)",))


def writable(tensor: TensorInfo) -> bool:
    """True if an in-place write in grad mode is not refused, as far as is known without observing."""
    if tensor.multi_view or (tensor.requires_grad and tensor.is_leaf):
        return False
    base = tensor.base
    return base is None or not (base.requires_grad and base.is_leaf)


@step(11, INPLACE, recipes="inplace")
def inplace_op(state: GenState, about: Any = None) -> bool:
    """An in-place op on a tensor that may be written, or on a leaf under ``no_grad``."""
    return _write(state, state.vocabulary.inplace, about)


@step(3, INPLACE, recipes="inplace_operators")
def inplace_operator(state: GenState, about: Any = None) -> bool:
    """An in-place Python operator, which rebinds its name."""
    return _write(state, state.vocabulary.inplace_operators, about)


@step(5, INPLACE, recipes="fills")
def fill(state: GenState, about: Any = None) -> bool:
    """``copy_``, ``zero_``, ``fill_`` or an assignment to a part."""
    return _write(state, state.vocabulary.fills, about)


@step(1, INPLACE, emits=("__setitem__",))
def index_put(state: GenState, about: TensorInfo | None = None) -> bool:
    """An assignment by a list of positions, which even an expanded tensor accepts."""
    x = about or state.find(_indexable)
    if x is None or not (x.shape or state.unchecked):
        return False
    if not state.supports("__setitem__") or state.self_overlapping(x):
        return False
    value: Any = state.pick(_VALUES)
    after = Store(2)
    operands: tuple[TensorInfo, ...] = (x,)
    if state.below(2):
        y = state.any_tensor()
        if state.unchecked or (y.dtype == x.dtype and y.size == 1 and y.store is not x.store):
            value, after, operands = y.ref, y.store, (x, y)
    args = (x.ref, state.pick(_POSITIONS), value)
    if state.emit("__setitem__", args) or state.inference:
        note_write(state, x, operands, after)
    return True


@follow_up
def fill_across_dtypes(state: GenState, x: TensorInfo) -> bool:
    """``fill_`` with a float that requires grad, of a tensor of a dtype that no gradient may flow from."""
    if not state.features & INPLACE or not state.supports("fill_") or state.self_overlapping(x):
        return False
    y = next((y for y in reversed(state.tensors) if y.kind == "f" and y.requires_grad and not y.shape), None)
    y = y or leaves.make_leaf(state, (), "any", state.dtype, True)
    if state.emit("fill_", (x.ref, y.ref)) or state.inference:
        note_write(state, x, (x, y), y.store)
        state.schedule("backward_through", y)
        if x.kind != "c":
            state.schedule("functional_op", x)
    return True


def _indexable(tensor: TensorInfo) -> bool:
    return bool(tensor.shape) and can_require_grad(tensor) and writable(tensor)


def _write(state: GenState, recipes: tuple[Any, ...], x: TensorInfo | None) -> bool:
    if not recipes:
        return False
    recipe = state.pick(recipes)
    x = x or (state.find(can_require_grad) if recipe.casts else state.any_tensor())
    if x is None:
        return False
    if state.mode or state.no_grad_turns or writable(x):
        return apply(state, recipe, x)
    if state.features & MODES and state.below(4):
        state.mode = state.pick(_NO_GRAD)
        done = apply(state, recipe, x)
        state.mode = ()
        return done
    if state.unchecked or not state.below(4):
        return apply(state, recipe, x)
    x = state.find(writable)
    return x is not None and apply(state, recipe, x)
