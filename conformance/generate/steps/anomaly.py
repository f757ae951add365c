"""Anomaly mode, and gradients that are not a number for it to find."""

from __future__ import annotations

from typing import Any

from conformance.generate.state.features import ANOMALY
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import Store, TensorInfo, needs_grad
from conformance.generate.steps import backward
from conformance.program import ANOMALY_MODES


@step(8, ANOMALY)
def anomaly_mode(state: GenState, about: Any = None) -> bool:
    """Enter anomaly mode for some turns."""
    if state.mode:
        return False
    state.mode, state.mode_turns = (ANOMALY_MODES[state.below(4) == 3],), 3 + state.below(6)
    return nan_gradient(state, about) if state.below(2) else False


@step(8, ANOMALY, emits=("mul", "sqrt"))
def nan_gradient(state: GenState, about: Any = None) -> bool:
    """The root of nothing times a tensor: its value is zero, and its gradient is not a number."""
    x = state.find(lambda one: needs_grad(one) and one.kind == "f" and one.size)
    if x is None or x.kind != "f" or not x.size:
        return False
    nothing = _named(state, "mul", (x.ref, 0.0), x)
    if nothing is None:
        return True
    root = _named(state, "sqrt", (nothing.ref,), nothing)
    if root is not None and root.requires_grad:
        state.schedule(backward.backward, root)
    return True


def _named(state: GenState, op: str, args: tuple[Any, ...], parent: TensorInfo) -> TensorInfo | None:
    name = state.fresh_name()
    store = Store(3, 1, parent.store.inexact, False)
    return state.bind(name, store, (parent,)) if state.emit(op, args, (), (name,)) else None
