"""Ops that pick elements by their order, and what goes where in their backward.

``reference_impl.namespace.sorting`` finds the positions first, without history; an op here gets the tensor
and the positions. Generated programs do not call these (``internal``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from specs.errors import need_fit, need_kernel, refuse
from specs.kind import Bool, Dim, Indices, Number, Offset, Tensor, Vector
from specs.op import Op, op
from specs.ops.helpers import along, grid_index, need_targets
from specs.ops.index_demands import need_copyable, need_fillable, need_scatterable


# -- along a dimension -----------------------------------------------------------------------------
def _picked(x: np.ndarray, index: np.ndarray, dim: int, keepdim: bool) -> Any:
    line, axis = along(x, dim)
    if not x.ndim:
        return x.copy()
    out = np.take_along_axis(line, index if index.ndim == x.ndim else np.expand_dims(index, axis), axis)
    return out if keepdim else np.squeeze(out, axis)


def _picked_backward(g: Any, x_shape: Any, index: Any, dim: int, keepdim: bool) -> Any:
    """Each gradient where its element came from, zeros elsewhere."""
    if not keepdim and x_shape:
        g, index = g.unsqueeze(dim), index.unsqueeze(dim)
    return g.new_zeros(x_shape).scatter(dim, index, g)


def _accumulated_backward(g: Any, x: Any, index: Any, dim: int, keepdim: bool) -> Any:
    """The gradient of a pick that may have taken an element more than once. PyTorch saves all of ``x``."""
    return x.new_zeros(x.shape).scatter_add(dim, index, g)


def _declared(name: str, node: str, backward: Callable[..., Any] = _picked_backward) -> Op:
    def picking(x: Tensor, index: Indices, dim: Dim, keepdim: Bool) -> Any:
        """The elements at these positions along a dimension."""
        return _picked(x, index, dim, keepdim)

    picking.__name__ = f"_{name}_at"
    layout = ("x",) if name.startswith("sort") else ()
    facts: dict[str, Any] = {"dtypes": "keep", "layout": layout, "complex_history": False, "kernel": name}
    return op(internal=True, node=node, **facts)(picking).wrt(x=backward)


OPS = {
    made.key: made
    for made in (
        _declared("max", "MaxBackward0"),
        _declared("min", "MinBackward0"),
        _declared("sort", "SortBackward0"),
        _declared("sort_stable", "SortBackward1"),
        _declared("topk", "TopkBackward0"),
        _declared("kthvalue", "KthvalueBackward0"),
        _declared("median", "MedianBackward1"),
        _declared("nanmedian", "NanmedianBackward1"),
        _declared("mode", "ModeBackward0"),
        _declared("cummax", "CummaxBackward0", _accumulated_backward),
        _declared("cummin", "CumminBackward0", _accumulated_backward),
    )
}
"""By key: ``_max_at``, ``_sort_at``, ..."""
globals().update(OPS)  # an op is found by being a module's attribute


# -- of all elements -------------------------------------------------------------------------------
def _shared(g: Any, x: Any, out: Any) -> Any:
    """The gradient shared evenly by the elements that equal the result, by the NaNs if it is one."""
    at = x.isnan() if out.isnan() else x.eq(out)
    return g.new_zeros(x.shape).masked_fill(at, g.div(at.sum()))


@op(internal=True, node="MaxBackward1", dtypes="keep", lacks="c", kernel="max_all")
def _max_all(x: Tensor) -> Any:
    """The largest element."""
    return np.max(x)


@op(internal=True, node="MinBackward1", dtypes="keep", lacks="c", kernel="min_all")
def _min_all(x: Tensor) -> Any:
    """The smallest element."""
    return np.min(x)


def _need_order_of_all(x: np.ndarray) -> None:
    if x.size:
        need_kernel("median", x, "bc")


@op(internal=True, node="MedianBackward0", dtypes="keep", complex_history=False, kernel="median")
def _median_all(x: Tensor) -> Any:
    """The middle element in order, the lower of two; NaN if there is one, or nothing at all."""
    _need_order_of_all(x)
    if not x.size or np.isnan(x).any():
        return np.full((), np.nan).astype(x.dtype)
    return np.sort(x, axis=None)[(x.size - 1) // 2]


@op(internal=True, node="NanmedianBackward0", dtypes="keep", complex_history=False, kernel="nanmedian")
def _nanmedian_all(x: Tensor) -> Any:
    """The middle one of the elements that are numbers, the lower of two; NaN if there is none."""
    _need_order_of_all(x)
    numbers = x[~np.isnan(x)]
    return np.sort(numbers)[(numbers.size - 1) // 2] if numbers.size else np.full((), np.nan).astype(x.dtype)


for whole in (_max_all, _min_all, _median_all, _nanmedian_all):
    whole.wrt(x=_shared)


# -- by position -----------------------------------------------------------------------------------
def _scattered(x: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    out = x.copy()
    line, axis = along(out, dim)
    need_scatterable(x, index, src)
    if index.size:
        lined = np.atleast_1d(index)
        need_targets(x, index, src, axis)
        line[grid_index(lined, axis)] = np.atleast_1d(src)[tuple(slice(n) for n in lined.shape)]
    return line.reshape(x.shape)


@op(internal=True, inplace=True, name="scatter", node="ScatterBackward0", dtypes="keep", memory="alone")
def scatter_tensor(x: Tensor, dim: Dim, index: Indices, src: Tensor) -> Any:
    """``x`` with each element of ``src`` put where its index says."""
    return _scattered(x, dim, index, src)


scatter_tensor.wrt(
    x=lambda g, dim, index: g.scatter(dim, index, 0), src=lambda g, dim, index: g.gather(dim, index)
)


@op(internal=True, inplace=True, name="scatter", node="ScatterBackward1", dtypes="keep", memory="alone")
def scatter_number(x: Tensor, dim: Dim, index: Indices, value: Number) -> Any:
    """``x`` with a number put wherever an index says."""
    need_fit(value, x.dtype)
    return _scattered(x, dim, index, np.broadcast_to(np.asarray(value).astype(x.dtype), index.shape))


scatter_number.wrt(x=lambda g, dim, index: g.scatter(dim, index, 0))


@op(
    batched_write="index_fill_",
    internal=True,
    inplace=True,
    node="IndexFillBackward0",
    dtypes="keep",
    memory="apart",
)
def index_fill(x: Tensor, dim: Dim, index: Vector, value: Number) -> Any:
    """``x`` with a number in the slices that ``index`` names."""
    if isinstance(value, complex) and x.dtype.kind != "c":
        # NB: also if it is real after all
        refuse("op/value-overflow", value=value, dtype=x.dtype, case="index_fill")
    need_fit(value, x.dtype)
    need_fillable(x, dim, index)
    out = x.copy()
    line, axis = along(out, dim)
    line[(*(slice(None),) * axis, index.reshape(-1))] = np.asarray(value).astype(x.dtype)
    return line.reshape(x.shape)


index_fill.wrt(x=lambda g, dim, index: g.index_fill(dim, index, 0))


@op(internal=True, inplace=True, node="IndexCopyBackward0", dtypes="keep", memory="alone")
def index_copy(x: Tensor, dim: Dim, index: Vector, source: Tensor) -> Any:
    """``x`` with the slices that ``index`` names taken from ``source``."""
    need_copyable(x, dim, index, source)
    out = x.copy()
    line, axis = along(out, dim)
    line[(*(slice(None),) * axis, index.reshape(-1))] = np.atleast_1d(source)
    return line.reshape(x.shape)


def _index_copy_backward(g: Any, dim: int, index: Any, source: Any) -> Any:
    """Only the shape of ``source`` matters, but torch saves it whole."""
    taken = g.index_select(dim, index)
    return taken.expand(tuple(source.shape)) if source.shape else taken.squeeze(0)


index_copy.wrt(x=lambda g, dim, index: g.index_fill(dim, index, 0), source=_index_copy_backward)


@op(internal=True, inplace=True, node="TrilBackward0", dtypes="keep")
def tril(x: Tensor, diagonal: Offset = 0) -> Any:
    """The elements on and below a diagonal, zeros above."""
    return _triangle(np.tril, x, diagonal)


@op(internal=True, inplace=True, node="TriuBackward0", dtypes="keep")
def triu(x: Tensor, diagonal: Offset = 0) -> Any:
    """The elements on and above a diagonal, zeros below."""
    return _triangle(np.triu, x, diagonal)


def _triangle(function: Any, x: Any, diagonal: int) -> Any:
    if x.ndim < 2:
        refuse("op/matmul-rank", name=function.__name__, rank="2 or more")
    return np.asarray(function(x, diagonal), order="C")


tril.wrt(x=lambda g, diagonal: g.tril(diagonal))
triu.wrt(x=lambda g, diagonal: g.triu(diagonal))
