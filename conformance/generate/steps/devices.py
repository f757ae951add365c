"""Devices: copies between them, and ops on tensors of different devices.

A program on devices is drawn on one device at a time (``GenState.tensors`` are those on it) and sometimes
switches.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.features import DEVICES, VIEWS
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.registry import step
from conformance.generate.state.tensor_info import CAP, TensorInfo, is_grad_leaf
from conformance.generate.steps import call_op, leaves
from conformance.program import Device, Dtype, ref

DEVICE_NAMES = ("cpu", "cuda:0", "cuda:1")
"""Devices of programs; the last one only if an implementation has a second device."""
_WAYS = weighted({"cuda": 3, "to": 3, "cpu": 2, "second": 1, "like": 1, "cast": 1})
_OPS = (
    "mul", "add", "__sub__", "__mul__", "maximum", "matmul", "eq", "mul_", "__iadd__", "sub_", "where",
)  # fmt: skip


@step(14, DEVICES, emits=("cuda", "cpu", "to"))
def to_device(state: GenState, about: Any = None) -> bool:
    """A copy on another device, or the tensor itself if it is there already; one in three is of a view."""
    tensor = state.find(lambda one: one.requires_grad)
    if tensor is None:
        return False
    if state.features & VIEWS and state.vocabulary.strided and state.below(3) == 0:
        state.rebind = False
        if call_op.apply(state, state.pick(state.vocabulary.strided), tensor):
            tensor = state.tensors[-1]
    op, args, kwargs = _way(state, tensor)
    name = state.result_name()
    if not state.emit(op, args, kwargs, (name,)):
        return True
    same = state.env[name] is state.env[tensor.name]
    copy = state.bind(
        name, tensor.store if same else state.measure(name), (tensor,) if tensor.requires_grad else ()
    )
    if copy is None:
        return True
    if not same:
        copy.store.inexact = tensor.store.inexact
    if state.below(4):
        state.switch_device(copy.device)
    state.prioritise((copy, tensor))
    if copy.requires_grad and not state.below(3):
        state.schedule("backward", copy)
    return True


def _way(state: GenState, tensor: TensorInfo) -> tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    way = state.pick(_WAYS)
    if way == "cpu":
        return "cpu", (tensor.ref,), ()
    if way == "second":
        return "cuda", (tensor.ref, len(_devices(state)) - 2), ()
    if way == "like":
        return "to", (tensor.ref, state.pick(state.all_tensors()).ref), ()
    if way == "cast":
        return (
            "to",
            (tensor.ref, Device(state.pick(_devices(state))), Dtype(state.pick(state.float_dtypes))),
            (),
        )
    if way == "cuda":
        return "cuda", (tensor.ref,), (("non_blocking", True),) if not state.below(8) else ()
    flags = (("copy", True),) if not state.below(6) else ()
    return "to", (tensor.ref, Device(state.pick((*_devices(state), "cuda")))), flags


@step(4, DEVICES)
def switch_device(state: GenState, about: Any = None) -> bool:
    """No step: go on with the tensors on another device."""
    return state.switch_device(state.pick(_devices(state)))


def _devices(state: GenState) -> tuple[str, ...]:
    """Devices of the program."""
    return tuple(state.by_device or ())


@step(3, DEVICES, emits=("copy_",))
def copy_from_device(state: GenState, about: Any = None) -> bool:
    """``copy_`` from another device."""
    tensor = state.any_tensor()
    others = [x for x in state.all_tensors() if x.device != tensor.device and x.shape == tensor.shape]
    if not others or state.self_overlapping(tensor):
        return False
    other = state.pick(tuple(others))
    if other.kind != tensor.kind:
        return False
    if state.emit("copy_", (tensor.ref, other.ref)):
        state.remeasure(tensor)
        tensor.store.inexact = tensor.store.inexact or other.store.inexact
        state.refresh_aliases(tensor)
        state.prioritise((tensor, other))
    return True


@step(3, DEVICES)
def mixed_devices(state: GenState, about: Any = None) -> bool:
    """An op on tensors of two devices, refused unless one is a 0-d tensor on the CPU."""
    tensor, other = state.any_tensor(), state.pick(state.all_tensors())
    if state.below(4):
        other = next((one for one in state.all_tensors() if not one.shape and one.device == "cpu"), other)
    if tensor.device == other.device or tensor.kind != other.kind or tensor.kind not in "fc":
        return False
    if tensor.requires_grad and tensor.kind == "f" and not state.below(6):
        return _with_zeros(state, tensor, other)
    if tensor.requires_grad and tensor.device != "cpu" and tensor.kind == "f" and not state.below(3):
        return _power_of_one(state, tensor)
    op = state.pick(_OPS)
    operands = (tensor, other) if state.below(3) else (other, tensor)
    bits, frac = tensor.store.bits + other.store.bits + 1, tensor.store.frac + other.store.frac
    if not state.supports(op) or not state.fits(tensor.dtype, bits + 2, frac):
        return False
    writes = op.endswith("_") and (op[:2] != "__" or op.startswith("__i"))
    if writes and state.self_overlapping(operands[0]):
        return False
    args: tuple[Any, ...] = tuple(one.ref for one in operands)
    if op == "where":
        args = (args[0], args[0], args[1])
    out = operands[0].name if op.startswith("__i") else "" if writes else state.result_name()
    if state.emit(op, args, (), (out,) if out else ()):
        _record(state, operands, out, writes)
    return True


def _with_zeros(state: GenState, tensor: TensorInfo, other: TensorInfo) -> bool:
    """A ZeroTensor (the second derivative of abs) with a tensor on another device."""
    if not state.supports("abs") or not state.supports("detach"):
        return False
    given, size, first, zeros = names = [state.fresh_name() for _ in range(4)]
    grad = "torch.autograd.grad"
    met = (
        state.emit("detach", (tensor.ref,), (), (given,))
        and state.emit("abs", (tensor.ref,), (), (size,))
        and state.emit(grad, (ref(size), tensor.ref, ref(given)), (("create_graph", True),), (first,))
        and state.emit(grad, (ref(first), tensor.ref, ref(given)), (), (zeros,))
        and state.emit(
            state.pick(("add", "sub", "mul", "div")), (ref(zeros), other.ref), (), (state.fresh_name(),)
        )
    )
    if met:
        state.delete_names(*names)
    return True


def _power_of_one(state: GenState, tensor: TensorInfo) -> bool:
    """A one on the CPU to the power of a tensor elsewhere, which is exact, and its gradient."""
    if not state.supports("pow"):
        return False
    one, power, grad = names = [state.fresh_name() for _ in range(3)]
    met = (
        state.emit("torch.tensor", (1.0,), (("dtype", Dtype(tensor.dtype)),), (one,))
        and state.emit("pow", (ref(one), tensor.ref), (), (power,))
        and state.emit("torch.autograd.grad", (ref(power), tensor.ref, ref(power)), (), (grad,))
    )
    if met:
        state.delete_names(*names)
    return True


def _record(state: GenState, operands: tuple[TensorInfo, ...], out: str, writes: bool) -> None:
    """Record the result of an op on two devices."""
    if writes:
        state.remeasure(operands[0])
        state.refresh_aliases(operands[0])
        state.prioritise(operands)
        return
    result = state.bind(out, state.measure(out), tuple(one for one in operands if one.requires_grad))
    if result is not None:
        result.store.inexact = any(one.store.inexact for one in operands)
        state.prioritise((result, *operands))


@step(2, DEVICES)
def wrong_device(state: GenState, about: Any = None) -> bool:
    """A gradient, memory or positions on the wrong device, or a device that does not exist."""
    tensor = state.any_tensor()
    if not state.below(8):
        return state.emit("to", (tensor.ref, Device("cuda:7")), (), (state.fresh_name(),)) or True
    if tensor.device != "cpu" and tensor.shape and not state.below(3):
        return _by_position(state, tensor)
    if (
        tensor.device != "cpu"
        and tensor.requires_grad
        and tensor.is_leaf
        and tensor.kind == "f"
        and not state.below(2)
    ):
        return _grad_elsewhere(state, tensor)
    others = [x for x in state.all_tensors() if x.device != tensor.device and x.shape == tensor.shape]
    if not others or tensor.kind not in "fc":
        return False
    other = state.pick(tuple(others))
    if not tensor.requires_grad and other.dtype == tensor.dtype and state.supports("set_"):
        state.emit("set_", (tensor.ref, other.ref))
    elif tensor.requires_grad and state.below(2):
        state.emit("backward", (tensor.ref, other.ref))
    else:
        state.emit(".grad=", (tensor.ref, other.ref))
    return True


def _by_position(state: GenState, tensor: TensorInfo) -> bool:
    """Indexing by positions on the CPU."""
    at = state.fresh_name()
    if tensor.shape[0] and state.emit("torch.tensor", ([0],), (), (at,)):
        name = state.fresh_name()
        if state.emit("__getitem__", (tensor.ref, ref(at)), (), (name,)):
            state.bind(name, state.measure(name), (tensor,) if tensor.requires_grad else ())
            state.delete_names(at)
        return True
    return False


def _grad_elsewhere(state: GenState, tensor: TensorInfo) -> bool:
    """An optimizer step with a grad that has left its parameter's device, as integers."""
    if not (state.supports("torch.optim.SGD") and state.supports(".data=")):
        return False
    grad, zeros, held = names = [state.fresh_name() for _ in range(3)]
    done = (
        state.emit("backward", (tensor.ref, tensor.ref))
        and state.emit(".grad", (tensor.ref,), (), (grad,))
        and state.emit("torch.zeros", (tensor.shape,), (("dtype", Dtype("int64")),), (zeros,))
        and state.emit(".data=", (ref(grad), ref(zeros)))
        and state.emit("torch.optim.SGD", ([tensor.ref],), (), (held,))
    )
    if done:
        state.emit("step", (ref(held),))
        state.delete_names(*names)
        if state.below(2):
            state.emit(".grad=", (tensor.ref, None))
    return True


@step(3, DEVICES)
def momentum_step(state: GenState, about: Any = None) -> bool:
    """Steps of SGD with momentum on a leaf that is on a device, which may change its grad."""
    if state.device == "cpu" or state.mode or not state.supports("torch.optim.SGD"):
        return False
    found = [one for one in reversed(state.tensors) if is_grad_leaf(one) and one.kind == "f" and _fits(one)]
    shape = state.pick(state.shapes)
    tensor = found[0] if found else leaves.make_leaf(state, shape, "any", state.dtype, True)
    if not (is_grad_leaf(tensor) and _fits(tensor)) or state.self_overlapping(tensor):
        return False
    held = state.fresh_name()
    settings = (("lr", 0.5), ("momentum", 0.5), ("nesterov", state.below(4) > 0))
    done = (
        state.emit("backward", (tensor.ref, tensor.ref))
        and state.emit("torch.optim.SGD", ([tensor.ref],), settings, (held,))
        and state.emit("step", (ref(held),))
    )
    if done:
        for one in (*tensor.store.aliases, *state.tensors):
            state.remeasure(one)
        state.prioritise((tensor,))
        state.delete_names(held)
        if not state.below(3):
            _grad_elsewhere(state, tensor)
    return True


def _fits(tensor: TensorInfo) -> bool:
    """Tell whether there is room for a step whose gradient is the tensor itself."""
    return bool(tensor.size) and tensor.store.bits + tensor.store.frac + 8 <= CAP.get(tensor.dtype, 20)
