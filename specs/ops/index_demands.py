"""Demands of ops on an index beside what it puts somewhere: dtypes first, then shapes, in PyTorch's order."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.dtype_names import scalar_type
from specs.errors import refuse
from specs.ops.helpers import along


def need_integers(name: str, index: np.ndarray) -> None:
    """Refuse an index of anything but integers, of 32 bits or 64."""
    if index.dtype not in (np.int64, np.int32):
        refuse("op/index-dtype", name=name, dtype=index.dtype)


def need_long(name: str, index: np.ndarray) -> None:
    """Refuse an index of anything but int64."""
    if index.dtype != np.int64:
        raise RuntimeError(f"{name}(): Expected a long tensor for index, but got {scalar_type(index)}")


def need_places(name: str, places: np.ndarray, size: int) -> None:
    """Refuse places out of a row of that many elements; negative ones count from its end."""
    wrong = (places < -size) | (places >= size)
    if wrong.any():
        refuse("op/index-range", case=name, index=places[wrong].flat[0], dim=0, size=size)


def need_puttable(x: np.ndarray, index: np.ndarray, source: np.ndarray) -> None:
    """Refuse what cannot be put at places of the flattened ``x``."""
    need_long("put_", index)
    if source.dtype != x.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{scalar_type(x)} and source.dtype = {scalar_type(source)}"
        )
    if source.size != index.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source.size}, index.numel() = {index.size}"
        )
    if index.size and not x.size:
        raise IndexError("put_(): Tried to put elements into an empty tensor")
    need_places("take", index, x.size)


def need_copyable(x: np.ndarray, dim: int, index: np.ndarray, source: np.ndarray) -> None:
    """Refuse slices that cannot be copied to where an index says."""
    line, axis = along(x, dim)
    if index.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index.ndim})")
    if not source.ndim and index.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got {index.size})"
        )
    if source.ndim and x.ndim and source.ndim != x.ndim:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality must match. "
            f"Source dimensionality ({source.ndim}), destination dimensionality ({x.ndim})"
        )
    need_long("index_copy_", index)
    if x.dtype != source.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{scalar_type(x)} and (source) {scalar_type(source)}"
        )
    here, there = (_beside(each, axis) for each in (x, source))
    if here != there:
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: "
            f"{_in_words(here)} at dimension {axis} and source slice shape: {_in_words(there)} at "
            "dimension 0."
        )
    if source.ndim and index.size != source.shape[axis]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index.size}) should be equal to source.size(dim) "
            f"({source.shape[axis]})"
        )
    wrong = (index < 0) | (index >= line.shape[axis])
    if wrong.any():
        refuse("op/index-range", case="index_copy", index=index[wrong][0], dim=axis, size=line.shape[axis])


def _in_words(sizes: list[int]) -> str:
    return " ".join(map(str, sizes))


def _beside(x: np.ndarray, axis: int) -> list[int]:
    """The sizes of a slice."""
    return list(x.shape[:axis] + x.shape[axis + 1 :])


def need_slices(name: str, x: np.ndarray, dim: int, index: np.ndarray, y: np.ndarray) -> None:
    """Refuse slices that cannot be added, or reduced, into those that an index names."""
    _, axis = along(x, dim)
    if index.ndim > 1:
        refuse("op/index-vector", ndim=index.ndim, name=name, dtype=index.dtype, index=list(index.shape))
    need_integers(name, index)
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"{name}(): self ({scalar_type(x)}) and source ({scalar_type(y)}) must have the same scalar type"
        )
    if not y.ndim and index.size != 1:
        refuse("op/dim-range", low=0, high=-1, dim=dim)
    if axis and axis >= y.ndim:
        raise RuntimeError(
            f"{name}(): Indexing dim {axis} is out of bounds of the source tensor with dim {y.ndim}"
        )
    if index.size != np.atleast_1d(y).shape[axis]:
        refuse(
            "op/index-add-shape",
            case="index_add",
            name=name,
            index=list(index.shape),
            y=list(y.shape),
            size=np.atleast_1d(y).shape[axis],
            dim=dim,
        )
    if (_beside(x, axis) if y.ndim else list(x.shape)) != (_beside(y, axis) if x.ndim else list(y.shape)):
        refuse("op/index-add-shape", case="index_add_sizes", x=list(x.shape), y=list(y.shape), dim=dim)


def need_fillable(x: np.ndarray, dim: int, index: np.ndarray) -> None:
    """Refuse slices to fill that no vector of int64 names, or that are out of range."""
    line, axis = along(x, dim)
    if index.dtype != np.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    need_places("", index, line.shape[axis])


def need_scatterable(x: Any, index: np.ndarray, src: Any) -> None:
    """Refuse dtypes of what a scatter puts somewhere; an index of no elements may have any."""
    if index.size:
        need_integers("scatter", index)
    if isinstance(src, np.ndarray) and x.dtype != src.dtype:
        refuse("op/one-dtype", name="scatter", case="scatter", x=x.dtype, y=src.dtype)
