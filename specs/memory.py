"""The memory of arrays: if it is dense, overlaps itself or that of another array, and all of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided


def overlaps_partly(written: np.ndarray, read: Any, foreign: bool = False) -> bool:
    """True if two arrays overlap without being the same, in a way that torch does not refuse.

    Torch refuses writes between two dense ones, unless their memory is ``foreign``: then it does not know
    that they overlap.
    """
    if not isinstance(read, np.ndarray) or not np.may_share_memory(written, read):
        return False
    alike = written.shape == read.shape and written.strides == read.strides
    if alike and written.ctypes.data == read.ctypes.data:  # reading the address is slow in numpy
        return False
    return (foreign or not (dense(written) and dense(read))) and np.shares_memory(written, read)


def overlaps_itself(array: np.ndarray) -> bool:
    """True if two indices may show the same element; dimensions of stride 0, which torch refuses, aside."""
    if array.flags.c_contiguous:
        return False
    reach = 0
    for stride, size in sorted(
        (s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1 and s
    ):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def dense(array: np.ndarray) -> bool:
    """True if the elements fill a block of memory without gaps or overlaps, in any order of dimensions."""
    if array.flags.c_contiguous:
        return True
    expected = array.itemsize
    for stride, size in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True


def span(array: np.ndarray) -> np.ndarray:
    """Return the memory from an array's first element to its last, with what lies between them.

    An array that is row-major is that memory itself.
    """
    if array.flags.c_contiguous:
        return array
    first, end = np.lib.array_utils.byte_bounds(array)
    return as_strided(array, ((end - first) // array.itemsize,), (array.itemsize,), subok=True)
