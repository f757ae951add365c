"""Tracked writes through views: those of which gradients of gradients are taken, where histories are rebased,
and those through what ``reshape`` returns, which may be a copy.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import DOUBLE, INPLACE, VIEWS
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import follow_up, step
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo
from conformance.generate.steps.autograd_grad import differentiate_twice
from conformance.generate.steps.call_op import apply, view_op
from conformance.generate.steps.inplace import inplace_op

_TRIES = 4
_OF_VIEWS: tuple[tuple[str, ...], ...] = (("no_grad",), ("no_grad",), ())
"""Modes in which a view of a view is made: it has the tag of the first in either."""


def _may_be_squared(x: TensorInfo) -> Any:
    fits = 2 * (x.store.bits + x.store.frac) + 2 <= CAP.get(x.dtype, 20)
    return x.requires_grad and not x.freed and x.kind in "fc" and x.size > 1 and fits


@step(13, DOUBLE, emits=("mul", "torch.autograd.grad"), recipes="views")
def write_through_a_view(state: GenState, about: Any = None) -> bool:
    """Square a tensor, write to a view of the square, and differentiate the square twice."""
    wanted = VIEWS | INPLACE
    if state.features & wanted != wanted or state.mode or state.no_grad_turns or state.unchecked:
        return False
    x = state.find(_may_be_squared)
    if x is None or not _may_be_squared(x):
        return False
    square = _square(state, x)
    if square is None or not square.requires_grad:
        return True
    view = next((view for _ in range(_TRIES) if (view := _view(state, square)) is not None), None)
    if view is not None and any(inplace_op(state, view) for _ in range(_TRIES)) and not square.deleted:
        return differentiate_twice(state, square) or True
    return True


def _square(state: GenState, x: TensorInfo) -> TensorInfo | None:
    store = Store(2 * x.store.bits, 2 * x.store.frac, x.store.inexact)
    name = state.fresh_name()
    return state.bind(name, store, (x,)) if state.emit("mul", (x.ref, x.ref), (), (name,)) else None


def _view(state: GenState, x: TensorInfo) -> TensorInfo | None:
    """A view of a tensor that may be written to."""
    state.rebind = False
    if not view_op(state, x) or not state.tensors:
        return None
    view = state.tensors[-1]
    return view if view.base is x and not view.multi_view else None


@step(4, INPLACE, recipes="reshapes")
def write_through_a_reshape(state: GenState, about: Any = None) -> bool:
    """Write to what ``reshape`` returns: a view where strides can show it, a copy where not."""
    x = state.find(_is_long)
    if x is None or not _is_long(x) or state.self_overlapping(x):
        return False
    state.rebind = False
    if state.vocabulary.strided and not state.below(3):
        x = _strided(state, x)
    if not apply(state, state.pick(state.vocabulary.reshapes), x):
        return False
    made = state.tensors[-1]
    if x in (made.base, *made.parents) and any(inplace_op(state, made) for _ in range(_TRIES)):
        state.prioritise((x, made))
    return True


def _strided(state: GenState, x: TensorInfo) -> TensorInfo:
    """A view that may have gaps, or its elements in another order; ``view`` may have no strides for it."""
    made = len(state.tensors)
    if not apply(state, state.pick(state.vocabulary.strided), x) or len(state.tensors) == made:
        return x
    view = state.tensors[made]
    if view.size > 1 and state.supports("view") and not state.below(3):
        name = state.fresh_name()
        if state.emit("view", (view.ref, -1), (), (name,)):
            flat = state.bind(name, view.store, (view,))
            if flat is not None:
                flat.base, flat.multi_view = view.base, view.multi_view
    return view if _is_long(view) else x


@follow_up
def square_and_write(state: GenState, about: Any) -> bool:
    """Write to a tensor whose square saved it, and go through the square."""
    x = state.find(_may_be_squared)
    if x is None or not _may_be_squared(x) or state.no_grad_turns or not state.supports("mul"):
        return False
    square = _square(state, x)
    if square is not None and square.requires_grad:
        state.schedule("backward", square)
        state.schedule("inplace_op", x)
    return True


@follow_up
def write_outside(state: GenState, view: TensorInfo) -> bool:
    """Outside inference mode a write to a view made in it, or to a view of that: it is refused."""
    if state.no_grad_turns:
        return False
    mode, state.mode = state.mode, ()
    if state.vocabulary.views and state.below(3):
        made, state.mode = len(state.tensors), state.pick(_OF_VIEWS)
        if view_op(state, view) and len(state.tensors) > made:
            view = state.tensors[made]
    state.mode, recipes = (), state.vocabulary.inplace
    done = bool(recipes) and any(apply(state, state.pick(recipes), view) for _ in range(_TRIES))
    state.mode = mode
    return done


def _is_long(x: TensorInfo) -> Any:
    return x.kind in "fc" and x.size > 1
