"""The ops of losses.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.active_rules import by
from specs.errors import need_kernel, refuse
from specs.kind import Dim, Indices, Reduction, Tensor, Weights
from specs.op import op


def _reduced(losses: np.ndarray, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = np.sum(losses)
    return total if reduction == "sum" else total / losses.dtype.type(losses.size)


@op(internal=True, node="MseLossBackward0", torch_names={"y": "target"})
def _mse_loss(x: Tensor, y: Tensor, reduction: Reduction) -> Any:
    """The squares of differences, all of them, their mean or their sum."""
    need_kernel("mse", x, "cbiu")
    return _reduced(np.square(np.subtract(x, y)), reduction)


@op(internal=True, node="MseLossBackwardBackward0", layout=(), into="here")
def _mse_loss_backward(dy: Tensor, here: Tensor, there: Tensor, reduction: Reduction) -> Any:
    """The gradient of such a loss with respect to ``here``."""
    need_kernel("mse_backward", dy, "c")
    return np.asarray(2 * (here - there) * dy / (here.size if reduction == "mean" else 1), order="C")


def _mse_once(g: Any, here: Any, there: Any, reduction: str) -> Any:
    # NB: torch makes it in a tensor like the operand, which ``.data =`` may have changed.
    other = next((x for x in (there, g) if x.dtype != here.dtype), None)
    if other is not None and by("nn/mse-gradient-wants-one-dtype"):
        refuse("nn/mse-gradient-wants-one-dtype", got=other.dtype, want=here.dtype)
    here._need_room_for(here, there, g)
    return here._warn_of_output(g._mse_loss_backward(here, there, reduction))


_mse_loss.wrt(
    x=lambda g, x, y, reduction: _mse_once(g, x, y, reduction),
    y=lambda g, x, y, reduction: _mse_once(g, y, x, reduction),
)


def _mse_twice(g: Any, dy: Any, here: Any, reduction: str) -> Any:
    made = g.mul(dy).mul_scalar(2)
    # NB: by as many elements as there are by now; in place, which zeros without memory refuse.
    return made.div_scalar_(math.prod(here.shape)) if reduction == "mean" else made


_mse_loss_backward.wrt(
    # NB: of a reduced loss the engine sums it, after all formulas.
    dy=lambda g, here, there, reduction: _mse_once(g, here, there, reduction),
    here=_mse_twice,
    there=lambda g, dy, there, reduction: _mse_twice(g, dy, there, reduction).neg(),
)


@op(internal=True, dtypes="keep", wide=True)
def _nll_total(x: Tensor, target: Indices, *, weight: Weights, ignore: Dim, reduction: Reduction) -> Any:
    """The weights of all samples added up, which the gradient divides by; zero if it does not."""
    fits = (target != ignore) & (target >= 0) & (target < x.shape[1])
    if reduction == "none" or not fits.any():
        return np.zeros((), x.dtype)
    return np.sum(_class_weights(target[fits], weight, ignore, x.shape[1]).astype(x.dtype))


def _class_weights(target: np.ndarray, weight: Any, ignore: int, count: int) -> np.ndarray:
    """The weight of each sample: that of its class, or zero if the class is ignored."""
    kept = target != ignore
    wrong = kept & ((target < 0) | (target >= count))
    if wrong.any():
        raise IndexError(f"Target {target[wrong].flat[0]} is out of bounds.")
    weights = np.ones(count) if weight is None else np.asarray(weight)
    return np.where(kept, weights[np.where(kept, target, 0)], 0)


@op(internal=True, node="NllLossBackward0", dtypes="keep", wide=True)
def _nll_loss(
    x: Tensor, target: Indices, total: Tensor, *, weight: Weights, ignore: Dim, reduction: Reduction
) -> Any:
    """Minus the log-probability that each sample gives its class, which stands in dimension 1."""
    counts = _class_weights(target, weight, ignore, x.shape[1]).astype(x.dtype)
    picked = np.take_along_axis(x, np.expand_dims(np.where(target == ignore, 0, target), 1), 1)[:, 0]
    losses = -picked * counts
    if reduction == "none":
        return losses
    return np.sum(losses) / np.sum(counts) if reduction == "mean" else np.sum(losses)


@op(internal=True, node="NllLossBackwardBackward0", dtypes="keep", wide=True)
def _nll_loss_backward(
    dy: Tensor, logs: Tensor, target: Indices, *, weight: Weights, ignore: Dim, reduction: Reduction
) -> Any:
    """The gradient of such a loss."""
    counts = _class_weights(target, weight, ignore, logs.shape[1]).astype(logs.dtype)
    if reduction == "mean":
        counts = counts / np.sum(counts)
    out = np.zeros_like(logs)
    at = np.expand_dims(np.where(target == ignore, 0, target), 1)
    np.put_along_axis(out, at, np.expand_dims(-counts * dy, 1), 1)
    return out


_nll_loss.wrt(
    # NB: the total is saved as PyTorch saves it, and worked out again.
    x=lambda g, x, target, total, weight, ignore, reduction: g._nll_loss_backward(
        x, target, weight=weight, ignore=ignore, reduction=reduction
    )
)


def _nll_of(x: Any, target: Any, **how: Any) -> Any:
    return x._nll_loss(target, x._nll_total(target, **how), **how)


_nll_loss_backward.wrt(
    dy=lambda g, target, weight, ignore, reduction: _nll_of(
        g, target, weight=weight, ignore=ignore, reduction=reduction
    ),
    logs=lambda g: None,
)
