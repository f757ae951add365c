"""Windows of signals: Hann, Hamming, Blackman, Bartlett, Kaiser."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import ones
from reference_impl.namespace.ranges import arange


def _window(name: str, shape: Callable[[Tensor, int], Tensor]) -> Callable[..., Tensor]:
    def window(window_length: int, periodic: bool = True, **how: Any) -> Tensor:
        """The weights of a window, of one period or symmetric."""
        if how.get("dtype") is not None and not how["dtype"].is_floating_point:
            raise RuntimeError(f"{name} expects floating point dtypes, got: {how['dtype']}")
        needs = how.pop("requires_grad", False)
        if window_length < 2:
            made = ones(window_length, **how)
        else:
            length = window_length + int(periodic)
            places = arange(length, **how) if "dtype" in how else arange(float(length), **how)
            made = shape(places, length - 1).narrow(0, 0, window_length)
        return made.requires_grad_(needs)

    window.__name__ = name
    return window


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **how: Any
) -> Tensor:
    """The weights of a Hamming window, of one period or symmetric."""
    return _window("hamming_window", _cosines(alpha, beta))(window_length, periodic, **how)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **how: Any) -> Tensor:
    """The weights of a Kaiser window, of one period or symmetric."""

    def shape(places: Tensor, last: int) -> Tensor:
        across = places.mul(2 / last).sub(1)
        return across.mul(across).neg().add(1).mul(beta**2).sqrt().i0().div(float(np.i0(beta)))

    return _window("kaiser_window", shape)(window_length, periodic, **how)


def _cosines(*weights: float) -> Callable[[Tensor, int], Tensor]:
    def shape(places: Tensor, last: int) -> Tensor:
        terms = [
            places.mul(2 * math.pi * k / last).cos().mul_(weight * (-1) ** k)
            for k, weight in enumerate(weights)
        ]
        made = terms[0]
        for term in terms[1:]:
            made = made.add(term)
        return made

    return shape


FUNCTIONS: dict[str, Any] = {
    "hann_window": _window("hann_window", _cosines(0.5, 0.5)),
    "hamming_window": hamming_window,
    "blackman_window": _window("blackman_window", _cosines(0.42, 0.5, 0.08)),
    "kaiser_window": kaiser_window,
    "bartlett_window": _window("bartlett_window", lambda n, last: n.mul(2 / last).sub(1).abs().neg().add(1)),
}
"""Functions by name."""
