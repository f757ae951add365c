"""Training loops: an optimizer, and some rounds of zero_grad, forward, backward and step.

Optimizers on their own are drawn in ``training``.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import LOOPS
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo, is_grad_leaf
from conformance.generate.steps import leaves
from conformance.program import Ref, ref

CLIP = "torch.nn.utils.clip_grad_norm_"
CLIP_VALUE = "torch.nn.utils.clip_grad_value_"
_ADAM = weighted({"torch.optim.Adam": 2, "torch.optim.AdamW": 1})
_ROUNDS = (2, 2, 3)
_LATE = 36
"""Steps after which a loop is no longer than it must be."""
_RATES = (0.5, 1.0, 0.25)


@step(9, LOOPS, emits=("torch.optim.SGD", "step", "zero_grad", "sum", "mul"))
def training_loop(state: GenState, about: Any = None) -> bool:
    """Two rounds or three, each with a backward and a ``step()``; some leave one of the parts out."""
    params = _parameters(state)
    if not params or state.device != "cpu" or state.mode:
        return False
    optimizer = _optimizer(state, params)
    if optimizer is None:
        return True
    data = leaves.make_leaf(state, params[0].shape, "any", params[0].dtype) if state.below(2) else None
    sets_to_none = state.below(3) > 0
    rounds = state.pick(_ROUNDS)
    if len(state.steps) - state.refused > _LATE:
        rounds = min(rounds, 2)
    for _ in range(rounds):
        if state.below(8):
            state.emit("zero_grad", (optimizer,), () if sets_to_none else (("set_to_none", False),))
        if not _round(state, params, data):
            break
        if not state.emit("step", (optimizer,)):
            break
        for one in params:
            for other in one.store.aliases:
                state.remeasure(other)
    state.prioritise(params)
    return True


def _parameters(state: GenState) -> list[TensorInfo]:
    """Leaves to train, parameters of modules among them: one or two of one dtype; one is made if need be."""
    found = [x for x in reversed(state.tensors) if is_grad_leaf(x) and x.kind == "f" and _fits(x)]
    found = [x for x in found if not state.self_overlapping(x) and not x.store.shared_with_numpy]
    alike = [x for x in found if x.dtype == found[0].dtype][: 1 + state.below(2)]
    if not alike:
        shape = state.pick(state.shapes)
        if 0 in shape:
            return []
        alike = [leaves.make_leaf(state, shape, "any", state.dtype, True)]
        if not is_grad_leaf(alike[0]):
            return []
    return alike


def _fits(x: TensorInfo) -> bool:
    """Tell whether there is room for the squares of the first round and their gradients."""
    return bool(x.size) and 2 * (x.store.bits + x.store.frac) + 4 <= CAP.get(x.dtype, 20) + 4


def _optimizer(state: GenState, params: list[TensorInfo]) -> Ref | None:
    name = state.fresh_name()
    kwargs: Kwargs = (("lr", state.pick(_RATES)),)
    op = "torch.optim.SGD"
    if state.rounding and state.supports("torch.optim.Adam") and state.below(4):
        op = state.pick(_ADAM)
        if state.below(4) == 0:
            kwargs = (*kwargs, ("weight_decay", 0.5))
        if state.below(4) == 0:
            kwargs = (*kwargs, ("amsgrad", True))
        for one in params:
            one.store.inexact = True
    elif state.below(3) == 0 and not state.rounding:
        kwargs = (*kwargs, ("momentum", 0.5))
        if state.below(2):
            kwargs = (*kwargs, ("nesterov", True))
    if state.emit(op, ([one.ref for one in params],), kwargs, (name,)):
        return ref(name)
    return None


def _round(state: GenState, params: list[TensorInfo], data: TensorInfo | None) -> bool:
    """A loss, its backward and sometimes a clip; False where the values would no longer be exact."""
    total: TensorInfo | None = None
    for one in params:
        other = data if data is not None and one is params[0] else one
        term = _term(state, one, other)
        if term is not None and total is not None and total.shape == term.shape:
            term = _sum_of(state, total, term)
        if term is None:
            return False
        total = term
    if total is None or total.size != 1 or not total.requires_grad:
        return False
    if state.below(16) == 0 and state.supports(CLIP_VALUE):
        state.emit(CLIP_VALUE, ([one.ref for one in params], 2.0))  # too early: often there is no grad
    if not state.emit("backward", (total.ref,)):
        return False
    total.freed = True
    return _clip(state, params)


def _term(state: GenState, one: TensorInfo, other: TensorInfo) -> TensorInfo | None:
    """The sum of the products of two tensors, which may be one; None where it would not be exact."""
    bits = one.store.bits + other.store.bits + one.size.bit_length() + 1
    frac = one.store.frac + other.store.frac
    inexact = one.store.inexact or other.store.inexact
    if not inexact and bits + frac > CAP.get(one.dtype, 20):
        return None
    store = Store(bits, frac, inexact)
    product = _named(state, "mul", (one.ref, other.ref), store, (one, other))
    if product is None or product.size == 1:
        return product
    return _named(state, "sum", (product.ref,), Store(bits, frac, inexact), (product,))


def _sum_of(state: GenState, x: TensorInfo, y: TensorInfo) -> TensorInfo | None:
    bits, frac = max(x.store.bits, y.store.bits) + 1, max(x.store.frac, y.store.frac)
    store = Store(bits, frac, x.store.inexact or y.store.inexact)
    return _named(state, "add", (x.ref, y.ref), store, (x, y))


def _clip(state: GenState, params: list[TensorInfo]) -> bool:
    if not state.rounding or state.below(3):
        if state.below(8) == 0 and state.supports(CLIP_VALUE):
            state.emit(CLIP_VALUE, ([one.ref for one in params], 2.0))
        return True
    if state.supports(CLIP):
        norm = state.fresh_name()
        if state.emit(CLIP, ([one.ref for one in params], 1.0), (), (norm,)):
            state.bind(norm, Store(12, 8, True))
            for one in params:
                one.store.inexact = True
    return True


def _named(
    state: GenState, op: str, args: tuple[Any, ...], store: Store, parents: tuple[TensorInfo, ...]
) -> TensorInfo | None:
    name = state.fresh_name()
    return state.bind(name, store, parents) if state.emit(op, args, (), (name,)) else None
