"""Layers as functions: softmax, cross entropy, norms and convolution; `linear` and the other losses are in
``training``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import DOUBLE, GRAD_CALL, HOOKS, LAYER_FUNCTIONS
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo, backward_ready
from conformance.generate.steps import backward, leaves

_F = "torch.nn.functional."
_SOFT = (f"{_F}softmax", f"{_F}log_softmax")
_ORDERS = (2, 2, 1)
_REDUCTIONS = weighted({"mean": 2, "sum": 2, "none": 1})


def _is_floating(x: TensorInfo) -> bool:
    return x.kind == "f" and x.dtype in ("float32", "float64")


def _result(
    state: GenState,
    op: str,
    args: tuple[Any, ...],
    kwargs: Kwargs,
    store: Store,
    parents: tuple[TensorInfo, ...],
) -> bool:
    """Call a function; a backward follows."""
    name = state.result_name()
    if state.emit(op, args, kwargs, (name,)):
        out = state.bind(name, store, parents)
        if out is not None and backward_ready(out):
            state.schedule(backward.backward, out)
    return True


@step(8, LAYER_FUNCTIONS, emits=_SOFT)
def softmax(state: GenState, about: Any = None) -> bool:
    """``softmax`` or ``log_softmax``, which round, along a dimension."""
    if not state.rounding:
        return False
    x = state.find(lambda one: _is_floating(one) and one.shape and one.size)
    if x is None or not (_is_floating(x) and x.shape and x.size):
        return False
    dim = state.below(len(x.shape)) - (len(x.shape) if state.below(2) else 0)
    return _result(state, state.pick(_SOFT), (x.ref,), (("dim", dim),), Store(4, 4, True), (x,))


@step(8, LAYER_FUNCTIONS, emits=(f"{_F}cross_entropy",))
def cross_entropy(state: GenState, about: Any = None) -> bool:
    """The cross entropy of rows and the classes they should be of, one in eight of which is no class."""
    if not (state.rounding and state.indices):
        return False
    x = state.find(lambda one: _is_floating(one) and len(one.shape) == 2 and one.size)
    if x is None or not (_is_floating(x) and len(x.shape) == 2 and x.size):
        x = leaves.make_leaf(state, (2, 2), "any", state.dtype, True)
        if not _is_floating(x):
            return False
    if x.shape[1] < 2:
        return False
    classes = leaves.make_leaf(state, x.shape[:1], "int64" if state.below(8) == 0 else "indices", "int64")
    reduction = state.pick(_REDUCTIONS)
    kwargs: Kwargs = () if reduction == "mean" else (("reduction", reduction),)
    return _result(state, f"{_F}cross_entropy", (x.ref, classes.ref), kwargs, Store(6, 6, True), (x,))


@step(8, LAYER_FUNCTIONS, emits=(f"{_F}layer_norm",))
def layer_norm(state: GenState, about: Any = None) -> bool:
    """``layer_norm`` of the last dimension, with or without a weight and a bias.

    It is not drawn where gradients of gradients are, nor hooks on what is saved: PyTorch saves the mean and
    the deviation too, and has a node of its own for the second derivative.
    """
    if not state.rounding or state.features & (DOUBLE | GRAD_CALL | HOOKS):
        return False
    x = state.find(lambda one: _is_floating(one) and one.shape and one.shape[-1] > 1 and one.size)
    if x is None or not (_is_floating(x) and x.shape and x.shape[-1] > 1 and x.size):
        return False
    operands = [x]
    for _ in range(state.below(3)):
        operands.append(leaves.make_leaf(state, x.shape[-1:], "any", x.dtype, bool(state.below(3))))
    args = (x.ref, x.shape[-1:], *(one.ref for one in operands[1:]))
    return _result(state, f"{_F}layer_norm", args, (), Store(6, 6, True), tuple(operands))


@step(1, emits=("norm",))
def norm(state: GenState, about: Any = None) -> bool:
    """The norm of all elements or along a dimension."""
    if not state.rounding:
        return False
    x = state.find(_is_floating)
    if x is None or not _is_floating(x):
        return False
    args: tuple[Any, ...] = (x.ref, state.pick(_ORDERS))
    if x.shape and state.below(2):
        args = (*args, state.below(len(x.shape)), bool(state.below(2)))
    return _result(state, "norm", args[: 1 + state.below(4)], (), Store(x.store.bits + 3, 6, True), (x,))


@step(10, LAYER_FUNCTIONS, emits=(f"{_F}conv1d", f"{_F}conv2d"))
def convolution(state: GenState, about: Any = None) -> bool:
    """``conv1d`` or ``conv2d`` of small integers, with a new weight and mostly a bias.

    It is not drawn where gradients of gradients are: theirs are results of one node in PyTorch, of several in
    the reference.
    """
    dtype = state.dtype
    if dtype not in ("float32", "float64") or state.features & (DOUBLE | GRAD_CALL):
        return False
    dims = 1 + state.below(2)
    channels, filters, kernel = 1 + state.below(2), 1 + state.below(2), 1 + state.below(2)
    shape = (1 + state.below(2), channels, *(3,) * dims)
    x = next((one for one in reversed(state.tensors) if one.shape == shape and one.dtype == dtype), None)
    if x is None or state.below(3) == 0:
        x = leaves.make_leaf(state, shape, "any", dtype, bool(state.below(3)))
    weight = leaves.make_leaf(
        state, (filters, channels, *(kernel,) * dims), "any", dtype, bool(state.below(4))
    )
    bits, frac = x.store.bits + weight.store.bits + 4, x.store.frac + weight.store.frac
    if bits + frac > CAP.get(dtype, 20):
        return False
    operands = [x, weight]
    if state.below(3):
        operands.append(leaves.make_leaf(state, (filters,), "any", dtype, bool(state.below(2))))
    kwargs: Kwargs = ()
    if state.below(3) == 0:
        kwargs = (("stride", 2),)
    if state.below(3) == 0:
        kwargs = (*kwargs, ("padding", 1))
    args = tuple(one.ref for one in operands)
    store = Store(bits, frac, any(one.store.inexact for one in operands))
    return _result(state, f"{_F}conv{dims}d", args, kwargs, store, tuple(operands))
