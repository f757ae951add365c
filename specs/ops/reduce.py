"""Reductions and running sums along dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.errors import need_kernel, refuse
from specs.kind import Bool, Dim, DimList, Dims, OptDims, Tensor
from specs.layout import laid_out_like
from specs.op import op
from specs.ops.complex import conj
from specs.ops.helpers import axes_of, axis_of, reduced


def _unreduced(g, x_shape, dim, keepdim):
    """A reduction's gradient, expanded over the reduced dimensions."""
    if not keepdim and x_shape and dim:
        for d in sorted(d % len(x_shape) for d in dim):
            g = g.unsqueeze(d)
    return g.expand(x_shape)


@op(name="sum", node="SumBackward0", dtypes="accumulate", complex=True, grows="totals", often=4)
def sum_all(x: Tensor):
    """The sum of all elements; bools and integers become int64."""
    return reduced(np.add, x, None)


sum_all.wrt(x=lambda g, x_shape: g.expand(x_shape))


@op(name="sum", node="SumBackward1", dtypes="accumulate", complex=True, grows="totals", often=4)
def sum_dim(x: Tensor, dim: OptDims, keepdim: Bool = False):
    """The sum along dimensions, or of all elements for None or none."""
    return reduced(np.add, x, axes_of(dim, x.ndim), keepdim)


sum_dim.wrt(x=lambda g, x_shape, dim, keepdim: _unreduced(g, x_shape, dim, keepdim))


def _mean(x, dim, keepdim=False):
    if x.dtype.kind not in "fc":
        refuse("op/mean-dtype", dtype=x.dtype)
    axes = axes_of(dim, x.ndim)
    count = math.prod(x.shape[axis] for axis in axes)
    return np.true_divide(reduced(np.add, x, axes, keepdim), x.dtype.type(count))


_MEAN: dict[str, Any] = {
    "name": "mean", "dtypes": "keep", "wide": True, "complex": True, "avoid": ("inexact_count",),
    "grows": "averages", "often": 4, "casts_out": True, "alone": alone.out_on_cpu,
}  # fmt: skip


@op(node="MeanBackward0", **_MEAN)
def mean_all(x: Tensor):
    """The mean of all elements."""
    return _mean(x, None)


mean_all.wrt(x=lambda g, x_shape: g.expand(x_shape).div_scalar(math.prod(x_shape)))


@op(node="MeanBackward1", **_MEAN)
def mean_dim(x: Tensor, dim: OptDims, keepdim: Bool = False):
    """The mean along dimensions, or of all elements for None or none."""
    return _mean(x, dim, keepdim)


def _mean_backward(g, x_shape, dim, keepdim):
    reduced = [x_shape[d] for d in dim] if dim and x_shape else x_shape
    return _unreduced(g, x_shape, dim, keepdim).div_scalar(math.prod(reduced))


mean_dim.wrt(x=_mean_backward)


def _zeros(x):
    return x.eq(0).sum().item()


def _times_others(g, x, dim):
    """The product of the other elements along a dimension, computed without division."""
    size = x.shape[dim]
    if size == 1:
        return g
    rest = list(x.shape)
    rest[dim] = 1
    one = g.new_zeros(rest).add(1)
    sizes = (1, size - 1)
    before = one._cat(x.narrow(dim, 0, size - 1), dim=dim, sizes=sizes).cumprod(dim)
    after = one._cat(x.narrow(dim, 1, size - 1).flip((dim,)), dim=dim, sizes=sizes).cumprod(dim).flip((dim,))
    return g.mul(conj(before.mul(after)))


def _prod_all_backward(g, x, out):
    """The product of the other elements: the result divided by each, unless one is zero."""
    if not x.ndim:
        return g
    x = x.to(g.dtype)  # another one by now, where its data was assigned
    zeros = _zeros(x)
    if not zeros:
        return g.mul(conj(out.div(x)))
    if zeros > 1 and not x._is_recorded():
        return x.new_zeros(x.shape)
    return _times_others(g, x.contiguous().view((-1,)), 0).view(tuple(x.shape))


@op(
    internal=True,
    node="CumprodBackward0",
    dtypes="accumulate",
    wide=True,
    grows="multiplies_all",
    hands_on=True,
)
def cumprod(x: Tensor, dim: Dim):
    """Running products, inside the derivative of a product."""
    axis = axis_of(dim, x.ndim)
    return np.asarray(np.cumprod(x, axis=axis, dtype=x.dtype), order="C") if x.ndim else x


def _cumprod_backward(g, x, out, dim):
    """The sum of an element's shares in later products: each divided by the element, unless one is 0."""
    if math.prod(x.shape) <= 1 or x.shape[dim] == 1:
        return g
    dim %= x.ndim
    x, out = conj(x), conj(out)
    if _zeros(x):
        return _cumprod_backward_at_zero(g, x, dim)
    return out.mul(g).flip((dim,)).cumsum(dim).flip((dim,)).div(x)


def _cumprod_backward_at_zero(g, x, dim):
    """The same without a division: the products that leave an element out give its share."""
    size = x.shape[dim]
    ones = g.new_ones((1,)).expand([1 if d == dim else n for d, n in enumerate(x.shape)])
    shares = g.new_zeros(x.shape)
    for k in range(size):
        first = left_out = x.slice(dim, 0, k).prod(dim, True) if k else ones
        if k < size - 1:
            rest = x.slice(dim, k + 1).cumprod(dim)
            if k:
                rest = first.expand(rest.shape).mul(rest)
            left_out = first._cat(rest, dim=dim, sizes=(1, size - k - 1))
        shares.select(dim, k).copy_(g.slice(dim, k).mul(left_out).sum(dim))
    return shares


cumprod.wrt(x=_cumprod_backward)


def _one_by_one(x, axis=None):
    """The product along a dimension, rounded at each factor; numpy would round half precision once."""
    return np.take(np.multiply.accumulate(x, axis), [-1], axis) if x.size and x.ndim else x


_PROD: dict[str, Any] = {
    "name": "prod", "dtypes": "accumulate", "wide": False, "complex": True, "domain": "zero_or_power_of_two",
    "tries": ("a zero", "two zeros", "ones"),
    "grows": "multiplies_all", "often": 4, "hands_on": True,
}  # fmt: skip


@op(node="ProdBackward0", **_PROD)
def prod_all(x: Tensor):
    """The product of all elements."""
    return reduced(np.multiply, _one_by_one(x.reshape(-1), 0) if x.dtype == np.float16 else x, None)


prod_all.wrt(x=_prod_all_backward)


@op(node="ProdBackward1", **_PROD)
def prod_dim(x: Tensor, dim: Dim, keepdim: Bool = False):
    """The product along a dimension."""
    axes = axes_of((dim,), x.ndim)
    return reduced(np.multiply, _one_by_one(x, *axes) if x.dtype == np.float16 else x, axes, keepdim)


def _prod_dim_backward(g, x, out, dim, keepdim):
    if not x.ndim:
        return g
    x = x.to(g.dtype)
    if not keepdim:
        g, out = g.unsqueeze(dim), out.unsqueeze(dim)
    return _times_others(g, x, dim % x.ndim) if _zeros(x) else g.mul(conj(out.div(x)))


prod_dim.wrt(x=_prod_dim_backward)


def _extreme(ufunc, x, dim, keepdim):
    for d in dim if not x.size else ():
        if x.ndim and not x.shape[axis_of(d, x.ndim)]:
            refuse("op/empty-extreme-dim", name="amax" if ufunc is np.maximum else "amin", dim=d)
    axes = axes_of(dim, x.ndim)
    if not x.size and not dim:
        refuse("op/empty-extreme", name="amax" if ufunc is np.maximum else "amin")
    if x.size:
        need_kernel("amax" if ufunc is np.maximum else "amin", x, "c")
    return reduced(ufunc, x, axes, keepdim)


def _restored(reduced, dim, keepdim):
    """A reduction's result with the reduced dimensions put back as ones."""
    if keepdim:
        return reduced
    ndim = reduced.ndim + len(dim)
    gone = {d % ndim for d in dim}
    left = iter(reduced.shape)
    return reduced.reshape(tuple(1 if d in gone else next(left) for d in range(ndim)))


def _extreme_backward(g, x, out, dim, keepdim):
    """Tied extremes share the gradient evenly."""
    at = _restored(out, dim, keepdim).eq(x)
    return _restored(g, dim, keepdim).div(at.sum(dim, True)).mul(at)


@op(
    node="AmaxBackward0",
    dtypes="keep",
    tries=("ties",),
    avoid=("odd_ties",),
    grows="keeps",
    jumps=True,
    complex_history=False,
    often=4,
)
def amax(x: Tensor, dim: Dims = (), keepdim: Bool = False):
    """The maximum along dimensions, or of all elements if no dimension is given."""
    return _extreme(np.maximum, x, dim, keepdim)


amax.wrt(x=_extreme_backward)


@op(
    node="AminBackward0",
    dtypes="keep",
    tries=("ties",),
    avoid=("odd_ties",),
    grows="keeps",
    jumps=True,
    complex_history=False,
)
def amin(x: Tensor, dim: Dims = (), keepdim: Bool = False):
    """The minimum along dimensions, or of all elements if no dimension is given."""
    return _extreme(np.minimum, x, dim, keepdim)


amin.wrt(x=_extreme_backward)


@op(
    inplace=True,
    node="CumsumBackward0",
    dtypes="accumulate",
    mixes_elements=True,
    complex=True,
    grows="totals",
    alone=alone.running_sum,
)
def cumsum(x: Tensor, dim: Dim):
    """Running sums along a dimension."""
    axis = axis_of(dim, x.ndim)
    if x.ndim and x.size:
        need_kernel("cumsum", x, "b")
    return np.cumsum(x, axis=axis).astype(x.dtype, order="C") if x.ndim else x


def _cumsum_backward(g, dim):
    if math.prod(g.shape) <= 1 or g.shape[dim] == 1:
        return g
    return g.flip((dim,)).cumsum(dim).flip((dim,))


cumsum.wrt(x=_cumsum_backward)


@op(
    node="FlipBackward0",
    dtypes="keep",
    layout=(),
    complex=True,
    grows="keeps",
    alone=alone.flipped,
    takes_view=alone.flips,
)
def flip(x: Tensor, dims: DimList):
    """A copy with some dimensions reversed."""
    axes = axes_of(dims, x.ndim) if dims else ()
    return laid_out_like(np.flip(x, axes).copy(order="K"), x)


flip.wrt(x=lambda g, dims: g.flip(dims))
