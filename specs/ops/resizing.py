"""Resizing images: each element of the result is made of a few neighbours.

Like the ops in ``windows``, these are linear maps of the last dimensions, and have transposed maps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from specs.ops.windows import Sizes, Taps, WeightedSums, along_each, linear_map


def _nearest(sizes: Sizes, how: tuple[Any, ...], shift: float) -> WeightedSums:
    dims = len(sizes)
    taps: list[Taps] = []
    for size, new, scale in zip(sizes, how[:dims], how[dims:], strict=True):
        share = np.float32(1 / scale if scale else size / new)
        taps.append(
            [[(min(int(np.floor(np.float32(n + shift) * share)), size - 1), 1.0)] for n in range(new)]
        )
    return along_each(taps, sizes)


@cache
def nearest_plan(sizes: Sizes, how: tuple[Any, ...]) -> WeightedSums:
    """The nearest element; ``how``: the new sizes, then the scales, 0 where the sizes decide."""
    return _nearest(sizes, how, 0.0)


@cache
def exact_plan(sizes: Sizes, how: tuple[Any, ...]) -> WeightedSums:
    """The element nearest to the middle of the new one; ``how`` as for `nearest_plan`."""
    return _nearest(sizes, how, 0.5)


@cache
def linear_plan(sizes: Sizes, how: tuple[Any, ...]) -> WeightedSums:
    """The two elements around each place; ``how`` as for `nearest_plan`, and if corners are aligned."""
    dims, corners = len(sizes), how[-1]
    taps: list[Taps] = []
    for size, new, scale in zip(sizes, how[:dims], how[dims:-1], strict=True):
        dimension: Taps = []
        for n in range(new):
            if corners:
                place = n * (size - 1) / (new - 1) if new > 1 else 0.0
            else:
                place = max((n + 0.5) * (1 / scale if scale else size / new) - 0.5, 0.0)
            low = min(int(place), size - 1)
            high, share = min(low + 1, size - 1), place - low
            dimension.append([(low, 1 - share), (high, share)])
        taps.append(dimension)
    return along_each(taps, sizes)


def cubic(t: Any, a: float) -> Any:
    """The weight of an element at distance ``t``, by the cubic kernel with parameter ``a``."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    return np.where(t <= 1, near, np.where(t < 2, ((a * t - 5 * a) * t + 8 * a) * t - 4 * a, 0.0))


@cache
def cubic_plan(sizes: Sizes, how: tuple[Any, ...]) -> WeightedSums:
    """The four elements around each place, those outside repeated; ``how`` as for `linear_plan`."""
    dims, corners = len(sizes), how[-1]
    taps: list[Taps] = []
    for size, new, scale in zip(sizes, how[:dims], how[dims:-1], strict=True):
        dimension: Taps = []
        for n in range(new):
            if corners:
                place = n * (size - 1) / (new - 1) if new > 1 else 0.0
            else:
                place = (n + 0.5) * (1 / scale if scale else size / new) - 0.5
            low = int(np.floor(place))
            around = range(low - 1, low + 3)
            dimension.append([(min(max(k, 0), size - 1), float(cubic(place - k, -0.75))) for k in around])
        taps.append(dimension)
    return along_each(taps, sizes)


def _smooth(reach: int, kernel: Callable[[Any], Any]) -> Callable[[Sizes, Any], WeightedSums]:
    """Make the plan that smooths before it shrinks, by a kernel as wide as the shrinking is strong."""

    @cache
    def plan(sizes: Sizes, how: tuple[Any, ...]) -> WeightedSums:
        dims, corners = len(sizes), how[-1]
        taps: list[Taps] = []
        for size, new, scale in zip(sizes, how[:dims], how[dims:-1], strict=True):
            step = (size - 1) / max(new - 1, 1) if corners else 1 / scale if scale else size / new
            wide = max(step, 1.0)
            dimension: Taps = []
            for n in range(new):
                centre = step * (n + 0.5)
                low = max(int(centre - reach * wide + 0.5), 0)
                high = min(int(centre + reach * wide + 0.5), size)
                weights = kernel((np.arange(low, high) - centre + 0.5) / wide)
                dimension.append(
                    [(k, float(w)) for k, w in zip(range(low, high), weights / weights.sum(), strict=True)]
                )
            taps.append(dimension)
        return along_each(taps, sizes)

    plan.__name__ = "_smooth"
    return plan


smooth_linear = _smooth(1, lambda t: np.maximum(1 - np.abs(t), 0))
smooth_cubic = _smooth(2, lambda t: cubic(t, -0.5))

_NEAREST, _LINEAR, _CUBIC = (f"compute_indices_weights_{of}" for of in ("nearest", "linear", "cubic"))
_SMOOTH = "compute_index_ranges_weights"
"""Kernels in PyTorch's words; of some layouts they have other names."""

nearest1, nearest1_back = linear_map(
    "_nearest1d", "UpsampleNearest1DBackward0", nearest_plan, kernel=_NEAREST
)
nearest2, nearest2_back = linear_map(
    "_nearest2d", "UpsampleNearest2DBackward0", nearest_plan, kernel=_NEAREST
)
nearest3, nearest3_back = linear_map(
    "_nearest3d", "UpsampleNearest3DBackward0", nearest_plan, kernel=_NEAREST
)
linear1, linear1_back = linear_map("_linear1d", "UpsampleLinear1DBackward0", linear_plan, kernel=_LINEAR)
linear2, linear2_back = linear_map("_linear2d", "UpsampleBilinear2DBackward0", linear_plan, kernel=_LINEAR)
linear3, linear3_back = linear_map("_linear3d", "UpsampleTrilinear3DBackward0", linear_plan, kernel=_LINEAR)
exact1, exact1_back = linear_map("_exact1d", "UpsampleNearestExact1DBackward0", exact_plan, kernel=_NEAREST)
exact2, exact2_back = linear_map("_exact2d", "UpsampleNearestExact2DBackward0", exact_plan, kernel=_NEAREST)
exact3, exact3_back = linear_map("_exact3d", "UpsampleNearestExact3DBackward0", exact_plan, kernel=_NEAREST)
cubic2, cubic2_back = linear_map("_cubic2d", "UpsampleBicubic2DBackward0", cubic_plan, kernel=_CUBIC)
smooth1, smooth1_back = linear_map(
    "_smooth_linear2d", "UpsampleBilinear2DAaBackward0", smooth_linear, kernel=_SMOOTH
)
smooth2, smooth2_back = linear_map(
    "_smooth_cubic2d", "UpsampleBicubic2DAaBackward0", smooth_cubic, kernel=_SMOOTH
)
