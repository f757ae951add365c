"""Rarer functions with a node of their own: generated programs do not call them (``internal``)."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from specs.errors import LARGEST_NUMBERS
from specs.kind import Dim, Number, Tensor, Wrapped
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import ROUNDING, along, error_function, minus

_TIMES_LOG: dict[str, Any] = {
    "name": "xlogy", "internal": True, "dtypes": "float", "exact": False, "ulp": 4, "lacks": "c",
}  # fmt: skip


@op(inplace=True, node="XlogyBackward0", **_TIMES_LOG)
def xlogy(x: Tensor, y: Tensor):
    """``x * log(y)``, zero where ``x`` is zero."""
    return np.where((x == 0) & ~np.isnan(y), 0, x * np.log(y))


@op(node="XlogyBackward1", **_TIMES_LOG)
def xlogy_of_number(x: Wrapped, y: Tensor):
    """That of a number and a tensor."""
    return xlogy.body(x, y)


@op(inplace=True, node="XlogyBackward2", **_TIMES_LOG)
def xlogy_number(x: Tensor, y: Number):
    """That of a tensor and a number."""
    return xlogy.body(x, y)


def _xlogy_left(g, x, y):
    """``log(y)``, and nothing where ``x`` is zero and the logarithm is none."""
    return g.xlogy(y).masked_fill(x.eq(0).logical_and(y.le(0)), 0)


def _xlogy_left_of_number(g, x, y):
    found = g.xlogy(y)
    return found if y > 0 else found.masked_fill(x.eq(0), 0)


xlogy.wrt(x=_xlogy_left, y=lambda g, x, y: g.mul(x).div(y))
xlogy_of_number.wrt(y=lambda g, x, y: g.mul_scalar(x).div(y))
xlogy_number.wrt(x=_xlogy_left_of_number)


@op(node="ErfcBackward0", lacks="c", kernel="erfc_vml", **ROUNDING)
def erfc(x: Tensor):
    """One minus the error function."""
    made = np.vectorize(math.erfc, otypes=[np.float64])(x) if x.size else x
    return np.asarray(made).astype(x.dtype)


erfc.wrt(x=lambda g, x: g.mul(x.mul(x).neg().exp()).mul_scalar(-2 / math.sqrt(math.pi)))


def _inverse_error(x: np.ndarray) -> np.ndarray:
    """Newton's method from an approximation by elementary functions."""
    y = x.astype(np.float64)
    log = np.log1p(-y * y)
    a = 2 / (math.pi * 0.147) + log / 2
    out = np.sign(y) * np.sqrt(np.sqrt(a * a - log / 0.147) - a)
    for _ in range(4):
        out = out - (error_function(out) - y) / (2 / math.sqrt(math.pi) * np.exp(-out * out))
    return np.where(np.abs(y) == 1, y * np.inf, out)


@op(node="ErfinvBackward0", lacks="c", kernel="erfinv_vml", **ROUNDING)
def erfinv(x: Tensor):
    """The inverse of the error function; saves its result."""
    return _inverse_error(x).astype(x.dtype) if x.size else x


erfinv.wrt(x=lambda g, x: g.mul(x.erfinv().pow(2).exp()).mul_scalar(math.sqrt(math.pi) / 2))


_BESIDE = ROUNDING | {"inplace": False}
_WRITTEN = ROUNDING | {"inplace": "only"}


def _not_in_place(name: str) -> Any:
    """Make the formula of a write that PyTorch records, and cannot differentiate."""

    def refused(g: Any, x: Any) -> Any:
        raise NotImplementedError(f"the derivative for 'inplace version of {name}' is not implemented.")

    return refused


@op(node="AcoshBackward0", **_BESIDE)
def acosh(x: Tensor):
    """Inverse hyperbolic cosine."""
    return np.arccosh(x)


def _acosh_backward(g, x):
    """NB: the root of a square would lose the sign of a complex number."""
    if x.is_complex():
        return g.mul(conj(x.add_scalar(1).rsqrt().mul(x.sub_scalar(1).rsqrt())))
    return g.mul(x.mul(x).sub_scalar(1).rsqrt())


acosh.wrt(x=_acosh_backward)


@op(node="AcoshBackward1", **_WRITTEN)
def acosh_(x: Tensor):
    """Inverse hyperbolic cosine, in place."""
    return np.arccosh(x)


acosh_.wrt(x=_not_in_place("acosh"))


@op(node="AsinhBackward0", **_BESIDE)
def asinh(x: Tensor):
    """Inverse hyperbolic sine."""
    return np.arcsinh(x)


asinh.wrt(x=lambda g, x: g.mul(conj(x.mul(x).add_scalar(1).rsqrt())))


@op(node="AsinhBackward1", **_WRITTEN)
def asinh_(x: Tensor):
    """Inverse hyperbolic sine, in place."""
    return np.arcsinh(x)


asinh_.wrt(x=_not_in_place("asinh"))


@op(node="AtanhBackward0", **_BESIDE)
def atanh(x: Tensor):
    """Inverse hyperbolic tangent."""
    return np.arctanh(x)


atanh.wrt(x=lambda g, x: g.div(conj(minus(1, x.mul(x)))))


@op(node="AtanhBackward1", **_WRITTEN)
def atanh_(x: Tensor):
    """Inverse hyperbolic tangent, in place."""
    return np.arctanh(x)


atanh_.wrt(x=_not_in_place("atanh"))


def _accumulated(x: np.ndarray, axis: int) -> np.ndarray:
    """Running `numpy.logaddexp` of complex numbers; imaginary parts may leave -pi to pi."""
    out = np.moveaxis(x.copy(), axis, 0)
    for n in range(1, len(out)):
        low, high = np.where(out[n - 1].real < out[n].real, out[n - 1 : n + 1], out[n - 1 : n + 1][::-1])
        out[n] = np.log(1 + np.exp(low - high)) + high
    return np.moveaxis(out, 0, axis)


@op(
    internal=True,
    node="LogcumsumexpBackward0",
    dtypes="float",
    exact=False,
    ulp=8,
    cancels=True,
    lacks="biu",
    layout=(),
    kernel="logcumsumexp_out",
)
def logcumsumexp(x: Tensor, dim: Dim) -> Any:
    """The logarithms of running sums of exponentials."""
    array, axis = along(x, dim)
    out = (_accumulated if x.dtype.kind == "c" else np.logaddexp.accumulate)(array, axis)
    return np.asarray(out.reshape(x.shape), order="C")


def _logcumsumexp_backward(g: Any, x: Any, out: Any, dim: int, x_dtype: np.dtype) -> Any:
    """For each element the sum over later results of ``g * exp(x - out)``, by logarithms of ``g``."""
    if not g.ndim or not g.numel():
        return g

    def summed(logs: Any) -> Any:
        return logs.sub(out).flip((dim,)).logcumsumexp(dim).flip((dim,)).add(x).exp()

    if g.is_complex():
        return conj(summed(conj(g).log()))
    least = -LARGEST_NUMBERS.get(str(x_dtype), sys.float_info.max)
    logs = g.abs().log()
    positive, negative = logs._where(g.gt(0), least), logs._where(g.lt(0), least)
    return summed(positive).sub(summed(negative))


logcumsumexp.wrt(x=_logcumsumexp_backward)
