"""Tensors made from nothing: ``tensor``, ``ones``, ``zeros``, ``full``, ``arange``, ``empty`` and their
``_like`` forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl import dtypes
from reference_impl.modes import STATE
from reference_impl.rule_marks import by, refuse
from reference_impl.tensor import Tensor, wrap

_INFERRED = {"f": dtypes.float32, "i": dtypes.int64, "b": dtypes.bool_, "c": dtypes.complex64}


def _made(array: np.ndarray, requires_grad: bool) -> Tensor:
    made = wrap(array)
    if not isinstance(requires_grad, bool):
        refuse("requires_grad/argument-must-be-bool", type=type(requires_grad).__name__)
    if requires_grad:
        if not dtypes.differentiable(array.dtype):
            refuse("requires_grad/float-or-complex-only", dtype=made.dtype)
        if by("requires_grad/flag-at-creation") and (STATE.enabled or by("mode/creation-unaffected")):
            made._flag = True
    return made


def tensor(data: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf that holds a copy of ``data`` (numbers in nested sequences); floats become float32 unless told
    otherwise.
    """
    if dtype is not None:
        return _made(np.array(data, dtype.numpy), requires_grad)
    array = np.array(data)
    dtype = _INFERRED[array.dtype.kind] if array.size else dtypes.float32
    return _made(array.astype(dtype.numpy, copy=False), requires_grad)


def filled(shape: Any, value: Any, dtype: np.dtype) -> np.ndarray:
    """A fresh array that holds one number everywhere; quicker than numpy's own, which takes any dtype's."""
    array = np.empty(shape, dtype)
    array.fill(value)
    return array


def _filled(value: Any) -> Callable[..., Tensor]:
    def make(*size: Any, dtype: dtypes.dtype = dtypes.float32, requires_grad: bool = False) -> Tensor:
        shape = size[0] if size and isinstance(size[0], (tuple, list)) else size
        return _made(filled(shape, value, dtype.numpy), requires_grad)

    return make


ones = _filled(1)
zeros = _filled(0)
empty = _filled(0)


def full(
    size: Any, fill_value: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """A leaf of one repeated value, whose type decides the dtype."""
    numpy = dtypes.of_number(fill_value) if dtype is None else dtype.numpy
    return _made(np.full(tuple(size), fill_value, numpy), requires_grad)


def arange(*bounds: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
    """A leaf counting from start to end, as Python's range does."""
    if dtype is None:
        dtype = dtypes.float32 if any(isinstance(b, float) for b in bounds) else dtypes.int64
    return _made(np.arange(*bounds).astype(dtype.numpy), requires_grad)


def _like(value: Any) -> Callable[..., Tensor]:
    def make(x: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False) -> Tensor:
        numpy = x._array.dtype if dtype is None else dtype.numpy
        array = np.empty_like(x._array, numpy)
        array.fill(value)
        return _made(array, requires_grad)

    return make


ones_like = _like(1)
zeros_like = _like(0)
