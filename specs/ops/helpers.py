"""Helpers that several families of ops share: dimensions, demands on operands, and arithmetic in formulas.

Shapes and strides of views are in ``shapes``, conjugates in ``complex``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from specs.active_rules import by
from specs.errors import need_kernel, refuse
from specs.layout import by_rows

ROUNDING: dict[str, Any] = {"internal": True, "inplace": True, "dtypes": "float", "exact": False, "ulp": 4}
"""Facts of functions of one operand that round and that generated programs do not call."""


def without_derivative(name: str) -> Callable[[Any], Any]:
    """The formula of an operand of a gradient that PyTorch cannot differentiate again."""

    def formula(g: Any) -> Any:
        refuse("op/no-derivative", what=f"aten::{name}")

    return formula


def need_divisors(x: Any, y: Any) -> None:
    """Refuse to divide integers by zero; floats may."""
    if np.result_type(x, y).kind in "iu" and not np.all(y) and np.broadcast(x, y).size:
        raise RuntimeError("ZeroDivisionError")


# -- dimensions ------------------------------------------------------------------------------------
def axis_of(dim: int, ndim: int) -> int:
    """The dimension counted from the front, or a refusal; a 0-d tensor counts as having one."""
    span = max(ndim, 1)
    if not -span <= dim < span:
        refuse("op/dim-range", low=-span, high=span - 1, dim=dim)
    return dim % span


def axes_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """Numpy's axes for torch's ``dim``; no dimension at all means every one."""
    if not dim:
        return tuple(range(ndim))
    axes = [axis_of(d, ndim) for d in dim]
    for n, axis in enumerate(axes):
        if axis in axes[:n]:
            refuse("op/dim-repeated", dim=axis)
    return tuple(axes) if ndim else ()


def reduced(ufunc: Any, x: Any, axes: Any, keepdim: bool = False) -> Any:
    """The reduction over some axes, contiguous as torch lays it out."""
    result = ufunc.reduce(x, axis=axes, keepdims=keepdim)
    return by_rows(result) if result.ndim > 1 else result


def along(x: np.ndarray, dim: int) -> tuple[np.ndarray, int]:
    """``x`` with at least one dimension, and the dimension counted from the front."""
    return np.atleast_1d(x), axis_of(dim, x.ndim)


def grid_index(index: np.ndarray, axis: int) -> tuple[Any, ...]:
    """A numpy index: ``index`` along ``axis``, each position itself in the other dimensions."""
    grid: list[Any] = list(np.indices(index.shape, sparse=True))
    grid[axis] = index
    return tuple(grid)


def by_columns(shape: Any, strides: Any) -> bool:
    """Say if a matrix is laid out by columns."""
    return bool(strides[0] == 1 and strides[1] == shape[0])


# -- demands on operands, in the words of the op ``name`` ------------------------------------------
def need_one_dtype(name: str, x: Any, y: Any, case: str | None = None) -> None:
    if x.dtype != y.dtype:
        refuse("op/one-dtype", name=name, case=case, x=x.dtype, y=y.dtype)


def need_ndim(name: str, rank: int, *arrays: Any) -> None:
    ranks = [array.ndim for array in arrays]
    wrong = next((at for at, ndim in enumerate(ranks) if ndim != rank), None)
    if wrong is not None:
        refuse("op/matmul-rank", name=name, rank=rank, case=f"{name} {wrong}", ranks=ranks)


def need_size(name: str, fits: bool, x: Any, y: Any) -> None:
    if not fits:
        refuse("op/matmul-shape", name=name, x=list(x.shape), y=list(y.shape))


def need_products(name: str, x: Any, y: Any) -> None:
    """Refuse bools, unless there is nothing to multiply."""
    if x.size and y.size:
        need_kernel(name, x, "b")


def need_products_of_vector(name: str, x: Any, y: Any, summand: Any = None) -> None:
    """Refuse operands of several dtypes, and bools, for a matrix times a vector."""
    if by("op/vector-products-compare-first"):
        if summand is not None:
            need_one_dtype(name, summand, x)
        need_one_dtype(name, x, y)
    need_products(name, x, y)
    if x.size and y.size:
        need_one_dtype(name, x, y)


# -- arithmetic in formulas ------------------------------------------------------------------------
def times(g: Any, factor: Any) -> Any:
    """``g`` scaled by a number, without a node if the number is one."""
    return g if factor == 1 else g.mul_scalar(factor)


def scaled(y: Any, alpha: Any, x: Any) -> Any:
    """``alpha * y``, where ``x`` is an operand of the dtype that both were promoted to.

    A complex number is multiplied by 1, too: PyTorch makes nan of an infinite one so.
    """
    if alpha == 1 and x.dtype.kind != "c":
        return y
    if isinstance(alpha, complex) and x.dtype.kind != "c":
        raise RuntimeError("alpha must not be a complex number unless the operands are complex")
    if x.dtype.kind in "biu" and isinstance(alpha, float):
        np.broadcast_shapes(np.shape(x), np.shape(y))  # that is refused first
        refuse("op/integer-alpha")
    return np.multiply(y, np.asarray(alpha).astype(x.dtype)) if isinstance(y, np.ndarray) else y * alpha


def minus(number: Any, x: Any) -> Any:
    """``number - x`` as formulas in C++ make it: a filled tensor, and one subtraction."""
    return x.new_full(x.shape, number).sub(x)


# -- functions that numpy lacks ---------------------------------------------------------------------
def error_function(x: np.ndarray) -> np.ndarray:
    """The error function of each element, which numpy lacks."""
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x).astype(x.dtype)


def need_targets(x: np.ndarray, index: np.ndarray, y: np.ndarray, axis: int) -> None:
    """Refuse an index that does not fit what it scatters, or leads out of where."""
    line, lined, given = map(np.atleast_1d, (x, index, y))
    shapes = {"index": list(index.shape), "x": list(x.shape), "y": list(y.shape)}
    for other, case in ((line, "scatter_rank"), (given, "scatter_rank_of_source")):
        if lined.ndim != other.ndim:
            refuse("op/index-add-shape", case=case, dim=axis, **shapes)
    if any(n > given.shape[d] or (d != axis and n > line.shape[d]) for d, n in enumerate(lined.shape)):
        refuse("op/index-add-shape", case="scatter_add", dim=axis, **shapes)
    wrong = (lined < 0) | (lined >= line.shape[axis])
    if wrong.any():
        refuse("op/gather-range", index=lined[wrong][0], dim=axis, size=line.shape[axis])


def larger(x: Any, y: Any) -> Any:
    """The larger of each pair, the first of equals: zeros may differ in their sign."""
    return _first_of_equals(x, y, np.maximum(x, y))


def smaller(x: Any, y: Any) -> Any:
    """The smaller of each pair, the first of equals."""
    return _first_of_equals(x, y, np.minimum(x, y))


def _first_of_equals(x: Any, y: Any, found: Any) -> Any:
    """Have the first where two are equal; numpy has either.

    NB: so has PyTorch of as many elements as its processor takes at once, where neither operand is a number.
    """
    equal = np.equal(x, y)
    if found.dtype.kind in "iub" or not equal.any():
        return found
    found = np.asarray(found)
    np.copyto(found, x, where=equal, casting="unsafe")
    return found
