"""``torch.nn.init``: initial values of parameters, written in place without a record."""

from __future__ import annotations

import math

import numpy as np

from reference_impl.base.modes import no_grad
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.random import source

GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}


def _filled(tensor: Tensor, values: np.ndarray) -> Tensor:
    with no_grad():
        return tensor.copy_(wrap(np.asarray(values).astype(array_of(tensor).dtype)))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with uniform numbers in ``[a, b)``."""
    return _filled(tensor, source(None).uniform(a, b, array_of(tensor).shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normal numbers."""
    return _filled(tensor, source(None).normal(mean, std, array_of(tensor).shape))


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return _filled(tensor, np.full(array_of(tensor).shape, val))


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1)


def fans(tensor: Tensor) -> tuple[int, int]:
    """The fan-in and fan-out of a weight of shape ``(out, in, ...)``."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *window = array_of(tensor).shape
    field = math.prod(window)
    return inputs * field, outputs * field


def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with Glorot uniform numbers: bound ``gain * sqrt(6 / (fan_in + fan_out))``."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound)


def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with Glorot normal numbers."""
    return normal_(tensor, 0, gain * math.sqrt(2 / sum(fans(tensor))))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much a function's weights are scaled; ``param`` is the slope of a leaky ReLU."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def kaiming_uniform_(tensor: Tensor, a: float = 0, nonlinearity: str = "leaky_relu") -> Tensor:
    """Fill with He uniform numbers for a nonlinearity, a leaky ReLU of negative slope ``a``, by fan-in."""
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / fans(tensor)[0])
    return uniform_(tensor, -bound, bound)


def kaiming_normal_(tensor: Tensor, a: float = 0, nonlinearity: str = "leaky_relu") -> Tensor:
    """Fill with He normal numbers."""
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(fans(tensor)[0]))
