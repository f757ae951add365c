"""Bessel's functions, the scaled error function and the normal distribution's: ``torch.special``.

Generated programs do not call them (``internal``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.errors import need_late_kernel
from specs.kind import Number, Tensor, Wrapped
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import ROUNDING

_FACTS: dict[str, Any] = {**ROUNDING, "ulp": 16, "inplace": False}
TERMS = 60


def _scaled_bessel(x: np.ndarray, order: int) -> np.ndarray:
    """The modified Bessel function of the first kind times ``exp(-|x|)``: its integral, by trapezoids."""
    y = x.astype(np.float64)[..., None]
    angles = np.linspace(0, np.pi, 8 * TERMS + 1)
    ends = np.where((angles == 0) | (angles == np.pi), 0.5, 1.0)
    waves = np.exp(np.abs(y) * (np.cos(angles) - 1)) * np.cos(order * angles) * ends
    out = waves.sum(-1) / (8 * TERMS)
    return np.sign(x) ** order * out


def _bessel(x: np.ndarray, order: int) -> np.ndarray:
    return (_scaled_bessel(x, order) * np.exp(np.abs(x.astype(np.float64)))).astype(x.dtype)


@op(node="I0Backward0", lacks="c", kernel="i0_vml", **_FACTS | {"inplace": True})
def i0(x: Tensor) -> Any:
    """The modified Bessel function of the first kind of order 0."""
    return _bessel(x, 0)


@op(node="SpecialI1Backward0", lacks="c", kernel="i1", **_FACTS)
def _special_i1(x: Tensor) -> Any:
    """The modified Bessel function of the first kind of order 1."""
    return _bessel(x, 1)


@op(node="SpecialI0EBackward0", lacks="c", kernel="i0e", **_FACTS)
def _special_i0e(x: Tensor) -> Any:
    """`i0` times ``exp(-|x|)``."""
    return _scaled_bessel(x, 0).astype(x.dtype)


@op(node="SpecialI1EBackward0", lacks="c", kernel="i1e", **_FACTS)
def _special_i1e(x: Tensor) -> Any:
    """`_special_i1` times ``exp(-|x|)``."""
    return _scaled_bessel(x, 1).astype(x.dtype)


def _away_from_zero(x: Any) -> tuple[Any, Any]:
    """A mask of what is hardly zero, and ``x`` with something else in place of zeros."""
    apart = x.abs().gt(float(np.finfo(np.float32).eps))
    return apart, x._where(apart, x.detach().new_full((), float(np.finfo(np.float32).eps)))


def _i1_backward(g: Any, x: Any, x_dtype: Any, out: Any) -> Any:
    need_late_kernel("op/kernels-that-came-late", "i1_backward", x_dtype, "eV")
    apart, safe = _away_from_zero(x)
    return g.mul(safe.i0().sub(out.mul(safe.reciprocal()))._where(apart, out.new_full((), 0.5)))


def _i1e_backward(g: Any, x: Any, x_dtype: Any, out: Any) -> Any:
    need_late_kernel("op/kernels-that-came-late", "i1e_backward", x_dtype, "eV")
    apart, safe = _away_from_zero(x)
    slope = safe._special_i0e().sub(out.mul(safe.sgn().add(safe.reciprocal())))
    return g.mul(slope._where(apart, out.new_full((), 0.5)))


i0.wrt(x=lambda g, x: g.mul(x._special_i1()))
_special_i1.wrt(x=_i1_backward)
_special_i0e.wrt(x=lambda g, x, out: g.mul(x._special_i1e().sub(x.sgn().mul(out))))
_special_i1e.wrt(x=_i1e_backward)


# -- the normal distribution -------------------------------------------------------------------------
def _scaled_error(x: float) -> float:
    """``exp(x * x) * erfc(x)``, by its continued fraction where that would be infinity times zero."""
    if x < 5:
        return math.exp(x * x) * math.erfc(x) if x > -26 else math.inf
    fraction = 0.0
    for k in range(TERMS, 0, -1):
        fraction = k / 2 / (x + fraction)
    return 1 / (math.sqrt(math.pi) * (x + fraction))


def _each(function: Any, x: np.ndarray) -> np.ndarray:
    return np.vectorize(function, otypes=[np.float64])(x).astype(x.dtype) if x.size else x


@op(node="SpecialErfcxBackward0", lacks="ceV", kernel="erfcx", **_FACTS)
def _special_erfcx(x: Tensor) -> Any:
    """The complementary error function times ``exp(x * x)``."""
    return _each(_scaled_error, x)


_special_erfcx.wrt(x=lambda g, x, out: x.mul_scalar(2).mul(out).sub_scalar(2 / math.sqrt(math.pi)).mul(g))


def _log_below(x: float) -> float:
    if x == -math.inf:
        return x
    if x < -1:
        return math.log(_scaled_error(-x / math.sqrt(2)) / 2) - x * x / 2
    return math.log1p(-math.erfc(x / math.sqrt(2)) / 2)


@op(node="SpecialLogNdtrBackward0", lacks="ceV", kernel="log_ndtr", **_FACTS)
def _special_log_ndtr(x: Tensor) -> Any:
    """The logarithm of the share of the normal distribution below ``x``."""
    return _each(_log_below, x)


_special_log_ndtr.wrt(
    x=lambda g, x, out: g.div_scalar(math.sqrt(2 * math.pi)).mul(out.add(x.pow(2).div_scalar(2)).neg().exp())
)


@op(node="SpecialEntrBackward0", lacks="c", kernel="entr", **_FACTS)
def _special_entr(x: Tensor) -> Any:
    """``-x * log(x)``, minus infinity below zero."""
    return np.where(x > 0, -x * np.log(x), np.where(x == 0, 0, np.where(x < 0, -np.inf, x)))


_special_entr.wrt(x=lambda g, x: g.mul(x.log().add_scalar(1).neg()))


_TIMES_LOG: dict[str, Any] = {
    "name": "_special_xlog1py", "internal": True, "dtypes": "float", "exact": False, "ulp": 4, "lacks": "c",
    "kernel": "xlog1py",
}  # fmt: skip


@op(node="SpecialXlog1PyBackward0", **_TIMES_LOG)
def _special_xlog1py(x: Tensor, y: Tensor) -> Any:
    """``x * log(1 + y)``, zero where ``x`` is zero."""
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log1p(y))


@op(node="SpecialXlog1PyBackward1", **_TIMES_LOG)
def _special_xlog1py_of_number(x: Wrapped, y: Tensor) -> Any:
    """That of a number and a tensor."""
    return _special_xlog1py.body(x, y)


@op(node="SpecialXlog1PyBackward2", **_TIMES_LOG)
def _special_xlog1py_number(x: Tensor, y: Number) -> Any:
    """That of a tensor and a number."""
    return _special_xlog1py.body(x, y)


def _xlog1py_left(g: Any, x: Any, y: Any) -> Any:
    return g._special_xlog1py(y).masked_fill(x.eq(0).logical_and(y.le(-1)), 0)


def _xlog1py_left_of_number(g: Any, x: Any, y: Any) -> Any:
    found = g._special_xlog1py(y)
    return found if y > -1 else found.masked_fill(x.eq(0), 0)


def _xlog1py_right(g: Any, x: Any, y: Any) -> Any:
    more = y.add_scalar(1)  # NB: the compiler computes it before the product
    return (g.mul(x) if hasattr(x, "shape") else g.mul_scalar(x)).div(more)


_special_xlog1py.wrt(x=_xlog1py_left, y=_xlog1py_right)
_special_xlog1py_of_number.wrt(y=_xlog1py_right)
_special_xlog1py_number.wrt(x=_xlog1py_left_of_number)


@op(node="SincBackward0", **_FACTS | {"inplace": True})
def sinc(x: Tensor) -> Any:
    """``sin(pi * x) / (pi * x)``, one at zero."""
    return np.sinc(x)


def _sinc_backward(g: Any, x: Any) -> Any:
    turned = x.mul_scalar(math.pi)
    slope = turned.mul(turned.cos()).sub(turned.sin()).div(x.mul(x).mul_scalar(math.pi))
    return g.detach().new_zeros(())._where(turned.eq(0), g.mul(conj(slope)))


sinc.wrt(x=_sinc_backward)
