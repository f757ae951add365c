"""Derivatives of what is called as a function of tensors in each dtype: losses, layers, norms and stacks.

They come to the programs that differentiate each op of the table (``derivatives``). With the values of other
programs half precision would round at every step; here they are small.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.generate.state.features import DERIVATIVES, DOUBLE, GRAD_CALL, HOOKS
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import Store, TensorInfo
from conformance.generate.steps import leaves
from conformance.generate.steps.derivatives import differentiate, dtype_for

_F = "torch.nn.functional."
_REDUCTIONS = ("mean", "sum", "none")
_ORDERS = (2, 2, 1)
_ROUNDED = 6
"""Bits, and fractional bits, of what was rounded anyway."""

Drawn = tuple[tuple[Any, ...], Kwargs, Store, list[TensorInfo]]
"""Arguments, keywords, the bounds of the result, and the tensors to differentiate by."""


def _leaf(state: GenState, shape: tuple[int, ...], dtype: str) -> TensorInfo:
    """A leaf of small values that requires grad."""
    kind = "complex_units" if dtype.startswith("complex") else "signs" if state.below(2) else "small"
    return leaves.make_leaf(state, shape, kind, dtype, True)


def _bounds(inputs: list[TensorInfo], power: int, terms: int) -> Store:
    """The bounds of so many terms, each a product of so many of these."""
    bits, frac = max(one.store.bits for one in inputs), max(one.store.frac for one in inputs)
    return Store(bits * power + terms + 1, frac * power + 2)


def _soft(state: GenState, dtype: str) -> Drawn:
    x = _leaf(state, state.pick(((2,), (2, 2), (1, 3))), dtype)
    return (x.ref,), (("dim", state.below(len(x.shape))),), Store(_ROUNDED, _ROUNDED, True), [x]


def _cross_entropy(state: GenState, dtype: str) -> Drawn:
    x = _leaf(state, state.pick(((2, 2), (1, 3))), dtype)
    classes = leaves.make_leaf(state, x.shape[:1], "indices", "int64")
    return (x.ref, classes.ref), _reduced(state), Store(_ROUNDED, _ROUNDED, True), [x]


def _normalized(state: GenState, dtype: str) -> Drawn:
    x = _leaf(state, state.pick(((2,), (2, 2), (1, 4))), dtype)
    more = [_leaf(state, x.shape[-1:], dtype) for _ in range(state.below(3))]
    args = (x.ref, x.shape[-1:], *(one.ref for one in more))
    return args, (), Store(_ROUNDED, _ROUNDED, True), [x, *more]


def _squares(state: GenState, dtype: str) -> Drawn:
    shape = state.pick(((2,), (2, 2), (), (1, 2)))
    x, y = _leaf(state, shape, dtype), _leaf(state, shape, dtype)
    return (x.ref, y.ref), _reduced(state), _bounds([x, y], 2, 2), [x, y]


def _linear(state: GenState, dtype: str) -> Drawn:
    shapes = ((2, 2), (2, 2)) if state.below(2) else ((1, 2), (1, 2))
    inputs = [_leaf(state, shape, dtype) for shape in shapes]
    if state.below(3):
        inputs.append(_leaf(state, shapes[1][:1], dtype))
    return tuple(one.ref for one in inputs), (), _bounds(inputs, 2, 2), inputs


def _convolution(state: GenState, dtype: str) -> Drawn:
    kernel = 1 + state.below(2)
    x = _leaf(state, (1, 1, 3), dtype)
    inputs = [x, _leaf(state, (1 + state.below(2), 1, kernel), dtype)]
    if state.below(4):
        inputs.append(_leaf(state, inputs[1].shape[:1], dtype))
    return tuple(one.ref for one in inputs), (), _bounds(inputs, 2, 2), inputs


def _norm(state: GenState, dtype: str) -> Drawn:
    x = _leaf(state, state.pick(((2,), (2, 2))), dtype)
    args: tuple[Any, ...] = (x.ref, state.pick(_ORDERS), state.below(len(x.shape)), bool(state.below(2)))
    return args[: (2, 4)[state.below(2)]], (), Store(_ROUNDED, _ROUNDED, True), [x]


def _stacked(state: GenState, dtype: str) -> Drawn:
    shape = state.pick(((2,), (2, 2), ()))
    inputs = [_leaf(state, shape, dtype) for _ in range(1 + state.below(8))]
    args = ([one.ref for one in inputs], *((state.below(len(shape) + 1),) if state.below(2) else ()))
    return args, (), _bounds(inputs, 1, 0), inputs


def _reduced(state: GenState) -> Kwargs:
    reduction = state.pick(_REDUCTIONS)
    return () if reduction == "mean" else (("reduction", reduction),)


Function = tuple[str, Callable[[GenState, str], Drawn], bool, bool]

FUNCTIONS: tuple[Function, ...] = (
    (f"{_F}softmax", _soft, False, False),
    (f"{_F}log_softmax", _soft, False, False),
    (f"{_F}cross_entropy", _cross_entropy, False, False),
    (f"{_F}mse_loss", _squares, False, True),
    (f"{_F}linear", _linear, True, True),
    ("norm", _norm, True, False),
    *[("torch.stack", _stacked, True, True)] * 4,
)  # fmt: skip
"""Functions with what draws their arguments, if they have a derivative in complex dtypes, too, and if they
are exact.
"""
ONCE: tuple[Function, ...] = (
    (f"{_F}layer_norm", _normalized, False, False),
    (f"{_F}conv1d", _convolution, False, True),
)
"""Those that are drawn where nothing is differentiated twice, and no hook sees what is saved: see
``layer_functions``.
"""


@step(160, DERIVATIVES)
def layer_derivatives(state: GenState, about: Any = None) -> bool:
    """A call of a function on new leaves of any dtype, and its derivatives."""
    once = not state.features & (DOUBLE | GRAD_CALL | HOOKS) and state.below(4) > 0
    function, draw, complex_too, exact = state.pick(ONCE if once else FUNCTIONS)
    if not state.supports(function) or not (exact or state.rounding):
        return False
    args, kwargs, store, inputs = draw(state, dtype_for(state, complex_too))
    name = state.fresh_name()
    if state.emit(function, args, kwargs, (name,)):
        out = state.bind(name, store, tuple(inputs))
        if out is not None:
            differentiate(state, out, inputs)
    return True
