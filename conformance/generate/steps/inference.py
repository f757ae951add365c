"""Tensors made in inference mode, and what becomes of them outside."""

from __future__ import annotations

from conformance.generate.state.features import DATA
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import FOLLOW_UPS, follow_up
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.generate.steps.leaves import make_leaf
from conformance.generate.steps.requires_grad import assign_data

_USES = ("functional_op", "functional_op", "copy", "copy", "detach", "data", "data", "data", "detach_")


@follow_up
def use_outside(state: GenState, x: TensorInfo) -> bool:
    """Outside inference mode, use a tensor that was made in it: copy it, assign it, compute with it."""
    if state.no_grad_turns:
        return False
    mode, state.mode = state.mode, ()
    use = state.pick(_USES)
    if use == "data" and state.features & DATA and state.supports(".data="):
        done = _exchange_data(state, x)
    elif use == "copy" and state.supports("clone"):
        done = _copy(state, x)
    elif use == "detach_" and state.supports("detach_"):
        done = state.emit("detach_", (x.ref,))
    else:
        done = FOLLOW_UPS["detach" if use == "detach" and state.supports("detach") else "functional_op"](
            state, x
        )
    state.mode = mode
    return done


def _copy(state: GenState, x: TensorInfo) -> bool:
    old, name = x.store, state.result_name()
    if state.emit("clone", (x.ref,), (), (name,)):
        state.bind(name, Store(old.bits, old.frac, old.inexact), (x,))
    return True


def _exchange_data(state: GenState, x: TensorInfo) -> bool:
    """Assign such a tensor as the data of a normal one, or a normal one as its own; a write tells which."""
    y = state.like(x, excluding=x)
    if y is None or y.dtype != x.dtype:
        y = make_leaf(
            state, x.shape, {"i": "indices", "b": "bool", "c": "complex"}.get(x.kind, "any"), x.dtype
        )
    one, other = (x, y) if state.below(2) else (y, x)
    return assign_data(state, one, other) and (FOLLOW_UPS["write_outside"](state, one) or True)
