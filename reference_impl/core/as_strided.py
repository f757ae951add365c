"""`as_strided`: views of a storage with any shape, strides and offset.

`views` says what a view is; ``namespace.resize`` changes a tensor's own geometry.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from reference_impl.base.rules import by, refuse_by
from reference_impl.core import extension_points
from reference_impl.core.tensor import Tensor, wrap
from specs.kind import IntList, Kind, Offset
from specs.kind import Tensor as TensorOperand
from specs.op import op
from specs.ops.shapes import placed

StridedGeometry = tuple[tuple[int, ...], tuple[int, ...], int]
"""Shape, strides and offset of elements in a storage."""
Memory = Annotated[Any, Kind("memory", "the storage behind operand x", (object,))]


def elements_of(storage: np.ndarray, dtype: np.dtype) -> int:
    """The number of elements of ``dtype`` that fit into a storage."""
    if storage.flags.c_contiguous:
        return storage.nbytes // dtype.itemsize
    first, end = np.lib.array_utils.byte_bounds(storage)
    return (end - first) // dtype.itemsize


def window_on(storage: np.ndarray, dtype: np.dtype, window: StridedGeometry) -> np.ndarray:
    """An array on a storage with that geometry; refused if it reaches beyond the storage.

    Without the rule that says so it is on memory of its own: what lies there is nobody's to write to.
    """
    shape, strides, offset = window
    size = elements_of(storage, dtype)
    end = offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    if offset < 0 or (end > size and 0 not in shape):
        case = None if offset >= 0 else "negative"
        itemsize, sizes = dtype.itemsize, {"sizes": list(shape), "strides": list(strides)}
        bytes_ = {"itemsize": itemsize, "needs": end * itemsize, "has": size * itemsize}
        refuse_by("view/window-outside-base", offset=offset, end=end, size=size, case=case, **sizes, **bytes_)
        return np.zeros(shape, dtype)
    if not storage.flags.c_contiguous or 0 in shape:
        return placed(storage, dtype, shape, strides, offset)
    return np.ndarray(shape, dtype, storage, offset * dtype.itemsize, [s * dtype.itemsize for s in strides])


@op(internal=True, node="AsStridedBackward0", view=True, dtypes="keep", complex=True)
def _as_strided(x: TensorOperand, *, size: IntList, stride: IntList, offset: Offset, storage: Memory) -> Any:
    """A view of the storage behind ``x``, in elements of its dtype."""
    if len(size) != len(stride):
        refuse_by("window/strides", why=f"{len(stride)} strides for {len(size)} dimensions", case="count")
    if any(step < 0 for step in stride):
        refuse_by("window/strides", why=f"negative strides in {list(stride)}", strides=list(stride))
    return window_on(storage, x.dtype, (size, stride, offset))


_as_strided.wrt(
    x=lambda g, x_shape, x_strides, x_offset, size, stride, offset: as_strided_backward(
        g, (x_shape, x_strides, x_offset), (size, stride, offset)
    )
)


def as_strided(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the storage behind this tensor, also of elements that this tensor does not show.

    The offset counts from the start of the storage; the default is this tensor's own offset.
    """
    if not isinstance(size, (tuple, list)) or not isinstance(stride, (tuple, list)):
        refuse_by("op/arguments", name="as_strided", given=f"{type(size).__name__}, {type(stride).__name__}")
    if any(n < 0 for n in size):
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}"
        )
    storage = self._storage if by("window/on-the-storage") else self._array
    offset = extension_points.offset_of_window(self, size, stride, storage_offset)
    return self._as_strided(size=tuple(size), stride=tuple(stride), offset=offset, storage=storage)


def as_strided_backward(g: Tensor, base: StridedGeometry, window: StridedGeometry) -> Tensor:
    """Add ``g`` to zeros shaped like the storage behind both geometries, and return the base's view of them.

    An element that the window shows several times receives the sum; a base that shows an element several
    times divides its gradient evenly among them.
    """
    base_shape, base_strides, base_offset = base
    shape, strides, offset = window
    kept: list[int] = []
    # From the last dimension on, so that an empty one ends it as in PyTorch.
    for dim in reversed(range(len(shape))):
        if not shape[dim]:
            return wrap(np.zeros(base_shape, g._array.dtype))
        if shape[dim] == 1:
            g = g.squeeze(dim)
        elif strides[dim] == 0:
            g = g.sum(dim, False)
        else:
            kept.insert(0, dim)
    if 0 in base_shape:
        return wrap(np.zeros(base_shape, g._array.dtype))
    shape, strides = tuple(shape[d] for d in kept), tuple(strides[d] for d in kept)
    lowest = min(base_offset, offset)
    extent = max(_end(base) - lowest, _end((shape, strides, offset)) - lowest, 0)
    storage = wrap(np.zeros(extent, g._array.dtype))
    if _may_overlap(shape, strides) and by("window/sums-what-it-repeats"):
        storage.index_add_(0, wrap(_positions((shape, strides, offset), lowest)), g.reshape(-1))
    else:
        storage.as_strided(shape, strides, offset - lowest).copy_(g)
    wide = [d for d, n in enumerate(base_shape) if n != 1]
    if _may_overlap([base_shape[d] for d in wide], [base_strides[d] for d in wide]):
        counts = wrap(np.zeros(extent, g._array.dtype))
        np.add.at(counts._array, _positions(base, lowest), 1)
        storage.div_(counts)
    return storage.as_strided(base_shape, base_strides, base_offset - lowest)


def _may_overlap(shape: Any, strides: Any) -> bool:
    """PyTorch's test whether a geometry shows an element twice: in order of strides, each dimension must step
    over all finer ones.
    """
    reach = 0
    for stride, n in sorted(zip(strides, shape, strict=True), key=lambda dim: dim[0]):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


def _end(window: StridedGeometry) -> int:
    shape, strides, offset = window
    return (
        offset if 0 in shape else offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    )


def _positions(window: StridedGeometry, lowest: int) -> np.ndarray:
    shape, strides, offset = window
    where = np.full(shape, offset - lowest)
    for dim, (n, s) in enumerate(zip(shape, strides, strict=True)):
        where += (np.arange(n) * s).reshape([-1 if d == dim else 1 for d in range(len(shape))])
    return where.reshape(-1)


METHODS: dict[str, Any] = {"as_strided": as_strided}
"""The methods, and functions of the namespace, by name."""
