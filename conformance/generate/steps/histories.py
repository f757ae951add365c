"""Writes that give a tensor another history: to a leaf that was used, and to a result that has hooks."""

from __future__ import annotations

from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import follow_up
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.generate.steps import leaves
from conformance.generate.steps.call_op import may_share, note_write
from conformance.generate.steps.inplace import writable


@follow_up
def give_history(state: GenState, x: TensorInfo) -> bool:
    """Write what requires grad to a leaf that needs none any more, and go through what it was used for."""
    y = next((y for y in reversed(state.tensors) if _may_be_copied(y, x)), None)
    if y is None or x.requires_grad or not state.supports("copy_") or state.self_overlapping(x):
        return False
    results = [one for one in state.tensors if x in one.parents and one is not y]
    if state.emit("copy_", (x.ref, y.ref)) or state.inference:
        note_write(state, x, (x, y), y.store)
        state.schedule("backward", results[-1] if results else x)
    return True


@follow_up
def add_history(state: GenState, x: TensorInfo) -> bool:
    """Add what requires grad to a result in place, and go through both."""
    if not writable(x) or not state.supports("add_") or state.self_overlapping(x):
        return False
    y = next((y for y in reversed(state.tensors) if _may_be_copied(y, x)), None)
    if y is None:
        y = leaves.make_leaf(state, x.shape, "complex" if x.kind == "c" else "any", x.dtype, True)
    bits, frac = max(x.store.bits, y.store.bits) + 1, max(x.store.frac, y.store.frac)
    if not state.fits(x.dtype, bits, frac):
        return False
    inexact = x.store.inexact or y.store.inexact
    if state.emit("add_", (x.ref, y.ref)) or state.inference:
        note_write(state, x, (x, y), Store(bits, frac, inexact))
        state.schedule("backward", x)
    return True


def _may_be_copied(y: TensorInfo, x: TensorInfo) -> bool:
    return y.requires_grad and y.dtype == x.dtype and y.shape == x.shape and not may_share(x.store, y.store)
