"""Evenly spaced numbers, with the rounding of PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np


def evenly_spaced(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """Numbers from ``start`` to ``end``, in float32 as PyTorch: each rounded once, from the nearer end."""
    if dtype != np.float32 or steps < 2:
        return np.linspace(start, end, steps).astype(dtype)
    first, last = np.float32(start), np.float32(end)
    step = float((last - first) / np.float32(steps - 1))
    at = np.arange(steps)
    rising, falling = float(first) + step * at, float(last) - step * (steps - 1 - at)
    return np.where(at < steps // 2, rising, falling).astype(dtype)
