"""Element types under PyTorch's names, which of them can carry gradients, and how they promote.

Casting a tensor is an op and does not live here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


class dtype:
    """One element type; prints as PyTorch's does."""

    __slots__ = ("name", "numpy")

    def __init__(self, name: str, numpy: Any) -> None:
        self.name = name
        self.numpy = np.dtype(numpy)

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    @property
    def is_floating_point(self) -> bool:
        return self.numpy.kind == "f"

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

ALL = (float64, float32, complex128, complex64, int64, int32, bool_)
_BY_NUMPY = {known.numpy: known for known in ALL}
UNPRINTED = frozenset({float32.numpy, int64.numpy, bool_.numpy})
_COMPLEX = {float32.numpy: complex64.numpy, float64.numpy: complex128.numpy}
_CATEGORY = {"b": 0, "i": 1, "f": 2, "c": 3}


def of(numpy: np.dtype) -> dtype:
    """PyTorch's name for a numpy dtype."""
    return _BY_NUMPY[numpy]


def differentiable(numpy: np.dtype) -> bool:
    """Whether elements of that type can carry gradients."""
    return numpy.kind in "fc"


def of_number(number: Any) -> np.dtype:
    """The dtype a Python number has when it stands alone."""
    if isinstance(number, bool):
        return bool_.numpy
    if isinstance(number, int):
        return int64.numpy
    return float32.numpy if isinstance(number, float) else complex64.numpy


def promote(arrays: Iterable[np.ndarray], numbers: Iterable[Any] = ()) -> np.dtype:
    """torch.result_type: dimensioned tensors decide within a category, then 0-d tensors, then Python
    numbers.
    """
    ranks: list[np.dtype | None] = [None, None, None]
    for array in arrays:
        rank = 0 if array.ndim else 1
        known = ranks[rank]
        ranks[rank] = array.dtype if known is None else _join(known, array.dtype)
    for number in numbers:
        known = ranks[2]
        ranks[2] = of_number(number) if known is None else _join(known, of_number(number))
    result: np.dtype | None = None
    for candidate in ranks:
        if candidate is None:
            continue
        if result is None:
            result = candidate
        elif _CATEGORY[candidate.kind] > _CATEGORY[result.kind]:
            # A weaker operand of a higher category lifts the category only: complex keeps the width of the
            # floats.
            result = _COMPLEX[result] if candidate.kind == "c" and result.kind == "f" else candidate
    assert result is not None
    return result


def _join(a: np.dtype, b: np.dtype) -> np.dtype:
    if a == b:
        return a
    if _CATEGORY[a.kind] < _CATEGORY[b.kind]:
        a, b = b, a
    if a.kind in "fc" and b.kind in "bi":
        return a
    return np.promote_types(a, b)
