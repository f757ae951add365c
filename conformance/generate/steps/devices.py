"""Devices: copies there and back, and meetings of tensors that are in different places.

A program on devices is drawn in one place at a time (`scene.lives` are those there), and now and then goes on
in another.
"""

from __future__ import annotations

from typing import Any

from conformance.generate.state.choices import weighted
from conformance.generate.state.gen_state import GenState
from conformance.generate.state.tensor_info import TensorInfo
from conformance.program import Device, Dtype, ref

DEVICE_NAMES = ("cpu", "cuda:0", "cuda:1")
"""Where programs move; without the last one where an implementation has no second device."""
_WAYS = weighted({"cuda": 3, "to": 3, "cpu": 2, "second": 1, "like": 1, "cast": 1})
_MEETINGS = (
    "mul",
    "add",
    "__sub__",
    "__mul__",
    "maximum",
    "matmul",
    "eq",
    "mul_",
    "__iadd__",
    "sub_",
    "where",
)


def move(state: GenState, about: Any = None) -> bool:
    """A copy on another device, or none where the tensor is there already."""
    tensor = state.find(lambda one: one.requires_grad)
    if tensor is None:
        return False
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
        state.schedule(state.vocabulary.backward, copy)
    return True


def _way(state: GenState, tensor: TensorInfo) -> tuple[str, tuple[Any, ...], tuple[tuple[str, Any], ...]]:
    way = state.pick(_WAYS)
    if way == "cpu":
        return "cpu", (tensor.ref,), ()
    if way == "second":
        return "cuda", (tensor.ref, len(_places(state)) - 2), ()
    if way == "like":
        return "to", (tensor.ref, state.pick(state.all_tensors()).ref), ()
    if way == "cast":
        return (
            "to",
            (tensor.ref, Device(state.pick(_places(state))), Dtype(state.pick(state.float_dtypes))),
            (),
        )
    if way == "cuda":
        return "cuda", (tensor.ref,), (("non_blocking", True),) if not state.below(8) else ()
    flags = (("copy", True),) if not state.below(6) else ()
    return "to", (tensor.ref, Device(state.pick((*_places(state), "cuda")))), flags


def switch_device(state: GenState, about: Any = None) -> bool:
    """Nothing but a change of place, for the steps that follow."""
    return state.switch_device(state.pick(_places(state)))


def _places(state: GenState) -> tuple[str, ...]:
    """Where the program moves."""
    return tuple(state.by_device or ())


def meet(state: GenState, about: Any = None) -> bool:
    """An op on tensors in two places: refused, unless one is a number on the CPU."""
    tensor, other = state.any_tensor(), state.pick(state.all_tensors())
    if state.below(4):
        other = next((one for one in state.all_tensors() if not one.shape and one.device == "cpu"), other)
    if tensor.device == other.device or tensor.kind != other.kind or tensor.kind not in "fc":
        return False
    if tensor.requires_grad and tensor.kind == "f" and not state.below(6):
        return _with_zeros(state, tensor, other)
    if tensor.requires_grad and tensor.device != "cpu" and tensor.kind == "f" and not state.below(3):
        return _power_of_one(state, tensor)
    op = state.pick(_MEETINGS)
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
        _note(state, operands, out, writes)
    return True


def _with_zeros(state: GenState, tensor: TensorInfo, other: TensorInfo) -> bool:
    """Zeros without memory, which the second derivative of abs gives, with a tensor in another place."""
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
    """One, from the CPU, to the power of a tensor elsewhere, which is exact; and the gradient of that."""
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


def _note(state: GenState, operands: tuple[TensorInfo, ...], out: str, writes: bool) -> None:
    """Take note of what came of a meeting."""
    if writes:
        state.remeasure(operands[0])
        state.refresh_aliases(operands[0])
        state.prioritise(operands)
        return
    out_info = state.bind(out, state.measure(out), tuple(one for one in operands if one.requires_grad))
    if out_info is not None:
        out_info.store.inexact = any(one.store.inexact for one in operands)
        state.prioritise((out_info, *operands))


def bring(state: GenState, about: Any = None) -> bool:
    """``copy_`` from another place."""
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


def misplaced(state: GenState, about: Any = None) -> bool:
    """A gradient, given or assigned, memory, or positions from another place than where they belong, or a
    device that is not there.
    """
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
        return _grad_left(state, tensor)
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
    """Elements at positions that are on the CPU."""
    at = state.fresh_name()
    if tensor.shape[0] and state.emit("torch.tensor", ([0],), (), (at,)):
        name = state.fresh_name()
        if state.emit("__getitem__", (tensor.ref, ref(at)), (), (name,)):
            state.bind(name, state.measure(name), (tensor,) if tensor.requires_grad else ())
            state.delete_names(at)
        return True
    return False


def _grad_left(state: GenState, tensor: TensorInfo) -> bool:
    """A step of an optimizer, for which a grad has left its parameter's device, as integers."""
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
