"""Functions of one operand that generated programs do not call; the others are in ``functions``.

They are compared with torch call by call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.errors import need_kernel
from specs.kind import Scalar, Tensor
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import ROUNDING, error_function


def into(x: Any, number: Any) -> Any:
    """``number / x`` as formulas in C++ make it."""
    return x.reciprocal().mul_scalar(number)


# -- powers and logarithms -------------------------------------------------------------------------
@op(node="RsqrtBackward0", domain="positive", **ROUNDING)
def rsqrt(x: Tensor) -> Any:
    """``1 / sqrt(x)``; saves its result."""
    return np.reciprocal(np.sqrt(x))


def _rsqrt_backward(g: Any, out: Any) -> Any:
    cube = conj(out.pow(3))
    return g.mul_scalar(-0.5).mul(cube)


rsqrt.wrt(x=_rsqrt_backward)


@op(node="Expm1Backward0", **ROUNDING)
def expm1(x: Tensor) -> Any:
    """``exp(x) - 1``; saves its result."""
    return np.expm1(x)


expm1.wrt(x=lambda g, out: g.mul(conj(out.add_scalar(1))))


@op(node="Exp2Backward0", **ROUNDING)
def exp2(x: Tensor) -> Any:
    """``2 ** x``; saves its result."""
    return np.exp2(x)


exp2.wrt(x=lambda g, out: g.mul(conj(out)).mul_scalar(math.log(2)))


@op(node="Log1PBackward0", domain="positive", **ROUNDING)
def log1p(x: Tensor) -> Any:
    """``log(1 + x)``."""
    return np.log1p(x)


log1p.wrt(x=lambda g, x: g.div(conj(x.add_scalar(1))))


@op(node="Log2Backward0", domain="positive", **ROUNDING)
def log2(x: Tensor) -> Any:
    """Logarithm to base 2."""
    return np.log2(x)


log2.wrt(x=lambda g, x: g.div(conj(x).mul_scalar(math.log(2))))


@op(node="Log10Backward0", domain="positive", **ROUNDING)
def log10(x: Tensor) -> Any:
    """Logarithm to base 10."""
    return np.log10(x)


log10.wrt(x=lambda g, x: g.div(conj(x).mul_scalar(math.log(10))))


# -- circular and hyperbolic -----------------------------------------------------------------------
def _under_root(x: Any) -> Any:
    """``1 / sqrt(1 - x * x)``."""
    return x.neg().mul(x).add_scalar(1).rsqrt()


@op(node="TanBackward0", **ROUNDING)
def tan(x: Tensor) -> Any:
    """Tangent; saves its result."""
    return np.tan(x)


tan.wrt(x=lambda g, out: g.mul(conj(out.pow(2).add_scalar(1))))


@op(node="AsinBackward0", **ROUNDING)
def asin(x: Tensor) -> Any:
    """Inverse sine."""
    return np.arcsin(x)


asin.wrt(x=lambda g, x: g.mul(conj(_under_root(x))))


@op(node="AcosBackward0", **ROUNDING)
def acos(x: Tensor) -> Any:
    """Inverse cosine."""
    return np.arccos(x)


acos.wrt(x=lambda g, x: g.mul(conj(_under_root(x).neg())))


@op(node="AtanBackward0", **ROUNDING)
def atan(x: Tensor) -> Any:
    """Inverse tangent."""
    return np.arctan(x)


atan.wrt(x=lambda g, x: g.div(conj(x.mul(x).add_scalar(1))))


@op(node="SinhBackward0", **ROUNDING)
def sinh(x: Tensor) -> Any:
    """Hyperbolic sine."""
    return np.sinh(x)


sinh.wrt(x=lambda g, x: g.mul(conj(x.cosh())))


@op(node="CoshBackward0", **ROUNDING)
def cosh(x: Tensor) -> Any:
    """Hyperbolic cosine."""
    return np.cosh(x)


cosh.wrt(x=lambda g, x: g.mul(conj(x.sinh())))


@op(node="ErfBackward0", lacks="c", kernel="erf_vml", **ROUNDING)
def erf(x: Tensor) -> Any:
    """Error function."""
    return error_function(x)


erf.wrt(x=lambda g, x: x.pow(2).neg().exp().mul_scalar(2 / math.sqrt(math.pi)).mul(g))


# -- steps: zero gradient everywhere ---------------------------------------------------------------
_STEP: dict[str, Any] = {"internal": True, "inplace": True, "dtypes": "keep", "layout": ("x",)}


def _stepped(function: Any, x: np.ndarray) -> Any:
    need_kernel(function.__name__, x, "c")
    return x.copy() if x.dtype.kind in "iu" else function(x)


@op(node="FloorBackward0", kernel="floor_vml", lacks="b", **_STEP)
def floor(x: Tensor) -> Any:
    """The largest integer not above."""
    return _stepped(np.floor, x)


@op(node="CeilBackward0", kernel="ceil_vml", lacks="b", **_STEP)
def ceil(x: Tensor) -> Any:
    """The smallest integer not below."""
    return _stepped(np.ceil, x)


@op(node="TruncBackward0", kernel="trunc_vml", lacks="b", **_STEP)
def trunc(x: Tensor) -> Any:
    """The integer next towards zero."""
    return _stepped(np.trunc, x)


@op(node="RoundBackward0", kernel="round_vml", lacks="bc", **_STEP)
def round(x: Tensor) -> Any:
    """The nearest integer, the even one of two."""
    return np.rint(x).astype(x.dtype)


@op(internal=True, inplace=True, node="SignBackward0", dtypes="keep", layout=("x",), lacks="c")
def sign(x: Tensor) -> Any:
    """-1, 0 or 1; NaN has the sign 0."""
    return x.copy() if x.dtype.kind == "b" else np.sign(x, where=x == x, out=np.zeros_like(x))


@op(
    name="round",
    internal=True,
    inplace=True,
    node="RoundBackward1",
    dtypes="keep",
    wide=True,
    layout=("x",),
    lacks="biuc",
)
def round_decimals(x: Tensor, *, decimals: Scalar) -> Any:
    """The nearest number with so many digits behind the point, or zeros before it."""
    power = x.dtype.type(10.0 ** abs(decimals))
    if decimals < 0:
        return (np.rint(x / power) * power).astype(x.dtype)
    return (np.rint(x * power) / power).astype(x.dtype)


for stepping in (floor, ceil, trunc, round, round_decimals, sign):
    stepping.wrt(x=lambda g: g.zeros_like())


@op(internal=True, inplace=True, node="FracBackward0", dtypes="keep", layout=("x",), lacks="biuc")
def frac(x: Tensor) -> Any:
    """The part of a number behind the point, with its sign."""
    return x - np.trunc(x)


frac.wrt(x=lambda g: g)
