"""Functions that are run by others: checkpoints, which run them again, and `autograd.functional`.

The functions come from ``specs.callbacks``.
"""

from __future__ import annotations

from typing import Any

from conformance.execution.op_reach import CHECKPOINT
from conformance.execution.other_ops import FUNCTIONAL as FUNCTIONS
from conformance.generate.state.choices import weighted
from conformance.generate.state.features import CHECKPOINTS, DOUBLE, FUNCTIONAL
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import (
    CAP,
    Store,
    TensorInfo,
    backward_ready,
    is_grad_leaf,
    needs_grad,
)
from conformance.generate.steps import backward
from conformance.program import Function
from specs import callbacks

_ONE = tuple(map(Function, callbacks.OF_ONE))
_TWO = tuple(map(Function, callbacks.OF_TWO))
_SUMS = tuple(map(Function, callbacks.TO_A_SUM))
_REENTRANT = weighted({False: 3, True: 2})
_PREFIX = "torch.autograd.functional."
_OF_A_NUMBER = frozenset(["hessian", "vhp", "hvp"])


def _bounds(x: TensorInfo, function: Function) -> tuple[int, int]:
    """Bits and fractional bits of a second or third power, summed up."""
    power = 3 if function.text.count(" * ") > 1 else 2
    return power * x.store.bits + x.size.bit_length(), power * x.store.frac


def _fits(x: TensorInfo, function: Function) -> bool:
    bits, frac = _bounds(x, function)
    return x.kind == "f" and bool(x.size) and bits + frac <= CAP.get(x.dtype, 20)


@step(12, CHECKPOINTS, emits=(CHECKPOINT,))
def checkpoint(state: GenState, about: Any = None) -> bool:
    """``checkpoint`` of a function, whose backward runs it again; its argument may be written to first."""
    function = state.pick(_ONE if state.unchecked else _ONE[:-1])
    x = state.find(lambda one: needs_grad(one) and _fits(one, function))
    if x is None or not _fits(x, function) or state.device != "cpu":
        return False
    operands = [x]
    if state.below(3) == 0 and (other := state.like(x)) is not None:
        of_two = state.pick(_TWO)
        if _fits(other, of_two) and _fits(x, of_two):
            function, operands = of_two, [x, other]
    kwargs = (("use_reentrant", state.pick(_REENTRANT)),)
    name = state.result_name()
    args = (function, *(one.ref for one in operands))
    bits, frac = (max(pair) for pair in zip(*(_bounds(one, function) for one in operands), strict=True))
    if state.emit(CHECKPOINT, args, kwargs, (name,)):
        shares = function.text == "lambda t: t"
        store = x.store if shares else Store(bits, frac, any(one.store.inexact for one in operands))
        out = state.bind(name, store, tuple(operands))
        if out is not None and backward_ready(out):
            state.schedule(backward.backward, out)
            if state.below(4) == 0:
                state.schedule("inplace_op", x)
    return True


@step(12, FUNCTIONAL, emits=tuple(f"{_PREFIX}{name}" for name in FUNCTIONS))
def functional(state: GenState, about: Any = None) -> bool:
    """One of `autograd.functional`, of a tensor; mostly it leaves no graph."""
    name = state.pick(FUNCTIONS)
    menu = _SUMS if name in _OF_A_NUMBER else _ONE
    function = state.pick(menu if state.unchecked else menu[:-1])
    x = state.find(lambda one: is_grad_leaf(one) and _fits(one, function))
    if x is None or not _fits(x, function) or state.device != "cpu":
        return False
    args: tuple[Any, ...] = (function, x.ref)
    if name not in ("jacobian", "hessian"):
        v = state.like(x, excluding=x)
        if v is None or v.shape != x.shape or v.dtype != x.dtype:
            if not state.unchecked and (name != "vjp" or x.size > 1):
                return False
        else:
            if not _fits(v, function):
                return False
            args = (*args, v.ref)
    kwargs: Kwargs = (("create_graph", True),) if state.features & DOUBLE and state.below(3) == 0 else ()
    if state.below(6) == 0:
        kwargs = (*kwargs, ("strict", True))
    names = tuple(state.fresh_name() for _ in range(1 if name in ("jacobian", "hessian") else 2))
    bits, frac = _bounds(x, function)
    if state.emit(f"{_PREFIX}{name}", args, kwargs, names):
        for one in names:
            out = state.bind(one, Store(bits + 3, frac, x.store.inexact, True), (x,))
            if out is not None and backward_ready(out):
                state.schedule(backward.backward, out)
    return True
