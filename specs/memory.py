"""Predicates about the memory of raw arrays: dense, overlapping itself, overlapping another."""

from __future__ import annotations

from typing import Any

import numpy as np


def overlaps_partly(written: np.ndarray, read: Any, foreign: bool = False) -> bool:
    """Whether two windows share memory, are not the same, and are not both dense (torch refuses those).

    Where one is ``foreign`` it does not know, and refuses nothing.
    """
    if not isinstance(read, np.ndarray) or not np.may_share_memory(written, read):
        return False
    alike = written.shape == read.shape and written.strides == read.strides
    if alike and written.ctypes.data == read.ctypes.data:  # NB: numpy takes long to tell an address
        return False
    return (foreign or not (dense(written) and dense(read))) and np.shares_memory(written, read)


def overlaps_itself(array: np.ndarray) -> bool:
    """Whether two indices may show one element, but for dimensions with stride 0 (which torch refuses)."""
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
    """Whether the elements fill a block of memory without holes or overlaps, in any order of dimensions."""
    if array.flags.c_contiguous:
        return True
    expected = array.itemsize
    for stride, size in sorted((s, n) for s, n in zip(array.strides, array.shape, strict=True) if n > 1):
        if stride != expected:
            return False
        expected *= size
    return True
