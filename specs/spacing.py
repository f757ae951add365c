"""Evenly spaced numbers, with the rounding of PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.errors import need_kernel


def evenly_spaced(start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """Numbers from ``start`` to ``end``, in float32 as PyTorch: each rounded once, from the nearer end."""
    if dtype != np.float32 or steps < 2:
        return np.linspace(start, end, steps).astype(dtype)
    first, last = np.float32(start), np.float32(end)
    step = float((last - first) / np.float32(steps - 1))
    at = np.arange(steps)
    rising, falling = float(first) + step * at, float(last) - step * (steps - 1 - at)
    return np.where(at < steps // 2, rising, falling).astype(dtype)


def stepped(start: Any, end: Any, step: Any, dtype: np.dtype) -> np.ndarray:
    """Numbers from ``start`` on, each ``step`` further, as long as ``end`` is not reached."""
    need_kernel("arange", dtype, "bc")
    if any(isinstance(given, complex) for given in (start, end, step)):
        raise RuntimeError("value cannot be converted to type double without overflow")
    if not abs(step) > 0:
        raise RuntimeError("step must be nonzero")
    if not math.isfinite(start) or not math.isfinite(end):
        raise RuntimeError(f"unsupported range: {start:g} -> {end:g}")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    if dtype.kind in "iu" and not int(step):
        raise ValueError("step must be nonzero")
    return np.asarray((start + np.arange(math.ceil((end - start) / step)) * step).astype(dtype))
