"""Reducing elements into the places that indices name. Generated programs do not call this."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.dtype_names import scalar_type
from specs.errors import need_fit
from specs.kind import Bool, Dim, Indices, Number, Reduction, Tensor
from specs.op import op
from specs.ops.helpers import along, axis_of, grid_index, need_targets, without_derivative
from specs.ops.index_demands import need_scatterable, need_slices
from specs.ops.tangents import without_jvp

_UFUNCS: dict[str, Any] = {
    "sum": np.add, "mean": np.add, "prod": np.multiply, "amax": np.maximum, "amin": np.minimum,
}  # fmt: skip
_LACKS = {"sum": "", "prod": "", "mean": "b", "amax": "c", "amin": "c"}
"""The kinds of dtypes that a reduction has no kernel for, in numpy's letters."""


def _need_operands(x: np.ndarray, index: np.ndarray, src: np.ndarray, reduce: str) -> None:
    if reduce not in _UFUNCS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    need_scatterable(x, index, src)


def _identity(reduce: str, dtype: np.dtype) -> Any:
    """The value with which a reduction begins."""
    if reduce in ("sum", "mean", "prod"):
        return reduce == "prod"
    if dtype.kind == "b":
        return reduce == "amin"
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if reduce == "amax" else limits.max
    return -np.inf if reduce == "amax" else np.inf


def _scattered_with(reduce: str, x: np.ndarray, dim: int, index: np.ndarray, src: np.ndarray) -> np.ndarray:
    """``x`` with ``src`` added or multiplied in place by place: the older form of `scatter_reduce`."""
    if reduce not in ("add", "multiply"):
        raise RuntimeError("reduce argument must be either add or multiply.")
    return scatter_reduce.body(x, dim, index, src, "sum" if reduce == "add" else "prod")


_REDUCED: dict[str, Any] = {
    "name": "scatter", "node": "torch::autograd::NotImplemented", "inplace": True, "internal": True,
    "dtypes": "keep", "memory": "alone",
}  # fmt: skip


@op(**_REDUCED)
def scatter_tensor_with(x: Tensor, dim: Dim, index: Indices, src: Tensor, *, reduce: Reduction) -> Any:
    """``x`` with each element of ``src`` added, or multiplied with, where its index says."""
    return _scattered_with(reduce, x, dim, index, src)


@op(**_REDUCED)
def scatter_number_with(x: Tensor, dim: Dim, index: Indices, value: Number, *, reduce: Reduction) -> Any:
    """``x`` with a number added, or multiplied with, wherever an index says."""
    need_fit(value, x.dtype)
    return _scattered_with(reduce, x, dim, index, np.full(index.shape, value).astype(x.dtype))


scatter_tensor_with.wrt(**dict.fromkeys(("x", "src"), without_derivative("scatter")))
scatter_number_with.wrt(x=without_derivative("scatter"))

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "wide": True, "exact": False, "memory": "alone"}


@op(inplace=True, node="ScatterReduceBackward0", complex_history=False, **_FACTS)
def scatter_reduce(
    x: Tensor, dim: Dim, index: Indices, src: Tensor, reduce: Reduction, include_self: Bool = True
) -> Any:
    """``x`` with the elements of ``src`` reduced into the places that ``index`` names."""
    out = x.copy()
    line, axis = along(out, dim)
    _need_operands(x, index, src, reduce)
    if not index.size:
        return out
    need_targets(x, index, src, axis)
    if x.dtype.kind in _LACKS[reduce]:
        kernel = f"scatter_gather_tensor_cpu_reduce_{reduce}"
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_type(x)}'")
    lined, given = np.atleast_1d(index), np.atleast_1d(src)
    places = grid_index(lined, axis)
    if not include_self:
        line[places] = _identity(reduce, x.dtype)
    _UFUNCS[reduce].at(line, places, given[tuple(slice(n) for n in lined.shape)])
    if reduce == "mean":
        count = np.full(line.shape, int(include_self))
        np.add.at(count, places, 1)
        count[count == 0] = 1
        line = (line // count if x.dtype.kind in "iu" else line / count).astype(x.dtype)
    return line.reshape(x.shape)


# -- gradients -------------------------------------------------------------------------------------
def _without_self(grad: Any, dim: int, index: Any, include_self: bool) -> Any:
    return grad if include_self else grad.scatter(dim, index, 0)


def _count(g: Any, dim: int, index: Any, src: Any, include_self: bool) -> Any:
    """The number of elements of each mean."""
    counted = g.new_full(g.shape, int(include_self)).scatter_add(dim, index, src.new_full(src.shape, 1))
    return counted.masked_fill(counted.eq(0), 1)


def _shared(g: Any, x: Any, dim: int, index: Any, src: Any, out: Any) -> Any:
    """The gradient of an extreme, shared evenly by the elements that equal it."""
    one = x.new_zeros(x.shape).masked_fill(x.eq(out), 1)
    other = src.new_zeros(src.shape).masked_fill(src.eq(out.gather(dim, index)), 1)
    return g.div(one.scatter_add(dim, index, other))


def _self_backward(
    g: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any
) -> Any:
    if reduce == "prod":
        masked = x.masked_fill(x.eq(0), 1)
        grad = g.mul(masked.scatter_reduce(dim, index, src, reduce, include_self)).div(masked)
    elif reduce == "mean":
        grad = g.div(_count(g, dim, index, src, include_self))
    elif reduce == "sum":
        grad = g
    else:
        grad = x.eq(out).mul(_shared(g, x, dim, index, src, out))
    return _without_self(grad, dim, index, include_self)


def _product_backward(g: Any, x: Any, dim: int, index: Any, src: Any, include_self: bool, out: Any) -> Any:
    """The gradient of the factors; a single zero among them gets the product of the others."""
    zero = src.eq(0)
    ones = src.new_zeros(src.shape).masked_fill(zero, 1)
    zeros = x.new_zeros(x.shape).scatter_add(dim, index, ones).gather(dim, index)
    single = zero._logical_and(zeros.eq(1))
    others = x.scatter_reduce(dim, index, src.masked_fill(single, 1), "prod", include_self)
    rest = g.mul(out).gather(dim, index).div(src.masked_fill(zero, 1))
    grad = g.mul(others).gather(dim, index)._where(single, rest)
    return grad._once_only() if zeros.gt(1).any() else grad


def _src_backward(
    g: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any
) -> Any:
    if reduce == "prod":
        return _product_backward(g, x, dim, index, src, include_self, out)
    grad = g.gather(dim, index)
    if reduce == "mean":
        return grad.div(_count(g, dim, index, src, include_self).gather(dim, index))
    if reduce == "sum":
        return grad
    return src.eq(out.gather(dim, index)).mul(_shared(g, x, dim, index, src, out).gather(dim, index))


scatter_reduce.wrt(x=_self_backward, src=_src_backward)


@op(internal=True, node="torch::autograd::Error", dtypes="keep", wide=True)
def _once_only(x: Tensor) -> Any:
    """The gradient of a product with several zeros, which is not differentiated again."""
    return x.copy()


def _refuse_again(g: Any) -> Any:
    raise RuntimeError(
        "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the "
        "same position in self"
    )


_once_only.wrt(x=_refuse_again)


def _along(dim: int, ndim: int) -> tuple[int, ...]:
    """The shape of a vector that lies along a dimension."""
    at = axis_of(dim, ndim)
    return (*(1,) * at, -1, *(1,) * (ndim - at - 1))[:ndim]


# -- along one dimension ---------------------------------------------------------------------------
@op(
    inplace=True,
    node="IndexReduceBackward0",
    lacks="c",
    kernel="index_func_",
    jvp=without_jvp("index_reduce"),
    **_FACTS,
)
def index_reduce(
    x: Tensor, dim: Dim, index: Indices, src: Tensor, reduce: Reduction, *, include_self: Bool = True
) -> Any:
    """``x`` with the slices of ``src`` reduced into those that ``index`` names."""
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}."
        )
    need_slices("index_reduce_", x, dim, index, src)
    if index.size and not 0 <= index.min() <= index.max() < np.atleast_1d(x).shape[dim]:
        raise IndexError("index out of range in self")
    wide = np.broadcast_to(index.reshape(_along(dim, src.ndim)), src.shape)
    return scatter_reduce.body(x, dim, wide, src, reduce, include_self)


def _widened(formula: Any) -> Any:
    def widened(
        g: Any, x: Any, dim: int, index: Any, src: Any, reduce: str, include_self: bool, out: Any
    ) -> Any:
        wide = index.view(_along(dim, src.ndim)).expand(tuple(src.shape))
        return formula(g, x, dim, wide, src, reduce, include_self, out)

    return widened


index_reduce.wrt(x=_widened(_self_backward), src=_widened(_src_backward))
