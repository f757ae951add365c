"""Casts to a dtype and moves to a device, under the many names they have: ``to``, ``cuda``, ``double``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, device, found, making_on, place_of
from reference_impl.base.dtypes import dtype
from reference_impl.base.rules import by, warn_once
from reference_impl.base.session import STATE
from reference_impl.base.size import contiguous_format, memory_format
from reference_impl.core.access import array_of, set_flag
from reference_impl.core.tensor import Tensor, wrap
from specs.errors import Refusal
from specs.layout import converted, laid_out_like


def cast(self: Tensor, target: dtype) -> Tensor:
    """This tensor as another dtype; itself if it already is."""
    if array_of(self).dtype == target.numpy:
        return self
    if dtypes.differentiable(target.numpy):
        return self.cast(target.numpy)
    made = _counted(self, target, place_of(self))
    if STATE.enabled and self.requires_grad and not by("requires_grad/integer-results-never"):
        set_flag(made, True)
    return made


def _counted(self: Tensor, target: dtype, place: device) -> Tensor:
    """A copy as integers or bools on that device, which no gradient goes back from."""
    array = array_of(self)
    with making_on(place):
        made = wrap(laid_out_like(converted(array, target.numpy), array))
    if array.dtype.kind == "c" and target.numpy.kind in "iu" and array.size:
        warn_once("data/complex-to-real-warns")
    return made


def moved(self: Tensor, target: dtype, place: device, copy: bool = False) -> Tensor:
    """This tensor as that dtype on that device; itself if it already is, unless a copy is asked for."""
    if place_of(self) is place and by("device/there-already-is-itself"):
        made = cast(self, target)
        if made is not self or not copy:
            return made
    if not dtypes.differentiable(target.numpy):
        return _counted(self, target, place)
    with making_on(place):
        if by("device/copy-is-an-op"):
            return self.copy_to(target.numpy, place)
        array = array_of(self)
        made = wrap(laid_out_like(array.astype(target.numpy), array))
    set_flag(made, self.requires_grad)
    return made


def _found_for(x: Tensor, where: Any) -> device:
    """The device that is meant. PyTorch asks for history before it looks for the device."""
    try:
        return found(where)
    except Refusal:
        if STATE.enabled and x.requires_grad:
            x.grad_fn  # noqa: B018  which may refuse_by
        raise


def to(self: Tensor, *wanted: Any, **more: Any) -> Tensor:
    """This tensor as another dtype, as that of another tensor, or on a device; itself if it already is."""
    if len(wanted) == 1 and type(wanted[0]) is dtype and not more:
        return cast(self, wanted[0])
    copy = more.pop("copy", False)
    more.pop("non_blocking", None)
    layout = more.pop("memory_format", None)
    target, place = self.dtype, place_of(self)
    for value in (*wanted, *more.values()):
        if isinstance(value, dtype):
            target = value
        elif isinstance(value, Tensor):
            target, place = value.dtype, place_of(value)
        elif isinstance(value, (str, device)) or type(value) is int:
            place = _found_for(self, value)
        elif value is not None and not isinstance(value, bool):
            raise TypeError(f"to() takes dtypes, tensors and devices, not {type(value).__name__}")
    result = moved(self, target, place, copy)
    return result.contiguous() if layout is contiguous_format else result


LEGACY_NAMES = {
    "float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16",
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def type_name(self: Tensor) -> str:
    """The name of the old tensor type of this dtype."""
    where = "" if place_of(self) is CPU else "cuda."
    return f"torch.{where}{LEGACY_NAMES[self.dtype.name]}Tensor"


def type_(self: Tensor, target: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, or the tensor as that type."""
    if target is None:
        return type_name(self)
    place = place_of(self)
    if isinstance(target, str):
        where, _, name = target.removeprefix("torch.").removesuffix("Tensor").rpartition(".")
        target = next(known for known in dtypes.ALL if LEGACY_NAMES[known.name] == name)
        place = _found_for(self, where or "cpu")
    elif not isinstance(target, dtype):
        made = target()  # an old constructor
        target, place = made.dtype, place_of(made)
    return moved(self, target, place)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor as the other's dtype, on its device."""
    return moved(self, other.dtype, place_of(other))


def cpu(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """This tensor on the CPU; itself if it is there."""
    return moved(self, self.dtype, CPU)


def cuda(self: Tensor, device: Any = "cuda", non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """This tensor on a CUDA device, the first unless told otherwise; itself if it is there."""
    return moved(self, self.dtype, _found_for(self, "cuda" if device is None else device))


def _to(target: dtype) -> Callable[..., Tensor]:
    def casting(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
        return cast(self, target)

    casting.__doc__ = f"This tensor as {target.name}."
    return casting


CASTS: dict[str, Callable[..., Any]] = {
    "to": to,
    "type": type_,
    "type_as": type_as,
    "cpu": cpu,
    "cuda": cuda,
    "double": _to(dtypes.float64),
    "float": _to(dtypes.float32),
    "half": _to(dtypes.float16),
    "bfloat16": _to(dtypes.bfloat16),
    "long": _to(dtypes.int64),
    "int": _to(dtypes.int32),
    "short": _to(dtypes.int16),
    "char": _to(dtypes.int8),
    "byte": _to(dtypes.uint8),
    "bool": _to(dtypes.bool_),
    "cfloat": _to(dtypes.complex64),
    "cdouble": _to(dtypes.complex128),
}
"""The methods that cast, by name."""
