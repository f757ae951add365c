"""Nested sequences of numbers, of which ``torch.tensor`` makes tensors: what of them is refused, and how."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from reference_impl.base import dtypes
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor

PYTHON_NUMBERS = frozenset([float, int, bool, complex])


def dtype_of_parts(data: Any) -> np.dtype | None:
    """The dtype of nested sequences that hold more than Python's numbers: what all parts go into.

    None stands for sequences of Python's numbers alone.
    """
    if holds_numbers(data):
        return None
    if isinstance(data, (list, tuple)):
        if data and all(isinstance(part, np.ndarray) and part.ndim for part in data):
            warnings.warn(_SLOW, UserWarning, stacklevel=4)
        found = [dtype_of_parts(part) or _of_numbers(part) for part in data]
        if any(dtype_of_parts(part) is not None for part in data):
            whole = found[0]
            for one in found[1:]:
                whole = dtypes.join(whole, one)
            return whole
    elif isinstance(data, Tensor):
        return array_of(data).dtype
    elif isinstance(data, (np.ndarray, np.generic)) and data.dtype in dtypes.BY_NUMPY:
        return data.dtype
    return None


def holds_numbers(data: Any) -> bool:
    """True of a number of Python's, of a sequence of some, or of rows of them."""
    if type(data) in PYTHON_NUMBERS:
        return True
    if not isinstance(data, (list, tuple)):
        return False
    return PYTHON_NUMBERS.issuperset(map(type, data)) or all(map(is_row, data))


def is_row(data: Any) -> bool:
    """True of a list of Python's numbers."""
    return type(data) is list and PYTHON_NUMBERS.issuperset(map(type, data))


def _of_numbers(data: Any) -> np.dtype:
    """The dtype of a number of Python's, or of a sequence of some."""
    if not isinstance(data, (list, tuple)):
        return dtypes.of_number(data)
    whole = dtypes.bool_.numpy if data else dtypes.default().numpy
    for part in data:
        whole = dtypes.join(whole, _of_numbers(part))
    return whole


_SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting the list "
    "to a single numpy.ndarray with numpy.array() before converting to a tensor."
)


def refuse_data(data: Any) -> NoReturn:
    """Refuse what is no nested sequence of numbers, in torch's order: the shape is read first."""
    shape, first = [], data
    while isinstance(first, (list, tuple)) and first:
        shape.append(len(first))
        first = first[0]
    if isinstance(first, str):
        raise (
            ValueError("too many dimensions 'str'") if shape else TypeError("new(): invalid data type 'str'")
        )
    _need_even(data, shape, 0)
    raise RuntimeError(f"Could not infer dtype of {type(_odd_one(data)).__name__}")


def _need_even(data: Any, shape: list[int], dim: int) -> None:
    """Refuse sequences of another length than the first one at their depth."""
    if dim == len(shape):
        if isinstance(data, (list, tuple)):
            raise TypeError("'list' object cannot be interpreted as an integer")
        if isinstance(data, str):
            raise TypeError("new(): invalid data type 'str'")
        return
    if not isinstance(data, (list, tuple)):
        raise TypeError(f"expected TensorOptions or a sequence, not {type(data).__name__}")
    if len(data) != shape[dim]:
        raise ValueError(f"expected sequence of length {shape[dim]} at dim {dim} (got {len(data)})")
    for item in data:
        _need_even(item, shape, dim + 1)


def _odd_one(data: Any) -> Any:
    """Return the first part of nested sequences that is no number."""
    if not isinstance(data, (list, tuple)):
        return data
    return next((odd for odd in map(_odd_one, data) if type(odd) not in PYTHON_NUMBERS), 0)
