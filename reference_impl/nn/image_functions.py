"""Resizing and sampling images, of ``torch.nn.functional``."""

from __future__ import annotations

import math
import warnings
from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.formats import keeping_format
from reference_impl.nn.window_functions import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    for_each,
)
from specs.dtype_names import SCALARS

_SMOOTH = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}
_OF_AREAS = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}


@keeping_format
def interpolate(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the dimensions after the first two."""
    dims = input.ndim - 2
    if dims not in (1, 2, 3):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {input.ndim}D) for the "
            "modes: nearest "
            f"| linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got {mode})"
        )
    if mode not in _SMOOTH and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic "
            "| trilinear"
        )
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    wanted, scales = _sizes(input, size, scale_factor)
    if min(wanted) < 1:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(input.shape[2:])} and "
            f"output {list(wanted)}"
        )
    scales = (0,) * dims if recompute_scale_factor else scales
    if antialias and (mode not in ("bilinear", "bicubic") or dims != 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D "
            "tensor as input"
        )
    if mode == "area":
        return _OF_AREAS[dims](input, wanted)
    if mode in ("nearest", "nearest-exact"):
        name = "_nearest" if mode == "nearest" else "_exact"
        return getattr(input, f"{name}{dims}d")(dims=dims, how=(*wanted, *scales))
    if _SMOOTH.get(mode) != dims:
        raise NotImplementedError(
            f"Got {input.ndim}D input, but {mode} mode needs another number of dimensions"
        )
    return _smoothly(input, mode, antialias, (*wanted, *scales, int(bool(align_corners))))


def _smoothly(x: Tensor, mode: str, antialias: bool, how: tuple[Any, ...]) -> Tensor:
    dims = x.ndim - 2
    if antialias:
        return getattr(x, "_smooth_cubic2d" if mode == "bicubic" else "_smooth_linear2d")(dims=dims, how=how)
    return getattr(x, "_cubic2d" if mode == "bicubic" else f"_linear{dims}d")(dims=dims, how=how)


def _sizes(x: Tensor, size: Any, scale_factor: Any) -> tuple[tuple[int, ...], tuple[Any, ...]]:
    """The new sizes, and the factors that were given, 0 where they were not."""
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    dims = x.ndim - 2
    if size is not None:
        return for_each(size, dims), (0,) * dims
    single = isinstance(scale_factor, (int, float))
    scales = (scale_factor,) * dims if single else tuple(scale_factor)
    return tuple(math.floor(n * s) for n, s in zip(x.shape[2:], scales, strict=True)), scales


upsample = interpolate


def _corners(name: str, align_corners: bool | None) -> bool:
    if align_corners is None:
        warnings.warn(
            f"Default {name} and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            f"specify align_corners=True if the old behavior is desired. See the documentation of {name} for "
            "details.",
            UserWarning,
            stacklevel=3,
        )
    return bool(align_corners)


def affine_grid(theta: Tensor, size: Any, align_corners: bool | None = None) -> Tensor:
    """The places that affine maps give to the elements of images of that size."""
    corners = _corners("affine_grid", align_corners)
    if not theta.is_floating_point():
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype}")
    if len(size) not in (4, 5):
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got "
            f"size {size}."
        )
    if theta.ndim != 3 or tuple(theta.shape[1:]) != (len(size) - 2, len(size) - 1):
        raise ValueError(
            f"Expected a batch of 2D affine matrices of shape Nx2x3 for size {list(size)}. Got "
            f"{theta.size()}."
        )
    if theta.shape[0] != size[0]:
        wanted = [size[0], theta.shape[2]]
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {wanted} but got: "
            f"{[theta.shape[0], theta.shape[2]]}."
        )
    return theta._affine_grid(sizes=tuple(size[2:]), corners=corners)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """The images at the places of a grid, which run from -1 to 1."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(
            "nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: "
            f"'{mode}'"
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', "
            f"but got: '{padding_mode}'"
        )
    corners = _corners("grid_sample", align_corners)
    dims = input.ndim - 2
    if input.ndim != grid.ndim or grid.shape[-1] != dims:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {dims} in last dimension, but got grid with sizes "
            f"{list(grid.shape)}"
        )
    if dims not in (2, 3):
        raise NotModelled(f"torch.nn.functional.grid_sample() of {input.ndim}D input")
    if input.dtype != grid.dtype:
        one, other = (SCALARS[x.dtype.name] for x in (input, grid))
        raise RuntimeError(f"expected scalar type {one} but found {other}")
    sample = getattr(input, f"_grid_sampler{dims}d")
    return sample(grid, mode=mode, padding=padding_mode, corners=corners)


@keeping_format
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels rearranged into a larger image."""
    return input._pixel_shuffle(upscale_factor)


@keeping_format
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """An image rearranged into channels."""
    return input._pixel_unshuffle(downscale_factor)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels of groups interleaved."""
    if input.ndim < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}"
        )
    if groups < 1:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    if input.shape[1] % groups:
        raise RuntimeError(
            "Number of channels must be divisible by groups. Got "
            f"{input.shape[1]} channels and {groups} groups."
        )
    return input._channel_shuffle(groups=groups)
