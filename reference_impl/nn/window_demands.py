"""Demands of pooling on its input, and on the settings of its windows."""

from __future__ import annotations

from typing import Any

from reference_impl.core.tensor import Tensor


def need_image(x: Tensor, dims: int) -> None:
    """Refuse what has neither so many dimensions after its channels, nor a batch of them."""
    if x.ndim not in (dims + 1, dims + 2):
        raise RuntimeError(f"non-empty {dims + 1}D or {dims + 2}D (batch mode) tensor expected for input")
    if 0 in tuple(x.shape)[x.ndim - dims - 1 :]:
        raise RuntimeError(
            f"Expected {dims + 1}D or {dims + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(x.shape)}"
        )


def need_line(name: str, x: Tensor) -> None:
    """Refuse what is neither a row of channels nor a batch of them."""
    if x.ndim not in (2, 3):
        raise RuntimeError(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while "
            f"checking arguments for {name})"
        )


def need_adaptable(x: Tensor, output_size: Any) -> None:
    """Refuse an input that has no more dimensions than its result has sizes."""
    if isinstance(output_size, (tuple, list)) and x.ndim <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}")


def need_windows(x: Tensor, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> None:
    """Refuse windows that do not fit into the input."""
    dims = len(kernel)
    sizes, counts = tuple(x.shape)[-dims:], []
    for size, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True):
        reach = size + 2 * p - d * (k - 1) - 1
        counts.append((-(-reach // s) if ceil else reach // s) + 1)
    if min(counts) < 1:
        channels = x.shape[-dims - 1]
        given, made = ("x".join(map(str, (channels, *each))) for each in (sizes, counts))
        raise RuntimeError(
            f"Given input size: ({given}). Calculated output size: ({made}). Output size is too small"
        )


def need_each(name: str, dims: int, *settings: tuple[int, ...]) -> None:
    """Refuse settings of another number of dimensions."""
    if any(len(each) != dims for each in settings):
        count = {1: "one", 2: "two", 3: "three"}[dims]
        raise RuntimeError(f"{name}: kernel_size must either be a single int, or a tuple of {count} ints")


def need_settings(
    kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], dilation: tuple[int, ...]
) -> None:
    """Refuse windows without a size, windows that do not move, and too much padding."""
    if 0 in stride:
        raise RuntimeError("stride should not be zero")
    if min(padding) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(padding)}")
    for p, k, d in zip(padding, kernel, dilation, strict=True):
        if p > int(((k - 1) * d + 1) / 2):
            raise RuntimeError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and "
                f"dilation={d}"
            )
    for name, short, given in (
        ("kernel size", "k", kernel), ("stride", "d", stride), ("dilation", "dilation", dilation)
    ):  # fmt: skip
        if min(given) < 1:
            each = " ".join(f"{short}{of}: {n}" for of, n in zip("TDHW"[-len(given) :], given, strict=True))
            raise RuntimeError(f"{name} should be greater than zero, but got {each}")


def need_moves(how: tuple[int, ...]) -> None:
    """Refuse windows of an image without a size, those that do not move, and negative padding.

    ``how`` holds pairs: sizes, dilations, paddings and strides.
    """
    for at, name in ((0, "kernel size"), (2, "dilation"), (6, "stride")):
        height, width = how[at : at + 2]
        if min(height, width) < 1:
            word = name.split()[0]
            raise RuntimeError(
                f"{name} should be greater than zero, but got {word}_height: {height} {word}_width: {width}"
            )
    if min(how[4:6]) < 0:
        raise RuntimeError(
            f"padding should be non-negative, but got pad_height: {how[4]} pad_width: {how[5]}"
        )


def need_columns(x: Tensor, sizes: tuple[int, ...], how: tuple[int, ...]) -> None:
    """Refuse another number of columns than there are windows in an image of those sizes."""
    kernel, dilation, padding, stride = how[:2], how[2:4], how[4:6], how[6:]
    each = [
        (size + 2 * p - d * (k - 1) - 1) // s + 1
        for size, k, d, p, s in zip(sizes, kernel, dilation, padding, stride, strict=True)
    ]
    if x.shape[-1] != each[0] * each[1]:
        raise RuntimeError(
            f"Given output_size={sizes}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"stride={stride}, expected size of input's dimension 2 to match the calculated number of "
            f"sliding blocks {each[0]} * {each[1]} = {each[0] * each[1]}, but got "
            f"input.size(2)={x.shape[-1]}."
        )


def need_line_settings(x: Tensor, kernel: int, stride: int, padding: int, dilation: int, ceil: bool) -> None:
    """Refuse an input and settings that `max_pool1d` does not take."""
    if x.ndim not in (2, 3) or 0 in tuple(x.shape)[x.ndim - 2 :]:
        raise RuntimeError(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but "
            f"got:{list(x.shape)}"
        )
    for name, value in (("kernel_size", kernel), ("stride", stride)):
        if value < 1:
            raise RuntimeError(f"max_pool1d() {name} must be greater than zero, but got {value}")
    if padding < 0:
        raise RuntimeError(f"max_pool1d() padding must be non-negative, but got {padding}")
    if padding > kernel // 2:
        raise RuntimeError(
            f"max_pool1d() padding should be at most half of kernel size, but got padding={padding} and "
            f"kernel_size={kernel}"
        )
    if dilation < 1:
        raise RuntimeError(f"max_pool1d() dilation must be greater than zero, but got {dilation}")
    reach = x.shape[-1] + 2 * padding - dilation * (kernel - 1) - 1
    count = (-(-reach // stride) if ceil else reach // stride) + 1
    if count < 1:
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {count}")
