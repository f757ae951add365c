"""Tensors that show memory conjugated or negated, and copies of what they show.

PyTorch keeps this as bits of a tensor. Here conjugates have memory of their own (`fidelity.shown_apart`), and
the bits are read off the memory that a tensor is in.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor


def is_conj(x: Tensor) -> bool:
    """Return True for the conjugate of a complex tensor, and for views of it."""
    array = array_of(x)
    return array.dtype.kind == "c" and _is_shown_apart(array)


def is_neg(x: Tensor) -> bool:
    """Return True for the imaginary parts of a conjugate."""
    array = array_of(x)
    if array.dtype.kind == "c" or not _is_shown_apart(array):
        return False
    return bool((array.ctypes.data - _memory(array).ctypes.data) // array.itemsize % 2)


def resolve_conj(x: Tensor) -> Tensor:
    """A copy of a conjugate; any other tensor itself."""
    return x.clone() if is_conj(x) else x


def resolve_neg(x: Tensor) -> Tensor:
    """A copy of what is shown negated; any other tensor itself."""
    return x.clone() if is_neg(x) else x


def _is_shown_apart(array: np.ndarray) -> bool:
    """Return whether an odd number of conjugations lies between an array and the memory shown."""
    odd = False
    at: Any = array
    while at is not None:
        pair = STATE.shown_apart.get(id(at))
        if pair is not None and pair[1]() is at:
            odd, at = not odd, pair[0]
        else:
            at = getattr(at, "base", None)
    return odd


def _memory(array: Any) -> Any:
    """The owner of the memory of an array."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


FUNCTIONS = {"is_conj": is_conj, "is_neg": is_neg, "resolve_conj": resolve_conj, "resolve_neg": resolve_neg}
"""Functions of the namespace and methods, by name."""

__all__ = ["FUNCTIONS"]
