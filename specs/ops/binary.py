"""Elementwise functions of two operands: angles, quotients that are rounded, what division leaves.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.errors import need_kernel
from specs.kind import Number, Rounding, Tensor
from specs.op import op
from specs.ops.helpers import need_divisors


@op(
    batched_write="broadcast",
    internal=True,
    inplace=True,
    node="Atan2Backward0",
    dtypes="float",
    exact=False,
    ulp=4,
    lacks="c",
)
def atan2(x: Tensor, y: Tensor) -> Any:
    """The angle of the point with ordinate ``x`` and abscissa ``y``."""
    return np.arctan2(x, y)


def _share(g: Any, x: Any, y: Any) -> Any:
    """``g`` over the square of the distance from the origin, at which it is zero."""
    square = x.mul(x).add(y.mul(y))
    return g.mul(square.reciprocal().masked_fill(square.eq(0), 0))


atan2.wrt(x=lambda g, x, y: _share(g.mul(y), x, y), y=lambda g, x, y: _share(g.mul(x.neg()), x, y))


@op(internal=True, inplace=True, node="HypotBackward0", lacks="biuc")
def hypot(x: Tensor, y: Tensor) -> Any:
    """The square root of the sum of two squares; saves both and the result."""
    return np.hypot(x, y)


hypot.wrt(x=lambda g, x, out: g.mul(x).div(out), y=lambda g, y, out: g.mul(y).div(out))


@op(internal=True, name="div", inplace=True, node="DivBackward2", zero="quotient")
def div_rounded(x: Tensor, y, *, rounding_mode: Rounding) -> Any:
    """The quotient rounded down or towards zero."""
    if rounding_mode not in ("floor", "trunc"):
        found = f"None, 'trunc', or 'floor' but found '{rounding_mode}'"
        raise RuntimeError(f"div expected rounding_mode to be one of {found}")
    need_kernel(f"div_{rounding_mode}", x, "bc")
    need_divisors(x, y)
    quotient = np.floor_divide(x, y) if rounding_mode == "floor" else np.trunc(np.true_divide(x, y))
    return quotient.astype(np.result_type(x, y), copy=False)


div_rounded.wrt(x=lambda g, y: g.zeros_like(), y=lambda g, x, y: g.zeros_like())


@op(internal=True, name="remainder", inplace=True, node="RemainderBackward0", lacks="cb")
def remainder_number(x: Tensor, y: Number) -> Any:
    """The remainder of ``x`` divided by ``y``, with the sign of ``y``."""
    need_divisors(x, y)
    return np.remainder(x, y)


@op(internal=True, name="fmod", inplace=True, node="FmodBackward0", lacks="cb")
def fmod_number(x: Tensor, y: Number) -> Any:
    """The remainder of ``x`` divided by ``y``, with the sign of ``x``."""
    need_divisors(x, y)
    return np.fmod(x, y)


for leaving in (remainder_number, fmod_number):
    leaving.wrt(x=lambda g: g)


@op(internal=True, name="remainder", inplace=True, node="RemainderBackward1", lacks="cb")
def remainder_tensor(x: Tensor, y: Tensor) -> Any:
    """The remainder of ``x`` divided by ``y``, with the sign of ``y``."""
    need_divisors(x, y)
    return np.remainder(x, y)


@op(internal=True, name="fmod", inplace=True, node="FmodBackward1", lacks="cb")
def fmod_tensor(x: Tensor, y: Tensor) -> Any:
    """The remainder of ``x`` divided by ``y``, with the sign of ``x``."""
    need_divisors(x, y)
    return np.fmod(x, y)


remainder_tensor.wrt(x=lambda g: g, y=lambda g, x, y: g.neg().mul(x.div(y, rounding_mode="floor")))
fmod_tensor.wrt(x=lambda g: g, y=lambda g, x, y: g.neg().mul(x.div(y, rounding_mode="trunc")))
