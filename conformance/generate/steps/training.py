"""Training: parameters, optimizers, and losses and linear layers as functions.

Modules are not values of a program. An optimizer's step is drawn here, since it writes to tensors that it
was given long before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import REQUIRES_GRAD, TRAINING
from conformance.generate.state.gen_state import GenState, Kwargs
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import (
    CAP,
    Store,
    TensorInfo,
    backward_ready,
    can_require_grad,
    is_grad_leaf,
)
from conformance.generate.steps import backward, leaves
from conformance.program import Ref, ref
from specs.domain import AVOIDANCES

_RATES = (1.0, 0.5, 0.5, 0.25)
_REDUCTIONS = weighted({"mean": 3, "sum": 2, "none": 1})
_LOSSES = ("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss")
_INVALID_PARAMS: tuple[Any, ...] = ([], [2.0], None)
"""Parameters that optimizers refuse; None stands for a tensor outside a list."""


class Optimizer(NamedTuple):
    """The name of an optimizer, and its parameters."""

    ref: Ref
    params: tuple[TensorInfo, ...]


@step(3, TRAINING, emits=("torch.nn.Parameter",))
def parameter(state: GenState, about: Any = None) -> bool:
    """``nn.Parameter`` of a tensor, whose memory it shares."""
    tensor = state.find(can_require_grad)
    if tensor is None:
        return False
    name = state.result_name()
    kwargs = (("requires_grad", False),) if state.below(4) == 0 else ()
    if state.emit("torch.nn.Parameter", (tensor.ref,), kwargs, (name,)):
        alias = state.bind(name, tensor.store)
        if alias is not None:
            state.prioritise((alias, tensor))
            if backward_ready(tensor):
                state.schedule("functional_op", alias)
    return True


# -- optimizers ----------------------------------------------------------------------------------------


@step(4, TRAINING, emits=("torch.optim.SGD", "step", "zero_grad"))
def optimizer(state: GenState, about: Any = None) -> bool:
    """An optimizer of one or two leaves; a backward and a step follow."""
    given = [state.find(is_grad_leaf) for _ in range(1 + state.below(2))]
    tensors = tuple(dict.fromkeys(tensor for tensor in given if tensor is not None))
    if not tensors or any(map(state.self_overlapping, tensors)):
        return False
    params: Any = [tensor.ref for tensor in (given if state.unchecked else tensors) if tensor is not None]
    if state.unchecked and state.below(3) == 0:
        params = state.pick(_INVALID_PARAMS)
        params = tensors[0].ref if params is None else params
    name = state.fresh_name()
    if state.emit("torch.optim.SGD", (params,), _settings(state), (name,)):
        held = Optimizer(ref(name), tensors)
        state.schedule(optimizer_step, held)
        if state.features & REQUIRES_GRAD and state.supports(".requires_grad=") and not state.below(4):
            state.schedule(freeze, tensors[0])
        state.schedule(backward.backward_through, tensors[0])
    return True


def freeze(state: GenState, tensor: TensorInfo) -> bool:
    """``requires_grad = False`` on a parameter that has its grad: the optimizer still changes it."""
    if state.emit(".requires_grad=", (tensor.ref, False)):
        state.refresh_aliases(tensor)
    return True


def _settings(state: GenState) -> Kwargs:
    settings: Kwargs = (("lr", state.pick(_RATES)),)
    if not state.rounding and state.below(3) == 0:
        settings = (*settings, ("momentum", 0.5))
        if state.device != "cpu" and state.below(2):
            settings = (*settings, ("nesterov", True))
    if state.below(3) == 0:
        settings = (*settings, ("weight_decay", 0.5))
    return settings


def optimizer_step(state: GenState, held: Optimizer) -> bool:
    """``step()``; then another step, a backward through the old values, or ``zero_grad()``."""
    if _overlaps_a_grad(state, held) or not state.emit("step", (held.ref,)):
        return False
    for tensor in held.params:
        for other in tensor.store.aliases:
            state.remeasure(other)
    if state.device != "cpu":  # such a step may have changed the grads, too
        for other in state.tensors:
            state.remeasure(other)
    state.prioritise(held.params)
    if state.below(3):
        state.schedule(optimizer_step, held)
    if state.below(3):
        state.schedule(backward.backward_through, held.params[-1])
    if state.below(4):
        return _zero_grad(state, held)
    return True


def _overlaps_a_grad(state: GenState, held: Optimizer) -> bool:
    """True if a step would depend on the order of its loop.

    A parameter's grad is then another part of its memory, which came through numpy, so that torch does not
    know and refuses nothing.
    """
    if not any(tensor.store.shared_with_numpy for tensor in held.params):
        return False
    pairs = state.oracle.optimizer_updates(held.ref.name)
    return any(AVOIDANCES["partly_overlapping_write"].meets(pair, {"foreign": True}) for pair in pairs)


def _zero_grad(state: GenState, held: Optimizer) -> bool:
    """``zero_grad()``, which clears grads or writes zeros to them."""
    kwargs = (("set_to_none", False),) if state.below(2) else ()
    return state.emit("zero_grad", (held.ref,), kwargs)


# -- losses and layers ---------------------------------------------------------------------------------


def _is_real(tensor: TensorInfo) -> Any:
    return tensor.requires_grad and tensor.kind == "f"


def _has_rows(tensor: TensorInfo) -> Any:
    return tensor.kind == "f" and tensor.shape and tensor.size


@step(3, TRAINING, emits=_LOSSES)
def loss(state: GenState, about: Any = None) -> bool:
    """A loss of two tensors of one shape; a backward follows."""
    x = state.find(_is_real)
    if x is None:
        return False
    y = state.like(x, excluding=x)
    if y is None or (y.shape, y.dtype) != (x.shape, x.dtype) or x.kind != "f":
        return False
    op, reduction = state.pick(_LOSSES), state.pick(_REDUCTIONS)
    halvings = x.size.bit_length() - 1
    if reduction == "mean" and x.size != 1 << max(halvings, 0):
        reduction = "sum"  # a division that rounds
    power = 2 if op is _LOSSES[0] else 1
    bits = (max(x.store.bits, y.store.bits) + 1) * power + x.size.bit_length()
    frac = max(x.store.frac, y.store.frac) * power + x.size.bit_length()
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    kwargs = () if reduction == "mean" else (("reduction", reduction),)
    name = state.result_name()
    if state.emit(op, (x.ref, y.ref), kwargs, (name,)):
        out = state.bind(name, Store(bits, frac, x.store.inexact or y.store.inexact), (x, y))
        if out is not None and reduction != "none":
            out.store.initialised = 1
        if out is not None and backward_ready(out):
            state.schedule(backward.backward, out)
    return True


@step(2, TRAINING, emits=("torch.nn.functional.linear",))
def linear(state: GenState, about: Any = None) -> bool:
    """A linear layer as a function, with a new weight and mostly a bias; a backward follows."""
    x = state.find(_has_rows)
    if x is None or not _has_rows(x):
        return False
    features = x.shape[-1]
    bits, frac = x.store.bits + 4 + features.bit_length(), x.store.frac + 1
    if bits + frac > CAP.get(x.dtype, 20):
        return False
    weight = leaves.make_leaf(state, (2, features), "any", x.dtype, bool(state.below(4)))
    bias = leaves.make_leaf(state, (2,), "any", x.dtype, bool(state.below(2))) if state.below(4) else None
    operands = (x, weight) if bias is None else (x, weight, bias)
    name = state.result_name()
    args = tuple(operand.ref for operand in operands)
    if state.emit("torch.nn.functional.linear", args, (), (name,)):
        out = state.bind(name, Store(bits, frac, x.store.inexact), operands)
        if out is not None and backward_ready(out):
            state.schedule(backward.backward, out)
    return True
