"""Views of some of an operand's elements, one or several at once, and the ops of their backward.

Views of all elements are in ``view``; brackets are in ``indexing``.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.errors import refuse
from specs.kind import Count, Dim, IntList, Length, Offset, OptPosition, Position, Size, Stride, Tensor
from specs.op import composite, op
from specs.ops import cat
from specs.ops.helpers import axis_of
from specs.ops.shapes import clamp_slice, placed, strides_of, window

END = 2**63 - 1
"""The end that PyTorch records for a slice without one."""


def _at(dim: int, *picked: Any) -> tuple[Any, ...]:
    """A numpy index that picks along ``dim`` only, and gives an array even of no dimensions."""
    return (*(slice(None),) * dim, *picked, ...)


def selected(x: Any, dim: int, index: int) -> tuple[Any, ...]:
    """Numpy's index of one position along a dimension, or a refusal."""
    if not x.ndim:
        refuse("op/scalar-has-no-items", name="select")
    axis = axis_of(dim, x.ndim)
    size = x.shape[axis]
    if not -size <= index < size:
        refuse("op/index-range", case="select", index=index, dim=axis, size=size, shape=list(x.shape))
    return _at(axis, index)


def start_within(x: Any, dim: int, start: int, length: int) -> int:
    """The first position of a range along a dimension, or a refusal."""
    if not x.ndim:
        refuse("op/scalar-has-no-pieces", name="narrow")
    if length < 0:
        refuse("op/narrow-length", case="negative", start=start, length=length, size="any")
    size = x.shape[axis_of(dim, x.ndim)]
    if not -size <= start <= size:
        refuse("op/index-range", case="narrow", index=start, dim=dim, size=size)
    first = start + size if start < 0 else start
    if first + length > size:
        refuse("op/narrow-length", start=first, length=length, size=size)
    return first


def plane_of(ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    """Two different dimensions counted from the front, or a refusal."""
    first, second = axis_of(dim1, ndim), axis_of(dim2, ndim)
    if first == second:
        refuse("op/diagonal-dims", dim1=dim1, dim2=dim2)
    return first, second


@op(node="SelectBackward0", view=True, dtypes="keep", complex=True)
def select(x: Tensor, dim: Dim, index: Position) -> Any:
    """One position along a dimension, which goes away."""
    return x[selected(x, dim, index)]


select.wrt(x=lambda g, x_shape, dim, index: g.select_backward(x_shape, dim, index))


@op(
    internal=True,
    node="SelectBackwardBackward0",
    dtypes="keep",
    complex=True,
    alone=alone.into_zeros("select"),
)
def select_backward(x: Tensor, size: Size, dim: Dim, index: Position) -> Any:
    """Zeros, with ``x`` at one position along a dimension."""
    out = np.zeros(size, x.dtype)
    out[_at(axis_of(dim, len(size)), index)] = x
    return out


select_backward.wrt(x=lambda g, dim, index: g.select(dim, index))


@op(internal=True, name="slice", node="SliceBackward0", view=True, dtypes="keep", complex=True)
def slice_(
    x: Tensor, dim: Dim = 0, start: OptPosition = None, end: OptPosition = None, step: Stride = 1
) -> Any:
    """Every ``step``-th position of a range along a dimension; bounds out of range are clamped."""
    if not x.ndim:
        refuse("op/scalar-has-no-items", name="slice")
    axis = axis_of(dim, x.ndim)
    if step < 1:
        refuse("op/slice-step", step=step)
    first, last = clamp_slice(start, end, x.shape[axis])
    if first < last:
        return x[_at(axis, slice(first, last, step))]
    steps = [s * step if d == axis else s for d, s in enumerate(strides_of(x))]
    shape = (*x.shape[:axis], 0, *x.shape[axis + 1 :])
    return placed(x, x.dtype, shape, steps, first * strides_of(x)[axis])


def _slice_backward(g: Any, x_shape: tuple[int, ...], dim: int, start: Any, end: Any, step: int) -> Any:
    return g.slice_backward(x_shape, dim, 0 if start is None else start, END if end is None else end, step)


slice_.wrt(x=_slice_backward)


@op(
    internal=True, node="SliceBackwardBackward0", dtypes="keep", complex=True, alone=alone.into_zeros("slice")
)
def slice_backward(x: Tensor, size: Size, dim: Dim, start: Position, end: Position, step: Stride) -> Any:
    """Zeros, with ``x`` at the positions of a slice."""
    out = np.zeros(size, x.dtype)
    first, last = clamp_slice(start, end, size[dim])
    out[_at(axis_of(dim, len(size)), slice(first, last, step))] = x
    return out


slice_backward.wrt(x=lambda g, dim, start, end, step: g.slice(dim, start, end, step))


@composite(complex=True, aliases="maybe")
def narrow(x: Tensor, dim: Dim, start: Position, length: Length) -> Any:
    """A range of positions along a dimension, which must lie inside it."""
    first = start_within(x, dim, start, length)
    return x.slice(dim, first, first + length, 1)


@composite(name="narrow", internal=True, complex=True, aliases="maybe")
def narrow_from(x: Tensor, dim: Dim, start: Tensor, length: Length) -> Any:
    """A range of positions that starts where a 0-d tensor says."""
    return x.narrow(dim, start.item(), length)


@op(node="DiagonalBackward0", view=True, dtypes="keep", complex=True)
def diagonal(x: Tensor, offset: Offset = 0, dim1: Dim = 0, dim2: Dim = 1) -> Any:
    """The diagonal of two dimensions, as the last dimension."""
    first, second = plane_of(x.ndim, dim1, dim2)
    out = x.diagonal(offset, first, second)
    if not out.shape[-1]:  # the window stays where it was, numpy's moves
        out = window(x, out.shape, strides_of(out))
    with suppress(ValueError):  # of memory that may not be written
        out.setflags(write=True)
    return out


diagonal.wrt(x=lambda g, x_shape, offset, dim1, dim2: g.diagonal_backward(x_shape, offset, dim1, dim2))


@op(
    internal=True,
    node="DiagonalBackwardBackward0",
    dtypes="keep",
    complex=True,
    alone=alone.into_zeros("diagonal"),
)
def diagonal_backward(x: Tensor, size: Size, offset: Offset, dim1: Dim, dim2: Dim) -> Any:
    """Zeros, with ``x`` on a diagonal."""
    out = np.zeros(size, x.dtype)
    place = out.diagonal(offset, axis_of(dim1, len(size)), axis_of(dim2, len(size)))
    place.setflags(write=True)
    place[...] = x
    return out


diagonal_backward.wrt(x=lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2))


# -- several views at once -------------------------------------------------------------------------
@op(node="UnbindBackward0", view="multi", often=2, dtypes="keep", complex=True)
def unbind(x: Tensor, dim: Dim = 0) -> Any:
    """Every position along a dimension, as a tuple."""
    if not x.ndim:
        refuse("op/dim-range", low=0, high=-1, dim=dim, case="scalar")
    axis = axis_of(dim, x.ndim)
    return tuple(x[_at(axis, n)] for n in range(x.shape[axis]))


def _unbind_backward(gs: tuple[Any, ...], dim: int) -> Any:
    given = next(g for g in gs if g is not None)
    made = cat.stack([given.new_zeros(tuple(given.shape)) if g is None else g for g in gs], dim)
    if dim < len(given.shape) and all(g is not None and g.is_inference() for g in gs):
        return made.view(made.shape)  # PyTorch's kernel gives a view of what it joined, hidden otherwise
    return made


unbind.wrt(x=_unbind_backward)


def _pieces(x: Any, axis: int, sizes: Any) -> tuple[Any, ...]:
    """Consecutive ranges of these sizes."""
    ends = np.cumsum(sizes, dtype=np.int64).tolist()
    return tuple(slice_.body(x, axis, end - size, end) for size, end in zip(sizes, ends, strict=True))


def _sizes_of_split(size: int, split_size: int) -> list[int]:
    """The sizes of the pieces: all ``split_size`` but the last, and one piece of nothing."""
    count = max(-(-size // split_size), 1) if split_size else 1
    return [split_size] * (count - 1) + [size - split_size * (count - 1)]


@op(name="split", node="SplitBackward0", view="multi", often=2, dtypes="keep", complex=True)
def split_size(x: Tensor, split_size: Count, dim: Dim = 0) -> Any:
    """Consecutive pieces of one size; the last may be smaller."""
    if not x.ndim:
        refuse("op/scalar-has-no-pieces", name="split")
    if split_size < 0:
        refuse("op/split-size", case="negative", split_size=split_size, size="any")
    axis = axis_of(dim, x.ndim)
    if split_size == 0 < x.shape[axis]:
        refuse("op/split-size", case="zero", split_size=split_size, size=x.shape[axis])
    return _pieces(x, axis, _sizes_of_split(x.shape[axis], split_size))


@op(name="split", node="SplitWithSizesBackward0", view="multi", often=2, dtypes="keep", complex=True)
def split_sizes(x: Tensor, split_size: IntList, dim: Dim = 0) -> Any:
    """Consecutive pieces of the given sizes."""
    if not x.ndim:
        refuse("op/scalar-has-no-pieces", name="split")
    axis = axis_of(dim, x.ndim)
    if any(size < 0 for size in split_size) or sum(split_size) != x.shape[axis]:
        refuse("op/split-size", case="sizes", split_size=list(split_size), size=x.shape[axis], dim=dim)
    return _pieces(x, axis, split_size)


def _split_backward(gs: tuple[Any, ...], x_shape: tuple[int, ...], split_size: Any, dim: int) -> Any:
    """The gradients end to end, with zeros for pieces that the backward did not reach."""
    axis = dim % len(x_shape)
    sizes = _sizes_of_split(x_shape[axis], split_size) if isinstance(split_size, int) else split_size
    given = next(g for g in gs if g is not None)
    shapes = [(*x_shape[:axis], size, *x_shape[axis + 1 :]) for size in sizes]
    parts = [given.new_zeros(shape) if g is None else g for g, shape in zip(gs, shapes, strict=True)]
    return cat.cat(parts, axis, sizes)


split_size.wrt(x=_split_backward)
split_sizes.wrt(x=_split_backward)


@composite(complex=True, aliases="maybe")
def chunk(x: Tensor, chunks: Count, dim: Dim = 0) -> Any:
    """At most ``chunks`` pieces of one size; the last may be smaller."""
    if not x.ndim:
        refuse("op/scalar-has-no-pieces", name="chunk")
    if chunks < 1:
        refuse("op/chunk-count", chunks=chunks)
    size = x.shape[axis_of(dim, x.ndim)]
    return x.split(-(-size // chunks), dim) if size else x.split((0,) * chunks, dim)


# -- windows -----------------------------------------------------------------------------------------
@op(internal=True, node="UnfoldBackward0", view=True, dtypes="keep", complex=True, function=False)
def unfold(x: Tensor, dimension: Dim, size: Length, step: Stride) -> Any:
    """All windows of ``size`` along a dimension, as a new last one; they overlap if ``step`` is smaller."""
    axis = axis_of(dimension, x.ndim)
    whole, stride = (x.shape[axis], strides_of(x)[axis]) if x.ndim else (1, 1)
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > whole:
        raise RuntimeError(f"maximum size for tensor at dimension {axis} is {whole} but size is {size}")
    if step < 1:
        raise RuntimeError(f"step is {step} but must be > 0")
    shape, strides = list(x.shape), list(strides_of(x))
    if x.ndim:
        shape[axis], strides[axis] = (whole - size) // step + 1, stride * step
    return window(x, (*shape, size), (*strides, stride))


@op(internal=True, node="UnfoldBackwardBackward0", dtypes="keep", complex=True)
def unfold_backward(x: Tensor, input_sizes: Size, dim: Dim, size: Length, step: Stride) -> Any:
    """The windows added up where they came from."""
    out = np.zeros(input_sizes, x.dtype)
    axis = axis_of(dim, len(input_sizes))
    if not input_sizes:
        return out + x.sum()
    for n in range(x.shape[axis]):
        piece = np.moveaxis(x[_at(axis, n)], -1, axis)
        out[_at(axis, slice(n * step, n * step + size))] += piece
    return out


unfold.wrt(x=lambda g, x_shape, dimension, size, step: g.unfold_backward(x_shape, dimension, size, step))
unfold_backward.wrt(x=lambda g, dim, size, step: g.unfold(dim, size, step))
