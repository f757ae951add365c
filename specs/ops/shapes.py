"""Shapes and strides of views, computed as torch does, in plain integers.

Strides are in elements, as torch gives them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from specs.errors import refuse

Ints = Sequence[int]


def strides_of(x: np.ndarray) -> tuple[int, ...]:
    """An array's strides in elements."""
    size = x.itemsize
    return tuple([step // size for step in x.strides])


def window(x: np.ndarray, shape: Ints, strides: Ints) -> np.ndarray:
    """A view of ``x`` from its first element on, with exactly these strides."""
    size = x.itemsize
    steps = [stride * size for stride in strides]
    if x.flags.c_contiguous and x.size:
        return np.ndarray(shape, x.dtype, x, 0, steps)
    return as_strided(x, shape, steps)


class _Lent:
    """Some memory as numpy asks for it; keeps whose it is alive."""

    def __init__(self, interface: dict[str, Any], owner: np.ndarray) -> None:
        self.__array_interface__ = interface
        self.owner = owner


def placed(x: np.ndarray, dtype: np.dtype, shape: Ints, strides: Ints, first: int) -> np.ndarray:
    """A window on the memory of ``x`` that begins so many elements of ``dtype`` behind its first, with these
    very strides. NB: without elements it may begin anywhere, which numpy's own views forget.
    """
    start, read_only = x.__array_interface__["data"]
    interface = {
        "data": (start + first * dtype.itemsize, read_only),
        "shape": tuple(shape),
        "strides": tuple([stride * dtype.itemsize for stride in strides]),
        "typestr": f"|V{dtype.itemsize}",
        "version": 3,
    }
    return np.asarray(_Lent(interface, x)).view(dtype)


def row_major(shape: Ints) -> tuple[int, ...]:
    """The strides of a fresh tensor; a dimension of size 0 counts as 1."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides[::-1])


def infer_size(shape: Ints, numel: int) -> tuple[int, ...]:
    """A requested shape with its -1 worked out; refused if the elements do not fit it."""
    unknown = None
    known = 1
    for at, size in enumerate(shape):
        if size == -1:
            if unknown is not None:
                refuse("op/shape-inferred", why="only one dimension can be inferred")
            unknown = at
        elif size < 0:
            refuse("op/shape-negative", size=size, dim=at, shape=list(shape))
        else:
            known *= size
    if unknown is None:
        if known != numel:
            refuse("op/reshape-size", shape=list(shape), numel=numel)
        return tuple(shape)
    if known == 0 and numel == 0:
        refuse(
            "op/shape-inferred",
            why=f"of 0 elements, -1 in {list(shape)} could be anything",
            case="any",
            shape=list(shape),
        )
    if known == 0 or numel % known:
        refuse("op/reshape-size", shape=list(shape), numel=numel)
    return (*shape[:unknown], numel // known, *shape[unknown + 1 :])


def view_strides(shape: Ints, strides: Ints, new: Ints) -> tuple[int, ...] | None:
    """The strides that show the same elements in the shape ``new``, or None if no strides can.

    Old dimensions that lie without gaps are one block; each block must be cut up by whole new dimensions.
    """
    if 0 in shape:
        return tuple(strides) if tuple(shape) == tuple(new) else row_major(new)
    if not shape:
        return (1,) * len(new)
    result = [0] * len(new)
    at = len(new) - 1
    step = strides[-1]
    block = taken = 1
    for dim in range(len(shape) - 1, -1, -1):
        block *= shape[dim]
        if dim and (shape[dim - 1] == 1 or strides[dim - 1] == block * step):
            continue
        while at >= 0 and (taken < block or new[at] == 1):
            result[at] = taken * step
            taken *= new[at]
            at -= 1
        if taken != block:
            return None
        if dim:
            step = strides[dim - 1]
            block = taken = 1
    return tuple(result) if at == -1 else None


def expanded(shape: Ints, strides: Ints, size: Ints) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and strides after ``expand``: an expanded dimension has stride 0, -1 keeps a size."""
    lead = len(size) - len(shape)
    told: dict[str, Any] = {"shape": list(shape), "size": list(size)}
    if lead < 0:
        refuse("op/expand-size", case="rank", **told)
    if not shape:
        if any(n < 0 for n in size):
            refuse("op/expand-size", case="lead", want=min(size), dim=0, **told)
        return tuple(size), (0,) * len(size)
    sizes, steps = list(size), [0] * len(size)
    for at in range(len(size) - 1, -1, -1):
        dim = at - lead
        if dim >= 0:
            old, step = shape[dim], strides[dim]
        else:
            old, step = 1, sizes[at + 1] * steps[at + 1]
        if size[at] == -1 and dim >= 0:
            sizes[at] = old
        elif size[at] != old:
            if old != 1 or size[at] < 0:
                case = "lead" if dim < 0 else None
                refuse("op/expand-size", case=case, want=size[at], got=old, dim=at, **told)
            step = 0
        steps[at] = step
    return tuple(sizes), tuple(steps)


def clamp_slice(start: int | None, end: int | None, size: int) -> tuple[int, int]:
    """The first and last position of a slice in a dimension of that size, never outside of it."""
    first = 0 if start is None else start + size if start < 0 else start
    last = size if end is None else end + size if end < 0 else end
    first = min(max(first, 0), size)
    return first, min(max(last, first), size)
