"""``torch.nn.init``: initial values of parameters, written in place without a record."""

from __future__ import annotations

import math
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np

from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.factories import empty_like
from reference_impl.namespace.install import FUNCTIONS
from reference_impl.namespace.missing import loading
from reference_impl.namespace.random import randperm, source

where = FUNCTIONS["where"]
GAINS = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}
GAINS |= {f"conv{way}{dims}d": 1.0 for way in ("", "_transpose") for dims in (1, 2, 3)}


def _filled(tensor: Tensor, values: np.ndarray) -> Tensor:
    with no_grad() if by("nn/first-values-are-not-recorded") else nullcontext():
        return tensor.copy_(wrap(np.asarray(values).astype(array_of(tensor).dtype)))


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers in ``[a, b)``."""
    return _filled(tensor, source(generator).uniform(a, b, array_of(tensor).shape))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    return _filled(tensor, source(generator).normal(mean, std, array_of(tensor).shape))


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


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with Glorot uniform numbers: bound ``gain * sqrt(6 / (fan_in + fan_out))``."""
    bound = gain * math.sqrt(6 / sum(fans(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with Glorot normal numbers."""
    return normal_(tensor, 0, gain * math.sqrt(2 / sum(fans(tensor))), generator)


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return by how much a function's weights are scaled; ``param`` is the slope of a leaky ReLU."""
    if nonlinearity == "leaky_relu":
        if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return GAINS[nonlinearity]


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return fans(tensor)[mode.lower() == "fan_out"]


def _has_elements(tensor: Tensor) -> bool:
    """Tell whether there is anything to fill, and warn if not."""
    if not tensor.numel():
        warnings.warn("Initializing zero-element tensors is a no-op", UserWarning, stacklevel=3)
    return tensor.numel() > 0


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with He uniform numbers for a nonlinearity, a leaky ReLU of negative slope ``a``."""
    if not _has_elements(tensor):
        return tensor
    bound = calculate_gain(nonlinearity, a) * math.sqrt(3 / _fan(tensor, mode))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Any = None,
) -> Tensor:
    """Fill with He normal numbers."""
    if not _has_elements(tensor):
        return tensor
    return normal_(tensor, 0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def _rows_and_columns(tensor: Tensor, least: int = 2, most: int = 10**9) -> tuple[int, int]:
    """Return the sizes of a tensor seen as a matrix; other numbers of dimensions are refused."""
    if not least <= tensor.ndim <= most:
        which = f"{least} dimensions" if least == most else f"{least} or more dimensions"
        raise ValueError(f"Only tensors with {which} are supported")
    rows = int(tensor.shape[0])
    return rows, tensor.numel() // max(rows, 1)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with ones on its diagonal, and zeros."""
    return _filled(tensor, np.eye(*_rows_and_columns(tensor, 2, 2)))


@no_grad()
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Any = None,
) -> Tensor:
    """Fill with normal numbers, those outside of ``[a, b]`` drawn again."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(TAIL, stacklevel=2)
    if _below((b - mean) / std) - _below((a - mean) / std) > 0.3:
        drawn = tensor.normal_(mean, std, generator=generator)
        while (outside := (drawn < a) | (drawn > b)).any():
            drawn = where(outside, empty_like(drawn).normal_(mean, std, generator=generator), drawn)
        return tensor if drawn is tensor else tensor.copy_(drawn)
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    drawn = tensor.uniform_(a, b, generator=generator)
    chance = empty_like(tensor)

    def refused(numbers: Any) -> Any:
        logarithm = ((numbers - mean) / std).pow(2) * -0.5 - peak
        return chance.uniform_(generator=generator).log_().gt(logarithm)

    wrong = refused(drawn)
    while wrong.any():
        again = empty_like(tensor).uniform_(a, b, generator=generator)
        drawn = where(wrong, again, drawn)
        wrong = where(wrong, refused(again), wrong)
    return tensor if drawn is tensor else tensor.copy_(drawn)


TAIL = (
    "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
    "The distribution of values may be incorrect."
)
"""PyTorch's warning."""


def _below(x: float) -> float:
    """Return the share of normal numbers below x."""
    return (1 + math.erf(x / math.sqrt(2))) / 2


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with an orthogonal matrix, or with orthogonal rows or columns."""
    rows, columns = _rows_and_columns(tensor)
    if not tensor.numel():
        return tensor
    flat = array_of(tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator))
    q, r = np.linalg.qr(flat if rows >= columns else flat.T)
    q = q * np.sign(np.diag(r))
    tensor.copy_(wrap((q if rows >= columns else q.T).reshape(array_of(tensor).shape)))
    return tensor.mul_(gain)


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Any = None) -> Tensor:
    """Fill a matrix with normal numbers, of which a share in each column is zero."""
    rows, columns = _rows_and_columns(tensor, 2, 2)
    normal_(tensor, 0, std, generator)
    for column in range(columns):
        rows_drawn: Any = randperm(rows)
        tensor[rows_drawn[: math.ceil(sparsity * rows)], column] = 0
    return tensor


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill the weight of a convolution so that it keeps as many channels as it can."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    shape = array_of(tensor).shape
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    zeros_(tensor)
    middle = tuple(size // 2 for size in shape[2:])
    each = shape[0] // groups
    for group in range(groups):
        for channel in range(min(each, shape[1])):
            tensor[(group * each + channel, channel, *middle)] = 1
    return tensor


_calculate_fan_in_and_fan_out = fans
__getattr__ = loading(__name__)


def _deprecated(name: str) -> Any:
    def old(*given: Any, **named: Any) -> Tensor:
        warnings.warn(
            f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2
        )
        return globals()[f"{name}_"](*given, **named)

    old.__name__ = name
    return old


for _name in ("uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal",
              "kaiming_uniform", "kaiming_normal", "orthogonal", "sparse"):  # fmt: skip
    globals()[_name] = _deprecated(_name)
