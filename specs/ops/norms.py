"""Reductions that measure spread and size, normalisation, and ops that repeat and shift.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.demands import need_elements_for_norm, need_no_integers
from specs.errors import refuse
from specs.kind import Bool, Dim, Dims, IntList, Offset, OptDims, OptNumber, Scalar, Size, Tensor
from specs.op import composite, op
from specs.ops.complex import conj
from specs.ops.helpers import axes_of, axis_of, minus, reduced
from specs.ops.slice import plane_of


def restored(g: Any, x_shape: Any, dim: Any, keepdim: bool) -> Any:
    """A reduction's result with the reduced dimensions back as ones."""
    if keepdim or not dim or not x_shape:
        return g
    for d in sorted(d % len(x_shape) for d in dim):
        g = g.unsqueeze(d)
    return g


def _count(shape: Any, dim: Any) -> int:
    return math.prod(shape[d] for d in dim) if dim and shape else math.prod(shape)


# -- spread ----------------------------------------------------------------------------------------
def _variance(x: np.ndarray, dim: Any, correction: Any, keepdim: bool) -> Any:
    correction = 1 if correction is None else correction
    need_no_integers("var", x)
    axes = axes_of(dim, x.ndim)
    rest = max(math.prod(x.shape[a] for a in axes) - correction, 0)
    total = reduced(np.add, x, axes, True)
    apart = x - total / x.dtype.type(_count(x.shape, axes))
    squares = (apart * apart.conj()).real
    return np.asarray(reduced(np.add, squares, axes, keepdim) / np.float64(rest)).astype(squares.dtype)


def _variance_backward(g: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    rest = _count(x.shape, dim) - correction
    mean = x.mean(dim, True) if dim else x.mean()
    if rest <= 0 and not (dim and x.shape):
        return g.mul(g.new_full((), math.nan).where(x.eq(mean), g.new_full((), math.inf)))
    scale = math.inf if not rest else 2 / rest
    apart = x.sub(mean)
    return restored(g, x.shape, dim, keepdim).mul_scalar(scale).mul(apart)


@op(internal=True, node="VarBackward0", dtypes="keep", wide=True, casts_out=True, alone=alone.spread_of_all)
def var(x: Tensor, dim: OptDims = None, *, correction: OptNumber = 1, keepdim: Bool = False) -> Any:
    """The mean of squared distances from the mean; ``correction`` is subtracted from the count."""
    return _variance(x, dim, correction, keepdim)


var.wrt(x=_variance_backward)


@op(internal=True, node="StdBackward0", dtypes="keep", wide=True, casts_out=True, alone=alone.spread_of_all)
def std(x: Tensor, dim: OptDims = None, *, correction: OptNumber = 1, keepdim: Bool = False) -> Any:
    """The square root of the variance."""
    return np.sqrt(_variance(x, dim, correction, keepdim))


def _std_backward(g: Any, x: Any, out: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    inner = g.div(out.mul_scalar(2)).masked_fill(out.eq(0), 0)
    return _variance_backward(inner, x, dim, correction, keepdim)


std.wrt(x=_std_backward)


# -- size ------------------------------------------------------------------------------------------
_NORM: dict[str, Any] = {"internal": True, "exact": False, "ulp": 4}
"""PyTorch's kernel adds up the powers in an order of its own. Of up to 16 terms, the most that are drawn,
each addition is off by half a unit, all by 8, and the root halves that.
"""


@op(node="LinalgVectorNormBackward0", dtypes="keep", wide=True, alone=alone.vector_norm, **_NORM)
def vector_norm(x: Tensor, ord: Scalar = 2, dim: OptDims = None, keepdim: Bool = False) -> Any:
    """The p-norm of all elements or along dimensions; p is ``ord``."""
    return _p_norm(x, ord, dim, keepdim)


def _p_norm(x: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    need_no_integers("norm", x)
    need_elements_for_norm(ord, dim, x)
    axes, sizes = axes_of(dim, x.ndim), np.abs(x)
    if ord == math.inf:
        return reduced(np.maximum, sizes, axes, keepdim)
    if ord == -math.inf:
        return reduced(np.minimum, sizes, axes, keepdim)
    if ord == 0:
        return np.asarray(reduced(np.add, (x != 0).astype(sizes.dtype), axes, keepdim))
    if ord == 2:
        return np.sqrt(reduced(np.add, sizes * sizes, axes, keepdim))
    powers = reduced(np.add, sizes ** sizes.dtype.type(ord), axes, keepdim)
    return np.asarray(powers ** sizes.dtype.type(1 / ord)).astype(sizes.dtype)


def _vector_norm_backward(g: Any, x: Any, out: Any, ord: Any, dim: Any, keepdim: bool) -> Any:
    """No gradient goes where the norm is zero, and a count of elements has none."""
    if ord == 0:
        return None
    g, out = restored(g, x.shape, dim, keepdim), restored(out, x.shape, dim, keepdim)
    if ord == 1:
        return x.sgn().mul(g)
    if ord == 2:
        return g.mul(x.div(out).masked_fill_(out.eq(0), 0))
    if ord in (math.inf, -math.inf):
        at = x.abs().eq(out)
        count = at.sum(dim, True) if dim else at.sum()
        return x.sgn().mul(g.div(count).mul(at))
    if ord < 2:
        powers = x.abs().pow(ord - 1)
        powers = x.sgn().mul(powers if ord > 1 else powers.masked_fill(x.eq(0), 0))
    else:
        powers = x.mul(x.abs().pow(ord - 2))
    return powers.mul(g.div(out.pow(ord - 1)).masked_fill(out.eq(0), 0))


vector_norm.wrt(x=_vector_norm_backward)


@op(node="NormBackward1", dtypes="keep", wide=True, **_NORM)
def norm_of_rows(x: Tensor, ord: Scalar = 2, dim: OptDims = None, keepdim: Bool = False) -> Any:
    """The p-norm as losses of pairs compute it: in PyTorch a kernel of its own, older than `vector_norm`."""
    return _p_norm(x, ord, dim, keepdim)


norm_of_rows.wrt(x=_vector_norm_backward)


@composite(casts_out=False, **_NORM)
def norm(x: Tensor, p: Scalar = 2, dim: OptDims = None, keepdim: Bool = False) -> Any:
    """The p-norm of all elements or along dimensions."""
    return x.vector_norm(2 if p == "fro" else p, dim, keepdim)


@op(internal=True, node="LogsumexpBackward0", dtypes="float", layout=(), alone=alone.out)
def logsumexp(x: Tensor, dim: Dims, keepdim: Bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow on the way."""
    axes = axes_of(dim, x.ndim)
    top = np.max(x.real if x.dtype.kind == "c" else x, axes, keepdims=True) if x.size else 0
    top = np.where(np.isfinite(top), top, 0)
    out = np.log(np.sum(np.exp(x - top), axes, keepdims=True)) + top
    return np.asarray(out if keepdim else np.squeeze(out, axes)).astype(x.dtype, order="C")


def _logsumexp_backward(g: Any, x: Any, out: Any, dim: Any, keepdim: bool) -> Any:
    every = dim or tuple(range(x.ndim))
    share = x.sub(restored(out, x.shape, every, keepdim)).exp()
    return restored(g, x.shape, every, keepdim).mul(conj(share))


logsumexp.wrt(x=_logsumexp_backward)


# -- softmax ---------------------------------------------------------------------------------------
def _log_softmax(x: np.ndarray, dim: int) -> np.ndarray:
    x = np.atleast_1d(x)
    apart = x - np.max(x, dim, keepdims=True) if x.size else x
    return apart - np.log(np.sum(np.exp(apart), dim, keepdims=True))


@op(
    internal=True,
    name="_softmax",
    node="SoftmaxBackward0",
    dtypes="float",
    layout=(),
    exact=False,
    ulp=4,
    complex_history=False,
)
def softmax(x: Tensor, dim: Dim) -> Any:
    """Exponentials over their sum along a dimension; saves its result."""
    dim = axis_of(dim, x.ndim)
    return np.ascontiguousarray(np.exp(_log_softmax(x, dim))).reshape(x.shape)


@op(
    internal=True,
    name="_safe_softmax",
    node="SafeSoftmaxBackward0",
    dtypes="float",
    layout=(),
    exact=False,
    ulp=4,
    lacks="c",
    kernel="softmax_lastdim_kernel_impl",
)
def safe_softmax(x: Tensor, dim: Dim) -> Any:
    """The softmax, zero where everything along the dimension is minus infinity; saves its result."""
    dim = axis_of(dim, x.ndim)
    with np.errstate(invalid="ignore"):
        found = np.ascontiguousarray(np.exp(_log_softmax(x, dim))).reshape(x.shape)
    return np.where(np.all(x == -np.inf, dim, keepdims=True), x.dtype.type(0), found)


@op(internal=True, node="SoftmaxBackwardDataBackward0", dtypes="same")
def _softmax_backward(dy: Tensor, y: Tensor, dim: Dim) -> Any:
    """The gradient through a softmax whose result is ``y``."""
    shares, gradients = np.atleast_1d(y, dy)
    summed = np.sum(gradients * shares, dim, keepdims=True)
    return np.ascontiguousarray(shares * (gradients - summed)).reshape(y.shape)


softmax.wrt(x=lambda g, out, dim: g._softmax_backward(out, dim))
safe_softmax.wrt(x=lambda g, out, dim: g._softmax_backward(out, dim))


def _softmax_twice(g: Any, dy: Any, y: Any, dim: int) -> Any:
    third = dy.mul(y.mul(g).sum(dim, True))
    second = y.mul(dy).sum(dim, True).mul(g)
    return dy.mul(g).sub(second).sub(third)


_softmax_backward.wrt(dy=lambda g, y, dim: g._softmax_backward(y, dim), y=_softmax_twice)


@op(
    internal=True,
    name="_log_softmax",
    node="LogSoftmaxBackward0",
    dtypes="float",
    layout=(),
    exact=False,
    cancels=True,
    ulp=4,
    complex_history=False,
)
def log_softmax(x: Tensor, dim: Dim) -> Any:
    """The logarithm of the softmax; saves its result."""
    dim = axis_of(dim, x.ndim)
    return np.ascontiguousarray(_log_softmax(x, dim)).reshape(x.shape)


@op(internal=True, node="LogSoftmaxBackwardDataBackward0", dtypes="same")
def _log_softmax_backward(dy: Tensor, y: Tensor, dim: Dim) -> Any:
    """The gradient through a log_softmax whose result is ``y``."""
    logarithms, gradients = np.atleast_1d(y, dy)
    summed = np.sum(gradients, dim, keepdims=True)
    return np.ascontiguousarray(gradients - np.exp(logarithms) * summed).reshape(y.shape)


log_softmax.wrt(x=lambda g, out, dim: g._log_softmax_backward(out, dim))


def _log_softmax_twice(g: Any, dy: Any, y: Any, dim: int) -> Any:
    shares = y.exp()  # NB: first, which the ages of the nodes show
    return dy.sum(dim, True).neg().mul(shares).mul(g)


_log_softmax_backward.wrt(dy=lambda g, y, dim: g.sub(g.mul(y.exp()).sum(dim, True)), y=_log_softmax_twice)


# -- repeating and shifting ------------------------------------------------------------------------
@op(internal=True, node="RepeatBackward0", dtypes="keep", takes_view=lambda x, repeats: (x,))
def repeat(x: Tensor, repeats: Size) -> Any:
    """Copies of the tensor side by side, so many along each dimension."""
    if len(repeats) < x.ndim:
        raise RuntimeError(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    shape = [n * size for n, size in zip(repeats, (1,) * (len(repeats) - x.ndim) + x.shape, strict=True)]
    if shape and min(shape) < 0:
        refuse("op/new-sizes-are-not-negative", size=next(n for n in shape if n < 0), shape=shape)
    return np.asarray(np.tile(x, repeats), order="C")


def _repeat_backward(g: Any, x_shape: Any, repeats: Any) -> Any:
    """The sum over the copies."""
    new = len(repeats) - len(x_shape)
    if 0 in repeats:
        return g.new_zeros(x_shape)
    if new:
        g = g.sum(tuple(range(new)))
    shape: list[int] = []
    summed: list[int] = []
    for times, size in zip(repeats[new:], x_shape, strict=True):
        if times != 1:
            summed.append(len(shape))
            shape.append(times)
        shape.append(size)
    return g.reshape(tuple(shape)).sum(tuple(summed)) if summed else g


repeat.wrt(x=_repeat_backward)


@op(internal=True, node="DiagEmbedBackward0", dtypes="keep")
def diag_embed(x: Tensor, offset: Offset = 0, dim1: Dim = -2, dim2: Dim = -1) -> Any:
    """Matrices with the last dimension on a diagonal and zeros elsewhere."""
    plane = plane_of(x.ndim + 1, dim1, dim2)
    size = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], size, size), x.dtype)
    at = np.arange(x.shape[-1])
    out[..., at + max(-offset, 0), at + max(offset, 0)] = x
    return np.ascontiguousarray(np.moveaxis(out, (-2, -1), plane))


diag_embed.wrt(x=lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2))


@op(internal=True, node="ConstantPadNdBackward0", dtypes="keep")
def constant_pad_nd(x: Tensor, pad: IntList, value: Scalar = 0) -> Any:
    """Elements added before and after (or, if negative, cut off), from the last dimension on."""
    width = [(0, 0)] * (x.ndim - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(width, x.shape, strict=True))
    return np.pad(x[cut], [(max(a, 0), max(b, 0)) for a, b in width], constant_values=value)


constant_pad_nd.wrt(x=lambda g, pad: g.constant_pad_nd(tuple(-n for n in pad), 0))


@op(internal=True, inplace=True, node="LogitBackward0", dtypes="float", exact=False, ulp=4, lacks="c")
def logit(x: Tensor, eps: OptNumber = None) -> Any:
    """The inverse of the logistic function, within ``eps`` of 0 and 1 held at that."""
    held = x if eps is None else np.where(x < eps, eps, np.where(x > 1 - eps, 1 - eps, x)).astype(x.dtype)
    return np.log(held / (1 - held))


def _logit_backward(g: Any, x: Any, eps: Any) -> Any:
    low, high = (0.0, 1.0) if eps is None else (eps, 1 - eps)
    inside = x.ge(low).mul(x.le(high))
    outside = g.new_full((), math.nan if eps is None else 0.0)
    return g.div(x.mul(minus(1, x))).where(inside, outside)


logit.wrt(x=_logit_backward)
