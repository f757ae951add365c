"""Functions of one operand that generated programs do not call; the others are in ``functions``.

They are compared with torch call by call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.errors import need_kernel
from specs.kind import Scale, Tensor
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import minus


def into(x: Any, number: Any) -> Any:
    """``number / x`` as formulas in C++ make it."""
    return x.reciprocal().mul_scalar(number)


# -- powers and logarithms -------------------------------------------------------------------------
@op(internal=True, inplace=True, node="RsqrtBackward0", dtypes="float", exact=False, ulp=4, domain="positive")
def rsqrt(x: Tensor) -> Any:
    """``1 / sqrt(x)``; saves its result."""
    return np.reciprocal(np.sqrt(x))


def _rsqrt_backward(g: Any, out: Any) -> Any:
    cube = conj(out.pow(3))
    return g.mul_scalar(-0.5).mul(cube)


rsqrt.wrt(x=_rsqrt_backward)


@op(internal=True, inplace=True, node="Expm1Backward0", dtypes="float", exact=False, ulp=4)
def expm1(x: Tensor) -> Any:
    """``exp(x) - 1``; saves its result."""
    return np.expm1(x)


expm1.wrt(x=lambda g, out: g.mul(conj(out.add_scalar(1))))


@op(internal=True, inplace=True, node="Exp2Backward0", dtypes="float", exact=False, ulp=4)
def exp2(x: Tensor) -> Any:
    """``2 ** x``; saves its result."""
    return np.exp2(x)


exp2.wrt(x=lambda g, out: g.mul(conj(out)).mul_scalar(math.log(2)))


@op(internal=True, inplace=True, node="Log1PBackward0", dtypes="float", exact=False, ulp=4, domain="positive")
def log1p(x: Tensor) -> Any:
    """``log(1 + x)``."""
    return np.log1p(x)


log1p.wrt(x=lambda g, x: g.div(conj(x.add_scalar(1))))


@op(internal=True, inplace=True, node="Log2Backward0", dtypes="float", exact=False, ulp=4, domain="positive")
def log2(x: Tensor) -> Any:
    """Logarithm to base 2."""
    return np.log2(x)


log2.wrt(x=lambda g, x: g.div(conj(x).mul_scalar(math.log(2))))


@op(internal=True, inplace=True, node="Log10Backward0", dtypes="float", exact=False, ulp=4, domain="positive")
def log10(x: Tensor) -> Any:
    """Logarithm to base 10."""
    return np.log10(x)


log10.wrt(x=lambda g, x: g.div(conj(x).mul_scalar(math.log(10))))


# -- circular and hyperbolic -----------------------------------------------------------------------
def _under_root(x: Any) -> Any:
    """``1 / sqrt(1 - x * x)``."""
    return x.neg().mul(x).add_scalar(1).rsqrt()


@op(internal=True, inplace=True, node="TanBackward0", dtypes="float", exact=False, ulp=4)
def tan(x: Tensor) -> Any:
    """Tangent; saves its result."""
    return np.tan(x)


tan.wrt(x=lambda g, out: g.mul(conj(out.pow(2).add_scalar(1))))


@op(internal=True, inplace=True, node="AsinBackward0", dtypes="float", exact=False, ulp=4)
def asin(x: Tensor) -> Any:
    """Inverse sine."""
    return np.arcsin(x)


asin.wrt(x=lambda g, x: g.mul(conj(_under_root(x))))


@op(internal=True, inplace=True, node="AcosBackward0", dtypes="float", exact=False, ulp=4)
def acos(x: Tensor) -> Any:
    """Inverse cosine."""
    return np.arccos(x)


acos.wrt(x=lambda g, x: g.mul(conj(_under_root(x).neg())))


@op(internal=True, inplace=True, node="AtanBackward0", dtypes="float", exact=False, ulp=4)
def atan(x: Tensor) -> Any:
    """Inverse tangent."""
    return np.arctan(x)


atan.wrt(x=lambda g, x: g.div(conj(x.mul(x).add_scalar(1))))


@op(internal=True, inplace=True, node="SinhBackward0", dtypes="float", exact=False, ulp=4)
def sinh(x: Tensor) -> Any:
    """Hyperbolic sine."""
    return np.sinh(x)


sinh.wrt(x=lambda g, x: g.mul(conj(x.cosh())))


@op(internal=True, inplace=True, node="CoshBackward0", dtypes="float", exact=False, ulp=4)
def cosh(x: Tensor) -> Any:
    """Hyperbolic cosine."""
    return np.cosh(x)


cosh.wrt(x=lambda g, x: g.mul(conj(x.sinh())))


def _error_function(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x) if x.size else x).astype(x.dtype)


@op(internal=True, inplace=True, node="ErfBackward0", dtypes="float", exact=False, ulp=4)
def erf(x: Tensor) -> Any:
    """Error function."""
    return _error_function(x)


erf.wrt(x=lambda g, x: x.pow(2).neg().exp().mul_scalar(2 / math.sqrt(math.pi)).mul(g))


# -- steps: zero gradient everywhere ---------------------------------------------------------------
def _step(function: Any) -> Any:
    def body(x: np.ndarray) -> Any:
        return x.copy() if x.dtype.kind in "biu" else function(x)

    return body


_rounded = {"floor": _step(np.floor), "ceil": _step(np.ceil), "trunc": _step(np.trunc)}


@op(internal=True, inplace=True, node="FloorBackward0", dtypes="keep", layout=("x",))
def floor(x: Tensor) -> Any:
    """The largest integer not above."""
    return _rounded["floor"](x)


@op(internal=True, inplace=True, node="CeilBackward0", dtypes="keep", layout=("x",))
def ceil(x: Tensor) -> Any:
    """The smallest integer not below."""
    return _rounded["ceil"](x)


@op(internal=True, inplace=True, node="TruncBackward0", dtypes="keep", layout=("x",))
def trunc(x: Tensor) -> Any:
    """The integer next towards zero."""
    return _rounded["trunc"](x)


@op(internal=True, inplace=True, node="RoundBackward0", dtypes="keep", layout=("x",))
def round(x: Tensor) -> Any:
    """The nearest integer, the even one of two."""
    return np.rint(x).astype(x.dtype)


@op(internal=True, inplace=True, node="SignBackward0", dtypes="keep", layout=("x",))
def sign(x: Tensor) -> Any:
    """-1, 0 or 1."""
    need_kernel("sign", x, "c")
    return x.copy() if x.dtype.kind == "b" else np.sign(x)


for stepping in (floor, ceil, trunc, round, sign):
    stepping.wrt(x=lambda g: g.zeros_like())


@op(internal=True, inplace=True, node="FracBackward0", dtypes="keep", layout=("x",))
def frac(x: Tensor) -> Any:
    """The part of a number behind the point, with its sign."""
    return x - np.trunc(x)


frac.wrt(x=lambda g: g)


# -- activations -----------------------------------------------------------------------------------
def _logistic(x: np.ndarray) -> np.ndarray:
    return np.reciprocal(1 + np.exp(-x))


@op(internal=True, inplace=True, node="SiluBackward0", dtypes="float", exact=False, ulp=4)
def silu(x: Tensor) -> Any:
    """``x * sigmoid(x)``."""
    return x * _logistic(x)


@op(internal=True, node="SiluBackwardBackward0", exact=False, ulp=4)
def silu_backward(dy: Tensor, y: Tensor) -> Any:
    """The gradient through a silu, if it need not be differentiated again."""
    there = _logistic(y)
    return dy * there * (1 + y * (1 - there))


def _silu_backward(g: Any, x: Any) -> Any:
    if not x._is_recorded():
        return g.silu_backward(x)
    there = x.sigmoid()
    return g.mul(there).mul(x.mul(minus(1, there)).add_scalar(1))


silu.wrt(x=_silu_backward)


@op(internal=True, node="SoftplusBackward0", dtypes="float", exact=False, ulp=4)
def softplus(x: Tensor, beta: Scale = 1, threshold: Scale = 20) -> Any:
    """``log(1 + exp(beta * x)) / beta``, and ``x`` itself far out."""
    with np.errstate(over="ignore"):
        return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


@op(internal=True, node="SoftplusBackwardBackward0", exact=False, ulp=4)
def softplus_backward(dy: Tensor, y: Tensor, beta: Scale, threshold: Scale) -> Any:
    """The gradient through a softplus."""
    return np.where(y * beta > threshold, dy, dy * _logistic(y * beta))


def _softplus_twice(g: Any, dy: Any, y: Any, beta: Any, threshold: Any) -> Any:
    bent = g.mul(dy).sigmoid_backward(y.mul_scalar(beta).sigmoid())
    return bent.mul(y.mul_scalar(beta).lt(threshold).to(y.dtype)).mul_scalar(beta)


softplus.wrt(x=lambda g, x, beta, threshold: g.softplus_backward(x, beta, threshold))
softplus_backward.wrt(
    dy=lambda g, y, beta, threshold: g.softplus_backward(y, beta, threshold), y=_softplus_twice
)


@op(internal=True, node="LeakyReluBackward0", dtypes="keep", wide=True, layout=("x",))
def leaky_relu(x: Tensor, negative_slope: Scale = 0.01) -> Any:
    """``x`` where positive, a small part of it elsewhere."""
    return np.where(x > 0, x, x * x.dtype.type(negative_slope))


@op(internal=True, node="LeakyReluBackwardBackward0", layout=("y", "dy"))
def leaky_relu_backward(dy: Tensor, y: Tensor, negative_slope: Scale) -> Any:
    """The gradient through a leaky relu."""
    return np.where(y > 0, dy, dy * negative_slope)


@op(internal=True, inplace="only", node="LeakyReluBackward1", dtypes="keep", wide=True, layout=("x",))
def leaky_relu_(x: Tensor, negative_slope: Scale = 0.01) -> Any:
    """``leaky_relu`` in place, which saves its result."""
    return np.where(x > 0, x, x * x.dtype.type(negative_slope))


leaky_relu_.wrt(x=lambda g, out, negative_slope: g.leaky_relu_backward(out, negative_slope))
leaky_relu.wrt(x=lambda g, x, negative_slope: g.leaky_relu_backward(x, negative_slope))
leaky_relu_backward.wrt(
    dy=lambda g, y, negative_slope: g.leaky_relu_backward(y, negative_slope), y=lambda g: g.zeros_like()
)


@op(internal=True, node="EluBackward0", dtypes="keep", wide=True, layout=("x",), exact=False, ulp=4)
def elu(x: Tensor, alpha: Scale = 1.0) -> Any:
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere."""
    return np.where(x > 0, x, x.dtype.type(alpha) * np.expm1(np.minimum(x, 0)))


@op(internal=True, node="EluBackwardBackward0", exact=False, ulp=4)
def elu_backward(dy: Tensor, y: Tensor, alpha: Scale) -> Any:
    """The gradient through an elu."""
    return np.where(y > 0, dy, dy * alpha * np.exp(np.minimum(y, 0)))


elu.wrt(x=lambda g, x, alpha: g.elu_backward(x, alpha))
elu_backward.wrt(
    dy=lambda g, y, alpha: g.elu_backward(y, alpha),
    y=lambda g, dy, y, alpha: g.mul(dy).mul_scalar(1).elu_backward(y, alpha).mul(y.lt(0)),
)


@op(internal=True, node="GeluBackward0", dtypes="float", exact=False, ulp=4)
def gelu(x: Tensor) -> Any:
    """``x`` times the normal distribution function."""
    return x * (1 + _error_function(x * x.dtype.type(math.sqrt(0.5)))) / 2


@op(internal=True, node="GeluBackwardBackward0", exact=False, ulp=4)
def gelu_backward(dy: Tensor, y: Tensor) -> Any:
    """The gradient through a gelu."""
    below = (1 + _error_function(y * y.dtype.type(math.sqrt(0.5)))) / 2
    return dy * (below + y * np.exp(-y * y / 2) / y.dtype.type(math.sqrt(2 * math.pi)))


def _gelu_twice(g: Any, dy: Any, y: Any) -> Any:
    square = y.mul(y)
    bell = square.mul_scalar(-0.5).exp().mul_scalar(1 / math.sqrt(2 * math.pi))
    return g.mul(dy).mul(bell.mul_scalar(2).sub(square.mul(bell)))


gelu.wrt(x=lambda g, x: g.gelu_backward(x))
gelu_backward.wrt(dy=lambda g, y: g.gelu_backward(y), y=_gelu_twice)


@op(internal=True, node="ThresholdBackward0", dtypes="keep", wide=True, layout=("x",))
def threshold(x: Tensor, threshold: Scale, value: Scale) -> Any:
    """``x`` where it is above the threshold, a value elsewhere."""
    return np.where(x > threshold, x, x.dtype.type(value))


threshold.wrt(x=lambda g, x, threshold: g.threshold_backward(x, threshold))


@op(internal=True, inplace="only", node="ThresholdBackward1", dtypes="keep", wide=True, layout=("x",))
def threshold_(x: Tensor, threshold: Scale, value: Scale) -> Any:
    """``threshold`` in place."""
    return np.where(x > threshold, x, x.dtype.type(value))


threshold_.wrt(x=lambda g, x, threshold: g.threshold_backward(x, threshold))


@op(internal=True, inplace=True, node="HardtanhBackward0", dtypes="keep", wide=True, layout=("x",))
def hardtanh(x: Tensor, min_val: Scale = -1.0, max_val: Scale = 1.0) -> Any:
    """``x`` held between two numbers, at which the gradient stops."""
    return np.clip(x, x.dtype.type(min_val), x.dtype.type(max_val))


@op(internal=True, node="HardtanhBackwardBackward0")
def hardtanh_backward(dy: Tensor, y: Tensor, min_val: Scale, max_val: Scale) -> Any:
    """The gradient where ``y`` is strictly between two numbers."""
    return np.where((y > min_val) & (y < max_val), dy, 0)


hardtanh.wrt(x=lambda g, x, min_val, max_val: g.hardtanh_backward(x, min_val, max_val))
hardtanh_backward.wrt(
    dy=lambda g, y, min_val, max_val: g.hardtanh_backward(y, min_val, max_val), y=lambda g: g.zeros_like()
)
