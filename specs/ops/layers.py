"""The ops of layers that normalise, and of activations with a node of their own.

Generated programs call layer_norm alone, by its function; the others are compared with torch call by call.
PyTorch saves what a layer's backward needs whatever requires grad, so each formula of it names all of that.
A layer's ``mean`` and ``rstd``, one over the standard deviation, are those of the forward pass, also where
the operand has changed since without being told, as through ``.data``.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from specs.demands import need_shapes, one_dtype
from specs.kind import Count, Scalar, Statistic, Tensor
from specs.op import op
from specs.ops.helpers import minus, without_derivative

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 16, "layout": ()}


# -- normalisation -----------------------------------------------------------------------------------
def standardised(x: np.ndarray, axes: tuple[int, ...], eps: float) -> np.ndarray:
    apart = x - _mean(x, axes)
    return apart / np.sqrt(_mean(apart * apart, axes) + x.dtype.type(eps))


def _mean(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The mean; numpy's own would warn where there are no elements."""
    count = math.prod([x.shape[axis] for axis in axes])
    return np.asarray(x.sum(axes, keepdims=True) / x.dtype.type(count))


def statistics(x: Any, axes: tuple[int, ...], eps: float) -> dict[str, Any]:
    """The mean and one over the standard deviation, as tensors."""
    mean = x.mean(axes, True)
    return {"mean": mean, "rstd": _rstd_of(x.sub(mean), axes, eps)}


def _rstd_of(apart: Any, axes: tuple[int, ...], eps: float) -> Any:
    return apart.mul(apart).mean(axes, True).add_scalar(eps).rsqrt()


def _held(now: Any, then: Any) -> Any:
    """A statistic with the value that it had, and the derivatives that it has."""
    return now.add(then.reshape(now.shape).sub(now.detach()))


def parts(x: Any, axes: tuple[int, ...], eps: float, mean: Any, rstd: Any) -> tuple[Any, Any]:
    """The standardised operand, and one over the standard deviation, as tensors."""
    apart = x.sub(_held(x.mean(axes, True), mean))
    rstd = _held(_rstd_of(apart, axes, eps), rstd)
    return apart.mul(rstd), rstd


def through(g: Any, x: Any, axes: tuple[int, ...], eps: float, mean: Any, rstd: Any) -> Any:
    """The gradient through standardising, of that of its result."""
    hat, rstd = parts(x, axes, eps, mean, rstd)
    return rstd.mul(g.sub(g.mean(axes, True)).sub(hat.mul(g.mul(hat).mean(axes, True))))


def scaled_and_shifted(standard: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Scale and shift what was standardised; the result has its dtype, also with a wider weight and bias."""
    return np.ascontiguousarray(standard * weight + bias, standard.dtype)


def _trailing(dims: int) -> tuple[int, ...]:
    return tuple(range(-dims, 0))


def _summed(g: Any, axes: tuple[int, ...]) -> Any:
    return g.sum(axes) if axes else g


@op(
    node="NativeLayerNormBackward0",
    dtypes="same",
    cancels=True,
    lacks="biuc",
    kernel="LayerNormKernelImpl",
    **_FACTS,
)
def _layer_norm(
    x: Tensor, weight: Tensor, bias: Tensor, *, dims: Count, eps: Scalar, mean: Statistic, rstd: Statistic
) -> Any:
    """The last dimensions with mean 0 and variance 1, scaled and shifted."""
    return scaled_and_shifted(standardised(x, _trailing(dims), eps), weight, bias)


def alone_of_several(*others: str) -> dict[str, Any]:
    """The formulas of a gradient whose node has several: nothing goes to what the others need."""
    return {"dy": lambda g: g, **dict.fromkeys(others, lambda g: None)}


@op(node="NativeLayerNormBackwardBackward0", dtypes="keep", **_FACTS)
def _of_layer_norm(dy: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> Any:
    """One of the gradients of a layer norm, which has the same operands as the others."""
    return dy.copy()


_of_layer_norm.wrt(**alone_of_several("y", "weight", "bias"))


def _of_layer(formula: Any) -> Any:
    @functools.wraps(formula)
    def fitting(g: Any, x: Any, weight: Any, bias: Any, dims: int, *more: Any) -> Any:
        need_shapes(g, x, weight, bias, dims)
        return formula(g, x, weight, bias, dims, *more)._of_layer_norm(x, weight, bias)

    return one_dtype("x", "g", "weight", "bias", wider=("weight", "bias"))(fitting)


_layer_norm.wrt(
    x=_of_layer(
        lambda g, x, weight, bias, dims, eps, mean, rstd: through(
            g.mul(weight), x, _trailing(dims), eps, mean, rstd
        ).contiguous()
    ),
    weight=_of_layer(
        lambda g, x, weight, bias, dims, eps, mean, rstd: _summed(
            g.mul(parts(x, _trailing(dims), eps, mean, rstd)[0]), tuple(range(g.ndim - dims))
        )
    ),
    bias=_of_layer(lambda g, x, weight, bias, dims: _summed(g, tuple(range(g.ndim - dims)))),
)


def channels(x: Any) -> tuple[int, ...]:
    """The dimensions besides that of the channels."""
    return (0, *range(2, x.ndim))


def beside(v: Any, ndim: int) -> Any:
    """A vector over the channels, to broadcast."""
    return v.reshape((-1, *(1,) * (ndim - 2)))


def in_groups(x: Any, groups: int) -> Any:
    return x.reshape((x.shape[0], groups, math.prod(x.shape[1:]) // groups))


@op(node="NativeGroupNormBackward0", dtypes="same", lacks="biuc", kernel="GroupNormKernelImpl", **_FACTS)
def _group_norm(
    x: Tensor, weight: Tensor, bias: Tensor, *, groups: Count, eps: Scalar, mean: Statistic, rstd: Statistic
) -> Any:
    """Groups of channels of each sample with mean 0 and variance 1, scaled and shifted by channel."""
    hat = standardised(in_groups(x, groups), (2,), eps).reshape(x.shape)
    return scaled_and_shifted(hat, beside(weight, x.ndim), beside(bias, x.ndim))


@op(node="SumBackward1", dtypes="keep", **_FACTS)
def _of_group_norm(dy: Tensor, y: Tensor, weight: Tensor) -> Any:
    """A weight's gradient, which depends on the deviation, a result that requires grad if they do."""
    return dy.copy()


_of_group_norm.wrt(**alone_of_several("y", "weight"))


def _of_groups(formula: Any) -> Any:
    return one_dtype("x", "g", case="X and dY")(one_dtype("x", "weight", wider=("weight",))(formula))


_group_norm.wrt(
    x=_of_groups(
        lambda g, x, weight, groups, eps, mean, rstd: (
            through(
                in_groups(g.mul(beside(weight, x.ndim)), groups), in_groups(x, groups), (2,), eps, mean, rstd
            )
            .reshape(x.shape)
            .contiguous()
        )
    ),
    weight=_of_groups(
        lambda g, x, weight, groups, eps, mean, rstd: (
            g.mul(parts(in_groups(x, groups), (2,), eps, mean, rstd)[0].reshape(x.shape))
            .sum(channels(x))
            ._of_group_norm(x, weight)
        )
    ),
    bias=_of_groups(lambda g, x, weight: g.sum(channels(g))),
)


# -- activations -------------------------------------------------------------------------------------
_ROOT = math.sqrt(2 / math.pi)


@op(node="GeluBackward0", dtypes="float", lacks="biuc", kernel="GeluKernelImpl", **_FACTS)
def _gelu_tanh(x: Tensor) -> Any:
    """``x`` times the normal distribution function, approximated by a hyperbolic tangent."""
    return 0.5 * x * (1 + np.tanh(x.dtype.type(_ROOT) * (x + x.dtype.type(0.044715) * x * x * x)))


def _gelu_tanh_backward(g: Any, x: Any) -> Any:
    square = x.mul(x)
    inner = x.mul(square.mul_scalar(0.044715).add_scalar(1)).mul_scalar(_ROOT).tanh()
    slope = square.mul_scalar(3 * 0.044715).add_scalar(1).mul_scalar(_ROOT)
    right = x.mul_scalar(0.5).mul(minus(1, inner.mul(inner))).mul(slope)
    return g.mul(inner.add_scalar(1).mul_scalar(0.5).add(right))


_gelu_tanh.wrt(x=_gelu_tanh_backward)


@op(node="LogSigmoidBackward0", dtypes="float", lacks="biuc", kernel="log_sigmoid", **_FACTS | {"layout": ()})
def _log_sigmoid(x: Tensor) -> Any:
    """The logarithm of the logistic function."""
    return np.asarray(np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), order="C")


@op(node="LogSigmoidBackwardBackward0", **_FACTS)
def _log_sigmoid_backward(dy: Tensor, y: Tensor) -> Any:
    """The gradient through the logarithm of the logistic function."""
    return dy / (1 + np.exp(y))


_log_sigmoid.wrt(x=one_dtype("x", "g", case="iterated")(lambda g, x: g._log_sigmoid_backward(x)))
_log_sigmoid_backward.wrt(
    dy=lambda g, y: g._log_sigmoid_backward(y),
    y=lambda g, dy, y: g.mul(dy).mul(y.sigmoid()).mul(minus(1, y.sigmoid())).neg(),
)


@op(inplace=True, node="MishBackward0", dtypes="float", lacks="biuc", kernel="mish", **_FACTS)
def _mish(x: Tensor) -> Any:
    """``x * tanh(softplus(x))``."""
    return x * np.tanh(np.logaddexp(x, x.dtype.type(0)))


def _mish_backward(g: Any, x: Any) -> Any:
    t = x.softplus().tanh()
    return g.mul(t.add(x.mul(x.sigmoid()).mul(minus(1, t.mul(t)))))


_mish.wrt(x=_mish_backward)


@op(node="EluBackward0", dtypes="float", lacks="biuc", kernel="elu", **_FACTS)
def _scaled_elu(x: Tensor, *, alpha: Scalar, scale: Scalar) -> Any:
    """``scale`` times the exponential linear unit."""
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


@op(node="EluBackwardBackward0", **_FACTS)
def _elu_backward(dy: Tensor, y: Tensor, *, alpha: Scalar, scale: Scalar, inner: Scalar) -> Any:
    """The gradient through ``scale * alpha * (exp(inner * y) - 1)`` below zero, and ``scale * y`` above."""
    below = alpha * scale * inner * np.exp(np.minimum(y, 0) * inner)
    return dy * np.where(y > 0, scale, below).astype(dy.dtype)


_scaled_elu.wrt(x=lambda g, x, alpha, scale: g._elu_backward(x, alpha=alpha, scale=scale, inner=1.0))
_elu_backward.wrt(
    dy=lambda g, y, alpha, scale, inner: g._elu_backward(y, alpha=alpha, scale=scale, inner=inner),
    y=lambda g, dy, y, alpha, scale, inner: (
        g.mul(dy)
        ._elu_backward(y, alpha=alpha, scale=scale, inner=inner)
        .mul_scalar(inner)
        .masked_fill(y.ge(0), 0)
    ),
)


@op(node="CeluBackward0", dtypes="float", lacks="biuc", kernel="elu", **_FACTS)
def _celu(x: Tensor, *, alpha: Scalar) -> Any:
    """The continuously differentiable exponential linear unit."""
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / alpha))


_celu.wrt(x=lambda g, x, alpha: g._elu_backward(x, alpha=alpha, scale=1.0, inner=1 / alpha))


@op(inplace=True, node="HardsigmoidBackward0", dtypes="float", lacks="biuc", kernel="hardsigmoid", **_FACTS)
def _hardsigmoid(x: Tensor) -> Any:
    """A line between 0 at -3 and 1 at 3."""
    return np.clip(x + 3, 0, 6) / x.dtype.type(6)


@op(node="torch::autograd::NotImplemented", dtypes="float", **_FACTS)
def _hardsigmoid_backward(dy: Tensor, y: Tensor) -> Any:
    """The gradient through a hard sigmoid."""
    return np.where(np.abs(y) < 3, dy / y.dtype.type(6), 0)


_hardsigmoid.wrt(x=lambda g, x: g._hardsigmoid_backward(x))
_hardsigmoid_backward.wrt(**dict.fromkeys(("dy", "y"), without_derivative("hardsigmoid_backward")))


@op(inplace=True, node="HardswishBackward0", dtypes="float", lacks="biuc", kernel="hardswish", **_FACTS)
def _hardswish(x: Tensor) -> Any:
    """``x`` times the hard sigmoid."""
    return x * np.clip(x + 3, 0, 6) / x.dtype.type(6)


@op(node="HardswishBackwardBackward0", **_FACTS)
def _hardswish_backward(dy: Tensor, y: Tensor) -> Any:
    """The gradient through ``x`` times the hard sigmoid."""
    return np.where(y >= 3, dy, np.where(y <= -3, 0, dy * (y / y.dtype.type(3) + y.dtype.type(0.5))))


_hardswish.wrt(x=lambda g, x: g._hardswish_backward(x))
_hardswish_backward.wrt(
    dy=lambda g, y: g._hardswish_backward(y),
    y=lambda g, dy, y: g.mul(dy).div_scalar(3).masked_fill(y.abs().ge(3), 0),
)


@op(node="SoftshrinkBackward0", dtypes="float", lacks="biuc", kernel="softshrink_check", **_FACTS)
def _softshrink(x: Tensor, *, lambd: Scalar) -> Any:
    """``x`` moved towards zero by ``lambd``, zero within it."""
    return np.sign(x) * np.maximum(np.abs(x) - x.dtype.type(lambd), 0)


@op(node="HardshrinkBackward0", dtypes="float", lacks="biuc", kernel="hardshrink", **_FACTS)
def _hardshrink(x: Tensor, *, lambd: Scalar) -> Any:
    """``x``, zero within ``lambd`` of zero."""
    return np.where(np.abs(x) <= lambd, 0, x)


def _through_a_gap(dy: np.ndarray, y: np.ndarray, lambd: Any) -> Any:
    return np.where(np.abs(y) <= lambd, dy.dtype.type(0), dy)


@op(node="SoftshrinkBackwardBackward0", **_FACTS)
def _softshrink_backward(dy: Tensor, y: Tensor, *, lambd: Scalar) -> Any:
    """The gradient, zero within ``lambd`` of zero."""
    return _through_a_gap(dy, y, lambd)


@op(node="HardshrinkBackwardBackward0", **_FACTS)
def _hardshrink_backward(dy: Tensor, y: Tensor, *, lambd: Scalar) -> Any:
    """The gradient, zero within ``lambd`` of zero."""
    return _through_a_gap(dy, y, lambd)


_softshrink.wrt(x=lambda g, x, lambd: g._softshrink_backward(x, lambd=lambd))
_hardshrink.wrt(x=lambda g, x, lambd: g._hardshrink_backward(x, lambd=lambd))
_softshrink_backward.wrt(
    dy=lambda g, y, lambd: g._softshrink_backward(y, lambd=lambd), y=lambda g: g.zeros_like()
)
_hardshrink_backward.wrt(
    dy=lambda g, y, lambd: g._hardshrink_backward(y, lambd=lambd), y=lambda g: g.zeros_like()
)
