"""Calls of custom functions: the classes are in ``specs.callbacks``, their signatures here."""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.generate.state.features import DOUBLE, FUNCTIONS, INPLACE, RETAIN
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import follow_up, step
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo, backward_ready, is_grad_leaf
from conformance.generate.steps import call_op
from conformance.generate.steps.autograd_grad import differentiate_twice
from conformance.generate.steps.backward import backward
from conformance.generate.steps.inplace import inplace_op


class Signature(NamedTuple):
    """The arguments and results of a custom function.

    Each result is ``bits`` larger than the argument (-1: as large as a product). ``takes``: one tensor, two,
    or one and a number. ``memory``: results have their own, share the argument's, or are written to it.
    """

    bits: int
    results: int = 1
    takes: str = "one"
    memory: str = "own"


_ADDS, _MULTIPLIES, _PAIR = Signature(1), Signature(-1), Signature(2, results=2)
_ALIAS, _WITH_NUMBER = Signature(0, memory="shared"), Signature(2, takes="number")
_OF_TWO = Signature(-1, takes="two")

VALID = {
    "Double": _ADDS, "Tenfold": _ADDS, "Square": _MULTIPLIES, "KeepsOutput": _ADDS, "Once": _MULTIPLIES,
    "Within": _MULTIPLIES, "Surplus": _ADDS, "Nothing": _ADDS, "Apart": _ADDS, "Scale": _WITH_NUMBER,
    "Product": _OF_TWO, "Asks": _OF_TWO, "Pair": _PAIR, "Lazy": _PAIR, "Marked": _PAIR, "Same": _ALIAS,
    "Flat": _ALIAS, "Twins": Signature(0, results=2, memory="shared"),
    "Written": Signature(1, memory="written"), "WrittenPair": Signature(2, results=2, memory="written"),
}  # fmt: skip
"""Functions that follow the rules."""

INVALID = {
    "TooMany": _ADDS, "ForNumber": _WITH_NUMBER, "GivesNumber": _ADDS, "WrongShape": _ADDS,
    "Stranger": _ADDS, "Forgotten": _ADDS, "ApartSame": _ALIAS, "SavesNumber": _ADDS, "MarksNumber": _ADDS,
    "NoForward": _ADDS, "NoBackward": _ADDS, "BothWays": _ADDS,
}  # fmt: skip
"""Functions that are refused, whose gradients are refused, or that warn."""


@step(15, FUNCTIONS, emits=("Double.apply",))
def apply_custom_function(state: GenState, about: TensorInfo | None = None) -> bool:
    """One call of a custom function, mostly of a tensor that requires grad."""
    x = state.find(_differentiable)
    if x is None:
        return False
    wrong = state.unchecked or state.below(8) == 0
    menu = INVALID if wrong else VALID
    name = state.pick(_NAMES[wrong])
    if not wrong and state.features & DOUBLE and state.below(3) == 0:
        name = "Once"  # which has no second derivative
    elif not wrong and x.base is not None and state.below(8) == 0:
        name = "WrittenPair"  # which returns more than the view that it writes to
    signature = menu[name]
    writes = signature.memory == "written"
    if writes and not state.unchecked and (x.multi_view or is_grad_leaf(x)):
        return False
    others = _other_arguments(state, signature, x)
    if others is None or (writes and state.self_overlapping(x)):
        return False
    tensors = (x, *[other for other in others if isinstance(other, TensorInfo)])
    bits, frac = _bounds(signature, x, tensors)
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    inexact = any(other.store.inexact for other in tensors)
    args = (x.ref, *(other.ref if isinstance(other, TensorInfo) else other for other in others))
    names = tuple(state.fresh_name() for _ in range(signature.results))
    after = Store(bits, frac, inexact)
    done = state.emit(f"{name}.apply", args, (), names)
    if writes and (done or state.inference):
        call_op.note_write(state, x, (x,), after)
    if not done:
        return True
    outs = [_bind_result(state, each, at, signature, tensors, after) for at, each in enumerate(names)]
    last = next((tensor for tensor in reversed(outs) if tensor is not None and backward_ready(tensor)), None)
    if last is not None and name == "Once" and state.features & DOUBLE:
        differentiate_twice(state, last)
    elif last is not None and (wrong or state.below(2)):
        state.schedule("backward", last)
    if last is not None and len(outs) > 1 and state.features & _KEPT == _KEPT and not last.multi_view:
        if not state.below(3):  # torch gets it wrong: few programs are lost to that
            state.schedule(write_output_that_retains, last)
    elif last is not None and len(outs) > 1 and last.multi_view and state.features & INPLACE:
        state.schedule("write_outside", last)
    return True


@follow_up
def write_output_that_retains(state: GenState, output: TensorInfo) -> bool:
    """``retain_grad()`` on one output of several, which is written then: the request moves with it."""
    if not (backward_ready(output) and state.supports("retain_grad")):
        return False
    for other in state.tensors:
        if other.parents == output.parents and other is not output and backward_ready(other):
            state.emit("retain_grad", (other.ref,))  # else torch fails an assertion of its own
    if state.emit("retain_grad", (output.ref,)) and inplace_op(state, output):
        return backward(state, output) or True
    return True


_KEPT = INPLACE | RETAIN
_NAMES = ((*VALID, "Asks"), tuple(INVALID))


def _differentiable(tensor: TensorInfo) -> Any:
    return tensor.requires_grad and tensor.kind in "fc"


def _other_arguments(state: GenState, signature: Signature, x: TensorInfo) -> tuple[Any, ...] | None:
    """Arguments besides ``x``; None if nothing fits."""
    if signature.takes == "number":
        return (state.pick((2, 4.0, -1)),)
    if signature.takes == "two":
        y = state.like(x)
        return None if y is None else (y,)
    return ()


def _bounds(signature: Signature, x: TensorInfo, tensors: tuple[TensorInfo, ...]) -> tuple[int, int]:
    if signature.bits >= 0:
        return x.store.bits + signature.bits, x.store.frac
    y = tensors[-1]
    return x.store.bits + y.store.bits, x.store.frac + y.store.frac


def _bind_result(
    state: GenState, name: str, at: int, signature: Signature, tensors: tuple[TensorInfo, ...], after: Store
) -> TensorInfo | None:
    """Record a result, with its own memory or that of the first argument."""
    x = tensors[0]
    shares = signature.memory == "shared" or (signature.memory == "written" and at == 0)
    out = state.bind(name, x.store if shares else Store(after.bits, after.frac, after.inexact), tensors)
    if out is not None and shares:
        out.base = (x.base or x) if signature.memory == "shared" else x.base
        out.multi_view = x.multi_view or signature.memory == "shared"
    return out
