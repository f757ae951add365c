"""Pools that scripts use now and then: the adaptive maximum in three dimensions, fractional maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import random
from reference_impl.nn.module import Module
from reference_impl.nn.window_demands import need_adaptable, need_image
from reference_impl.nn.window_functions import for_each, positions, wanted_sizes


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """The maximum of as many windows as asked for, over three dimensions."""
    need_adaptable(input, output_size)
    need_image(input, 3)
    places = []
    for size, count in zip(tuple(input.shape)[-3:], wanted_sizes(input, output_size, 3), strict=True):
        places.append([[*range(n * size // count, -(-(n + 1) * size // count))] for n in range(count)])
    index = wrap_beside(input, positions(input, 3, places))
    out = input._adaptive_max_pool3d_at(index, dims=3)
    return (out, index) if return_indices else out


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The maximum of windows that begin at steps of random sizes (Graham 2014)."""
    return _fractional(input, kernel_size, output_size, output_ratio, return_indices, _random_samples, 2)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """The maximum of windows that begin at steps of random sizes, over three dimensions."""
    return _fractional(input, kernel_size, output_size, output_ratio, return_indices, _random_samples, 3)


def _fractional(
    x: Tensor, kernel_size: Any, size: Any, ratio: Any, with_indices: bool, samples: Tensor | None, dims: int
) -> Any:
    sizes = tuple(x.shape)[-dims:]
    if size is None and ratio is None:
        raise ValueError(
            f"fractional_max_pool{dims}d requires specifying either an output_size or an output_ratio"
        )
    if size is None:
        size = tuple(int(n * share) for n, share in zip(sizes, ratio, strict=True))
    kernel, wanted = for_each(kernel_size, dims), for_each(size, dims)
    planes: Any = x if x.ndim == dims + 2 else x.unsqueeze(0)
    if samples is None:
        samples = random.rand(planes.shape[0], planes.shape[1], dims, dtype=x.dtype, device=x.device)
    _need_room(sizes, kernel, wanted)
    index = np.zeros((*planes.shape[:2], *wanted), np.int64)
    for at in np.ndindex(*planes.shape[:2]):
        drawn = array_of(samples)[at]
        # The last number drawn is that of the first dimension in two dimensions, but not in three.
        drawn = drawn[::-1] if dims == 2 else drawn
        places = [_windows(*each) for each in zip(drawn, sizes, wanted, kernel, strict=True)]
        index[at] = positions(planes[at], dims, places)
    found = wrap_beside(x, index if planes is x else index[0])
    out = getattr(x, f"_fractional_max_pool{dims}d_at")(found, dims=dims)
    return (out, found) if with_indices else out


def _need_room(sizes: Any, kernel: Any, wanted: Any) -> None:
    dims = len(sizes)
    where = "fractional_max_pool2d" if dims == 2 else "fractional_max_pool3d_out"
    for name, size, k, n in zip(("time", "height", "width")[-dims:], sizes, kernel, wanted, strict=True):
        if n + k - 1 > size - (dims == 3):
            raise RuntimeError(f"{where}(): pool {name} {k} too large relative to input {name} {size}")


def _windows(sample: Any, size: int, count: int, width: int) -> list[list[int]]:
    """The positions that each window covers."""
    begins = []
    if count > 1:
        alpha = sample.dtype.type(size - width) / sample.dtype.type(count - 1)
        begins = [int((i + sample) * alpha) - int(sample * alpha) for i in range(count - 1)]
    return [[*range(begin, begin + width)] for begin in (*begins, size - width)]


class _FractionalMaxPool(Module):
    dims = 2

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        name, dims = type(self).__name__, self.dims
        self.kernel_size, self.return_indices = for_each(kernel_size, dims), return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else for_each(output_size, dims)
        single = isinstance(output_ratio, float)
        self.output_ratio = (output_ratio,) * dims if single else output_ratio
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < share < 1 for share in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        pool = fractional_max_pool2d if self.dims == 2 else fractional_max_pool3d
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """`fractional_max_pool2d` as a module."""


class FractionalMaxPool3d(_FractionalMaxPool):
    """`fractional_max_pool3d` as a module."""

    dims = 3
