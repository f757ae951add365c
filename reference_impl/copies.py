"""Ops that only the machine calls: casts, row-major copies and strided windows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided as as_strided_window

from reference_impl.dtypes import DIFFERENTIABLE
from reference_impl.record import real_part
from reference_impl.rule_marks import warn_once
from reference_impl.views import as_strided_backward
from specs.kind import Dtype, IntList, Offset, Tensor
from specs.layout import converted, laid_out_like
from specs.op import op
from specs.refusal import refuse


@op(internal=True, node="ToCopyBackward0", dtypes="keep", layout=(), complex=True)
def cast(x: Tensor, *, dtype: Dtype) -> Any:
    """The same values as another dtype."""
    real = x
    if x.dtype.kind == "c" != np.dtype(dtype).kind:
        real = x.real
        if x.size:
            warn_once("data/complex-to-real-warns")
    return laid_out_like(converted(real, dtype), x)


def _cast_backward(g: Any, x_dtype: np.dtype) -> Any:
    g = real_part(g, x_dtype)
    if g._array.dtype == x_dtype:
        return g
    # What cannot be differentiated gets a gradient without history, which the engine goes on to refuse.
    return (g if x_dtype.kind in DIFFERENTIABLE else g.detach()).cast(x_dtype)


cast.wrt(x=_cast_backward)


@op(internal=True, node="CloneBackward0", dtypes="keep", complex=True)
def clone_contiguous(x: Tensor) -> Any:
    """A copy in row-major order, whatever the order of ``x``."""
    return x.copy(order="C")


clone_contiguous.wrt(x=lambda g: g)


@op(internal=True, node="ViewAsRealBackward0", view=True, dtypes="keep", complex=True)
def view_as_real(x: Tensor) -> Any:
    """Real and imaginary parts along a new last dimension, in the same memory."""
    return as_strided_window(x.real, (*x.shape, 2), (*x.strides, x.itemsize // 2))


view_as_real.wrt(x=lambda g: g.view_as_complex())


@op(internal=True, node="ViewAsComplexBackward0", view=True, dtypes="keep", complex=True)
def view_as_complex(x: Tensor) -> Any:
    """Pairs along the last dimension as complex numbers, in the same memory."""
    paired = np.ascontiguousarray(x)
    return paired.view({8: np.complex128, 4: np.complex64}[x.itemsize])[..., 0]


view_as_complex.wrt(x=lambda g: g.view_as_real())


@op(internal=True, node="AsStridedBackward0", view=True, dtypes="keep", complex=True)
def as_strided(x: Tensor, *, size: IntList, stride: IntList, offset: Offset) -> Any:
    """A window on the memory of a whole ``x``, in elements."""
    if 0 in size:
        return as_strided_window(x, size, [s * x.itemsize for s in stride])
    memory = x if x.flags.c_contiguous else x.base
    end = 1 + offset + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
    if offset < 0 or end > memory.size:
        # Assigning `.data` to a base leaves its views with windows on memory that it no longer has.
        refuse("view/window-outside-base", offset=offset, end=end, size=memory.size)
    return np.ndarray(size, x.dtype, memory, offset * x.itemsize, [s * x.itemsize for s in stride])


as_strided.wrt(
    x=lambda g, x_shape, x_strides, x_offset, size, stride, offset: as_strided_backward(
        g, (x_shape, x_strides, x_offset), (size, stride, offset)
    )
)
