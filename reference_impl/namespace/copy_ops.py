"""Internal ops: casts, copies between devices, row-major copies, fills of copies and from another device."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from reference_impl.base.device import device, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, warn_once
from reference_impl.core.access import array_of
from reference_impl.core.record import real_part
from specs.inference_alone import copied, copied_by_rows
from specs.kind import Dtype, Kind, Number, Tensor
from specs.layout import converted, laid_out_like
from specs.op import op
from specs.ops import create

Place = Annotated[Any, Kind("place", "a device", (device,))]


@op(internal=True, node="ToCopyBackward0", dtypes="keep", layout=(), complex=True, alone=copied)
def cast(x: Tensor, *, dtype: Dtype) -> Any:
    """Cast to another dtype."""
    real = x
    if x.dtype.kind == "c" != np.dtype(dtype).kind:
        real = x.real
        if x.size:
            warn_once("data/complex-to-real-warns")
    return laid_out_like(converted(real, dtype), x)


def _cast_backward(g: Any, x_dtype: np.dtype) -> Any:
    g = real_part(g, x_dtype)
    if array_of(g).dtype == x_dtype:
        return g
    # For a dtype without gradients the result has no history; the engine refuses it next.
    return (g if x_dtype.kind in DIFFERENTIABLE else g.detach()).cast(x_dtype)


cast.wrt(x=_cast_backward)


@op(internal=True, node="ToCopyBackward0", dtypes="keep", layout=(), complex=True, alone=copied)
def copy_to(x: Tensor, *, dtype: Dtype, place: Place) -> Any:
    """Copy to a device, cast to a dtype."""
    if x.dtype == dtype:
        return laid_out_like(converted(x, dtype), x)
    return cast.body(x, dtype=dtype)


def _copied_back(g: Any, x_dtype: np.dtype, x_place: device) -> Any:
    g = real_part(g, x_dtype)
    if place_of(g) is x_place or not by("device/gradient-comes-back"):
        return _cast_backward(g, x_dtype)
    return (g if x_dtype.kind in DIFFERENTIABLE else g.detach()).copy_to(x_dtype, x_place)


copy_to.wrt(x=_copied_back)


@op(internal=True, node="CloneBackward0", dtypes="keep", complex=True, alone=copied_by_rows)
def clone_contiguous(x: Tensor) -> Any:
    """Copy in row-major order, whatever the layout of ``x``."""
    return x.copy(order="C")


clone_contiguous.wrt(x=lambda g: g)


@op(
    internal=True,
    inplace="only",
    name="_fill_across_",
    node="FillBackward3",
    dtypes="keep",
    memory="constant",
    overwrites="fill",
    crosses=True,
    complex=True,
)
def fill_across_(x: Tensor, value: Tensor):
    """Overwrite with the single element of a 0-d tensor from another device."""
    return create.fill_number_.compute((x, value.item()), {})


fill_across_.wrt(x=lambda g: g.zeros_like(), value=lambda g: g.sum())


@op(internal=True, name="_filled_with_number", node="FillBackward0", dtypes="keep", complex=True)
def filled_with_number(x: Tensor, value: Number) -> Any:
    """A copy that is filled with a number."""
    return laid_out_like(np.full(x.shape, create.fill_number_.compute((x, value), {})), x)


filled_with_number.wrt(x=lambda g: g.zeros_like())


@op(
    internal=True, name="_filled_with_tensor", node="FillBackward1", dtypes="keep", crosses=True, complex=True
)
def filled_with_tensor(x: Tensor, value: Tensor) -> Any:
    """A copy that is filled with the one element of a 0-d tensor."""
    number = converted(create.fill_tensor_.compute((x, value), {}), x.dtype)
    return laid_out_like(np.full(x.shape, number), x)


filled_with_tensor.wrt(x=lambda g: g.zeros_like(), value=lambda g: g.sum())
