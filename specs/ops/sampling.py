"""Reading images at places that a tensor gives, the grid of an affine map, and channels as pixels."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from specs.demands import one_dtype
from specs.errors import need_kernel
from specs.kind import Bool, Count, IntList, Reduction, Tensor
from specs.op import op
from specs.ops.resizing import cubic
from specs.spacing import evenly_spaced

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "exact": False, "ulp": 32}


# -- places along one dimension ----------------------------------------------------------------------
class _Taps(NamedTuple):
    """The positions that each place reads, their weights and how these change with the grid."""

    at: np.ndarray
    weights: np.ndarray
    slopes: np.ndarray


def _held(place: np.ndarray, slope: np.ndarray, size: int, how: str, corners: bool) -> tuple[Any, Any]:
    """Places outside moved inside, and how they then change."""
    if how == "zeros":
        return place, slope
    if how == "reflection":
        low, high = (0.0, size - 1.0) if corners else (-0.5, size - 0.5)
        apart, span = place - low, high - low
        slope = np.where(apart < 0, -slope, slope)
        turns, rest = np.divmod(np.abs(apart), span) if span else (0 * apart, 0 * apart)
        odd = turns % 2 == 1
        place = np.where(odd, span - rest, rest) + low if span else np.zeros_like(place)
        slope = np.where(odd, -slope, slope) if span else np.zeros_like(slope)
    inside = (place > 0) & (place < size - 1)
    return np.clip(place, 0, size - 1), np.where(inside, slope, 0)


def _rounded(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Round to a dtype once: on which side of an element a place lies decides its gradient."""
    return x.astype(dtype).astype(np.float64)


def _taps(grid: np.ndarray, size: int, mode: str, padding: str, corners: bool) -> _Taps:
    """Read the places of one dimension; what is outside has no weight, and stands at zero."""
    scale = (size - 1) / 2 if corners else size / 2
    place = _rounded((grid + 1).astype(np.float64) * scale - (0 if corners else 0.5), grid.dtype)
    slope = np.full_like(place, scale)
    if mode != "bicubic":
        place, slope = _held(place, slope, size, padding, corners)
    if mode == "nearest":
        at = np.rint(place)[..., None]
        weights, slopes = np.ones_like(at), np.zeros_like(at)
    else:
        low = np.floor(place)[..., None]
        at = low + (np.arange(2) if mode == "bilinear" else np.arange(-1, 3))
        apart = place[..., None] - at
        kernel = (lambda t: 1 - np.abs(t)) if mode == "bilinear" else (lambda t: cubic(t, -0.75))
        weights = kernel(apart)
        slopes = _slopes(apart, mode) * slope[..., None]
    if mode == "bicubic":
        at = _held(at, at, size, padding, corners)[0]
    inside = (at >= 0) & (at < size)
    return _Taps(
        np.where(inside, at, 0).astype(np.int64), np.where(inside, weights, 0), np.where(inside, slopes, 0)
    )


def _slopes(apart: np.ndarray, mode: str) -> np.ndarray:
    """The derivatives of the weights."""
    if mode == "bilinear":
        return np.broadcast_to([-1.0, 1.0], apart.shape)
    t, a = np.abs(apart), -0.75
    near, far = (3 * (a + 2) * t - 2 * (a + 3)) * t, (3 * a * t - 10 * a) * t + 8 * a
    return np.sign(apart) * np.where(t <= 1, near, far)


def _all_taps(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, corners: bool) -> list[_Taps]:
    return [_taps(grid[..., -1 - d], size, mode, padding, corners) for d, size in enumerate(x.shape[2:])]


def _met(taps: list[_Taps], sizes: tuple[int, ...]) -> Any:
    """Each combination of taps: positions in the flattened image, and the numbers of the taps."""
    for combination in itertools.product(*(range(t.at.shape[-1]) for t in taps)):
        at = np.zeros(taps[0].at.shape[:-1], np.int64)
        for t, k, size in zip(taps, combination, sizes, strict=True):
            at = at * size + t.at[..., k]
        yield at.reshape(len(at), 1, -1), combination


def _weight(taps: list[_Taps], combination: tuple[int, ...], turned: int = -1) -> np.ndarray:
    """The weight of a combination, or how it changes along the dimension ``turned``."""
    parts = [
        (t.slopes if d == turned else t.weights)[..., k]
        for d, (t, k) in enumerate(zip(taps, combination, strict=True))
    ]
    product = math.prod(parts[1:], start=parts[0])
    return product.reshape(len(product), 1, -1)


# -- the ops -----------------------------------------------------------------------------------------
def _sampled(x: Any, grid: Any, mode: str, padding: str, corners: bool) -> Any:
    taps = _all_taps(x, grid, mode, padding, corners)
    flat = x.reshape(*x.shape[:2], -1)
    out = sum(
        np.take_along_axis(flat, at, 2) * _weight(taps, chosen) for at, chosen in _met(taps, x.shape[2:])
    )
    return np.asarray(out).reshape(*x.shape[:2], *grid.shape[1:-1]).astype(x.dtype)


def _back_to_image(dy: Any, x: Any, grid: Any, mode: str, padding: str, corners: bool) -> Any:
    taps = _all_taps(x, grid, mode, padding, corners)
    out = np.zeros((*x.shape[:2], math.prod(x.shape[2:])))
    flat = dy.reshape(*dy.shape[:2], -1)
    first, second = np.ogrid[: x.shape[0], : x.shape[1]]
    for at, chosen in _met(taps, x.shape[2:]):
        np.add.at(out, (first[..., None], second[..., None], at), flat * _weight(taps, chosen))
    return out.reshape(x.shape).astype(x.dtype)


def _back_to_grid(dy: Any, x: Any, grid: Any, mode: str, padding: str, corners: bool) -> Any:
    taps = _all_taps(x, grid, mode, padding, corners)
    flat, given = x.reshape(*x.shape[:2], -1), dy.reshape(*dy.shape[:2], -1)
    out = np.zeros(grid.shape)
    for at, chosen in _met(taps, x.shape[2:]):
        both = np.take_along_axis(flat, at, 2) * given
        for d in range(len(taps)):
            change = (both * _weight(taps, chosen, d)).sum(1)
            out[..., -1 - d] += change.reshape(grid.shape[:-1])
    return out.astype(grid.dtype)


def _not_twice(g: Any) -> Any:
    raise NotImplementedError("second derivatives of torch.nn.functional.grid_sample")


def _family(dims: int) -> list[Any]:
    node = f"GridSampler{dims}DBackward0"
    kernel = "grid_sampler_2d_cpu_kernel_impl" if dims == 2 else "grid_sampler3d"

    def forward(x: Tensor, grid: Tensor, *, mode: Reduction, padding: Reduction, corners: Bool) -> Any:
        """The image at the places of a grid."""
        return _sampled(x, grid, mode, padding, corners)

    def image(
        dy: Tensor, here: Tensor, grid: Tensor, *, mode: Reduction, padding: Reduction, corners: Bool
    ) -> Any:
        """The gradient of the image."""
        return _back_to_image(dy, here, grid, mode, padding, corners)

    def places(
        dy: Tensor, here: Tensor, grid: Tensor, *, mode: Reduction, padding: Reduction, corners: Bool
    ) -> Any:
        """The gradient of the grid."""
        return _back_to_grid(dy, here, grid, mode, padding, corners)

    names = f"_grid_sampler{dims}d", f"_grid_sampler{dims}d_image", f"_grid_sampler{dims}d_grid"
    nodes = node, *[node.replace("Backward0", "BackwardBackward0")] * 2
    made = []
    functions: Any = (forward, image, places)
    for name, of, function in zip(names, nodes, functions, strict=True):
        function.__name__ = name
        made.append(op(node=of, torch_names={"x": "input"}, lacks="biuc", kernel=kernel, **_FACTS)(function))
    sample, to_image, to_grid = made
    sample.wrt(
        x=one_dtype("x", "grid", "g")(
            lambda g, x, grid, mode, padding, corners: getattr(g, to_image.name)(
                x, grid, mode=mode, padding=padding, corners=corners
            )
        ),
        grid=one_dtype("x", "grid", "g")(
            lambda g, x, grid, mode, padding, corners: getattr(g, to_grid.name)(
                x, grid, mode=mode, padding=padding, corners=corners
            )
        ),
    )
    for backward in (to_image, to_grid):
        backward.wrt(dy=_not_twice, here=_not_twice, grid=_not_twice)
    return made


grid2, grid2_image, grid2_places = _family(2)
grid3, grid3_image, grid3_places = _family(3)


# -- affine maps -------------------------------------------------------------------------------------
def places_of(sizes: tuple[int, ...], corners: bool, dtype: np.dtype) -> np.ndarray:
    """The places of all elements of an image, with ones behind them, as rows."""
    axes = []
    for size in sizes:
        ends = evenly_spaced(-1, 1, size, dtype) if size > 1 else np.zeros(1, dtype)
        axes.append(ends if corners else ends * dtype.type(size - 1) / dtype.type(size))
    grid = np.meshgrid(*axes, indexing="ij")
    return np.stack([*reversed(grid), np.ones(sizes)], -1).reshape(-1, len(sizes) + 1)


@op(node="AffineGridGeneratorBackward0", torch_names={"x": "theta"}, **_FACTS)
def _affine_grid(x: Tensor, *, sizes: IntList, corners: Bool) -> Any:
    """The places of an image's elements under affine maps."""
    if 1 in sizes:
        need_kernel("tensor", x, "eV")
    base = places_of(tuple(sizes), corners, x.dtype).astype(x.dtype, copy=False)
    places = np.matmul(base, np.swapaxes(x, -1, -2)).astype(x.dtype, copy=False)
    return places.reshape(len(x), *sizes, len(sizes))


def _affine_backward(g: Any, sizes: tuple[int, ...], corners: bool) -> Any:
    rows = places_of(tuple(sizes), corners, np.dtype(np.float64))
    count = g.shape[0]
    base = g.detach().new_tensor(rows.tolist()).expand((count, *rows.shape)).transpose(1, 2)
    return base.bmm(g.reshape((count, len(rows), len(sizes)))).transpose(1, 2)


_affine_grid.wrt(x=_affine_backward)


# -- channels and pixels -----------------------------------------------------------------------------
def _need_image(name: str, x: np.ndarray, factor: str, by: int) -> None:
    if x.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.ndim} dimension(s)"
        )
    if by < 1:
        raise RuntimeError(f"{name} expects a positive {factor}, but got {by}")


@op(internal=True, dtypes="keep", node="PixelShuffleBackward0", complex=True)
def _pixel_shuffle(x: Tensor, upscale_factor: Count) -> Any:
    """Channels rearranged into a larger image."""
    _need_image("pixel_shuffle", x, "upscale_factor", upscale_factor)
    r, (channels, height, width) = upscale_factor, x.shape[-3:]
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    parts = x.reshape(math.prod(x.shape[:-3]), channels // r**2, r, r, height, width).transpose(
        0, 1, 4, 2, 5, 3
    )
    return np.ascontiguousarray(parts.reshape(*x.shape[:-3], channels // r**2, height * r, width * r))


@op(internal=True, dtypes="keep", node="PixelUnshuffleBackward0", complex=True)
def _pixel_unshuffle(x: Tensor, downscale_factor: Count) -> Any:
    """An image rearranged into channels."""
    _need_image("pixel_unshuffle", x, "downscale_factor", downscale_factor)
    r, (channels, height, width) = downscale_factor, x.shape[-3:]
    for name, size in (("height", height), ("width", width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({-2 if name == 'height' else -1})={size} is not divisible by {r}"
            )
    if not x.size:
        return x.copy()  # with the shape that it has
    parts = x.reshape(math.prod(x.shape[:-3]), channels, height // r, r, width // r, r).transpose(
        0, 1, 3, 5, 2, 4
    )
    return np.ascontiguousarray(parts.reshape(*x.shape[:-3], channels * r**2, height // r, width // r))


_pixel_shuffle.wrt(x=lambda g, upscale_factor: g._pixel_unshuffle(upscale_factor))
_pixel_unshuffle.wrt(x=lambda g, downscale_factor: g._pixel_shuffle(downscale_factor))
