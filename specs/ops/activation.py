"""Activation functions of layers, and what their backward calls.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.kind import Scale, Tensor
from specs.op import op
from specs.ops.helpers import ROUNDING, error_function, minus


def _logistic(x: np.ndarray) -> np.ndarray:
    return np.reciprocal(1 + np.exp(-x))


@op(node="SiluBackward0", complex_history=False, lacks="biu", **ROUNDING)
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


@op(internal=True, node="SoftplusBackward0", dtypes="float", exact=False, ulp=4, lacks="biuc")
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


@op(internal=True, node="LeakyReluBackward0", dtypes="keep", wide=True, layout=("x",), lacks="biuc")
def leaky_relu(x: Tensor, negative_slope: Scale = 0.01) -> Any:
    """``x`` where positive, a small part of it elsewhere."""
    return np.where(x > 0, x, x * x.dtype.type(negative_slope))


@op(internal=True, node="LeakyReluBackwardBackward0", layout=("y", "dy"))
def leaky_relu_backward(dy: Tensor, y: Tensor, negative_slope: Scale) -> Any:
    """The gradient through a leaky relu."""
    return np.where(y > 0, dy, dy * negative_slope)


@op(
    internal=True,
    inplace="only",
    node="LeakyReluBackward1",
    dtypes="keep",
    wide=True,
    layout=("x",),
    lacks="biuc",
    kernel="leaky_relu",
)
def leaky_relu_(x: Tensor, negative_slope: Scale = 0.01) -> Any:
    """``leaky_relu`` in place, which saves its result."""
    return np.where(x > 0, x, x * x.dtype.type(negative_slope))


leaky_relu_.wrt(x=lambda g, out, negative_slope: g.leaky_relu_backward(out, negative_slope))
leaky_relu.wrt(x=lambda g, x, negative_slope: g.leaky_relu_backward(x, negative_slope))
leaky_relu_backward.wrt(
    dy=lambda g, y, negative_slope: g.leaky_relu_backward(y, negative_slope), y=lambda g: g.zeros_like()
)


@op(
    internal=True,
    node="EluBackward0",
    dtypes="keep",
    wide=True,
    layout=("x",),
    exact=False,
    ulp=4,
    lacks="biuc",
)
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


@op(
    internal=True,
    node="GeluBackward0",
    dtypes="float",
    exact=False,
    ulp=4,
    lacks="biuc",
    kernel="GeluKernelImpl",
)
def gelu(x: Tensor) -> Any:
    """``x`` times the normal distribution function."""
    return x * (1 + error_function(x * x.dtype.type(math.sqrt(0.5)))) / 2


@op(internal=True, node="GeluBackwardBackward0", exact=False, ulp=4)
def gelu_backward(dy: Tensor, y: Tensor) -> Any:
    """The gradient through a gelu."""
    below = (1 + error_function(y * y.dtype.type(math.sqrt(0.5)))) / 2
    return dy * (below + y * np.exp(-y * y / 2) / y.dtype.type(math.sqrt(2 * math.pi)))


def _gelu_twice(g: Any, dy: Any, y: Any) -> Any:
    square = y.mul(y)
    bell = square.mul_scalar(-0.5).exp().mul_scalar(1 / math.sqrt(2 * math.pi))
    return g.mul(dy).mul(bell.mul_scalar(2).sub(square.mul(bell)))


gelu.wrt(x=lambda g, x: g.gelu_backward(x))
gelu_backward.wrt(dy=lambda g, y: g.gelu_backward(y), y=_gelu_twice)


@op(internal=True, node="ThresholdBackward0", dtypes="keep", wide=True, layout=("x",), lacks="bc")
def threshold(x: Tensor, threshold: Scale, value: Scale) -> Any:
    """``x`` where it is above the threshold, a value elsewhere."""
    return np.where(x <= threshold, x.dtype.type(value), x)


threshold.wrt(x=lambda g, x, threshold: g.threshold_backward(x, threshold))


@op(
    internal=True,
    inplace="only",
    node="ThresholdBackward1",
    dtypes="keep",
    wide=True,
    layout=("x",),
    lacks="bc",
    kernel="threshold",
)
def threshold_(x: Tensor, threshold: Scale, value: Scale) -> Any:
    """``threshold`` in place."""
    return np.where(x <= threshold, x.dtype.type(value), x)


threshold_.wrt(x=lambda g, x, threshold: g.threshold_backward(x, threshold))


@op(
    internal=True,
    inplace=True,
    node="HardtanhBackward0",
    dtypes="keep",
    wide=True,
    layout=("x",),
    lacks="c",
)
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
