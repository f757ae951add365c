"""Batch normalisation in training, with estimates that move or without, and with those that are known.

They are ops beside those of ``layers``, whose conventions they share.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from specs.demands import demanding, dtype_of_weight, one_dtype
from specs.kind import Scalar, Statistic, Tensor
from specs.op import op
from specs.ops.layers import (
    alone_of_several,
    beside,
    channels,
    parts,
    scaled_and_shifted,
    standardised,
    through,
)

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 16, "layout": ()}


_ESTIMATES = {"x": "input", "mean": "running_mean", "variance": "running_var"}


@op(node="NativeBatchNormBackwardBackward0", dtypes="keep", **_FACTS)
def _of_batch_norm(dy: Tensor, y: Tensor, weight: Tensor) -> Any:
    """One of the gradients of a batch norm, which has the same operands as the others."""
    return dy.copy()


_of_batch_norm.wrt(**alone_of_several("y", "weight"))


def _demanding(formula: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(formula)
    def one(g: Any, x: Any, weight: Any, *more: Any) -> Any:
        return formula(g, x, weight, *more)._of_batch_norm(x, weight)

    parameters = ("weight", "running_mean", "running_var", "mean", "variance")
    return demanding(dtype_of_weight)(one_dtype("x", "g", *parameters, wider=parameters)(one))


@op(node="NativeBatchNormBackward0", dtypes="same", **_FACTS)
def _batch_norm(
    x: Tensor, weight: Tensor, bias: Tensor, *, eps: Scalar, mean: Statistic, rstd: Statistic
) -> Any:
    """Channels with mean 0 and variance 1 over the batch, scaled and shifted."""
    return scaled_and_shifted(standardised(x, channels(x), eps), beside(weight, x.ndim), beside(bias, x.ndim))


_batch_norm.wrt(
    x=_demanding(
        lambda g, x, weight, eps, mean, rstd: through(
            g.mul(beside(weight, x.ndim)), x, channels(x), eps, mean, rstd
        ).contiguous()
    ),
    weight=_demanding(
        lambda g, x, weight, eps, mean, rstd: g.mul(parts(x, channels(x), eps, mean, rstd)[0]).sum(
            channels(x)
        )
    ),
    bias=_demanding(lambda g, x, weight: g.sum(channels(g))),
)


@op(node="NativeBatchNormBackward0", dtypes="same", torch_names={"x": "input"}, **_FACTS)
def _batch_norm_moving(
    x: Tensor, weight: Tensor, bias: Tensor, running_mean: Tensor, running_var: Tensor, *,
    eps: Scalar, mean: Statistic, rstd: Statistic,
) -> Any:  # fmt: skip
    """The same with estimates that move: no gradient needs them, but PyTorch saves them."""
    return scaled_and_shifted(standardised(x, channels(x), eps), beside(weight, x.ndim), beside(bias, x.ndim))


_batch_norm_moving.wrt(
    x=_demanding(
        lambda g, x, weight, running_mean, running_var, eps, mean, rstd: through(
            g.mul(beside(weight, x.ndim)), x, channels(x), eps, mean, rstd
        ).contiguous()
    ),
    weight=_demanding(
        lambda g, x, weight, running_mean, running_var, eps, mean, rstd: g.mul(
            parts(x, channels(x), eps, mean, rstd)[0]
        ).sum(channels(x))
    ),
    bias=_demanding(lambda g, x, weight, running_mean, running_var: g.sum(channels(g))),
)


@op(node="NativeBatchNormBackward0", dtypes="same", torch_names=_ESTIMATES, **_FACTS)
def _batch_norm_known(
    x: Tensor, weight: Tensor, bias: Tensor, mean: Tensor, variance: Tensor, *,
    eps: Scalar, none: Statistic, neither: Statistic,
) -> Any:  # fmt: skip
    """Channels standardised with a mean and a variance that are given, scaled and shifted.

    PyTorch saves two more results, which are empty.
    """
    mean, weight, bias = (beside(v, x.ndim) for v in (mean, weight, bias))
    standard = (x - mean) / np.sqrt(beside(variance, x.ndim) + x.dtype.type(eps))
    return scaled_and_shifted(standard.astype(x.dtype, copy=False), weight, bias)


def _rstd(variance: Any, eps: float, ndim: int) -> Any:
    return beside(variance.add_scalar(eps).rsqrt(), ndim)


_batch_norm_known.wrt(
    x=_demanding(
        lambda g, x, weight, mean, variance, eps, none, neither: (
            g.mul(beside(weight, g.ndim)).mul(_rstd(variance, eps, g.ndim)).contiguous()
        )
    ),
    weight=_demanding(
        lambda g, x, weight, mean, variance, eps: (
            g.mul(x.sub(beside(mean, x.ndim))).mul(_rstd(variance, eps, x.ndim)).sum(channels(x))
        )
    ),
    bias=_demanding(lambda g, x, weight: g.sum(channels(g))),
)
