"""Distances of tensors and of all pairs of rows, which generated programs do not call.

PyTorch differentiates the distances of pairs once: their gradients have nodes that refuse.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.demands import one_dtype
from specs.errors import refuse
from specs.kind import Dim, Scalar, Tensor
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import axis_of
from specs.ops.norms import vector_norm

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "wide": True, "exact": False, "ulp": 32}


def _norms(apart: np.ndarray, p: float) -> np.ndarray:
    """The p-norms along the last dimension."""
    size = np.abs(apart)
    if p == 0:
        return np.count_nonzero(size, -1).astype(apart.dtype)
    if p == math.inf:
        return np.max(size, -1) if apart.shape[-1] else np.zeros(apart.shape[:-1], apart.dtype)
    if p == 2:
        return np.sqrt(np.sum(size * size, -1))
    return np.sum(size, -1) if p == 1 else np.asarray(np.sum(size**p, -1) ** (1 / p), apart.dtype)


def _slopes(apart: np.ndarray, found: np.ndarray, p: float) -> np.ndarray:
    """The derivatives of the norms by each difference; zero where the norm is."""
    found = found[..., None]
    if p == 0:
        return np.zeros_like(apart)
    if p == 1:
        return np.sign(apart)
    with np.errstate(all="ignore"):
        if p == math.inf:
            slope = np.sign(apart) * (np.abs(apart) == found)
        elif p == 2:
            slope = apart / found
        else:
            slope = np.sign(apart) * np.abs(apart) ** (p - 1) / found ** (p - 1)
        nothing = (found == 0) | ((p < 1) & (apart == 0))
    return np.where(nothing, 0, slope).astype(apart.dtype)


def _dist_slope(g: Any, x: Any, y: Any, out: Any, p: float) -> Any:
    backward = vector_norm.formulas["x"].fn
    return backward(g, x.sub(y), out, p, (), False)


@op(node="DistBackward0", iterates=True, **_FACTS)
def dist(x: Tensor, y: Tensor, p: Scalar = 2) -> Any:
    """The p-norm of the difference."""
    if x.dtype.kind == "b":
        refuse("op/bool-arithmetic", name="sub", case="sub both")
    if x.dtype.kind in "iu":
        refuse("op/norm-dtype", name="dist", dtype=x.dtype)
    return np.asarray(_norms((x - y).reshape(-1), p), x.real.dtype)


dist.wrt(x=_dist_slope, y=lambda g, x, y, out, p: _dist_slope(g, x, y, out, p).neg())


# -- all pairs of rows -----------------------------------------------------------------------------
def _pairs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x[..., :, None, :] - y[..., None, :, :]


def _summed_to(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum over the dimensions that broadcasting added or widened."""
    x = x.sum(tuple(range(x.ndim - len(shape))))
    wide = tuple(d for d, n in enumerate(shape) if n == 1 != x.shape[d])
    return x.sum(wide, keepdims=True) if wide else x


@op(node="CdistBackward0", lacks="eV", kernel="cdist", **_FACTS)
def _cdist_forward(x1: Tensor, x2: Tensor, *, p: Scalar) -> Any:
    """The p-norms of the differences of all pairs of rows."""
    return np.ascontiguousarray(_norms(_pairs(x1, x2), p))


@op(node="CdistBackwardBackward0", **_FACTS)
def _cdist_backward(dy: Tensor, x1: Tensor, x2: Tensor, distances: Tensor, *, p: Scalar) -> Any:
    """The gradient of the first rows."""
    found = (dy[..., None] * _slopes(_pairs(x1, x2), distances, p)).sum(-2)
    return np.ascontiguousarray(_summed_to(found, x1.shape))


def _refuse(g: Any) -> Any:
    raise NotImplementedError("the derivative for '_cdist_backward' is not implemented.")


_cdist_forward.wrt(
    x1=one_dtype("x1", "g", "x2", kernel="cdist_backward", lacks="eV")(
        lambda g, x1, x2, out, p: g.contiguous()._cdist_backward(x1, x2, out, p=p)
    ),
    x2=one_dtype("x2", "g", "x1", kernel="cdist_backward", lacks="eV")(
        lambda g, x1, x2, out, p: g.mT.contiguous()._cdist_backward(x2, x1, out.mT.contiguous(), p=p)
    ),
)
_cdist_backward.wrt(dy=_refuse, x1=_refuse, x2=_refuse, distances=_refuse)


@op(node="EuclideanDistBackward0", **_FACTS)
def _euclidean_dist(x1: Tensor, x2: Tensor) -> Any:
    """The distances of many pairs of rows, from products."""
    squares = np.sum(x1 * x1, -1)[..., :, None] + np.sum(x2 * x2, -1)[..., None, :]
    found = squares - 2 * np.matmul(x1, np.swapaxes(x2, -1, -2))
    return np.sqrt(np.maximum(found, 0)).astype(x1.dtype)


def _share(g: Any, out: Any) -> Any:
    return g.div(out).masked_fill(out.eq(0), 0)


_euclidean_dist.wrt(
    x1=lambda g, x1, x2, out: x1.mul(_share(g, out).sum(-1, True)).sub(_share(g, out).matmul(x2)),
    x2=lambda g, x1, x2, out: x2.mul(_share(g, out).sum(-2).unsqueeze(-1)).sub(_share(g, out).mT.matmul(x1)),
)


# -- the pairs of the rows of one matrix -----------------------------------------------------------
@op(node="PdistBackward0", lacks="eV", kernel="pdist", **_FACTS)
def _pdist_forward(x: Tensor, *, p: Scalar) -> Any:
    """The p-norms of the differences of each pair of rows."""
    first, second = np.triu_indices(x.shape[0], 1)
    return _norms(x[first] - x[second], p)


@op(node="PdistBackwardBackward0", **_FACTS)
def _pdist_backward(dy: Tensor, rows: Tensor, distances: Tensor, *, p: Scalar) -> Any:
    """The gradient of the rows."""
    first, second = np.triu_indices(rows.shape[0], 1)
    shares = dy[:, None] * _slopes(rows[first] - rows[second], distances, p)
    out = np.zeros_like(rows)
    np.add.at(out, first, shares)
    np.subtract.at(out, second, shares)
    return out


def _refuse_pairs(g: Any) -> Any:
    raise NotImplementedError("the derivative for '_pdist_backward' is not implemented.")


_pdist_forward.wrt(
    x=one_dtype("x", "g", kernel="pdist_backward", lacks="eV")(
        lambda g, x, out, p: g.contiguous()._pdist_backward(x, out, p=p)
    )
)
_pdist_backward.wrt(dy=_refuse_pairs, rows=_refuse_pairs, distances=_refuse_pairs)


# -- slices cut to a norm --------------------------------------------------------------------------
@op(internal=True, inplace=True, node="RenormBackward0", dtypes="keep", exact=False, ulp=8)
def renorm(x: Tensor, p: Scalar, dim: Dim, maxnorm: Scalar) -> Any:
    """The slices along a dimension, those with a larger norm scaled down to it."""
    if x.ndim < 2:
        raise RuntimeError(f"renorm: input needs at least 2 dimensions, got {x.ndim} dimensions")
    if p <= 0:
        raise RuntimeError("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise RuntimeError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    sizes = vector_norm.body(x, p, _others(x.ndim, axis_of(dim, x.ndim)), True)
    scale = np.where(sizes > maxnorm, maxnorm / (sizes + sizes.dtype.type(1e-7)), 1)
    return (x * scale).astype(x.dtype, order="C")


def _others(ndim: int, dim: int) -> tuple[int, ...]:
    return tuple(d for d in range(ndim) if d != dim % ndim)


def _renorm_backward(g: Any, x: Any, p: Any, dim: int, maxnorm: Any) -> Any:
    dims = _others(x.ndim, dim)
    sizes = x.vector_norm(p, dims, True)
    share = conj(x).mul(g)
    share = (share.real if share.is_complex() else share).sum(dims, True)
    slope = vector_norm.formulas["x"].fn(share, x, sizes, p, dims, True)
    inverse = sizes.add_scalar(1e-7).reciprocal()
    return inverse.mul_scalar(maxnorm).mul(g.sub(inverse.mul(slope)))._where(sizes.gt(maxnorm), g)


renorm.wrt(x=_renorm_backward)
