"""Pooling, padding and unfolding: a result is made of weighted sums of a few elements each.

An op of this family is a linear map of the last dimensions. Its gradient is the transposed map, also an op.
Maximum pooling picks elements. Generated programs do not call these (``internal``).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from specs.demands import one_dtype
from specs.kind import Count, Indices, IntList, Tensor
from specs.op import Op, op

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "wide": True, "exact": False, "ulp": 8}

Sizes = tuple[int, ...]
Taps = list[list[tuple[int, float]]]
"""For each position along one dimension, the positions that it is made of, with their weights."""
WeightedSums = tuple[np.ndarray, np.ndarray]
"""For each element of the result, the positions in the flattened operand, and their weights."""


def along_each(dimensions: list[Taps], sizes: Sizes) -> WeightedSums:
    """The plan of a map that treats each dimension by itself."""
    strides = [math.prod(sizes[d + 1 :]) for d in range(len(sizes))]
    most = [max(map(len, taps), default=0) for taps in dimensions]
    shape = tuple(len(taps) for taps in dimensions)
    at = np.zeros((*shape, math.prod(most)), np.int64)
    weights = np.zeros(at.shape)
    for out in np.ndindex(shape):
        met = itertools.product(*(taps[n] for taps, n in zip(dimensions, out, strict=True)))
        for k, combination in enumerate(met):
            at[(*out, k)] = sum(n * stride for (n, _), stride in zip(combination, strides, strict=True))
            weights[(*out, k)] = math.prod(w for _, w in combination)
    return at, weights


def windows(size: int, kernel: int, stride: int, padding: int, dilation: int, ceil: int) -> list[list[int]]:
    """The positions that each window along a dimension covers, those in the padding included."""
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-reach // stride) if ceil else reach // stride) + 1
    if ceil and (count - 1) * stride >= size + padding:
        count -= 1  # a window may not begin in the padding on the right
    if count < 1:
        raise RuntimeError("Calculated output size is too small")
    return [[n * stride - padding + k * dilation for k in range(kernel)] for n in range(count)]


@cache
def average_plan(sizes: Sizes, how: Sizes) -> WeightedSums:
    """Windows of equal size; ``how``: kernel, stride and padding of each dimension, and three flags."""
    dims = len(sizes)
    kernel, stride, padding = how[:dims], how[dims : 2 * dims], how[2 * dims : 3 * dims]
    ceil, counts_padding, divisor = how[3 * dims :]
    taps: list[Taps] = []
    for size, k, s, p in zip(sizes, kernel, stride, padding, strict=True):
        dimension: Taps = []
        for window in windows(size, k, s, p, 1, ceil):
            inside = [n for n in window if 0 <= n < size]
            if divisor:
                share = 1.0
            elif counts_padding:
                share = 1 / sum(1 for n in window if n < size + p)
            else:
                share = 1 / len(inside)
            dimension.append([(n, share) for n in inside])
        taps.append(dimension)
    at, weights = along_each(taps, sizes)
    return at, weights / divisor if divisor else weights


@cache
def adaptive_plan(sizes: Sizes, how: Sizes) -> WeightedSums:
    """As many windows as ``how`` says, which overlap where they must."""
    taps: list[Taps] = []
    for size, count in zip(sizes, how, strict=True):
        spans = [(n * size // count, -(-(n + 1) * size // count)) for n in range(count)]
        taps.append([[(k, 1 / (b - a)) for k in range(a, b)] for a, b in spans])
    return along_each(taps, sizes)


_PADDED: dict[int, Callable[[int, int], int]] = {
    1: lambda n, size: size - 1 - abs(size - 1 - abs(n)),
    2: lambda n, size: min(max(n, 0), size - 1),
    3: lambda n, size: n % size,
}
"""The source of an element of the padding: reflected, replicated, circular."""


@cache
def padding_plan(sizes: Sizes, how: Sizes) -> WeightedSums:
    """Elements before and after; ``how``: pairs of counts for each dimension, and the mode."""
    place = _PADDED[how[-1]]
    taps: list[Taps] = [
        [[(place(n, size), 1.0)] for n in range(-how[2 * d], size + how[2 * d + 1])]
        for d, size in enumerate(sizes)
    ]
    return along_each(taps, sizes)


@cache
def unfold_plan(sizes: Sizes, how: Sizes) -> WeightedSums:
    """Windows as columns; ``how``: kernel, dilation, padding and stride of both dimensions."""
    kernel, dilation, padding, stride = how[:2], how[2:4], how[4:6], how[6:8]
    rows, columns = (
        windows(size, kernel[d], stride[d], padding[d], dilation[d], 0) for d, size in enumerate(sizes)
    )
    found = []
    for a, b in itertools.product(range(kernel[0]), range(kernel[1])):
        for row, column in itertools.product(rows, columns):
            y, x = row[a], column[b]
            inside = 0 <= y < sizes[0] and 0 <= x < sizes[1]
            found.append((y * sizes[1] + x if inside else 0, float(inside)))
    shape = (kernel[0] * kernel[1], len(rows) * len(columns), 1)
    at, weights = (np.array(part).reshape(shape) for part in zip(*found, strict=True))
    return at, weights


# -- the maps ----------------------------------------------------------------------------------------
def _flat(x: np.ndarray, dims: int) -> np.ndarray:
    """``x`` with its last ``dims`` dimensions as one."""
    lead = x.shape[: x.ndim - dims]
    return x.reshape((*lead, math.prod(x.shape[len(lead) :])))


def _mapped(x: np.ndarray, plan: WeightedSums, dims: int) -> np.ndarray:
    at, weights = plan
    flat = _flat(x, dims)
    if at.shape[-1] == 1 and (weights == 1).all():
        return np.ascontiguousarray(flat[..., at[..., 0]])
    if x.dtype.kind in "iu":
        exact = np.round((flat[..., at] * weights).sum(-1), 6)
        # NB: images in bytes are rounded; the mean of other integers is cut off.
        whole = np.clip(np.floor(exact + 0.5), 0, 255) if x.dtype.kind == "u" else np.trunc(exact)
        return whole.astype(x.dtype)
    return np.ascontiguousarray((flat[..., at] * weights.astype(x.dtype)).sum(-1), x.dtype)


def _transposed(dy: np.ndarray, plan: WeightedSums, sizes: Sizes) -> np.ndarray:
    at, weights = plan
    lead = dy.shape[: dy.ndim - at.ndim + 1]
    out = np.zeros((math.prod(lead), math.prod(sizes)), dy.dtype)
    spread = dy.reshape((len(out), *at.shape[:-1], 1)) * weights.astype(dy.dtype)
    where: Any = (slice(None), at.reshape(-1))
    np.add.at(out, where, spread.reshape(len(out), at.size))
    return out.reshape((*lead, *sizes))


def linear_map(
    name: str,
    node: str,
    plan: Callable[[Sizes, Any], WeightedSums],
    back: str = "",
    kernel: str = "",
    lacks: str = "",
    demand: Callable[[Any], Any] | None = None,
) -> tuple[Op, Op]:
    """Declare a map of the last ``dims`` dimensions, and its transpose.

    If the transpose has a node of its own name, ``back``, the map merges: the channels and the elements of a
    window share a dimension of the result. The ``kernel`` of such a transpose lacks the same dtypes.
    Only the shape of ``x`` counts for its gradient, but most of PyTorch's save it, and ``demand`` things of
    its dtype. It is an operand of their transposes, and has zeros as its gradient.
    """

    def forward(x: Tensor, *, dims: Count, how: IntList) -> Any:
        out = _mapped(x, plan(x.shape[x.ndim - dims :], how), dims)
        return out.reshape((*out.shape[:-3], math.prod(out.shape[-3:-1]), out.shape[-1])) if back else out

    def backward(dy: Tensor, *, sizes: IntList, how: IntList) -> Any:
        made = plan(sizes, how)
        if back:
            window, places = made[0].shape[:-1]
            dy = dy.reshape((*dy.shape[:-2], dy.shape[-2] // window, window, places))
        return _transposed(dy, made, sizes)

    def backward_at(dy: Tensor, here: Tensor, *, sizes: IntList, how: IntList) -> Any:
        return backward(dy, sizes=sizes, how=how)

    back_body: Callable[..., Any] = backward_at if demand else backward
    forward.__name__, back_body.__name__ = name, f"{name}_backward"
    forward.__doc__ = f"The map of `{plan.__name__}`."
    back_body.__doc__ = f"The transposed map of `{plan.__name__}`."
    there = op(node=node, kernel=kernel, lacks=lacks, **_FACTS)(forward)
    own: dict[str, Any] = {"kernel": "col2im_out", "lacks": lacks} if back else {}
    transposed = op(node=back or node.replace("Backward0", "BackwardBackward0"), **own, **_FACTS)(back_body)

    def through(g: Any, here: tuple[Any, ...], shape: Sizes, dims: int, how: Sizes) -> Any:
        return getattr(g, transposed.name)(*here, sizes=tuple(shape[len(shape) - dims :]), how=how)

    if demand:
        there.wrt(x=demand(lambda g, x, dims, how: through(g, (x,), x.shape, dims, how)))
        transposed.wrt(here=lambda g, here_shape: g.new_zeros(here_shape))
    else:
        there.wrt(x=lambda g, x_shape, dims, how: through(g, (), x_shape, dims, how))
    transposed.wrt(dy=lambda g, sizes, how: getattr(g, there.name)(dims=len(sizes), how=how))
    return there, transposed


def _padding(name: str, node: str, kernel: str) -> tuple[Op, Op]:
    return linear_map(name, node, padding_plan, kernel=kernel, lacks="b", demand=one_dtype("g", "x"))


average1, average1_back = linear_map(
    "_avg_pool2d",
    "AvgPool2DBackward0",
    average_plan,
    kernel="avg_pool2d",
    lacks="biuc-l",
    demand=one_dtype("x", "g", case="gradOutput"),
)
average3, average3_back = linear_map(
    "_avg_pool3d",
    "AvgPool3DBackward0",
    average_plan,
    kernel="avg_pool3d_out_frame",
    lacks="biuceV-l",
    demand=one_dtype("x", "g", kernel="avg_pool3d_backward_out_frame", lacks="eV"),
)
adaptive, adaptive_back = linear_map(
    "_adaptive_avg_pool2d",
    "AdaptiveAvgPool2DBackward0",
    adaptive_plan,
    kernel="adaptive_avg_pool2d",
    lacks="biuc",
    demand=one_dtype("x", "g", case="adaptive_avg_pool2d"),
)
unfold, unfold_back = linear_map(
    "_im2col", "Im2ColBackward0", unfold_plan, "Col2ImBackward0", kernel="im2col_out", lacks="iu"
)
reflected1, reflected1_back = _padding("_reflected1d", "ReflectionPad1DBackward0", "reflection_pad1d")
reflected2, reflected2_back = _padding("_reflected2d", "ReflectionPad2DBackward0", "reflection_pad2d")
replicated1, replicated1_back = _padding("_replicated1d", "ReplicationPad1DBackward0", "replication_pad1d")
replicated2, replicated2_back = _padding("_replicated2d", "ReplicationPad2DBackward0", "replication_pad2d")
adaptive3, adaptive3_back = linear_map(
    "_adaptive_avg_pool3d",
    "AdaptiveAvgPool3DBackward0",
    adaptive_plan,
    kernel="adaptive_avg_pool3d",
    lacks="biuc",
    demand=one_dtype("x", "g"),
)
reflected3, reflected3_back = _padding("_reflected3d", "ReflectionPad3DBackward0", "reflection_pad3d")
replicated3, replicated3_back = _padding("_replicated3d", "ReplicationPad3DBackward0", "replication_pad3d")
circular, circular_back = linear_map("_circular", "CopySlices", padding_plan)


# -- maximum pooling ---------------------------------------------------------------------------------
def _picking(
    name: str, node: str, kernel: str, lacks: str = "biuc", case: str = "gradOutput"
) -> tuple[Op, Op]:
    def picked(x: Tensor, index: Indices, *, dims: Count) -> Any:
        return np.take_along_axis(_flat(x, dims), _flat(index, dims), -1).reshape(index.shape)

    def put_back(dy: Tensor, here: Tensor, index: Indices, *, dims: Count) -> Any:
        return _put_back(dy, here, index, dims)

    picked.__name__, picked.__doc__ = name, "The elements at the given positions of the last dimensions."
    put_back.__name__, put_back.__doc__ = f"{name}_backward", "Elements put back to where they were picked."
    declared = op(node=node, lacks=lacks, kernel=kernel, second_result="index", **_FACTS)(picked)
    back = op(node=node.replace("Backward0", "BackwardBackward0"), **_FACTS)(put_back)
    demand = one_dtype("x", "g", case=case)
    declared.wrt(x=demand(lambda g, x, index, dims: getattr(g, back.name)(x, index, dims=dims)))
    back.wrt(dy=_picked_gradient, here=lambda g, here_shape: g.new_zeros(here_shape))
    return declared, back


def _put_back(dy: np.ndarray, here: np.ndarray, index: np.ndarray, dims: int) -> np.ndarray:
    out = np.zeros(here.shape, dy.dtype)
    flat, places, given = (_flat(each, dims) for each in (out, index, dy))
    lead = np.indices(places.shape, sparse=True)[:-1]
    np.add.at(flat, (*lead, places), given)
    return out


def _picked_gradient(g: Any, index: Any, dims: int) -> Any:
    lead = tuple(index.shape[: index.ndim - dims])
    places, given = ((*lead, math.prod(each.shape[len(lead) :])) for each in (index, g))
    return g.contiguous().view(given).gather(-1, index.view(places)).view(tuple(index.shape))


picked2, picked2_back = _picking("_max_pool2d_at", "MaxPool2DWithIndicesBackward0", "max_pool2d", "bc")
picked3, picked3_back = _picking("_max_pool3d_at", "MaxPool3DWithIndicesBackward0", "max_pool3d", "bc")
adaptively2, adaptively2_back = _picking(
    "_adaptive_max_pool2d_at", "AdaptiveMaxPool2DBackward0", "adaptive_max_pool2d", case="grad_output"
)
adaptively3, adaptively3_back = _picking(
    "_adaptive_max_pool3d_at", "AdaptiveMaxPool3DBackward0", "adaptive_max_pool3d"
)
fractional2, fractional2_back = _picking(
    "_fractional_max_pool2d_at",
    "FractionalMaxPool2DBackward0",
    "fractional_max_pool2d_out_frame",
    case="read",
)
fractional3, fractional3_back = _picking(
    "_fractional_max_pool3d_at",
    "FractionalMaxPool3DBackward0",
    "fractional_max_pool3d_out_frame",
    case="read",
)
