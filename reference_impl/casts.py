"""Casts to a dtype, under the many names they have: ``to``, ``type``, ``double``, ``long``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl import dtypes
from reference_impl.dtypes import dtype
from reference_impl.modes import STATE
from reference_impl.rule_marks import by, warn_once
from reference_impl.size import contiguous_format, device, memory_format, on_cpu
from reference_impl.tensor import Tensor, wrap
from specs.layout import converted, laid_out_like


def cast(self: Tensor, target: dtype) -> Tensor:
    """This tensor as another dtype; itself if it already is."""
    if self._array.dtype == target.numpy:
        return self
    if dtypes.differentiable(target.numpy):
        return self.cast(target.numpy)
    made = wrap(laid_out_like(converted(self._array, target.numpy), self._array))
    if STATE.enabled and self.requires_grad and not by("requires_grad/integer-results-never"):
        made._flag = True
    if self._array.dtype.kind == "c" and target.numpy.kind in "iu" and self._array.size:
        warn_once("data/complex-to-real-warns")
    return made


def to(self: Tensor, *wanted: Any, **more: Any) -> Tensor:
    """This tensor as another dtype, as that of another tensor, or on a device; itself if it already is."""
    if len(wanted) == 1 and type(wanted[0]) is dtype and not more:
        return cast(self, wanted[0])
    copy = more.pop("copy", False)
    more.pop("non_blocking", None)
    layout = more.pop("memory_format", None)
    target = self.dtype
    for value in (*wanted, *more.values()):
        if isinstance(value, dtype):
            target = value
        elif isinstance(value, Tensor):
            target = value.dtype
        elif isinstance(value, (str, device)):
            on_cpu(value)
        elif value is not None and not isinstance(value, bool):
            raise TypeError(f"to() takes dtypes, tensors and devices, not {type(value).__name__}")
    result = cast(self, target)
    if copy and result is self:
        result = self.clone()
    return result.contiguous() if layout is contiguous_format else result


LEGACY_NAMES = {
    "float64": "Double", "float32": "Float", "float16": "Half", "bfloat16": "BFloat16",
    "int64": "Long", "int32": "Int", "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool",
    "complex64": "ComplexFloat", "complex128": "ComplexDouble",
}  # fmt: skip


def type_name(self: Tensor) -> str:
    """The name of the old tensor type of this dtype."""
    return f"torch.{LEGACY_NAMES[self.dtype.name]}Tensor"


def type_(self: Tensor, target: Any = None, non_blocking: bool = False) -> Any:
    """The name of this tensor's type, or the tensor as that type."""
    if target is None:
        return type_name(self)
    if isinstance(target, str):
        name = target.removeprefix("torch.").removesuffix("Tensor")
        target = next(known for known in dtypes.ALL if LEGACY_NAMES[known.name] == name)
    elif not isinstance(target, dtype):
        target = target().dtype  # an old constructor
    return cast(self, target)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This tensor as the other's dtype."""
    return cast(self, other.dtype)


def cpu(self: Tensor, memory_format: memory_format | None = None) -> Tensor:
    """The tensor itself, which is on the CPU."""
    return self


def cuda(self: Tensor, *where: Any, **more: Any) -> Tensor:
    """Refused: there is no such device."""
    on_cpu("cuda")
    return self


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
