"""Pooling, padding and unfolding of ``torch.nn.functional``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace.formats import keeping_format
from reference_impl.nn.window_demands import (
    need_adaptable,
    need_columns,
    need_each,
    need_image,
    need_line,
    need_line_settings,
    need_moves,
    need_settings,
    need_windows,
)
from specs.errors import need_kernel
from specs.ops.windows import windows


def for_each(value: Any, ndim: int) -> tuple[int, ...]:
    """One value for each of ``ndim`` dimensions."""
    if isinstance(value, int):
        return (value,) * ndim
    return tuple(value) * ndim if len(value) == 1 else tuple(value)


def _need_batch(name: str, x: Tensor, dims: int) -> None:
    """Refuse what is neither ``(N, C, ...)`` nor ``(C, ...)``."""
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"{name}: Expected {dims + 1}D or {dims + 2}D tensor, but got {x.ndim}D")


# -- maximum -----------------------------------------------------------------------------------------
def positions(x: Tensor, dims: int, places: list[list[list[int]]]) -> np.ndarray:
    """The position of the largest element of each window, in the flattened last dimensions."""
    array = array_of(x)
    sizes = array.shape[array.ndim - dims :]
    lead = array.shape[: array.ndim - dims]
    flat = array.reshape((*lead, math.prod(sizes)))
    out = np.zeros((*lead, *map(len, places)), np.int64)
    for at in np.ndindex(*map(len, places)):
        inside = [
            [n for n in places[d][i] if 0 <= n < size]
            for d, (i, size) in enumerate(zip(at, sizes, strict=True))
        ]
        grid = np.ravel_multi_index(np.meshgrid(*inside, indexing="ij"), sizes).reshape(-1)
        picked = flat[..., grid].astype(np.float64)
        picked = np.where(np.isnan(picked), np.inf, picked)
        out[(..., *at)] = grid[np.argmax(picked, -1)]
    return out


def _max_pool(dims: int) -> Callable[..., Any]:
    name = f"max_pool{dims}d"

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        """The maximum of each window over the last dimensions, on request with the positions."""
        kernel = for_each(kernel_size, dims)
        strides = kernel if stride is None or stride in ([], ()) else for_each(stride, dims)
        pads, dilations = for_each(padding, dims), for_each(dilation, dims)
        need_each(name, dims, kernel, strides, pads)
        if dims == 1:
            need_line_settings(input, kernel[0], strides[0], pads[0], dilations[0], ceil_mode)
        else:
            need_settings(kernel, strides, pads, dilations)

        def pooled(x: Tensor) -> Any:
            if dims == 1:
                x, more = x.unsqueeze(-2), (1, 1, 0, 1)
                own = (kernel[0], strides[0], pads[0], dilations[0])
                settings = [tuple(each) for each in zip(more, own, strict=True)]
            else:
                settings = [kernel, strides, pads, dilations]
            need_image(x, len(settings[0]))
            sizes = tuple(x.shape)[x.ndim - len(settings[0]) :]
            k, s, p, a = settings
            need_windows(x, k, s, p, a, ceil_mode)
            places = [windows(n, k[d], s[d], p[d], a[d], int(ceil_mode)) for d, n in enumerate(sizes)]
            if dims == 1 and not return_indices and not (STATE.enabled and x.requires_grad):
                need_kernel("max_pool1d_impl", array_of(x), "biuc")
            index = wrap_beside(x, positions(x, len(sizes), places))
            out = getattr(x, "_max_pool3d_at" if dims == 3 else "_max_pool2d_at")(index, dims=len(sizes))
            both = (out.squeeze(-2), index.squeeze(-2)) if dims == 1 else (out, index)
            return both if return_indices else both[0]

        return pooled(input)

    pool.__name__ = name
    return keeping_format(pool)


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), _max_pool(3)


@keeping_format
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of as many windows as asked for."""

    def pooled(x: Tensor) -> Any:
        places = []
        for size, count in zip(tuple(x.shape)[-2:], wanted_sizes(x, output_size, 2), strict=True):
            places.append([[*range(n * size // count, -(-(n + 1) * size // count))] for n in range(count)])
        index = wrap_beside(x, positions(x, 2, places))
        out = x._adaptive_max_pool2d_at(index, dims=2)
        return (out, index) if return_indices else out

    need_adaptable(input, output_size)
    need_image(input, 2)
    return pooled(input)


def wanted_sizes(x: Tensor, output_size: Any, dims: int) -> tuple[int, ...]:
    """The sizes asked for; None keeps that of the input."""
    given = (output_size,) * dims if output_size is None else for_each(output_size, dims)
    sizes = tuple(x.shape)[x.ndim - dims :]
    if len(given) != dims:
        raise RuntimeError(f"argument 'output_size' should contain {dims} ints (got {len(given)})")
    if any(n is not None and n < 0 for n in given):
        raise RuntimeError(f"Trying to create tensor with negative dimensions {given}")
    return tuple(size if n is None else n for n, size in zip(given, sizes, strict=True))


# -- mean --------------------------------------------------------------------------------------------
def _avg_pool(dims: int) -> Callable[..., Tensor]:
    name = f"avg_pool{dims}d"

    def pool(
        input: Tensor,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        """The mean of each window over the last dimensions."""
        kernel = for_each(kernel_size, dims)
        strides = kernel if stride is None or stride in ([], ()) else for_each(stride, dims)
        pads = for_each(padding, dims)
        need_each(name, dims, kernel, strides, pads)
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        flags = (int(ceil_mode), int(count_include_pad), divisor_override or 0)
        if dims == 1:
            need_line(name, input)
        need_settings(kernel, strides, pads, (1,) * dims)

        def pooled(x: Tensor) -> Tensor:
            if dims == 1:
                one = (1, kernel[0], 1, strides[0], 0, pads[0], *flags)
                return x.unsqueeze(-2)._avg_pool2d(dims=2, how=one).squeeze(-2)
            need_image(x, dims)
            need_windows(x, kernel, strides, pads, (1,) * dims, ceil_mode)
            how = (*kernel, *strides, *pads, *flags)
            return getattr(x, f"_avg_pool{dims}d")(dims=dims, how=how)

        return pooled(input)

    pool.__name__ = name
    return keeping_format(pool)


avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), _avg_pool(3)


@keeping_format
def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of as many windows as asked for."""
    need_adaptable(input, output_size)
    wanted = wanted_sizes(input, output_size, 2)
    if wanted == (1, 1):
        return input.mean((-1, -2), True)
    _need_batch("adaptive_avg_pool2d", input, 2)
    return input._adaptive_avg_pool2d(dims=2, how=wanted)


@keeping_format
def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of as many windows as asked for, over three dimensions."""
    need_adaptable(input, output_size)
    wanted = wanted_sizes(input, output_size, 3)
    if wanted == (1, 1, 1):
        return input.mean((-1, -2, -3), True)
    _need_batch("adaptive_avg_pool3d", input, 3)
    return input._adaptive_avg_pool3d(dims=3, how=wanted)


def adaptive_avg_pool1d(input: Tensor, output_size: Any) -> Tensor:
    """The mean of as many windows as asked for, along one dimension."""
    need_line("adaptive_avg_pool1d", input)
    (count,) = wanted_sizes(input, output_size, 1)
    return adaptive_avg_pool2d(input.unsqueeze(-2), (1, count)).squeeze(-2)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of as many windows as asked for, along one dimension."""
    need_line("adaptive_max_pool1d", input)
    (count,) = wanted_sizes(input, output_size, 1)
    out, index = adaptive_max_pool2d(input.unsqueeze(-2), (1, count), True)
    return (out.squeeze(-2), index.squeeze(-2)) if return_indices else out.squeeze(-2)


# -- padding and unfolding ---------------------------------------------------------------------------
_MODES = {"reflect": 1, "replicate": 2, "circular": 3}


def _around(x: Tensor, pad: Sequence[int]) -> Tensor:
    """Write an image into a larger one, and then from each side into what lies beyond the other."""
    sizes, dims, more = list(x.shape), len(pad) // 2, [max(n, 0) for n in pad]
    for d in range(dims):
        sizes[-1 - d] += pad[2 * d] + pad[2 * d + 1]
    out = x.new_empty(sizes)
    inside, own = out, x
    for d in range(dims):
        axis, (left, right) = x.ndim - 1 - d, pad[2 * d : 2 * d + 2]
        inside = inside.slice(axis, more[2 * d], sizes[axis] - more[2 * d + 1], 1)
        own = own.slice(axis, max(-left, 0), x.shape[axis] - max(-right, 0), 1)
    inside.copy_(own)
    for d in range(dims):
        axis, left, right = x.ndim - 1 - d, more[2 * d], more[2 * d + 1]
        end = sizes[axis] - right
        if left:
            out.slice(axis, 0, left, 1).copy_(out.slice(axis, end - left, end, 1))
        if right:
            out.slice(axis, end, sizes[axis], 1).copy_(out.slice(axis, left, left + right, 1))
    return out


@keeping_format
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions; ``pad`` holds pairs, last dimension first."""
    if len(pad) % 2:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got "
            "padding length "
            f"{len(pad)} and input of dimension {input.ndim}"
        )
    if mode == "constant":
        each = zip(reversed(input.shape), pad[::2], pad[1::2], strict=False)
        if any(size + a + b < 0 or max(-a, 0) > size or max(-b, 0) > size for size, a, b in each):
            raise RuntimeError("narrow(): length must be non-negative.")
        return input.constant_pad_nd(tuple(pad), 0 if value is None else value)
    if value:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _MODES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    dims = len(pad) // 2
    if dims > 3 or not dims < input.ndim <= dims + 2:
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "reflect":
        for d in range(dims):
            size = input.shape[-1 - d]
            if max(pad[2 * d : 2 * d + 2]) >= size:
                raise RuntimeError(
                    "Argument #4: Padding size should be less than the corresponding input "
                    "dimension, but got: padding "
                    f"({pad[2 * d]}, {pad[2 * d + 1]}) at dimension {input.ndim - 1 - d} of input "
                    f"{list(input.shape)}"
                )
    if mode == "circular" and any(n > input.shape[-1 - at // 2] for at, n in enumerate(pad)):
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if mode == "circular":
        return _around(input, pad)
    how = [n for d in reversed(range(dims)) for n in pad[2 * d : 2 * d + 2]]
    name = {"reflect": f"_reflected{dims}d", "replicate": f"_replicated{dims}d", "circular": "_circular"}[
        mode
    ]
    return getattr(input, name)(dims=dims, how=(*how, _MODES[mode]))


def _unfolding(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple[int, ...]:
    settings = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return tuple(n for name, value in settings.items() for n in _pair(name, value))


def _pair(name: str, value: Any) -> tuple[int, ...]:
    found = for_each(value, 2)
    if len(found) != 2:
        raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(found)}")
    return found


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of an image as columns, ``(N, C * kernel, windows)``."""
    how = _unfolding(kernel_size, dilation, padding, stride)
    need_moves(how)
    _need_batch("unfold", input, 2)
    return input._im2col(dims=2, how=how)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The sum of columns as the windows of an image."""
    how = _unfolding(kernel_size, dilation, padding, stride)
    sizes = _pair("output_size", output_size)
    need_moves(how)
    if input.shape[-2] % (how[0] * how[1]):
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={input.shape[-2]} and kernel_size={how[:2]}"
        )
    need_columns(input, sizes, how)
    return input._im2col_backward(sizes=sizes, how=how)
