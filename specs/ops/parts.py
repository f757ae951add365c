"""Parts of a tensor replaced, picked or moved: `take`, `put`, scatters of views. Programs do not call these.

Each gives a new tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.errors import refuse
from specs.kind import (
    Bool,
    Count,
    Dim,
    Dims,
    Indices,
    IntList,
    Offset,
    OptPosition,
    Position,
    Stride,
    Tensor,
    Vector,
)
from specs.layout import as_torch_lays_out, lies_with_channels_last, with_channels_last
from specs.op import op
from specs.ops.helpers import axis_of
from specs.ops.index_demands import need_fillable, need_long, need_places, need_puttable
from specs.ops.slice import plane_of, selected, start_within

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "complex": True, "exact": False}


# -- elements by their place in the flattened tensor -----------------------------------------------
@op(node="TakeBackward0", **_FACTS)
def take(x: Tensor, index: Indices) -> Any:
    """The elements at places of the flattened tensor."""
    need_long("take", index)
    if index.size and not x.size:
        raise IndexError("take(): tried to take from an empty tensor")
    need_places("take", index, x.size)
    return np.asarray(x.reshape(-1)[index], order="C")


take.wrt(x=lambda g, x, index: x.new_zeros(x.shape).put(index, g, True))


@op(node="PutBackward0", inplace=True, memory="alone", **_FACTS)
def put(x: Tensor, index: Indices, source: Tensor, accumulate: Bool = False) -> Any:
    """``x`` with elements put, or added, at places of the flattened tensor."""
    need_puttable(x, index, source)
    out = np.array(x, order="C")
    flat, places, values = out.reshape(-1), index.reshape(-1), source.reshape(-1)
    if accumulate:
        np.add.at(flat, places, values)
    else:
        flat[places] = values
    return out


put.wrt(
    x=lambda g, index, source_shape, accumulate: (
        g if accumulate else g.put(index, g.new_zeros(source_shape), False)
    ),
    source=lambda g, index, source: g.take(index).reshape(source.shape),
)


# -- views replaced --------------------------------------------------------------------------------
def _replaced(x: np.ndarray, source: np.ndarray, at: Any, name: str) -> np.ndarray:
    out = x.copy()
    part = out[at] if isinstance(at, tuple) else at(out)
    if part.shape != source.shape:
        raise RuntimeError(
            f"expected src to have a size equal to the {name} of self. src size = {_size(source)}, "
            f"{name} size = {_size(part)}"
        )
    part[...] = source
    return out


def _size(x: np.ndarray) -> str:
    return f"[{', '.join(map(str, x.shape))}]"


@op(
    node="SliceScatterBackward0",
    torch_names={"source": "src"},
    complex_history=False,
    layout=("x",),
    **_FACTS,
)
def slice_scatter(
    x: Tensor, source: Tensor, dim: Dim = 0, start: OptPosition = None, end: OptPosition = None,
    step: Stride = 1,
) -> Any:  # fmt: skip
    """``x`` with another tensor in a slice's place."""
    if not x.ndim:
        refuse("op/scalar-has-no-items", name="slice")
    axis = axis_of(dim, x.ndim)
    if step < 1:
        raise RuntimeError("slice step must be positive")
    at = (*(slice(None),) * axis, slice(start, end, step))
    return _replaced(x, source, at, "slice")


slice_scatter.wrt(
    x=lambda g, source_shape, dim, start, end, step: g.slice_scatter(
        g.new_zeros(source_shape), dim, start, end, step
    ),
    source=lambda g, dim, start, end, step: g.slice(dim, start, end, step),
)


@op(node="SelectScatterBackward0", torch_names={"source": "src"}, complex_history=False, **_FACTS)
def select_scatter(x: Tensor, source: Tensor, dim: Dim, index: Position) -> Any:
    """``x`` with another tensor in a slice's place, one index along a dimension."""
    return _replaced(x, source, selected(x, dim, index), "slice")


select_scatter.wrt(
    x=lambda g, source_shape, dim, index: g.select_scatter(g.new_zeros(source_shape), dim, index),
    source=lambda g, dim, index: g.select(dim, index),
)


@op(node="DiagonalScatterBackward0", torch_names={"source": "src"}, **_FACTS)
def diagonal_scatter(x: Tensor, source: Tensor, offset: Offset = 0, dim1: Dim = 0, dim2: Dim = 1) -> Any:
    """``x`` with another tensor in its diagonal's place."""
    plane = plane_of(x.ndim, dim1, dim2)

    def diagonal(out: np.ndarray) -> np.ndarray:
        part = np.diagonal(out, offset, *plane)
        part.flags.writeable = True
        return part

    return _replaced(x, source, diagonal, "slice")


diagonal_scatter.wrt(
    x=lambda g, source_shape, offset, dim1, dim2: g.diagonal_scatter(
        g.new_zeros(source_shape), offset, dim1, dim2
    ),
    source=lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2),
)


@op(node="IndexFillBackward1", inplace=True, batched_write="index_fill_", on_cpu=("value",), **_FACTS)
def _index_fill_tensor(x: Tensor, index: Vector, value: Tensor, *, dim: Dim) -> Any:
    """``x`` with a tensor's only element in the slices that ``index`` names."""
    need_fillable(x, dim, index)
    out = x.copy()
    at = (*(slice(None),) * axis_of(dim, x.ndim), index)
    np.atleast_1d(out)[at] = value
    return out


_index_fill_tensor.wrt(
    x=lambda g, index, dim: g.index_fill(dim, index, 0),
    value=lambda g, index, dim: g.index_select(dim, index.unique(sorted=False)).sum(),
)


# -- turned and joined -----------------------------------------------------------------------------
@op(internal=True, node="RollBackward0", dtypes="keep")
def _rolled(x: Tensor, shifts: IntList, dims: Dims) -> Any:
    """Elements shifted along dimensions; those shifted off the end come in at the start."""
    rolled = np.asarray(np.roll(x, shifts, dims or None), order="C")
    if dims and lies_with_channels_last(x) and all(n % x.shape[d] for n, d in zip(shifts, dims, strict=True)):
        return with_channels_last(rolled)  # PyTorch concatenates two parts
    return rolled


_rolled.wrt(x=lambda g, shifts, dims: g._rolled(tuple(-n for n in shifts), dims))


@op(node="Rot90Backward0", **_FACTS)
def rot90(x: Tensor, k: Count = 1, dims: Dims = (0, 1)) -> Any:
    """The plane of two dimensions turned by quarters."""
    if len(dims) != 2:
        raise RuntimeError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if x.ndim < 2:
        raise RuntimeError(f"expected total dims >= 2, but got total dims = {x.ndim}")
    if len({d % x.ndim for d in dims}) < 2:
        raise RuntimeError(
            f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}"
        )
    for d in dims:
        axis_of(d, x.ndim)
    turned = np.rot90(x, k, dims)
    if k % 4 == 0:
        return turned.copy(order="C")
    if k % 2 == 0:
        return as_torch_lays_out(turned.copy(order="C"), [x])
    flipped = np.swapaxes(turned, *dims).copy(order="C")
    return as_torch_lays_out(flipped, [x]).swapaxes(*dims)


rot90.wrt(x=lambda g, k, dims: g.rot90(-k, dims))


@op(node="ChannelShuffleBackward0", **_FACTS)
def _channel_shuffle(x: Tensor, *, groups: Count) -> Any:
    """Channels taken from each group in turn."""
    split = x.reshape((x.shape[0], groups, x.shape[1] // groups, *x.shape[2:]))
    return np.ascontiguousarray(np.swapaxes(split, 1, 2)).reshape(x.shape)


_channel_shuffle.wrt(x=lambda g, x_shape, groups: g._channel_shuffle(groups=x_shape[1] // groups))


@op(node="NarrowCopyBackward0", **_FACTS)
def narrow_copy(x: Tensor, dim: Dim, start: Position, length: Count) -> Any:
    """A copy of consecutive slices."""
    first = start_within(x, dim, start, length)
    return x[(*(slice(None),) * axis_of(dim, x.ndim), slice(first, first + length))].copy()


narrow_copy.wrt(
    x=lambda g, x_shape, dim, start, length: g.slice_backward(x_shape, dim, start, start + length, 1)
)
