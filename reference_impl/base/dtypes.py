"""Element types under PyTorch's names, which of them can carry gradients, and how they promote.

Casting a tensor is an op and does not live here. Numpy has no bfloat16 of its own; the one of ``ml_dtypes``
is of kind "V" to numpy, as nothing else is that comes here, and so "V" goes with "f" wherever kinds tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import ml_dtypes
import numpy as np

from reference_impl.base.rules import by
from reference_impl.base.session import STATE


class NoSuchDtype(NotImplementedError):
    """Raised for a dtype that PyTorch has and numpy lacks."""


class dtype:
    """One element type; prints as PyTorch's does."""

    __slots__ = ("name", "numpy")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy = np.dtype(numpy)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return _named, (self.name,)

    @property
    def is_floating_point(self) -> bool:
        return self.numpy.kind in REAL

    @property
    def is_signed(self) -> bool:
        return self.numpy.kind not in "bu"

    @property
    def itemsize(self) -> int:
        return self.numpy.itemsize

    @property
    def is_complex(self) -> bool:
        return self.numpy.kind == "c"


float64 = dtype("float64", np.float64)
float32 = dtype("float32", np.float32)
complex128 = dtype("complex128", np.complex128)
complex64 = dtype("complex64", np.complex64)
int64 = dtype("int64", np.int64)
int32 = dtype("int32", np.int32)
bool_ = dtype("bool", np.bool_)
float16 = dtype("float16", np.float16)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16)
int16 = dtype("int16", np.int16)
int8 = dtype("int8", np.int8)
uint8 = dtype("uint8", np.uint8)
# NB: there is no complex32; numpy lacks it, and a wider stand-in would round differently.

ALL = (float64, float32, complex128, complex64, int64, int32, bool_, float16, bfloat16, int16, int8, uint8)
BY_NUMPY = {known.numpy: known for known in ALL}
NAME_BY_NUMPY = {known.numpy: known.name for known in ALL}
_COMPLEX = {float32.numpy: complex64.numpy, float64.numpy: complex128.numpy, bfloat16.numpy: complex64.numpy}
WIDER = {float16.numpy: float32.numpy, bfloat16.numpy: float32.numpy}
"""The dtype in which a narrow dtype is computed; the result is rounded once."""
REAL = "fV"
"""Numpy's kinds of real floating-point dtypes; bfloat16 is "V"."""
DIFFERENTIABLE = "fcV"
"""Numpy's kinds of dtypes that can carry gradients."""
CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "V": 2, "c": 3}
_CLASSES = {float: float64, int: int64, bool: bool_, complex: complex128}
"""Python's classes of numbers, which stand for dtypes."""
STATE.default_dtype = float32


def _named(name: str) -> dtype:
    """Find a dtype by name, for pickle: there is one object for each."""
    return next(known for known in ALL if known.name == name)


def default() -> dtype:
    """The dtype of Python floats."""
    return STATE.default_dtype


def set_default(to: dtype) -> None:
    """Set the dtype of Python floats; TypeError for a dtype that is not floating-point."""
    if not isinstance(to, dtype) or not to.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    STATE.default_dtype = to


def numpy_of(given: Any) -> np.dtype:
    """The numpy dtype of a dtype, of Python's class of numbers, or of None, which stands for the default."""
    if given is None:
        return STATE.default_dtype.numpy
    return given.numpy if type(given) is dtype else of_class(given).numpy


def of_class(kind: Any) -> dtype:
    """The dtype that Python's class of numbers stands for where a dtype is asked for."""
    if isinstance(kind, type) and kind in _CLASSES:
        return _CLASSES[kind]
    raise TypeError(f"argument 'dtype' must be torch.dtype, not {type(kind).__name__}")


def printed(numpy: np.dtype) -> bool:
    """Return True if a tensor's repr names this dtype, as its elements alone do not imply it."""
    complex_too = _COMPLEX.get(STATE.default_dtype.numpy, complex64.numpy)
    return numpy not in (STATE.default_dtype.numpy, int64.numpy, bool_.numpy, complex_too)


def of(numpy: np.dtype) -> dtype:
    """The dtype for a numpy dtype."""
    return BY_NUMPY[numpy]


def differentiable(numpy: np.dtype) -> bool:
    """Return True if the dtype can carry gradients."""
    return numpy.kind in DIFFERENTIABLE


def limits(numpy: np.dtype) -> Any:
    """Numpy's description of a floating-point dtype; of a complex one, that of its parts."""
    return ml_dtypes.finfo(np.empty(0, numpy).real.dtype)


def complex_of(numpy: np.dtype) -> np.dtype:
    """The complex dtype with the precision of a real one."""
    if numpy not in _COMPLEX or (numpy == bfloat16.numpy and not by("op/bfloat16-meets-complex")):
        raise NoSuchDtype(f"numpy has no complex dtype as narrow as {numpy}")
    return _COMPLEX[numpy]


def of_number(number: Any) -> np.dtype:
    """The dtype of a Python number."""
    if isinstance(number, bool):
        return bool_.numpy
    if isinstance(number, int):
        return int64.numpy
    return STATE.default_dtype.numpy if isinstance(number, float) else complex_of(STATE.default_dtype.numpy)


def promote(arrays: Iterable[np.ndarray], numbers: Iterable[Any] = ()) -> np.dtype:
    """``torch.result_type``: tensors with dimensions come first, then 0-d tensors, then Python numbers.

    A later group counts only if its category is higher.
    """
    ranks: list[np.dtype | None] = [None, None, None]
    for array in arrays:
        rank = 0 if array.ndim else 1
        known = ranks[rank]
        ranks[rank] = array.dtype if known is None else join(known, array.dtype)
    for number in numbers:
        known = ranks[2]
        ranks[2] = of_number(number) if known is None else join(known, of_number(number))
    result: np.dtype | None = None
    for candidate in ranks:
        if candidate is None:
            continue
        if result is None:
            result = candidate
        elif CATEGORY[candidate.kind] > CATEGORY[result.kind]:
            # It lifts the category only: a complex number keeps the precision of the floats.
            result = complex_of(result) if candidate.kind == "c" and result.kind in REAL else candidate
    assert result is not None
    return result


def castable(result: np.dtype, target: np.dtype) -> bool:
    """``torch.can_cast``: never to a lower category (complex, float, integer, bool)."""
    return CATEGORY[result.kind] <= CATEGORY[target.kind]


def join(a: np.dtype, b: np.dtype) -> np.dtype:
    """``torch.promote_types``: the narrowest dtype that both go into."""
    if a == b:
        return a
    if CATEGORY[a.kind] < CATEGORY[b.kind]:
        a, b = b, a
    if a.kind in DIFFERENTIABLE and b.kind in "biu":
        return a
    if a in WIDER and b in WIDER:
        return float32.numpy
    return np.promote_types(a, b)
