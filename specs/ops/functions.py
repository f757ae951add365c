"""Elementwise functions that generated programs call; rarer ones are in ``unary``."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.errors import need_kernel, refuse
from specs.kind import Scale, Tensor
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import larger

_SMOOTH: dict[str, Any] = {
    "inplace": True,
    "dtypes": "float",
    "exact": False,
    "ulp": 4,
    "complex": True,
    "domain": "moderate",
    "grows": "saturates",
}
"""Facts of functions that round."""


def _conjugate(x):
    """The conjugates of an array or number; a real array itself."""
    return np.conjugate(x) if x.dtype.kind == "c" else x


@op(node="ExpBackward0", **_SMOOTH | {"grows": "explodes"})
def exp(x: Tensor):
    """Exponential; saves its result."""
    return np.exp(x)


exp.wrt(x=lambda g, out: g.mul(conj(out)))


@op(node="LogBackward0", **_SMOOTH | {"domain": "positive", "tries": ("positive", "a zero")})
def log(x: Tensor):
    """Natural logarithm."""
    return np.log(x)


log.wrt(x=lambda g, x: g.div(conj(x)))


@op(node="SqrtBackward0", **_SMOOTH | {"ulp": 1, "domain": "positive", "tries": ("positive", "a zero")})
def sqrt(x: Tensor):
    """Square root; saves its result."""
    return np.sqrt(x)


sqrt.wrt(x=lambda g, out: g.div(conj(out).mul_scalar(2)))


@op(node="SinBackward0", **_SMOOTH)
def sin(x: Tensor):
    """Sine."""
    return np.sin(x)


sin.wrt(x=lambda g, x: g.mul(conj(x.cos())))


@op(node="CosBackward0", **_SMOOTH)
def cos(x: Tensor):
    """Cosine."""
    return np.cos(x)


cos.wrt(x=lambda g, x: g.mul(conj(x.sin()).neg()))


@op(node="TanhBackward0", **_SMOOTH)
def tanh(x: Tensor):
    """Hyperbolic tangent; saves its result, not its operand."""
    return np.tanh(x)


tanh.wrt(x=lambda g, out: g.tanh_backward(out))


@op(internal=True, node="TanhBackwardBackward0", exact=False, ulp=4)
def tanh_backward(dy: Tensor, y: Tensor):
    """The gradient through a tanh whose result is ``y``."""
    return np.multiply(dy, _conjugate(1 - np.multiply(y, y)))


def _tanh_twice(g: Any, dy: Any, y: Any) -> Any:
    slope = conj(y).mul_scalar(-2).mul(dy)  # NB: first, as in what compilers make of PyTorch's formulas
    return conj(g).mul(slope)


tanh_backward.wrt(dy=lambda g, y: g.tanh_backward(conj(y)), y=_tanh_twice)


@op(node="SigmoidBackward0", **_SMOOTH)
def sigmoid(x: Tensor):
    """Logistic function; saves its result."""
    return np.reciprocal(1 + np.exp(-x))


sigmoid.wrt(x=lambda g, out: g.sigmoid_backward(out))


@op(internal=True, node="SigmoidBackwardBackward0", exact=False, ulp=4)
def sigmoid_backward(dy: Tensor, y: Tensor):
    """The gradient through a sigmoid whose result is ``y``."""
    return np.multiply(dy, _conjugate(np.multiply(1 - y, y)))


def _sigmoid_twice(g: Any, dy: Any, y: Any) -> Any:
    slope = conj(y).mul_scalar(-2).add_scalar(1)
    return conj(g).mul(dy).mul(slope)


sigmoid_backward.wrt(dy=lambda g, y: g.sigmoid_backward(conj(y)), y=_sigmoid_twice)


_DEGREE = np.pi / 180


@op(
    inplace=True,
    node="Deg2RadBackward0",
    dtypes="float",
    exact=False,
    ulp=1,
    grows="keeps",
    alone=alone.out_before_kernel,
)
def deg2rad(x: Tensor):
    """Radians for degrees."""
    if x.dtype.kind == "c":
        refuse("op/real-only", name="deg2rad")
    return np.multiply(x, x.dtype.type(_DEGREE))


deg2rad.wrt(x=lambda g: g.mul_scalar(_DEGREE))


@op(
    node="LogaddexpBackward0",
    complex=True,
    tries=("ties",),
    exact=False,
    ulp=4,
    cancels=True,
    domain="moderate",
    grows="adds",
    iterates=False,
)
def logaddexp(x: Tensor, y: Tensor):
    """``log(exp(x) + exp(y))``, without overflow on the way."""
    np.broadcast(x, y)  # shapes are looked at before a kernel is found
    need_kernel("logaddexp", x, "biu")
    if x.dtype.kind != "c":
        return np.logaddexp(x, y)
    smaller = np.less(x.real, y.real)
    least: Any = np.where(smaller, x, y)
    most: Any = np.where(smaller, y, x)
    return np.log1p(np.exp(least - most)) + most


logaddexp.wrt(
    x=lambda g, x, y: g.div(conj(y.sub(x).exp().add_scalar(1))),
    y=lambda g, x, y: g.div(conj(x.sub(y).exp().add_scalar(1))),
)


@op(
    inplace=True,
    node="ReluBackward0",
    dtypes="numeric",
    tries=("a zero",),
    grows="keeps",
    jumps=True,
    often=4,
    lacks="c",
)
def relu(x: Tensor):
    """``max(x, 0)``; saves its result, and its derivative at zero is zero."""
    return larger(x, 0)


relu.wrt(x=lambda g, out: g.threshold_backward(out, 0))


@op(internal=True, node="ThresholdBackwardBackward0", layout=("y", "dy"))
def threshold_backward(dy: Tensor, y: Tensor, threshold: Scale):
    """``dy`` where ``y`` is not at or below the threshold (so where it is NaN), else zero."""
    return np.where(np.less_equal(y, threshold), 0, dy)


threshold_backward.wrt(
    dy=lambda g, y, threshold: g.threshold_backward(y, threshold),
    y=lambda g: g.zeros_like(),
)
