"""Losses of margins: between classes, and of the sign of each element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.demands import one_dtype
from specs.errors import refuse
from specs.kind import Indices, Reduction, Scalar, Tensor
from specs.op import op
from specs.ops.helpers import without_derivative

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 16, "dtypes": "keep", "layout": ()}


def _reduced(losses: np.ndarray, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = np.sum(losses)
    return total if reduction == "sum" else total / losses.dtype.type(max(losses.size, 1))


def _spread(dy: np.ndarray, shape: tuple[int, ...], reduction: str) -> np.ndarray:
    """The incoming gradient of each sample."""
    share = dy / dy.dtype.type(max(math.prod(shape), 1)) if reduction == "mean" else dy
    return np.broadcast_to(share, shape)


# -- one class each ----------------------------------------------------------------------------------
def _apart(x: np.ndarray, target: np.ndarray, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """The lack of each class to the margin of the target, 0 for the target itself, and the place of that."""
    rows, at = np.atleast_2d(x), np.expand_dims(np.atleast_1d(target), 1)
    if ((at < 0) | (at >= rows.shape[1])).any():
        raise RuntimeError("target out of range")
    short = np.maximum(rows - np.take_along_axis(rows, at, 1) + rows.dtype.type(margin), 0)
    np.put_along_axis(short, at, 0, 1)
    return short, at


@op(node="MultiMarginLossBackward0", lacks="biuceV", kernel="multi_margin_loss_cpu_kernel", **_FACTS)
def _multi_margin(
    x: Tensor, target: Indices, weight: Tensor, *, p: Scalar, margin: Scalar, reduction: Reduction
) -> Any:
    """The mean over the classes of what is within the margin, each sample times the weight of its class."""
    short, at = _apart(x, target, margin)
    losses = (short**p * weight[at]).sum(1) / short.dtype.type(short.shape[1])
    return _reduced(losses.reshape(target.shape), reduction)


@op(node="torch::autograd::NotImplemented", **_FACTS)
def _multi_margin_backward(
    dy: Tensor,
    here: Tensor,
    target: Indices,
    weight: Tensor,
    *,
    p: Scalar,
    margin: Scalar,
    reduction: Reduction,
) -> Any:  # fmt: skip
    """The gradient of that."""
    short, at = _apart(here, target, margin)
    share = _spread(dy, target.shape, reduction).reshape(-1, 1) * weight[at] / short.shape[1]
    out = np.where(short > 0, p * short ** (p - 1) * share, 0)
    np.put_along_axis(out, at, 0 - out.sum(1, keepdims=True), 1)
    return out.reshape(here.shape).astype(here.dtype)


_multi_margin.wrt(
    x=one_dtype("x", "g", "weight", kernel="multi_margin_loss_backward_cpu_kernel", lacks="eV")(
        lambda g, x, target, weight, p, margin, reduction: g._multi_margin_backward(
            x, target, weight, p=p, margin=margin, reduction=reduction
        )
    )
)
_multi_margin_backward.wrt(**dict.fromkeys(("dy", "here"), without_derivative("multi_margin_loss_backward")))


# -- several classes each ----------------------------------------------------------------------------
def _chosen(x: np.ndarray, target: np.ndarray) -> np.ndarray:
    """For each sample and target, the class that it names."""
    if target.shape != x.shape:
        sizes = f"{list(target.shape)} for input of size: {list(x.shape)}"
        raise RuntimeError(f"inconsistent target size: {sizes}")
    if target.dtype != np.int64:
        refuse("op/one-dtype", name="multilabel_margin_loss", case=None, x=np.dtype(np.int64), y=target.dtype)
    rows, targets = np.atleast_2d(x), np.atleast_2d(target)
    if (targets >= rows.shape[1]).any() or (targets < -1).any():
        raise RuntimeError("argument #2 'target' is out of range")
    given = np.cumprod(targets >= 0, 1).astype(bool)  # those before the first -1
    chosen = np.zeros((*rows.shape, rows.shape[1]), bool)
    for n, k in zip(*np.nonzero(given), strict=True):
        chosen[n, k, targets[n, k]] = True
    return chosen


def _shortfalls(x: np.ndarray, target: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """For each sample, target and other class, how much is missing to a margin of one."""
    rows, chosen = np.atleast_2d(x), _chosen(x, target)
    here = np.where(chosen, rows[:, None, :], 0).sum(-1)  # the score of the k-th target
    short = np.maximum(1 - (here[..., None] - rows[:, None, :]), 0)
    others = np.atleast_2d(wanted)[:, None, :] == 0
    return np.where(chosen.any(-1, keepdims=True) & others, short, 0).astype(rows.dtype)


@op(**_FACTS)
def _multilabel_targets(x: Tensor, target: Indices) -> Any:
    """One for each class that is a target, and else zero; the gradient reads them as they were."""
    return _chosen(x, target).any(1).reshape(x.shape).astype(x.dtype)


@op(
    node="MultilabelMarginLossBackward0",
    lacks="biuceV",
    kernel="multilabel_margin_loss_forward_out_frame",
    **_FACTS,
)
def _multilabel_margin(x: Tensor, target: Indices, is_target: Tensor, *, reduction: Reduction) -> Any:
    """The shortfalls of targets against other classes over the number of classes."""
    short = _shortfalls(x, target, is_target)
    losses = short.sum((1, 2)) / short.dtype.type(short.shape[-1])
    return _reduced(losses if x.ndim > 1 else losses[0], reduction)


@op(node="torch::autograd::NotImplemented", **_FACTS)
def _multilabel_margin_backward(
    dy: Tensor, here: Tensor, target: Indices, is_target: Tensor, *, reduction: Reduction
) -> Any:
    """The gradient of that."""
    within = (_shortfalls(here, target, is_target) > 0).astype(here.dtype)
    out = within.sum(1)
    for n, k in np.ndindex(within.shape[:2]):
        out[n, np.atleast_2d(target)[n, k]] -= within[n, k].sum()  # of no target: nothing
    share = _spread(dy, here.shape[:-1], reduction).reshape(-1, 1) / out.shape[1]
    return (out * share).reshape(here.shape).astype(here.dtype)


_multilabel_margin.wrt(
    x=one_dtype("x", "g", kernel="multilabel_margin_loss_backward_out_frame", lacks="eV")(
        lambda g, x, target, is_target, reduction: g._multilabel_margin_backward(
            x, target, is_target, reduction=reduction
        )
    )
)
_multilabel_margin_backward.wrt(
    **dict.fromkeys(("dy", "here"), without_derivative("multilabel_margin_loss_backward"))
)


# -- signs -------------------------------------------------------------------------------------------
@op(
    node="SoftMarginLossBackward0",
    torch_names={"y": "target"},
    complex_history=False,
    kernel="soft_margin_loss",
    **_FACTS,
)
def _soft_margin(x: Tensor, y: Tensor, *, reduction: Reduction) -> Any:
    """``log(1 + exp(-y * x))``; the target has no gradient."""
    y = y.astype(x.dtype, copy=False)
    return _reduced(np.log1p(np.exp(-y * x)), reduction)


@op(node="SoftMarginLossBackwardBackward0", torch_names={"y": "target"}, **_FACTS)
def _soft_margin_backward(dy: Tensor, here: Tensor, y: Tensor, *, reduction: Reduction) -> Any:
    """The gradient of that."""
    z = np.exp(-y * here)
    return np.asarray(-y * z / (z + 1) * _spread(dy, here.shape, reduction), here.dtype)


def _soft_margin_of_gradient(g: Any, dy: Any, here: Any, y: Any, reduction: str) -> Any:
    if reduction == "none":
        return g._soft_margin_backward(here, y, reduction=reduction)
    return dy.detach().mul(0).add_scalar(1)._soft_margin_backward(here, y, reduction=reduction).mul(g).sum()


def _soft_margin_twice(g: Any, dy: Any, here: Any, y: Any, reduction: str) -> Any:
    z = here.mul(y.neg()).exp()
    after = z.add_scalar(1)
    made = g.mul(dy).mul(y.mul(y)).mul(z).div(after.mul(after))
    return made.div_scalar(math.prod(here.shape)) if reduction == "mean" else made


_soft_margin.wrt(x=lambda g, x, y, reduction: g._soft_margin_backward(x, y, reduction=reduction))
_soft_margin_backward.wrt(dy=_soft_margin_of_gradient, here=_soft_margin_twice)
