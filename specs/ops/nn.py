"""The ops of layers: convolution and lookup. Those of losses live in `losses`.

Generated programs do not call these (``internal``): they are compared with torch call by call.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from specs.demands import dtypes_of_convolution, one_dtype
from specs.dtype_names import scalar_type
from specs.errors import unspecified_unless
from specs.kind import Bool, Count, Indices, IntList, OptPosition, Tensor
from specs.op import op

# -- convolution -----------------------------------------------------------------------------------
Window = tuple[Any, Any]
"""An index of the kernel, and one of the padded input."""


def _grouped(x: np.ndarray, groups: int, axis: int) -> np.ndarray:
    return x.reshape((*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :]))


def _padded(x: np.ndarray, padding: Any) -> np.ndarray:
    return np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])


def _windows(kernel: Any, out: Any, stride: Any, dilation: Any) -> Iterator[Window]:
    """For each place in the kernel, which elements of the padded input it meets."""
    for at in itertools.product(*map(range, kernel)):
        slices = [
            slice(k * d, k * d + (n - 1) * s + 1, s)
            for k, n, s, d in zip(at, out, stride, dilation, strict=True)
        ]
        yield (..., *at), (..., *slices)


def _out_shape(x: Any, weight: Any, stride: Any, padding: Any, dilation: Any) -> tuple[int, ...]:
    sizes = zip(x.shape[2:], weight.shape[2:], stride, padding, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)


def _convolved(
    x: np.ndarray, weight: np.ndarray, stride: Any, padding: Any, dilation: Any, groups: int
) -> np.ndarray:
    if x.shape[1] != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {list(weight.shape)}, expected input{list(x.shape)} to "
            f"have {weight.shape[1] * groups} channels, but got {x.shape[1]} channels instead"
        )
    sizes = [n + 2 * p for n, p in zip(x.shape[2:], padding, strict=True)]
    kernel = [(k - 1) * d + 1 for k, d in zip(weight.shape[2:], dilation, strict=True)]
    if any(n < k for n, k in zip(sizes, kernel, strict=True)):
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, sizes))}). Kernel size: "
            f"({' x '.join(map(str, kernel))}). Kernel size can't be greater than actual input size"
        )
    out_shape = _out_shape(x, weight, stride, padding, dilation)
    w = _grouped(weight, groups, 0)
    xs = _grouped(_padded(x, padding), groups, 1)
    out = np.zeros((x.shape[0], groups, w.shape[1], *out_shape), x.dtype)
    for at, there in _windows(weight.shape[2:], out_shape, stride, dilation):
        out += np.einsum("ngc...,goc->ngo...", xs[there], w[at])
    return out.reshape((x.shape[0], weight.shape[0], *out_shape))


@op(internal=True, node="ConvolutionBackward0", dtypes="same")
def _conv(
    x: Tensor, weight: Tensor, *, stride: IntList, padding: IntList, dilation: IntList, groups: Count
) -> Any:
    """Each channel's sum of products with a kernel that moves over the input."""
    return _convolved(x, weight, stride, padding, dilation, groups)


@op(internal=True, node="ConvolutionBackward0", dtypes="same")
def _conv_bias(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    stride: IntList,
    padding: IntList,
    dilation: IntList,
    groups: Count,
) -> Any:
    """A convolution, and a number added for each channel."""
    out = _convolved(x, weight, stride, padding, dilation, groups)
    return out + bias.reshape((-1,) + (1,) * (x.ndim - 2))


@op(internal=True, node="ConvolutionBackwardBackward0", dtypes="same")
def _conv_input(
    dy: Tensor,
    image: Tensor,
    weight: Tensor,
    *,
    stride: IntList,
    padding: IntList,
    dilation: IntList,
    groups: Count,
) -> Any:
    """The gradient of a convolution's input."""
    padded = np.zeros(
        (*image.shape[:2], *(n + 2 * p for n, p in zip(image.shape[2:], padding, strict=True))), image.dtype
    )
    xs, dys, w = _grouped(padded, groups, 1), _grouped(dy, groups, 1), _grouped(weight, groups, 0)
    for at, there in _windows(weight.shape[2:], dy.shape[2:], stride, dilation):
        xs[there] += np.einsum("ngo...,goc->ngc...", dys, w[at])
    inner: Any = (..., *(slice(p, p + n) for n, p in zip(image.shape[2:], padding, strict=True)))
    return np.ascontiguousarray(padded[inner])


@op(internal=True, node="ConvolutionBackwardBackward0", dtypes="same")
def _conv_weight(
    dy: Tensor,
    image: Tensor,
    weight: Tensor,
    *,
    stride: IntList,
    padding: IntList,
    dilation: IntList,
    groups: Count,
) -> Any:
    """The gradient of a convolution's kernel."""
    made = np.zeros_like(weight, order="C")
    xs, dys, w = (
        _grouped(_padded(image, padding), groups, 1),
        _grouped(dy, groups, 1),
        _grouped(made, groups, 0),
    )
    for at, there in _windows(weight.shape[2:], dy.shape[2:], stride, dilation):
        w[at] = np.einsum("ngoz,ngcz->goc", _flat(dys), _flat(xs[there]))
    return made


def _flat(image: np.ndarray) -> np.ndarray:
    return image.reshape((*image.shape[:3], math.prod(image.shape[3:])))


def _how(stride: Any, padding: Any, dilation: Any, groups: int) -> dict[str, Any]:
    return {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


def _need_fit(g: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any) -> None:
    """Raise `Unspecified` where the operands have other shapes by now: each of PyTorch's kernels has its own
    words for that, or none.
    """
    shape = (x.shape[0], weight.shape[0], *_out_shape(x, weight, stride, padding, dilation))
    unspecified_unless(
        tuple(g.shape) == shape, "the gradient of a convolution whose operands have other shapes by now"
    )


@dtypes_of_convolution("g", "weight")
def _to_input(g: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    _need_fit(g, x, weight, stride, padding, dilation)
    return g._conv_input(x, weight, **_how(stride, padding, dilation, groups))


@dtypes_of_convolution("g")
def _to_weight(g: Any, x: Any, weight: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    _need_fit(g, x, weight, stride, padding, dilation)
    return g._conv_weight(x, weight, **_how(stride, padding, dilation, groups))


def _as_large(made: Any, shape: Any) -> Any:
    """A convolution without the windows for which padding of a transposed one's output left room."""
    for axis, size in enumerate(shape):
        if made.shape[axis] > size:
            made = made.slice(axis, 0, size, 1)
    return made


_conv.wrt(x=_to_input, weight=_to_weight)
_conv_bias.wrt(x=_to_input, weight=_to_weight, bias=lambda g: g.sum((0, *range(2, g.ndim))))
_conv_input.wrt(
    dy=lambda g, weight, stride, padding, dilation, groups: g._conv(
        weight, **_how(stride, padding, dilation, groups)
    ),
    image=lambda g: None,
    weight=lambda g, dy, weight, stride, padding, dilation, groups: dy._conv_weight(
        g, weight, **_how(stride, padding, dilation, groups)
    ),
)
_conv_weight.wrt(
    dy=lambda g, dy_shape, image, stride, padding, dilation, groups: _as_large(
        image._conv(g, **_how(stride, padding, dilation, groups)), dy_shape
    ),
    image=lambda g, dy, image, stride, padding, dilation, groups: dy._conv_input(
        image, g, **_how(stride, padding, dilation, groups)
    ),
    weight=lambda g: None,
)


@op(internal=True, node="ConvolutionBackward0", dtypes="same")
def _conv_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    *,
    stride: IntList,
    padding: IntList,
    output_padding: IntList,
    dilation: IntList,
    groups: Count,
) -> Any:
    """The gradient of a convolution's input as a layer, and a number added for each channel."""
    if x.shape[1] != weight.shape[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input{list(x.shape)} to "
            f"have {weight.shape[0]} channels, but got {x.shape[1]} channels instead"
        )
    sizes = zip(x.shape[2:], weight.shape[2:], stride, padding, output_padding, dilation, strict=True)
    shape = [(n - 1) * s - 2 * p + d * (k - 1) + o + 1 for n, k, s, p, o, d in sizes]
    image = np.zeros((x.shape[0], weight.shape[1] * groups, *shape), x.dtype)
    out = _conv_input.body(x, image, weight, **_how(stride, padding, dilation, groups))
    return out + bias.reshape((-1,) + (1,) * (x.ndim - 2))


@op(internal=True, node="ConvolutionBackwardBackward0", dtypes="same")
def _conv_transpose_input(
    dy: Tensor,
    image: Tensor,
    weight: Tensor,
    *,
    stride: IntList,
    padding: IntList,
    dilation: IntList,
    groups: Count,
) -> Any:
    """The gradient of that layer's input; beyond that, padding of the output may leave room for more."""
    out = _convolved(dy, weight, stride, padding, dilation, groups)
    inner: Any = (..., *map(slice, image.shape[2:]))
    return np.ascontiguousarray(out[inner])


_conv_transpose.wrt(
    x=one_dtype("g", "weight")(
        lambda g, x, weight, stride, padding, dilation, groups: g._conv_transpose_input(
            x, weight, **_how(stride, padding, dilation, groups)
        )
    ),
    weight=one_dtype("g", "x", "weight")(
        lambda g, x, weight, stride, padding, dilation, groups: x._conv_weight(
            g, weight, **_how(stride, padding, dilation, groups)
        )
    ),
    bias=lambda g: g.sum((0, *range(2, g.ndim))),
)
_conv_transpose_input.wrt(
    dy=lambda g, dy, weight, stride, padding, dilation, groups: g._conv_input(
        dy, weight, **_how(stride, padding, dilation, groups)
    ),
    image=lambda g: None,
    weight=lambda g, dy, weight, stride, padding, dilation, groups: g._conv_weight(
        dy, weight, **_how(stride, padding, dilation, groups)
    ),
)


# -- lookup ----------------------------------------------------------------------------------------
@op(internal=True, node="EmbeddingBackward0", dtypes="keep", complex_history=False, kernel="embedding")
def _embedding(
    weight: Tensor, index: Indices, *, padding: OptPosition = None, by_frequency: Bool = False
) -> Any:
    """The rows that indices of any shape name; the row ``padding`` gets no gradient, that of each other, if
    ``by_frequency``, the mean of those of its uses.
    """
    if index.dtype.kind != "i":
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; "
            f"but got torch.{scalar_type(index)}Tensor instead (while checking arguments for embedding)"
        )
    wrong = (index < 0) | (index >= len(weight))
    if wrong.any():
        raise IndexError("index out of range in self")
    return weight[index]


def _embedding_backward(g: Any, weight_shape: Any, index: Any, padding: Any, by_frequency: bool) -> Any:
    rows, index = g.reshape((-1, *weight_shape[1:])), index.reshape((-1,))
    if by_frequency:
        uses = g.new_zeros(weight_shape[:1]).index_add(0, index, g.new_full(index.shape, 1))
        rows = rows.div(uses.index_select(0, index).unsqueeze(-1))
    if padding is not None:
        rows = rows.masked_fill(index.eq(padding).unsqueeze(-1), 0)
    return g.new_zeros(weight_shape).index_add(0, index, rows)


_embedding.wrt(weight=_embedding_backward)
