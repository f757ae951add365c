"""Index tensors and masks as a numpy key, checked against the array that they index.

The ops that read and write by such keys are in ``ops/indexing``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from specs.errors import refuse


def key_of(x: np.ndarray, indices: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the numpy key with each tensor at its place, checked; a mask covers all its dimensions."""
    count = max(places) + 1
    if count > x.ndim:
        refuse("op/index-count", count=count, ndim=x.ndim)
    arrays = [np.asarray(i, dtype=getattr(i, "dtype", None if np.size(i) else np.int64)) for i in indices]
    for array in arrays:
        if array.dtype.kind not in "bi":
            refuse("op/index-dtype-in-brackets", dtype=array.dtype)
    given = dict(zip(places, arrays, strict=True))
    key: list[Any] = []
    dim = 0
    for place in range(count):
        index = given.get(place)
        if index is None:
            key.append(slice(None))
            dim += 1
            continue
        if index.dtype.kind == "b":
            need_mask_shape(index.shape, x.shape, dim)
        key.append(index)
        dim += index.ndim if index.dtype.kind == "b" else 1
    return tuple(key)


def need_mask_shape(mask: tuple[int, ...], shape: tuple[int, ...], dim: int) -> None:
    """Refuse a mask whose sizes differ from those of the dimensions that it covers, from ``dim`` on."""
    if tuple(mask) != tuple(shape[dim : dim + len(mask)]):
        at = next((n for n, size in enumerate(mask) if shape[dim + n : dim + n + 1] != (size,)), 0)
        refuse("op/mask-shape", mask=list(mask), x=list(shape), at=at, dim=dim + at)


def _integers(x: np.ndarray, key: tuple[Any, ...]) -> Iterator[tuple[int, int]]:
    """Positions of the integer tensors in the key, and the dimension that each indexes."""
    dim = 0
    for place, item in enumerate(key):
        if isinstance(item, np.ndarray) and item.dtype.kind == "i":
            yield place, dim
        dim += item.ndim if isinstance(item, np.ndarray) and item.dtype.kind == "b" else 1


def room_of(x: np.ndarray, key: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape of ``x[key]`` without checking ranges; refuse index tensors that do not broadcast."""
    shape, probe = list(x.shape), list(key)
    for place, dim in _integers(x, key):
        shape[dim], probe[place] = 1, np.zeros_like(key[place])
    try:
        return np.broadcast_to(np.zeros((), x.dtype), shape)[tuple(probe)].shape
    except IndexError:
        refuse("op/index-shapes", shapes=[list(item.shape) for item in key if isinstance(item, np.ndarray)])


def need_elements(x: np.ndarray, key: tuple[Any, ...]) -> None:
    """Refuse integers in a dimension of size 0, unless the index tensors together are empty."""
    arrays = [item for item in key if isinstance(item, np.ndarray)]
    counts = [(np.count_nonzero(i),) if i.dtype.kind == "b" else i.shape for i in arrays]
    if 0 not in np.broadcast_shapes(*counts):
        need_range(x, key, most=0)


def need_range(x: np.ndarray, key: tuple[Any, ...], most: int = sys.maxsize) -> None:
    """Refuse integers outside their dimension, of dimensions of at most ``most`` elements."""
    for number, (place, dim) in enumerate(_integers(x, key)):
        size, index = x.shape[dim], key[place]
        if size <= most and (wrong := (index < -size) | (index >= size)).any():
            refuse(
                "op/index-range", index=index[wrong][0], dim=number, size=size, case="" if size else "empty"
            )


def in_range(x: np.ndarray, key: tuple[Any, ...], room: tuple[int, ...]) -> tuple[Any, ...]:
    """Return the key after checking the range of its integers; PyTorch accepts any if it selects nothing."""
    if 0 not in room:
        need_range(x, key)
        return key
    need_elements(x, key)
    integers = {place for place, _ in _integers(x, key)}
    return tuple([np.zeros_like(item) if place in integers else item for place, item in enumerate(key)])
