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


def _map(name: str, node: str, plan: Callable[[Sizes, Any], WeightedSums], kernel: str, lacks: str) -> Any:
    return linear_map(name, f"Upsample{node}Backward0", plan, kernel=kernel, lacks=lacks)


nearest1, nearest1_back = _map("_nearest1d", "Nearest1D", nearest_plan, _NEAREST, "bic")
nearest2, nearest2_back = _map("_nearest2d", "Nearest2D", nearest_plan, _NEAREST, "bic")
nearest3, nearest3_back = _map("_nearest3d", "Nearest3D", nearest_plan, _NEAREST, "bic")
linear1, linear1_back = _map("_linear1d", "Linear1D", linear_plan, _LINEAR, "biuc")
linear2, linear2_back = _map("_linear2d", "Bilinear2D", linear_plan, _LINEAR, "bic")
linear3, linear3_back = _map("_linear3d", "Trilinear3D", linear_plan, _LINEAR, "biuc")
exact1, exact1_back = _map("_exact1d", "NearestExact1D", exact_plan, _NEAREST, "bic")
exact2, exact2_back = _map("_exact2d", "NearestExact2D", exact_plan, _NEAREST, "bic")
exact3, exact3_back = _map("_exact3d", "NearestExact3D", exact_plan, _NEAREST, "bic")
cubic2, cubic2_back = _map("_cubic2d", "Bicubic2D", cubic_plan, _CUBIC, "bic")
smooth1, smooth1_back = _map("_smooth_linear2d", "Bilinear2DAa", smooth_linear, _SMOOTH, "biceV")
smooth2, smooth2_back = _map("_smooth_cubic2d", "Bicubic2DAa", smooth_cubic, _SMOOTH, "biceV")
