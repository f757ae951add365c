"""Quantiles, distances of rows, integrals and differences along a line, composed of other functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import place_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap, wrap_beside
from reference_impl.namespace import composite
from specs.dtype_names import SCALARS
from specs.ops.helpers import axis_of

_WAYS = ("linear", "lower", "higher", "midpoint", "nearest")
_ROUNDED: dict[str, Any] = {
    "lower": lambda ranks: ranks.floor(),
    "higher": lambda ranks: ranks.ceil(),
    "nearest": lambda ranks: ranks.round(),
}


def _quantile(
    x: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, passing_over: bool
) -> Tensor:
    """The value below which a share of the elements lies."""
    if interpolation not in _WAYS:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    shares = array_of(q.detach()) if isinstance(q, Tensor) else np.asarray(q, array_of(x).dtype)
    _need_shares(x, q, shares)
    last = _sorted_last(x, dim, keepdim)
    ranks = _ranks(last, q if isinstance(q, Tensor) else wrap_beside(x, shares), passing_over)
    if interpolation in _ROUNDED:
        ranks = _ROUNDED[interpolation](ranks)
    below = ranks.detach().to(dtypes.int64)
    found = last.gather(-1, below)
    if interpolation in ("linear", "midpoint"):
        weights = ranks.sub(below) if interpolation == "linear" else ranks.detach().clone().fill_(0.5)
        above = last.gather(-1, ranks.detach().ceil().to(dtypes.int64))
        found.lerp_(above, weights.to(last.dtype))
    if not shares.ndim:
        return found.squeeze_(-1)
    return found.unsqueeze_(0).transpose_(0, -1).squeeze_(-1)


def _ranks(last: Tensor, shares: Tensor, passing_over: bool) -> Tensor:
    """The places of shares among the sorted elements; those of a line with a NaN are the last."""
    missing = last.detach().isnan()
    if by("op/quantile-counts-in-double"):
        shares = shares.to(dtypes.float64)
    if passing_over:
        ranks = shares.mul(missing.logical_not().sum(-1, True).sub(1))
        return ranks.masked_fill_(ranks.detach().lt(0), 0)
    top = last.shape[-1] - 1
    ranks, missing = composite.broadcast_tensors(shares.mul_scalar(top), missing.any(-1, True))
    return ranks.masked_fill(missing, top)


def _need_shares(x: Tensor, q: Any, shares: np.ndarray) -> None:
    if not array_of(x).size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, Tensor):
        if q.ndim > 1:
            raise RuntimeError("quantile() q must be a scalar or 1D tensor")
        if q.dtype is not x.dtype:
            raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
        if place_of(q) is not place_of(x):
            raise RuntimeError("quantile() q tensor must be on the same device as the input tensor")
        if ((shares < 0) | (shares > 1)).any():
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")


def _sorted_last(x: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """The elements sorted along the last dimension; the others are those of the result for one share."""
    sizes = [1] * x.ndim if keepdim else []
    if dim is None:
        ordered = x.flatten().sort()[0]
    else:
        axis = axis_of(dim, x.ndim)
        sizes = list(x.shape)
        if keepdim and sizes:
            sizes[axis] = 1
        elif sizes:
            del sizes[axis]
        last = axis == x.ndim - 1
        ordered = (x if last else x.unsqueeze(-1).transpose(axis, -1)).sort()[0]
    return ordered.view((*sizes, ordered.shape[-1]))


def quantile(
    x: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The value below which a share of the elements lies, between two of them in proportion."""
    return _quantile(x, q, dim, keepdim, interpolation, False)


def nanquantile(
    x: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The quantile of the elements that are no NaN."""
    return _quantile(x, q, dim, keepdim, interpolation, True)


# -- distances of rows -----------------------------------------------------------------------------------
_MODES = {None: 0, "use_mm_for_euclid_dist_if_necessary": 0, "use_mm_for_euclid_dist": 1,
          "donot_use_mm_for_euclid_dist": 2}  # fmt: skip


def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """The p-norms of the differences of all pairs of rows."""
    if compute_mode not in _MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if x.ndim < 2:
            raise RuntimeError(f"cdist only supports at least 2D tensors, {name} got: {x.ndim}D")
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.is_floating_point():
            got = SCALARS[x.dtype.name]
            raise RuntimeError(f"cdist only supports floating-point dtypes, {name} got: {got}")
    if p < 0:
        raise RuntimeError("cdist only supports non-negative p values")
    if x1.shape[-1] != x2.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}"
        )
    mode = _MODES[compute_mode]
    many = x1.shape[-2] > 25 or x2.shape[-2] > 25
    empty = not x1.numel() or not x2.numel()
    if p == 2 and not empty and (mode == 1 or (mode == 0 and many)):
        found = x1._euclidean_dist(x2)
        return found.view(tuple(found.shape))
    return x1._cdist_forward(x2, p=float(p))


def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    """The p-norms of the differences of each pair of rows of a matrix."""
    if not x.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if x.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x.ndim}D")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    return x.contiguous()._pdist_forward(p=float(p))


# -- along a line ------------------------------------------------------------------------------------------
def _steps(y: Tensor, x: Tensor, dim: int) -> Tensor:
    if x.ndim == 1:
        x = x.view(tuple(-1 if d == axis_of(dim, y.ndim) else 1 for d in range(y.ndim)))
    elif x.ndim < y.ndim:
        x = x.view((1,) * (y.ndim - x.ndim) + tuple(x.shape))
    before = x.slice(dim, 0, x.shape[dim] - 1, 1)  # NB: first, which the ages of the nodes show
    return x.slice(dim, 1, x.shape[dim], 1).sub(before)


def _need_a_point_for_each(name: str, y: Tensor, x: Tensor, dim: int) -> None:
    """Refuse a line of points that has not as many as there are values."""
    if x.ndim == 1 and x.shape[0] != y.shape[dim]:
        raise RuntimeError(f"{name}: There must be one `x` value for each sample point")


def _neighbours(y: Tensor, dim: int) -> Tensor:
    size = y.shape[dim]
    return y.slice(dim, 1, size, 1).add(y.slice(dim, 0, size - 1, 1))


def _need_no_bools(name: str, *tensors: Tensor) -> None:
    if any(x.dtype is dtypes.bool_ for x in tensors):
        refuse_by("op/bool-arithmetic", name=name, case="trapezoid both" if len(tensors) > 1 else None)


def _positive(x: Tensor) -> Tensor:
    """Return the tensor itself."""
    _need_no_bools("positive", x)
    return x


def _need_one_spacing(name: str, x: Any, dx: Any) -> float:
    """Refuse a distance of points beside the points."""
    if x is not None and dx is not None:
        refuse_by("op/arguments", name=name, given="Tensor, Tensor, dx=float")
    return 1 if dx is None else dx


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integral by the trapezoidal rule."""
    dx = _need_one_spacing("trapezoid", x, dx)
    if x is not None:
        _need_no_bools("trapezoid", y, x)
        _need_a_point_for_each("trapezoid", y, x, dim)
        return _neighbours(y, dim).mul(_steps(y, x, dim)).sum(dim).div_scalar(2)
    _need_no_bools("trapezoid", y)
    ends = y.select(dim, 0).add(y.select(dim, -1))
    return y.sum(dim).sub(ends.mul_scalar(0.5)).mul_scalar(dx)


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Any = None, dim: int = -1) -> Tensor:
    """The integrals up to each point, by the trapezoidal rule."""
    dx = _need_one_spacing("cumulative_trapezoid", x, dx)
    if x is not None:
        _need_no_bools("cumulative_trapezoid", y, x)
        _need_a_point_for_each("cumulative_trapezoid", y, x, dim)
        return _neighbours(y, dim).mul(_steps(y, x, dim)).cumsum(dim).div_scalar(2)
    _need_no_bools("cumulative_trapezoid", y)
    return _neighbours(y, dim).mul_scalar(dx / 2).cumsum(dim)


def float_power(x: Any, exponent: Any) -> Tensor:
    """The power in double precision."""
    if not isinstance(x, Tensor) and not isinstance(exponent, Tensor):
        given = f"{type(x).__name__}, {type(exponent).__name__}"
        refuse_by("op/arguments", name="float_power", given=given)
    wide = [
        v if not isinstance(v, Tensor) else v.to(dtypes.complex128 if v.is_complex() else dtypes.float64)
        for v in (x, exponent)
    ]
    return wide[0].pow(wide[1]) if isinstance(x, Tensor) else wide[1].rpow(wide[0])


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of the elements of a vector, as columns."""
    if x.ndim != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    x = x if x.is_floating_point() or x.is_complex() else x.long()
    made = x.new_empty((x.shape[0], n))
    if n > 0:
        made.select(1, 0).fill_(1)
    if n > 1:  # NB: the gradient is refused, since the powers are written over what it needs
        made.slice(1, 1, n, 1).copy_(x.unsqueeze(1))
        made.slice(1, 1, n, 1).copy_(made.slice(1, 1, n, 1).cumprod(1))
    return made if increasing else made.flip((1,))


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """The coordinates of places in a flattened tensor."""
    if indices.dtype.numpy.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    wide = (shape,) if isinstance(shape, int) else tuple(shape)
    odd = next((n for n in wide if not isinstance(n, int)), None)
    if odd is not None:
        raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(odd)}")
    if any(n < 0 for n in wide):
        raise ValueError(f"'shape' cannot have negative values, but got {wide}")
    steps = [math.prod(wide[d + 1 :]) for d in range(len(wide))]
    found = [array_of(indices) // step % size for step, size in zip(steps, wide, strict=True)]
    return wrap(np.stack(found, -1).astype(np.int64, copy=False)).unbind(-1) if found else ()


BOTH: dict[str, Any] = {
    "float_power": float_power, "nanquantile": nanquantile, "positive": _positive, "quantile": quantile,
}  # fmt: skip
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {
    "cdist": cdist, "cumulative_trapezoid": cumulative_trapezoid, "pdist": pdist,
    "trapezoid": trapezoid, "trapz": trapezoid, "unravel_index": unravel_index, "vander": vander,
}  # fmt: skip
"""Functions that are not methods, by name."""
