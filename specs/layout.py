"""Memory layouts of results: the strides that torch chooses when operands are not all row-major.

Programs see them: a layout decides if a result can be viewed, if ``reshape`` copies, and if a gradient is
stolen. Numpy chooses the same only if the operands agree. The layout of grads is decided in the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import mul
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from specs.memory import dense


def without_elements(array: np.ndarray) -> np.ndarray:
    """Return an empty array with torch's strides, in which a size of 0 counts as 1."""
    return np.ndarray(array.shape, array.dtype, np.empty(1, array.dtype), strides=_by_rows(array))


def _by_rows(array: np.ndarray) -> tuple[int, ...]:
    """Row-major strides of an array of that shape; a size of 0 counts as 1."""
    return _strides_by_rows(array.shape, array.itemsize)


@lru_cache(maxsize=4096)
def _strides_by_rows(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    sizes = [max(n, 1) for n in shape]
    return tuple(accumulate(sizes[:0:-1], mul, initial=itemsize))[::-1] if sizes else ()


def empty_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return a fresh array with these strides, in bytes."""
    if not strides:
        return np.empty((), dtype)
    if 0 in shape:
        return np.ndarray(shape, dtype, np.empty(1, dtype), strides=strides)
    extent = 1 + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)]) // dtype.itemsize
    return np.ndarray(shape, dtype, np.empty(extent, dtype), strides=strides)


def means_its_strides(empty: np.ndarray) -> bool:
    """True if an empty array has the strides of a tensor, not those that numpy gave it."""
    return getattr(empty.base, "size", 0) == 1


def converted(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert ``x`` to another dtype and keep its strides: expanded or overlapping elements stay so."""
    if x.dtype.kind == "c" and dtype.kind not in "cb":
        x = x.real  # numpy would warn, as torch does
    steps = [stride // x.itemsize for stride in x.strides]
    if not x.size and means_its_strides(x):
        return empty_strided(x.shape, tuple([step * dtype.itemsize for step in steps]), dtype)
    if x.flags.c_contiguous:
        made = _rounded(x, dtype)
        return as_strided(made, x.shape, [step * dtype.itemsize for step in steps]) if 1 in x.shape else made
    extent = 1 + sum([(n - 1) * step for n, step in zip(x.shape, steps, strict=True)])
    window = _rounded(as_strided(x, (extent,), (x.itemsize,)), dtype)
    return as_strided(window, x.shape, [step * dtype.itemsize for step in steps])


def _rounded(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Convert ``x``; what gets half precision is rounded to single precision first."""
    return (x.astype(np.float32) if dtype == np.float16 and x.dtype == np.float64 else x).astype(dtype)


def laid_out_like(made: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Give ``made``, a copy of ``x``, the strides of a dense ``x``; of others, the order that torch chooses.

    Only strides of dimensions of size 1 can differ. They address nothing, but torch reads them when it
    compares the layouts of a leaf and its grad.
    """
    strides = x.strides
    if x.itemsize != made.itemsize:
        strides = tuple([s // x.itemsize * made.itemsize for s in strides])
    if not dense(x):
        return as_torch_lays_out(np.copy(made, "K") if 0 in made.strides else made, [x])
    if made.strides == strides and made.size:
        return made
    memory = made.ravel("K") if made.size else np.empty(1, made.dtype)
    return np.ndarray(x.shape, made.dtype, memory, strides=strides)


def as_torch_lays_out(result: np.ndarray, operands: Sequence[object]) -> np.ndarray:
    """Return ``result`` in the order of dimensions that torch chooses; the same array if it has that."""
    if not result.size and means_its_strides(result):
        return result
    stretched = False
    odd = 1 in result.shape  # strides of size-1 dimensions count if they stay of size 1
    for operand in operands:
        if isinstance(operand, np.ndarray) and (
            not operand.flags.c_contiguous or (odd and operand.strides != _by_rows(operand))
        ):
            if any(operand.strides):
                break
            stretched = True  # expanded from one element: all strides are equal
    else:
        if result.size and (not stretched or result.flags.c_contiguous):
            return result
    arrays = [a for a in operands if isinstance(a, np.ndarray) and a.ndim]
    if len(arrays) == len(operands) and all(a.flags.c_contiguous and a.shape == result.shape for a in arrays):
        return _with_strides(result, _by_rows(result))  # torch looks no further
    order = _fastest_first(result.shape, [_strides(array, result.shape) for array in arrays])
    if order == list(range(result.ndim))[::-1]:
        return _with_strides(result, _by_rows(result))
    # Only here a size of 0 counts as 0.
    steps = accumulate((result.shape[d] for d in order), mul, initial=result.itemsize)
    strides = dict(zip(order, steps, strict=False))
    return _with_strides(result, tuple([strides[d] for d in range(result.ndim)]))


def _with_strides(array: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """Copy an array into dense memory with those strides; the same array if it has them."""
    if array.strides == strides:
        return array
    slowest_first = sorted(range(array.ndim), key=lambda d: (strides[d], array.shape[d]), reverse=True)
    elements = np.ascontiguousarray(array.transpose(slowest_first)).reshape(-1)
    memory = elements if array.size else np.empty(1, array.dtype)
    return np.ndarray(array.shape, array.dtype, memory, strides=strides)


def by_rows(array: np.ndarray) -> np.ndarray:
    """Return an array in row-major layout, also for dimensions of size 1; the same array if it has that."""
    return _with_strides(array, _by_rows(array))


def channels_last(dims: int) -> tuple[int, ...]:
    """The order of dimensions, slowest first, that puts channels last among as many."""
    return (0, *range(2, dims), 1)


def lies_in(array: np.ndarray, memory_format: str) -> bool:
    """Say if an array without gaps is laid out in that format of torch's."""
    if memory_format in FORMATS and array.ndim != FORMATS[memory_format]:
        return False
    order = channels_last(array.ndim) if memory_format in FORMATS else tuple(range(array.ndim))
    return bool(array.transpose(order).flags.c_contiguous)


def in_format(array: np.ndarray, memory_format: str) -> np.ndarray:
    """A copy of an array in a format of torch's, which only as many dimensions have."""
    dims = FORMATS.get(memory_format)
    if dims is None:
        return array.copy(order="C" if memory_format == "torch.contiguous_format" else "K")
    if array.ndim != dims:
        raise RuntimeError(
            f"required rank {dims} tensor to use {memory_format.removeprefix('torch.')} format"
        )
    order = channels_last(dims)
    made = np.ascontiguousarray(array.transpose(order)).copy()
    return made.transpose(tuple(np.argsort(order)))


def with_channels_last(array: np.ndarray) -> np.ndarray:
    """A copy of an array of four or five dimensions with its channels last."""
    return in_format(array, "torch.channels_last" if array.ndim == 4 else "torch.channels_last_3d")


def strides_in(array: np.ndarray) -> tuple[int, ...]:
    """The strides that an array of four or five dimensions has with its channels last."""
    step, strides = array.itemsize, [0] * array.ndim
    for dim in reversed(channels_last(array.ndim)):
        strides[dim] = step
        step *= max(array.shape[dim], 1)
    return tuple(strides)


def lies_with_channels_last(array: np.ndarray) -> bool:
    """Say if channels lie last, and not by chance, as where there is one."""
    in_four = array.ndim in FORMATS.values() and not array.flags.c_contiguous
    return in_four and array.strides == strides_in(array)


FORMATS = {"torch.channels_last": 4, "torch.channels_last_3d": 5}
"""Formats that put channels last, and the dimensions that they are for."""


def indexed_as_torch_lays_out(x: np.ndarray, key: tuple[Any, ...]) -> np.ndarray:
    """Copy ``x[key]``, for a key of tensors and slices, in the order of dimensions that torch chooses.

    The strides of ``x`` decide, without the indexed dimensions. Dimensions of the indices replace those; they
    come first if the indexed dimensions are not adjacent.
    """
    found = x[key].copy("C")
    if x.flags.c_contiguous and all(getattr(item, "ndim", 1) == 1 for item in key):
        return found
    here, *indices = _indexing(x, key, found.shape)
    return as_torch_lays_out(found, [here, *indices])


def put_in_order(out: np.ndarray, x: np.ndarray, key: tuple[Any, ...], value: np.ndarray) -> None:
    """Assign ``out[key] = value``, for ``out`` a copy of ``x``, with the effects of shared memory.

    If ``value`` shares memory with ``x``, or ``x`` shows an element more than once, elements are written one
    by one in torch's order, so that an element written before it is read is read as written.
    """
    repeats = any(n > 1 and not s for n, s in zip(x.shape, x.strides, strict=True))
    if not repeats and not np.shares_memory(x, value):
        out[key] = value
        return
    written = _offsets(x)[key]
    read = np.broadcast_to(_offsets(value) + value.ctypes.data - x.ctypes.data, written.shape)
    here, *indices = _indexing(x, key, written.shape)
    operands = [here, np.broadcast_to(value, written.shape), *indices]
    order = _fastest_first(written.shape, [_strides(array, written.shape) for array in operands])[::-1]
    places = dict(zip(_offsets(x).flat, np.ndindex(x.shape), strict=True))
    values = np.broadcast_to(value, written.shape).transpose(order).flat
    for to, of, old in zip(written.transpose(order).flat, read.transpose(order).flat, values, strict=True):
        out[places[to]] = out[places[of]] if of in places else old
    if repeats:
        for place, offset in zip(np.ndindex(x.shape), _offsets(x).flat, strict=True):
            out[place] = out[places[offset]]


def _offsets(array: np.ndarray) -> np.ndarray:
    """Offsets of the elements from the first, in bytes."""
    offsets = np.zeros(array.shape, np.int64)
    for dim, stride in enumerate(array.strides):
        offsets += np.indices(array.shape)[dim] * stride
    return offsets


def _indexing(x: np.ndarray, key: tuple[Any, ...], shape: tuple[int, ...]) -> list[np.ndarray]:
    """Arrays whose strides decide torch's order of iterating over ``x[key]``: ``x``, then the indices."""
    indices: list[Any] = []
    at: list[int] = []
    for item in key:
        single = item.nonzero() if isinstance(item, np.ndarray) and item.dtype.kind == "b" else [item]
        for index in single:
            if isinstance(index, np.ndarray):
                at.append(len(at) + sum(isinstance(i, slice) for i in indices))
            indices.append(index)
    arrays = np.broadcast_arrays(*[index for index in indices if isinstance(index, np.ndarray)])
    apart = at[-1] - at[0] >= len(at)
    rest = [s for d, s in enumerate(x.strides) if d not in at]
    before = 0 if apart else at[0]
    new = [0] * arrays[0].ndim
    strides = [*rest[:before], *new, *rest[before:]]
    after = (1,) * (len(rest) - before)
    deciding = [as_strided(np.empty(1, x.dtype), shape, strides)]
    for array in arrays:
        steps = (*array.strides, *(array.itemsize,) * len(after))
        deciding.append(as_strided(np.empty(1, array.dtype), (*array.shape, *after), steps))
    return deciding


def _strides(array: np.ndarray, shape: tuple[int, ...]) -> list[int]:
    """Strides of an operand in a result of that shape, 0 where it is broadcast."""
    lead = len(shape) - array.ndim
    own = zip(array.strides, array.shape, shape[lead:], strict=True)
    return [0] * lead + [0 if n == 1 != m else s // array.itemsize for s, n, m in own]


def _fastest_first(shape: tuple[int, ...], strides: list[list[int]]) -> list[int]:
    """Dimensions, fastest first; of two, the first operand whose strides differ decides."""
    order = list(range(len(shape)))[::-1]
    for i in range(1, len(order)):
        at = i
        for before in range(i - 1, -1, -1):
            verdict = _compare(shape, strides, order[before], order[at])
            if verdict > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif verdict < 0:
                break
    return order


def _compare(shape: tuple[int, ...], strides: list[list[int]], a: int, b: int) -> int:
    """-1 if dimension ``a`` is faster, 1 if ``b`` is, 0 if no operand decides."""
    for own in strides:
        if own[a] and own[b]:
            if own[a] != own[b]:
                return -1 if own[a] < own[b] else 1
            if shape[a] > shape[b]:
                return 1
    return 0
