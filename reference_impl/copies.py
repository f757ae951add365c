"""Ops that only the machine calls: casts, row-major copies and strided windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.views import as_strided_backward
from specs.kind import Dtype, IntList, Offset, Tensor
from specs.op import op


@op(internal=True, node="ToCopyBackward0", dtypes="keep", complex=True)
def cast(x: Tensor, *, dtype: Dtype) -> Any:
    """The same values as another dtype."""
    return (x.real if x.dtype.kind == "c" != np.dtype(dtype).kind else x).astype(dtype)


cast.wrt(x=lambda g, x_dtype: g.cast(x_dtype))


@op(internal=True, node="CloneBackward0", dtypes="keep", complex=True)
def clone_contiguous(x: Tensor) -> Any:
    """A copy in row-major order, whatever the order of ``x``."""
    return x.copy(order="C")


clone_contiguous.wrt(x=lambda g: g)


@op(internal=True, node="AsStridedBackward0", view=True, dtypes="keep", complex=True)
def as_strided(x: Tensor, *, size: IntList, stride: IntList, offset: Offset) -> Any:
    """A window on the memory of a whole ``x``, in elements."""
    memory = x if x.flags.c_contiguous else x.base
    return np.ndarray(size, x.dtype, memory, offset * x.itemsize, [s * x.itemsize for s in stride])


as_strided.wrt(
    x=lambda g, x_shape, x_strides, x_offset, size, stride, offset: as_strided_backward(
        g, (x_shape, x_strides, x_offset), (size, stride, offset)
    )
)
