"""Evenly spaced numbers, with the rounding of PyTorch's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.errors import need_fit, need_kernel


def evenly_spaced(start: Any, end: Any, steps: int, dtype: np.dtype, name: str = "linspace") -> np.ndarray:
    """Numbers from ``start`` to ``end``, in the dtypes where it shows as PyTorch: each rounded once."""
    return _between(start, end, steps, dtype, name).astype(dtype)


def powers(base: float, start: Any, end: Any, steps: int, dtype: np.dtype) -> np.ndarray:
    """Powers of ``base``, with evenly spaced exponents: those of integers are not rounded."""
    exponents = _between(start, end, steps, dtype, "logspace")
    return np.power(base, exponents if dtype.kind in "iu" else exponents.astype(dtype)).astype(dtype)


def _between(start: Any, end: Any, steps: int, dtype: np.dtype, name: str) -> np.ndarray:
    if steps > 1:
        need_kernel(name, dtype, "b")
    if steps < 2 or not (dtype == np.float32 or dtype.kind in "iu"):
        return np.linspace(start, end, steps)
    for number in (start, end):
        need_fit(number, dtype)
    first, last = np.array([start]).astype(dtype)[0], np.array([end]).astype(dtype)[0]  # the ends are rounded
    wide = np.float32 if dtype == np.float32 else np.float64
    step = float((wide(last) - wide(first)) / wide(steps - 1))
    at = np.arange(steps)
    return np.where(at < steps // 2, float(first) + step * at, float(last) - step * (steps - 1 - at))


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
    count = math.ceil((end - start) / step)
    if dtype.kind in "iu":
        start, end, step = int(start), int(end), int(step)
        if dtype == np.int64:
            count = -((start - end) // step)
    return np.asarray((start + np.arange(count) * step).astype(dtype))
