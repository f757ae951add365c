"""Functions that return values and their indices: extremes along a dimension, sorting, the median.

Indices are computed here and have no history; an op of ``specs/ops/sort.py`` picks the values.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from reference_impl.base.rules import Unspecified, refuse_arguments, refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.non_differentiable import order
from reference_impl.namespace.return_types import return_type
from specs.errors import need_kernel
from specs.layout import as_torch_lays_out
from specs.ops.helpers import axis_of

_RESULTS: dict[str, Any] = {
    name: return_type(name, ("values", "indices"))
    for name in ("max", "min", "sort", "topk", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin")
}
_UNTOLD = object()


def _need_order(name: str, x: np.ndarray) -> None:
    """Refuse complex numbers; some functions look for an order only where there is something to order."""
    if name in ("max", "min", "sort", "topk") and x.dtype.kind == "c":
        refuse_by("op/complex-extreme", name=name, case=name)
    elif name == "topk" and x.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    elif name.endswith("median"):
        need_kernel("median_out", x, "bc")
    elif x.ndim and x.size:
        need_kernel(name, x, "bc" if name == "kthvalue" else "c")


def _picked(name: str, x: Tensor, index: Any, dim: int, keepdim: bool, overload: str = "") -> Any:
    """Pick the values at ``index`` along ``dim``; return them with the indices, as PyTorch's named tuple."""
    _need_order(name, array_of(x))
    positions = np.asarray(index, np.int64, order="C")
    if overload:  # a sort's: they lie as the values do
        positions = as_torch_lays_out(positions, [array_of(x)])
    at = wrap(positions)
    return _RESULTS[name](getattr(x, f"_{overload or name}_at")(at, dim, keepdim), at)


def _axis(name: str, x: Tensor, dim: int) -> int:
    """Normalise ``dim``; refuse an empty dimension."""
    axis = axis_of(dim, x.ndim)
    if x.ndim and not array_of(x).shape[axis]:
        refuse_by("op/empty-extreme-dim", name=name, dim=dim)
    return axis


def _extreme(name: str) -> Any:
    positions = np.argmax if name == "max" else np.argmin
    pairwise = "maximum" if name == "max" else "minimum"

    def extreme(x: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
        """Reduce all elements, reduce a dimension with indices, or compare two tensors elementwise."""
        if isinstance(dim, Tensor) or other is not None:
            return getattr(x, pairwise)(dim if other is None else other)
        if dim is None:
            if not array_of(x).size:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                    "reduction dim with the 'dim' argument."
                )
            return getattr(x, f"_{name}_all")()
        axis = _axis(name, x, dim)
        index = positions(array_of(x), axis, keepdims=keepdim) if x.ndim else np.zeros(())
        return _picked(name, x, index, dim, keepdim)

    return _with_a_dimension(name, extreme)


def _with_a_dimension(name: str, function: Any) -> Any:
    """Refuse None, and ``keepdim`` without a dimension, as the overloads of PyTorch's do."""

    @functools.wraps(function)
    def call(x: Tensor, *how: Any, **named: Any) -> Any:
        given = (*how, *named.values())
        if any(each is None for each in given) or (named and not how and set(named) == {"keepdim"}):
            refuse_arguments(name, given)
        return function(x, *how, **named)

    return call


def sort(x: Tensor, dim: int = -1, descending: bool = False, *, stable: Any = _UNTOLD) -> Any:
    """Sort along a dimension, stably; with a word on that it is an overload of its own."""
    how = "sort" if stable is _UNTOLD else "sort_stable"
    return _picked("sort", x, order(array_of(x), dim, descending), dim, True, how)


def topk(x: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Pick the ``k`` largest or smallest along a dimension, in order."""
    axis = axis_of(dim, x.ndim)
    if not 0 <= k <= (array_of(x).shape[axis] if x.ndim else 1):
        raise RuntimeError("selected index k out of range")
    index = np.take(order(array_of(x), dim, largest), range(k), axis) if x.ndim else np.zeros(())
    return _picked("topk", x, index, dim, True)


def kthvalue(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """Pick the ``k``-th smallest along a dimension; ``k`` counts from 1."""
    if not 0 < k <= (array_of(x).shape[axis_of(dim, x.ndim)] if x.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim % max(x.ndim, 1)}")
    return _nth("kthvalue", x, k - 1, dim, keepdim)


def _nth(name: str, x: Tensor, n: int, dim: int, keepdim: bool) -> Any:
    axis = axis_of(dim, x.ndim)
    index = np.take(order(array_of(x), dim, False), [n], axis) if x.ndim else np.zeros(())
    return _picked(name, x, index if keepdim or not x.ndim else np.squeeze(index, axis), dim, keepdim)


def _middle(name: str) -> Any:
    ignores = name == "nanmedian"

    def middle(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
        """Compute the median, the lower of two middle elements; along a dimension with its index.

        ``median`` of anything with a NaN is NaN; ``nanmedian`` ignores NaNs.
        """
        if dim is None:
            return getattr(x, f"_{name}_all")()
        axis = _axis(name, x, dim)
        if not x.ndim:
            return _picked(name, x, np.zeros(()), dim, keepdim)
        numbers = np.sum(~np.isnan(array_of(x)), axis, keepdims=True)  # NaNs sort last
        size = array_of(x).shape[axis]
        at = np.maximum(numbers - 1, 0) // 2
        if not ignores:
            at = np.where(numbers < size, numbers, (size - 1) // 2)
        index = np.take_along_axis(order(array_of(x), dim, False), at, axis)
        return _picked(name, x, index if keepdim else np.squeeze(index, axis), dim, keepdim)

    return _with_a_dimension(name, middle)


def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """Pick the most frequent element along a dimension, the smallest of several, and its last index."""
    axis = axis_of(dim, x.ndim)
    if not x.ndim:
        return _picked("mode", x, np.zeros(()), dim, keepdim)
    if not x.shape[axis]:
        raise IndexError(f"mode(): Expected reduction dim {axis} to have non-zero size.")

    def last(row: np.ndarray) -> Any:
        odd = row != row
        if odd.any():
            if odd.all():
                return 0
            raise Unspecified("PyTorch sorts NaN anywhere among the elements whose mode it seeks")
        values, counts = np.unique(row, return_counts=True)
        return np.flatnonzero(row == values[np.argmax(counts)])[-1]

    array = array_of(x)
    index = np.apply_along_axis(last, axis, array) if array.size else np.zeros(array.take(0, axis).shape, int)
    return _picked("mode", x, np.expand_dims(index, axis) if keepdim else index, dim, keepdim)


def _running(name: str) -> Any:
    ufunc = np.maximum if name == "cummax" else np.minimum

    def running(x: Tensor, dim: int) -> Any:
        """Compute the running extreme along a dimension, and its last index so far."""
        axis = axis_of(dim, x.ndim)
        if not x.ndim:
            return _picked(name, x, np.zeros(()), dim, True)
        array = array_of(x)
        best = ufunc.accumulate(array, axis)
        places = np.where((array == best) | (array != array), np.indices(array.shape)[axis], 0)
        return _picked(name, x, np.maximum.accumulate(places, axis), dim, True)

    return running


BOTH: dict[str, Any] = {
    "max": _extreme("max"), "min": _extreme("min"), "sort": sort, "topk": topk, "kthvalue": kthvalue,
    "median": _middle("median"), "nanmedian": _middle("nanmedian"), "mode": mode,
    "cummax": _running("cummax"), "cummin": _running("cummin"),
}  # fmt: skip
"""Functions that are methods too, by name."""
