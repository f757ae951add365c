"""Views of all of an operand's elements: other shapes, orders of dimensions, expanded dimensions.

Views of some elements are in ``slice``; shapes and strides are worked out in ``shapes``. The reference
records a result as a view, and says what a write through it does.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.errors import refuse
from specs.kind import Bool, Dim, Dims, ElementType, IntList, NewDim, Perm, Shape, Size, Tensor
from specs.op import composite, op
from specs.ops.helpers import axis_of
from specs.ops.shapes import expanded, infer_size, strides_of, view_strides, window


# -- another shape ---------------------------------------------------------------------------------
@op(node="ViewBackward0", view=True, dtypes="keep", complex=True, often=4, function=False)
def view(x: Tensor, size: Shape) -> Any:
    """The same elements in another shape, if strides allow it."""
    shape = infer_size(size, x.size)
    if x.size and x.flags.c_contiguous and (not x.ndim or x.strides[-1] == x.itemsize):
        return np.ndarray(shape, x.dtype, x)
    strides = view_strides(x.shape, strides_of(x), shape)
    if strides is None:
        refuse("op/view-size", shape=list(shape), size=list(x.shape))
    return window(x, shape, strides)


view.wrt(x=lambda g, x_shape: g.reshape(x_shape))


@op(internal=True, node="ReshapeAliasBackward0", view=True, dtypes="keep", complex=True)
def _reshape_alias(x: Tensor, *, size: Size, stride: IntList) -> Any:
    """The view that ``reshape`` makes of a tensor that is not contiguous and need not be copied."""
    return window(x, size, stride)


_reshape_alias.wrt(x=lambda g, x_shape: g.reshape(x_shape))


@op(internal=True, node="UnsafeViewBackward0", dtypes="keep", complex=True)
def _unsafe_view(x: Tensor, size: Shape) -> Any:
    """A fresh contiguous tensor in another shape; it is no view, since its memory is nobody else's."""
    return window(x, size, view_strides(x.shape, strides_of(x), size) or ())


_unsafe_view.wrt(x=lambda g, x_shape: g.reshape(x_shape))


@composite(complex=True, aliases="maybe")
def reshape(x: Tensor, shape: Shape) -> Any:
    """The same elements in another shape: a view where one is possible, else a copy."""
    if x.is_contiguous():
        return x.view(shape)
    size = infer_size(shape, math.prod(x.shape))
    strides = view_strides(x.shape, x.stride(), size)
    if strides is not None:
        return x._reshape_alias(size=size, stride=strides)
    return x.clone_contiguous()._unsafe_view(size)


@composite(complex=True, function=False, aliases="maybe")
def view_as(x: Tensor, y: Tensor) -> Any:
    """A view in another tensor's shape."""
    return x.view(tuple(y.shape))


@composite(complex=True, function=False, aliases="maybe")
def reshape_as(x: Tensor, y: Tensor) -> Any:
    """The same elements in another tensor's shape."""
    return x.reshape(tuple(y.shape))


@composite(complex=True)
def flatten(x: Tensor, start_dim: Dim = 0, end_dim: Dim = -1) -> Any:
    """Neighbouring dimensions merged; a tensor that has none to merge is returned itself."""
    first, last = axis_of(start_dim, x.ndim), axis_of(end_dim, x.ndim)
    if first > last:
        refuse("op/flatten-order", start=start_dim, end=end_dim)
    if not x.ndim:
        return x.reshape((1,))
    if first == last:
        return x
    shape = tuple(x.shape)
    return x.reshape((*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@op(internal=True, node="AliasBackward0", view=True, dtypes="keep", complex=True)
def alias(x: Tensor) -> Any:
    """A view of all elements, as they are."""
    return x.view()


alias.wrt(x=lambda g: g)


# -- dimensions in another order -------------------------------------------------------------------
@op(node="TransposeBackward0", view=True, dtypes="keep", complex=True, node_in_place="TransposeBackward1")
def transpose(x: Tensor, dim0: Dim, dim1: Dim) -> Any:
    """Two dimensions swapped."""
    first, second = axis_of(dim0, x.ndim), axis_of(dim1, x.ndim)
    return x.swapaxes(first, second) if x.ndim else x.view()


transpose.wrt(x=lambda g, dim0, dim1: g.transpose(dim0, dim1))


@op(node="PermuteBackward0", view=True, dtypes="keep", complex=True)
def permute(x: Tensor, dims: Perm) -> Any:
    """Dimensions in the given order."""
    if len(dims) != x.ndim:
        refuse(
            "op/permute-dims",
            case="count",
            ndim=x.ndim,
            count=len(dims),
            why=f"{len(dims)} dims given for {x.ndim} dimensions",
        )
    axes = [axis_of(dim, x.ndim) for dim in dims]
    if len(set(axes)) < len(axes):
        refuse("op/permute-dims", case="twice", why="a dimension is given twice")
    return x.transpose(axes)


def _permute_backward(g: Any, dims: tuple[int, ...]) -> Any:
    """The inverse permutation."""
    axes = [dim % len(dims) for dim in dims]
    return g.permute(tuple(sorted(range(len(axes)), key=axes.__getitem__)))


permute.wrt(x=_permute_backward)


@op(node="TBackward0", view=True, dtypes="keep", complex=True, node_in_place="TBackward1")
def t(x: Tensor) -> Any:
    """A matrix transposed; vectors and scalars as they are."""
    if x.ndim > 2:
        refuse("op/t-dims", ndim=x.ndim)
    return x.T


t.wrt(x=lambda g: g.t())


# -- dimensions of size 1 --------------------------------------------------------------------------
@op(node="UnsqueezeBackward0", view=True, dtypes="keep", complex=True, node_in_place="UnsqueezeBackward1")
def unsqueeze(x: Tensor, dim: NewDim) -> Any:
    """A new dimension of size 1."""
    at = axis_of(dim, x.ndim + 1)
    shape, strides = x.shape, strides_of(x)
    step = shape[at] * strides[at] if at < x.ndim else 1
    return window(x, (*shape[:at], 1, *shape[at:]), (*strides[:at], step, *strides[at:]))


unsqueeze.wrt(x=lambda g, dim: g.squeeze(dim))


def _unsqueeze_to(g: Any, shape: tuple[int, ...], dims: Any) -> Any:
    """Put back the dimensions of size 1 among ``dims``."""
    for dim, size in enumerate(shape):
        if size == 1 and dim in dims:
            g = g.unsqueeze(dim)
    return g


_SQUEEZE: dict[str, Any] = {"name": "squeeze", "view": True, "dtypes": "keep", "complex": True}


@op(node="SqueezeBackward0", node_in_place="SqueezeBackward3", **_SQUEEZE)
def squeeze_all(x: Tensor) -> Any:
    """Without any dimension of size 1."""
    return np.squeeze(x)


squeeze_all.wrt(x=lambda g, x_shape: _unsqueeze_to(g, x_shape, range(len(x_shape))))


@op(node="SqueezeBackward1", node_in_place="SqueezeBackward4", zero="kept", **_SQUEEZE)
def squeeze_dim(x: Tensor, dim: Dim) -> Any:
    """Without one dimension, if its size is 1."""
    at = axis_of(dim, x.ndim)
    return np.squeeze(x, at) if x.ndim and x.shape[at] == 1 else x.view()


squeeze_dim.wrt(x=lambda g, dim, x_shape: _unsqueeze_to(g, x_shape, (dim % max(len(x_shape), 1),)))


@op(node="SqueezeBackward2", node_in_place="SqueezeBackward5", zero="kept", **_SQUEEZE)
def squeeze_dims(x: Tensor, dim: Dims) -> Any:
    """Without those of several dimensions whose size is 1."""
    axes = [axis_of(d, x.ndim) for d in dim]
    for n, axis in enumerate(axes):
        if axis in axes[:n]:
            refuse("op/dim-repeated", dim=axis)
    return np.squeeze(x, tuple(axis for axis in axes if x.shape[axis] == 1)) if x.ndim else x.view()


squeeze_dims.wrt(x=lambda g, dim, x_shape: _unsqueeze_to(g, x_shape, [d % max(len(x_shape), 1) for d in dim]))


@op(node="ExpandBackward0", view=True, dtypes="keep", complex=True, function=False)
def expand(x: Tensor, size: Shape, *, implicit: Bool = False) -> Any:
    """Dimensions of size 1 expanded, and new ones put in front, without a copy."""
    return window(x, *expanded(x.shape, strides_of(x), size))


expand.wrt(x=lambda g, x_shape: g.sum_to_size(x_shape))


@composite(complex=True, function=False, aliases="maybe")
def expand_as(x: Tensor, y: Tensor) -> Any:
    """Expanded to another tensor's shape."""
    return x.expand(tuple(y.shape))


@composite(complex=True, function=False, zero="filled")
def sum_to_size(x: Tensor, size: Shape) -> Any:
    """Summed over the dimensions that expanding ``size`` to this shape would add or expand."""
    size = tuple(size)
    if not size:
        return x.sum()
    lead = x.ndim - len(size)
    if lead < 0 or any(n not in (1, m) for n, m in zip(size, x.shape[lead:], strict=True)):
        refuse("op/sum-to-size", shape=list(x.shape), size=list(size))
    dims = [*range(lead), *(lead + d for d, n in enumerate(size) if n == 1 != x.shape[lead + d])]
    if dims:
        x = x.sum(dims, True)
    return x.view(size) if lead else x


@composite(name="view", complex=True, internal=True, function=False, aliases="always")
def view_as_dtype(x: Tensor, dtype: ElementType) -> Any:
    """The same memory read as elements of another dtype, without history."""
    return x._read_as(dtype)
