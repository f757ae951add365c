"""Ops that give values and their positions: extremes along a dimension, sorting, the median.

Positions are found here and carry no history; the values are picked by an op of ``specs/ops/sort.py``.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.non_differentiable import order
from specs.ops.helpers import axis_of

_RESULTS: dict[str, Any] = {
    name: namedtuple(name, ("values", "indices"))
    for name in ("max", "min", "sort", "topk", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin")
}


def _picked(name: str, x: Tensor, index: Any, dim: int, keepdim: bool) -> Any:
    """The values at those positions with the positions beside them."""
    at = wrap(np.asarray(index, np.int64, order="C"))
    return _RESULTS[name](getattr(x, f"_{name}_at")(at, dim, keepdim), at)


def _axis(name: str, x: Tensor, dim: int) -> int:
    """The dimension as a number from 0 on; refused where there is nothing along it to choose from."""
    axis = axis_of(dim, x.ndim)
    if x.ndim and not array_of(x).shape[axis]:
        refuse_by("op/empty-extreme-dim", name=name, dim=dim)
    return axis


def _extreme(name: str) -> Any:
    positions = np.argmax if name == "max" else np.argmin
    pairwise = "maximum" if name == "max" else "minimum"

    def extreme(x: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        """The extreme element, those along a dimension and where they are, or those of each pair."""
        if isinstance(dim, Tensor) or other is not None:
            return getattr(x, pairwise)(dim if other is None else other)
        if dim is None:
            if not array_of(x).size:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                )
            return getattr(x, f"_{name}_all")()
        axis = _axis(name, x, dim)
        index = positions(array_of(x), axis, keepdims=keepdim) if x.ndim else np.zeros(())
        return _picked(name, x, index, dim, keepdim)

    return extreme


def sort(x: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The elements in order along a dimension, and where they were."""
    return _picked("sort", x, order(array_of(x), dim, descending), dim, True)


def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The ``k`` largest or smallest along a dimension, and where they are."""
    index = np.take(order(array_of(x), dim, largest), range(k), axis_of(dim, x.ndim))
    return _picked("topk", x, index, dim, True)


def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """The ``k``-th smallest along a dimension, and where it is."""
    return _nth("kthvalue", x, k - 1, dim, keepdim)


def _nth(name: str, x: Tensor, n: int, dim: int, keepdim: bool) -> Any:
    axis = axis_of(dim, x.ndim)
    index = np.take(order(array_of(x), dim, False), [n], axis) if x.ndim else np.zeros(())
    return _picked(name, x, index if keepdim or not x.ndim else np.squeeze(index, axis), dim, keepdim)


def _middle(name: str) -> Any:
    ignores = name == "nanmedian"

    def middle(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        """The middle element, the lower of two; along a dimension with where it is. A NaN is the median of
        whatever it is among, unless they are ignored.
        """
        if dim is None:
            return getattr(x, f"_{name}_all")()
        axis = _axis(name, x, dim)
        if not x.ndim:
            return _picked(name, x, np.zeros(()), dim, keepdim)
        numbers = np.sum(~np.isnan(array_of(x)), axis, keepdims=True)  # which come before NaNs in order
        size = array_of(x).shape[axis]
        at = np.maximum(numbers - 1, 0) // 2
        if not ignores:
            at = np.where(numbers < size, numbers, (size - 1) // 2)
        index = np.take_along_axis(order(array_of(x), dim, False), at, axis)
        return _picked(name, x, index if keepdim else np.squeeze(index, axis), dim, keepdim)

    return middle


def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dimension, the smallest of several, and its last position."""
    axis = axis_of(dim, x.ndim)
    if not x.ndim:
        return _picked("mode", x, np.zeros(()), dim, keepdim)

    def last(row: np.ndarray) -> Any:
        values, counts = np.unique(row, return_counts=True)
        return np.flatnonzero(row == values[np.argmax(counts)])[-1]

    index = np.apply_along_axis(last, axis, array_of(x))
    return _picked("mode", x, np.expand_dims(index, axis) if keepdim else index, dim, keepdim)


def _running(name: str) -> Any:
    ufunc = np.maximum if name == "cummax" else np.minimum

    def running(x: Tensor, dim: int) -> Any:
        """The extreme so far along a dimension, and where it was."""
        axis = axis_of(dim, x.ndim)
        if not x.ndim:
            return _picked(name, x, np.zeros(()), dim, True)
        array = array_of(x)
        best = ufunc.accumulate(array, axis)
        places = np.where(array == best, np.indices(array.shape)[axis], 0)
        return _picked(name, x, np.maximum.accumulate(places, axis), dim, True)

    return running


BOTH: dict[str, Any] = {
    "max": _extreme("max"),
    "min": _extreme("min"),
    "sort": sort,
    "topk": topk,
    "kthvalue": kthvalue,
    "median": _middle("median"),
    "nanmedian": _middle("nanmedian"),
    "mode": mode,
    "cummax": _running("cummax"),
    "cummin": _running("cummin"),
}
"""Functions of the namespace that are methods, too, by name."""
