"""Indexing by tensors, along a dimension or by mask, and the ops of its backward.

Brackets (``x[0, 1:]``) are in ``indexing``; views of some elements are in ``slice``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.active_rules import by
from specs.errors import need_fit, refuse
from specs.kind import Dim, Indices, Mask, Number, Scale, Size, Tensor, Vector
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import along, grid_index, need_one_dtype, need_targets, scaled, times
from specs.ops.index_demands import need_integers, need_scatterable, need_slices
from specs.signature import clash


# -- along a dimension -----------------------------------------------------------------------------
def _takes_view(x: Any, index: Any, dim: int) -> Any:
    """PyTorch has a kernel of its own for the second dimension, which takes no view."""
    return bool(x.ndim > 1 and dim % x.ndim != 1 and x.numel() and index.numel())


@op(node="IndexSelectBackward0", dtypes="keep", complex=True, grows="keeps", often=4, takes_view=_takes_view)
def index_select(x: Tensor, dim: Dim, index: Vector) -> Any:
    """The positions along a dimension that a vector of indices names."""
    line, axis = along(x, dim)
    if index.ndim > 1:
        refuse("op/index-vector", ndim=index.ndim)
    if not x.ndim and index.size != 1:
        refuse("op/index-of-scalar", count=index.size)
    need_integers("index_select", index)
    index = np.atleast_1d(index)
    wrong = (index < 0) | (index >= line.shape[axis])
    if wrong.any():
        where = {"index": index[wrong][0], "dim": axis, "size": line.shape[axis], "case": "index_select"}
        # PyTorch's fast path for dimension 1, and its check of empty tensors, raise another class.
        if x.ndim > 1 and (axis == 1 or not x.size):
            refuse("op/index-select-range", **where)
        refuse("op/index-range", **where)
    out = np.take(line, index, axis)
    return out if x.ndim else out.reshape(())


index_select.wrt(x=lambda g, x_shape, dim, index: g.new_zeros(x_shape).index_add_(dim, index, g))


@op(
    batched_write="index_add_",
    internal=True,
    inplace=True,
    node="IndexAddBackward0",
    dtypes="keep",
    complex=True,
    torch_names={"y": "source"},
    grows="totals",
    memory="alone",
)
def index_add(x: Tensor, dim: Dim, index: Vector, y: Tensor, *, alpha: Scale = 1) -> Any:
    """``x`` plus ``alpha`` times the slices of ``y`` at the positions in ``index``, again where one repeats.

    Assigning ``.data`` can leave a gradient with an index that its forward never saw.
    """
    out = x.copy()
    line, axis = along(out, dim)
    need_slices("index_add_", x, dim, index, y)
    if not x.size:
        return out
    wrong = (index < 0) | (index >= line.shape[axis])
    if wrong.any():
        where = {"index": index[wrong][0], "dim": axis, "size": line.shape[axis], "case": "index_select"}
        # PyTorch hands the outermost dimensions of matrices and more on to scatter_add, if nothing is scaled.
        handed_on = x.ndim > 1 and axis in (0, x.ndim - 1) and alpha == 1
        refuse("op/gather-range" if handed_on else "op/index-range", **where)
    factor = alpha if isinstance(alpha, complex) else x.dtype.type(alpha).item()  # cut off for integers
    np.add.at(line, (*(slice(None),) * axis, index.reshape(-1)), np.atleast_1d(scaled(y, factor, x)))
    return line.reshape(x.shape)


def _index_add_backward(g: Any, dim: int, index: Any, y: Any, alpha: Any) -> Any:
    """Only the shape of ``y`` matters, but torch saves it whole."""
    found = g.index_select(dim, index).expand(tuple(y.shape)) if y.shape else g.index_select(dim, index)
    return times(found, conj(alpha) if by("op/index-add-conjugates") else alpha)


index_add.wrt(x=lambda g: g, y=_index_add_backward)


@op(node="GatherBackward0", dtypes="keep", complex=True, grows="keeps", often=4)
def gather(x: Tensor, dim: Dim, index: Indices) -> Any:
    """Along a dimension, one element for each index."""
    line, axis = along(x, dim)
    if index.size:
        need_integers("gather", index)
    if not index.size:
        return np.empty(index.shape, x.dtype)
    shapes: dict[str, Any] = {"index": list(index.shape), "x": list(x.shape)}
    if max(index.ndim, 1) != line.ndim:
        refuse("op/gather-shape", dim=dim, **shapes)
    lined = np.atleast_1d(index)
    larger = [d for d, n in enumerate(lined.shape) if d != axis and n > line.shape[d]]
    if larger:
        refuse("op/gather-shape", case="sizes", at=larger[0], dim=axis, **shapes)
    wrong = (lined < 0) | (lined >= line.shape[axis])
    if wrong.any():
        refuse("op/gather-range", index=lined[wrong][0], dim=axis, size=line.shape[axis])
    return line[grid_index(lined, axis)].reshape(index.shape).copy(order="C")


gather.wrt(x=lambda g, x, dim, index: g.new_zeros(tuple(x.shape)).scatter_add_(dim, index, g))


@op(
    batched_write="scatter_add_",
    internal=True,
    inplace=True,
    node="ScatterAddBackward0",
    dtypes="keep",
    wide=True,
    complex=True,
    torch_names={"y": "src"},
    grows="totals",
    memory="alone",
)
def scatter_add(x: Tensor, dim: Dim, index: Indices, y: Tensor) -> Any:
    """``x`` with each element of ``y`` added at its index."""
    out = x.copy()
    line, axis = along(out, dim)
    need_scatterable(x, index, y)
    if not index.size:
        return out
    need_targets(x, index, y, axis)
    lined, given = np.atleast_1d(index), np.atleast_1d(y)
    np.add.at(line, grid_index(lined, axis), given[tuple(slice(n) for n in lined.shape)])
    return line.reshape(x.shape)


scatter_add.wrt(x=lambda g: g, y=lambda g, dim, index: g.gather(dim, index))


# -- by mask ---------------------------------------------------------------------------------------
def _need_mask(mask: np.ndarray, case: str = "") -> None:
    if mask.dtype != np.bool_:
        refuse("op/mask-dtype", case=case, dtype=mask.dtype)


def fitting(value: Any, dtype: np.dtype) -> Any:
    """A number, or an array of one, as a tensor of that dtype would hold it."""
    need_fit(value, dtype)
    if dtype.kind == "c" or not np.iscomplexobj(value):
        return value
    return value != 0 if dtype.kind == "b" else value.real


def _need_value(x: Any, mask: Any, value: Any) -> None:
    if np.ndim(value):
        refuse("op/masked-fill-value", ndim=np.ndim(value))


def _need_fillable(x: Any, mask: Any, value: Any) -> None:
    try:
        np.broadcast_shapes(x.shape, mask.shape)
    except ValueError:
        refuse("op/shapes-broadcast", **clash(mask.shape, x.shape))
    _need_value(x, mask, value)


def _need_fill(mask: np.ndarray, value: Any) -> None:
    _need_value(None, mask, value)
    _need_mask(mask)


def _filled(x: np.ndarray, mask: np.ndarray, value: Any) -> np.ndarray:
    out = np.array(np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape)), order="C")
    _need_fill(mask, value)
    return _put(out, mask, value)


def _filled_in_place(x: np.ndarray, mask: np.ndarray, value: Any) -> np.ndarray:
    """The same in place, where shapes are checked last."""
    _need_fill(mask, value)
    together = np.broadcast_shapes(x.shape, mask.shape)
    if together != x.shape:
        refuse("write/broadcast-shape", got=list(together), want=list(x.shape))
    return _put(x.copy(), mask, value)


def _put(out: np.ndarray, mask: np.ndarray, value: Any) -> np.ndarray:
    need_fit(value, out.dtype)
    value = value if out.dtype.kind in "cb" else np.asarray(value).real
    np.copyto(out, value, casting="unsafe", where=mask)
    return out


def _takes_views_to_broadcast(x: Any, mask: Any, *_: Any) -> Any:
    """The operands, if one of them is expanded: then both are."""
    return () if tuple(x.shape) == tuple(mask.shape) else (x, mask)


_FILLS: dict[str, Any] = {
    "dtypes": "keep", "complex": True, "grows": "keeps", "jumps": True, "on_cpu": ("value",),
}  # fmt: skip
_FILLED = _FILLS | {
    "name": "masked_fill", "alone": alone.masked_fill, "checks_first": _need_fillable,
    "takes_view": _takes_views_to_broadcast,
}  # fmt: skip
_WRITTEN = _FILLS | {"name": "masked_fill_", "inplace": "only", "memory": "mask", "checks_first": _need_value}


@op(node="MaskedFillBackward0", **_FILLED)
def masked_fill_number(x: Tensor, mask: Mask, value: Number) -> Any:
    """A number where the mask is True, ``x`` elsewhere."""
    return _filled(x, mask, value)


@op(node="MaskedFillBackward1", **_FILLED)
def masked_fill_tensor(x: Tensor, mask: Mask, value: Tensor) -> Any:
    """The one element of a 0-d tensor where the mask is True, ``x`` elsewhere."""
    return _filled(x, mask, value)


@op(batched_write="inplace arithmetic", node="MaskedFillBackward0", **_WRITTEN)
def masked_fill_number_(x: Tensor, mask: Mask, value: Number) -> Any:
    """A number written where the mask is True."""
    return _filled_in_place(x, mask, value)


@op(node="MaskedFillBackward1", **_WRITTEN)
def masked_fill_tensor_(x: Tensor, mask: Mask, value: Tensor) -> Any:
    """The one element of a 0-d tensor written where the mask is True."""
    return _filled_in_place(x, mask, value)


for filling in (masked_fill_number, masked_fill_number_):
    filling.wrt(x=lambda g, mask: g.masked_fill(mask, 0))
for filling in (masked_fill_tensor, masked_fill_tensor_):
    filling.wrt(x=lambda g, mask: g.masked_fill(mask, 0), value=lambda g, mask: g.masked_select(mask).sum())


@op(
    internal=True,
    node="MaskedSelectBackward0",
    dtypes="keep",
    complex=True,
    sized_by="mask",
    takes_view=_takes_views_to_broadcast,
)
def masked_select(x: Tensor, mask: Mask) -> Any:
    """The elements where the mask is True, in a row."""
    _need_mask(mask, "masked_select")
    shape = np.broadcast_shapes(x.shape, mask.shape)
    return np.broadcast_to(x, shape)[np.broadcast_to(mask, shape)]


masked_select.wrt(
    x=lambda g, x, mask: x.new_zeros(np.broadcast_shapes(x.shape, mask.shape)).masked_scatter(mask, g)
)


@op(
    internal=True,
    inplace=True,
    node="MaskedScatterBackward0",
    dtypes="keep",
    complex=True,
    torch_names={"y": "source"},
)
def masked_scatter(x: Tensor, mask: Mask, y: Tensor) -> Any:
    """``x`` with the places where the mask is True taken by the elements of ``y``, in a row."""
    need_one_dtype("masked_scatter", x, y)
    _need_mask(mask, "masked_scatter")
    out = np.array(np.broadcast_to(x, np.broadcast_shapes(x.shape, mask.shape)))
    where = np.broadcast_to(mask, out.shape)
    count = np.count_nonzero(where)
    if y.size < count:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    out[where] = y.reshape(-1)[:count]
    return out


masked_scatter.wrt(
    x=lambda g, mask: g.masked_fill(mask, 0),
    y=lambda g, mask, y_shape: g.masked_scatter_backward(mask, y_shape),
)


@op(internal=True, node="MaskedScatterBackwardBackward0", dtypes="keep", complex=True)
def masked_scatter_backward(x: Tensor, mask: Mask, size: Size) -> Any:
    """The elements where the mask is True, then zeros, in the shape ``size``."""
    out = np.zeros(math.prod(size), x.dtype)
    taken = x[np.broadcast_to(mask, x.shape)]
    out[: taken.size] = taken
    return out.reshape(size)


masked_scatter_backward.wrt(x=lambda g, mask, x_shape: g.new_zeros(x_shape).masked_scatter(mask, g))
