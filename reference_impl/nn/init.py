"""``torch.nn.init``: the first values of parameters."""

from __future__ import annotations

import math

import numpy as np

from reference_impl.base.modes import no_grad
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.random import source


def _filled(tensor: Tensor, values: np.ndarray) -> Tensor:
    with no_grad():
        return tensor.copy_(wrap(np.asarray(values).astype(array_of(tensor).dtype)))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Numbers between two bounds."""
    return _filled(tensor, source(None).uniform(a, b, array_of(tensor).shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Normal numbers."""
    return _filled(tensor, source(None).normal(mean, std, array_of(tensor).shape))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    return _filled(tensor, np.full(array_of(tensor).shape, val))


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1)


def fans(tensor: Tensor) -> tuple[int, int]:
    """How many inputs go into an output, and how many outputs an input goes to."""
    outputs, inputs, *window = array_of(tensor).shape
    field = math.prod(window)
    return inputs * field, outputs * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Numbers within a bound that keeps the variance of signals and gradients alike."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """The same with normal numbers."""
    return normal_(tensor, 0, gain * math.sqrt(2 / sum(fans(tensor))))


def kaiming_uniform_(tensor: Tensor, a: float = 0, nonlinearity: str = "leaky_relu") -> Tensor:
    """Numbers within a bound that keeps the variance of signals through rectifiers."""
    slope = a if nonlinearity == "leaky_relu" else 0.0
    bound = math.sqrt(6 / ((1 + slope**2) * fans(tensor)[0]))
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0, nonlinearity: str = "leaky_relu") -> Tensor:
    """The same with normal numbers."""
    slope = a if nonlinearity == "leaky_relu" else 0.0
    return normal_(tensor, 0, math.sqrt(2 / ((1 + slope**2) * fans(tensor)[0])))
