"""The ops of losses.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.active_rules import by
from specs.demands import one_dtype
from specs.dtype_names import scalar_type
from specs.errors import need_kernel, refuse
from specs.kind import Reduction, Scalar, Tensor
from specs.op import op
from specs.ops.helpers import minus

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 16, "layout": ()}


def _reduced(losses: np.ndarray, reduction: str) -> Any:
    if reduction == "none":
        return losses
    total = np.sum(losses)
    return total if reduction == "sum" else total / losses.dtype.type(losses.size)


@op(internal=True, node="MseLossBackward0", torch_names={"y": "target"}, lacks="cbiu", kernel="mse")
def _mse_loss(x: Tensor, y: Tensor, reduction: Reduction) -> Any:
    """The squares of differences, all of them, their mean or their sum."""
    return _reduced(np.square(np.subtract(x, y)), reduction)


@op(internal=True, node="MseLossBackwardBackward0", layout=(), into="here", lacks="c", kernel="mse_backward")
def _mse_loss_backward(dy: Tensor, here: Tensor, there: Tensor, reduction: Reduction) -> Any:
    """The gradient of such a loss with respect to ``here``."""
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


def _shared(g: Any, x: Any, reduction: str) -> Any:
    return g.div_scalar(math.prod(x.shape)) if reduction == "mean" else g


_BCE: dict[str, Any] = {
    "node": "BinaryCrossEntropyBackward0",
    "dtypes": "keep",
    "torch_names": {"y": "target"},
    **_FACTS,
}


def _bce_of_each(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype != y.dtype:
        raise RuntimeError(f"Found dtype {scalar_type(y)} but expected {scalar_type(x)}")
    need_kernel("binary_cross_entropy", x, "biuc")
    if x.size and not (x.min() >= 0 and x.max() <= 1):
        raise RuntimeError("all elements of input should be between 0 and 1")
    with np.errstate(all="ignore"):
        yes, no = np.maximum(np.log(x), -100), np.maximum(np.log1p(-x), -100)
    return -(y * yes + (1 - y) * no)


@op(**_BCE)
def _bce(x: Tensor, y: Tensor, reduction: Reduction) -> Any:
    """The cross entropy of two classes from probabilities; logarithms are held above -100."""
    return _reduced(_bce_of_each(x, y), reduction)


@op(**_BCE)
def _weighted_bce(x: Tensor, y: Tensor, weight: Tensor, reduction: Reduction) -> Any:
    """The same with a weight for each element, which has no gradient."""
    return _reduced(np.asarray(_bce_of_each(x, y) * weight, x.dtype), reduction)


@one_dtype("g", "x", "y", case="iterated")
def _bce_once(g: Any, x: Any, y: Any, reduction: str) -> Any:
    least = x.mul(minus(1, x)).clamp_min(float(np.float32(1e-12)))
    return _shared(g, x, reduction).mul(x.sub(y)).div(least)


def _bce_of_target(g: Any, x: Any, reduction: str) -> Any:
    return _shared(g, x, reduction).mul(x.neg().log1p().sub(x.log()))


_bce.wrt(x=_bce_once, y=_bce_of_target)
_weighted_bce.wrt(
    x=lambda g, x, y, weight, reduction: _bce_once(g.mul(weight), x, y, reduction),
    y=lambda g, x, weight, reduction: _bce_of_target(g.mul(weight), x, reduction),
)

_LOGITS: dict[str, Any] = {
    "node": "BinaryCrossEntropyWithLogitsBackward0",
    "torch_names": {"y": "target"},
    "into": "y",
    "lacks": "c",
    "kernel": "log_sigmoid",
    **_FACTS,
}


def _bce_of_logits(x: np.ndarray, y: np.ndarray, positive: Any = 1) -> np.ndarray:
    return (1 - y) * x + (np.maximum(-x, 0) + np.log1p(np.exp(-np.abs(x)))) * ((positive - 1) * y + 1)


@op(**_LOGITS)
def _bce_logits(x: Tensor, y: Tensor, reduction: Reduction) -> Any:
    """The cross entropy of two classes from the logarithm of their odds."""
    return _reduced(_bce_of_logits(x, y), reduction)


@op(**_LOGITS)
def _weighted_bce_logits(x: Tensor, y: Tensor, weight: Tensor, reduction: Reduction) -> Any:
    """The same with a weight for each element, which has no gradient."""
    return _reduced(_bce_of_logits(x, y) * weight, reduction)


@op(**_LOGITS)
def _positive_bce_logits(x: Tensor, y: Tensor, pos_weight: Tensor, reduction: Reduction) -> Any:
    """The same with a weight for what speaks for the class, which has no gradient."""
    return _reduced(_bce_of_logits(x, y, pos_weight), reduction)


@op(**_LOGITS)
def _twice_weighted_bce_logits(
    x: Tensor, y: Tensor, pos_weight: Tensor, weight: Tensor, reduction: Reduction
) -> Any:
    """The same with both weights."""
    return _reduced(_bce_of_logits(x, y, pos_weight) * weight, reduction)


def _logits_once(g: Any, x: Any, y: Any, reduction: str) -> Any:
    return _shared(g, x, reduction).mul(x.sigmoid().sub(y))


def _logits_of_target(g: Any, x: Any, reduction: str) -> Any:
    return _shared(g, x, reduction).mul(x).neg()


def _positive_once(g: Any, x: Any, y: Any, pos_weight: Any, reduction: str) -> Any:
    positive = pos_weight.mul(y)
    return _shared(g, x, reduction).mul(positive.add(1).sub(y).mul(x.sigmoid()).sub(positive))


def _positive_of_target(g: Any, x: Any, pos_weight: Any, reduction: str) -> Any:
    against, by_odds = x.softplus(1.0, 20.0), x.neg().softplus(1.0, 20.0)
    return _shared(g, x, reduction).mul(by_odds.mul(pos_weight).sub(against))


_bce_logits.wrt(x=_logits_once, y=_logits_of_target)
_weighted_bce_logits.wrt(
    x=lambda g, x, y, weight, reduction: _logits_once(g.mul(weight), x, y, reduction),
    y=lambda g, x, weight, reduction: _logits_of_target(g.mul(weight), x, reduction),
)
_positive_bce_logits.wrt(x=_positive_once, y=_positive_of_target)
_twice_weighted_bce_logits.wrt(
    x=lambda g, x, y, pos_weight, weight, reduction: _positive_once(
        g.mul(weight), x, y, pos_weight, reduction
    ),
    y=lambda g, x, pos_weight, weight, reduction: _positive_of_target(
        g.mul(weight), x, pos_weight, reduction
    ),
)


@op(node="HuberLossBackward0", torch_names={"y": "target"}, into="x", lacks="biuc", kernel="huber", **_FACTS)
def _huber(x: Tensor, y: Tensor, reduction: Reduction, delta: Scalar) -> Any:
    """Half the square of differences up to ``delta``, linear beyond."""
    z = np.abs(x - y)
    return _reduced(np.where(z <= delta, 0.5 * z * z, delta * (z - 0.5 * delta)).astype(z.dtype), reduction)


def _held(g: Any, x: Any, y: Any, reduction: str, delta: float, scale: float) -> Any:
    z = x.sub(y)
    flat = z.detach().clamp(min=-delta, max=delta)  # at the bound already: its derivative is 0
    slope = z.where(flat.abs().lt(delta), flat)
    return _shared(g, x, reduction).mul(slope if scale == 1 else slope.mul_scalar(scale))


_huber.wrt(
    x=one_dtype("x", "y", "g", case="iterated")(
        lambda g, x, y, reduction, delta: _held(g, x, y, reduction, delta, 1)
    ),
    y=one_dtype("y", "x", "g", case="iterated")(
        lambda g, x, y, reduction, delta: _held(g, y, x, reduction, delta, 1)
    ),
)


@op(
    node="SmoothL1LossBackward0",
    torch_names={"y": "target"},
    lacks="biuc",
    kernel="smooth_l1",
    iterates=True,
    **_FACTS,
)
def _smooth_l1(x: Tensor, y: Tensor, reduction: Reduction, beta: Scalar) -> Any:
    """Half the square of differences over ``beta`` below it, linear beyond."""
    z = np.abs(x - y)
    return _reduced(np.where(z < beta, 0.5 * z * z / beta, z - 0.5 * beta).astype(z.dtype), reduction)


_smooth_l1.wrt(
    x=lambda g, x, y, reduction, beta: _held(g, x, y, reduction, beta, 1 / beta),
    y=lambda g, x, y, reduction, beta: _held(g, y, x, reduction, beta, 1 / beta),
)
