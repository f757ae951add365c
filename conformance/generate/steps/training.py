"""Training: parameters, losses and linear layers as functions, and optimizers.

Modules are no values of a program; what an optimizer does to the tensors it holds is drawn here, since it
writes to them long after it was given them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from conformance.generate.state.choices import weighted
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo, backward_ready, can_require_grad
from conformance.generate.steps import backward, leaves
from conformance.program import Ref, ref
from specs.domain import AVOIDANCES

_RATES = (1.0, 0.5, 0.5, 0.25)
_REDUCTIONS = weighted({"mean": 3, "sum": 2, "none": 1})
_LOSSES = ("torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss")
_ODD: tuple[Any, ...] = ([], [2.0], None)
"""What no optimizer takes; None stands for a bare tensor."""


class Optimizer(NamedTuple):
    """The name of an optimizer, and what it was given."""

    ref: Ref
    params: tuple[TensorInfo, ...]


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
                state.schedule(state.vocabulary.use, alias)
    return True


def loss(state: GenState, about: Any = None) -> bool:
    """A loss of two tensors of one shape, which is then differentiated."""
    x = state.find(_real)
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
        tensor = state.bind(name, Store(bits, frac, x.store.inexact or y.store.inexact), (x, y))
        if tensor is not None and reduction != "none":
            tensor.store.initialised = 1
        if tensor is not None and backward_ready(tensor):
            state.schedule(backward.backward, tensor)
    return True


def linear(state: GenState, about: Any = None) -> bool:
    """A linear layer's function, with a weight of its own and perhaps a bias."""
    x = state.find(_rows)
    if x is None or not _rows(x):
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
        tensor = state.bind(name, Store(bits, frac, x.store.inexact), operands)
        if tensor is not None and backward_ready(tensor):
            state.schedule(backward.backward, tensor)
    return True


def _real(tensor: TensorInfo) -> Any:
    return tensor.requires_grad and tensor.kind == "f"


def _rows(tensor: TensorInfo) -> Any:
    return tensor.kind == "f" and tensor.shape and tensor.size


def _leaf(tensor: TensorInfo) -> Any:
    return tensor.requires_grad and tensor.is_leaf


# -- optimizers ----------------------------------------------------------------------------------------
def optimizer(state: GenState, about: Any = None) -> bool:
    """An optimizer of one or two leaves; a backward and a step are to follow."""
    given = [state.find(_leaf) for _ in range(1 + state.below(2))]
    tensors = tuple(dict.fromkeys(tensor for tensor in given if tensor is not None))
    if not tensors or any(map(state.self_overlapping, tensors)):
        return False
    params: Any = [tensor.ref for tensor in (given if state.unchecked else tensors) if tensor is not None]
    if state.unchecked and state.below(3) == 0:
        params = state.pick(_ODD)
        params = tensors[0].ref if params is None else params
    name = state.fresh_name()
    if state.emit("torch.optim.SGD", (params,), _settings(state), (name,)):
        held = Optimizer(ref(name), tensors)
        state.schedule(step, held)
        state.schedule(backward.reach, tensors[0])
    return True


def _settings(state: GenState) -> tuple[tuple[str, Any], ...]:
    settings: tuple[tuple[str, Any], ...] = (("lr", state.pick(_RATES)),)
    if not state.rounding and state.below(3) == 0:
        settings = (*settings, ("momentum", 0.5))
    if state.below(3) == 0:
        settings = (*settings, ("weight_decay", 0.5))
    return settings


def step(state: GenState, held: Optimizer) -> bool:
    """A step, after which something goes on: grads are cleared, or what saved the old values is used."""
    if _tangled(state, held) or not state.emit("step", (held.ref,)):
        return False
    for tensor in held.params:
        for other in tensor.store.aliases:
            state.remeasure(other)
    state.prioritise(held.params)
    if state.below(3):
        state.schedule(step, held)
    if state.below(3):
        state.schedule(backward.reach, held.params[-1])
    if state.below(4):
        return zero_grad(state, held)
    return True


def _tangled(state: GenState, held: Optimizer) -> bool:
    """Whether a step would depend on the order of its loop: a tensor's grad is other parts of its memory,
    which came through numpy, so that torch does not know and refuses nothing.
    """
    if not any(tensor.store.shared_with_numpy for tensor in held.params):
        return False
    pairs = state.oracle.optimizer_updates(held.ref.name)
    return any(AVOIDANCES["partly_overlapping_write"].meets(pair, {"foreign": True}) for pair in pairs)


def zero_grad(state: GenState, held: Optimizer) -> bool:
    """``zero_grad()`` in one of its two ways."""
    kwargs = (("set_to_none", False),) if state.below(2) else ()
    return state.emit("zero_grad", (held.ref,), kwargs)
