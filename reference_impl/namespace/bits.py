"""Functions of the bits of bools and integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.meeting import Numbers, meeting
from reference_impl.namespace.non_differentiable import broadcasting, result_type, tensor_of
from specs.dtype_names import scalar_type
from specs.errors import need_kernel

_BITS: dict[Any, str] = {
    np.bitwise_and: "bitwise_and", np.bitwise_or: "bitwise_or", np.bitwise_xor: "bitwise_xor",
    np.left_shift: "lshift", np.right_shift: "rshift",
}  # fmt: skip
"""Torch's names of the kernels."""


def _types(*given: Any) -> str:
    return ", ".join(type(each).__name__ for each in given)


def _bits(function: Callable[..., Any]) -> Callable[..., Tensor]:
    """Make an elementwise function of bools and integers, or of integers alone, with promotion."""
    kinds = "iu" if _BITS[function].endswith("shift") else "biu"

    def mapped(x: Any, y: Any) -> Tensor:
        if not isinstance(x, Tensor) and not isinstance(y, Tensor):
            refuse_by("op/arguments", name=function.__name__, given=_types(x, y))
        target = result_type(x, y).numpy
        if target.kind not in kinds:
            kernel = f"{_BITS[function]}_cpu"
            raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(target)}'")
        pair = [
            np.asarray(array_of(operand) if isinstance(operand, Tensor) else operand).astype(target)
            for operand in (x, y)
        ]
        return tensor_of(broadcasting(function, *pair))

    return mapped


def bitwise_not(x: Tensor) -> Tensor:
    """Invert each bit, or each bool."""
    need_kernel("bitwise_not", array_of(x), "fcV")
    return tensor_of(np.invert(array_of(x)))


def _invert(x: Tensor) -> Tensor:
    """Invert each bit, or each bool: ``~x``."""
    if array_of(x).dtype.kind not in "biu":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(x)


_PAIRS: dict[str, Any] = {
    "bitwise_and": _bits(np.bitwise_and), "bitwise_or": _bits(np.bitwise_or),
    "bitwise_xor": _bits(np.bitwise_xor), "bitwise_left_shift": _bits(np.left_shift),
    "bitwise_right_shift": _bits(np.right_shift),
}  # fmt: skip


def _rlshift(x: Tensor, y: Any) -> Tensor:
    """Shift ``y`` to the left by the tensor: ``y << x``."""
    return _PAIRS["bitwise_left_shift"](y, x)


def _rrshift(x: Tensor, y: Any) -> Tensor:
    """Shift ``y`` to the right by the tensor: ``y >> x``."""
    return _PAIRS["bitwise_right_shift"](y, x)


BOTH: dict[str, Any] = {
    "bitwise_not": bitwise_not, "_invert": _invert, "_rlshift": _rlshift, "_rrshift": _rrshift,
    **{name: meeting(function, Numbers.ANY) for name, function in _PAIRS.items()},
}  # fmt: skip
"""Functions that are methods too, by name."""
