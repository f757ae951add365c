"""In-place sampling, and ``bernoulli``: the numbers are drawn here, an op of ``specs/ops`` writes them.

NB: a seed gives numpy's numbers, not PyTorch's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base.device import making_on, place_of
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import check_random_operands, check_random_write, drawn_anew
from reference_impl.namespace.non_differentiable import underivable
from reference_impl.namespace.random import Generator, need_drawn_bounds, source
from specs.errors import need_kernel

_MANTISSA = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""The power of two up to which a dtype represents every integer."""


def _written(x: Tensor, op: str, draw: Callable[[Any], Any]) -> Tensor:
    """Write a sample of the tensor's shape; real and imaginary parts are drawn separately."""
    check_random_write(x)
    array = array_of(x)
    shape, dtype = array.shape, array.dtype
    drawn = draw(shape) + 1j * draw(shape) if dtype.kind == "c" else draw(shape)
    return getattr(x, f"_{op}_drawn_")(wrap(np.asarray(drawn).astype(dtype)))


def _need(held: bool, text: str) -> None:
    if not held:
        raise RuntimeError(text)


def uniform_(x: Tensor, *bounds: float, generator: Generator | None = None, **named: float) -> Tensor:
    """Fill with uniform numbers in ``[from, to)``, by default ``[0, 1)``."""
    _check_bounds("uniform_", bounds, named)
    low, high = bounds + (0.0, 1.0)[len(bounds) :]
    low, high = named.get("from", low), named.get("to", high)
    _need(low <= high, f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    return _written(x, "uniform", lambda shape: source(generator).uniform(low, high, shape))


def normal_(x: Tensor, mean: float = 0, std: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with normal numbers; the parts of complex ones share the variance."""
    _need(std >= 0, f"normal expects std >= 0.0, but found std {std}")
    scale = std * np.sqrt(0.5) if x.is_complex() else std
    return _written(x, "normal", lambda shape: source(generator).normal(mean, scale, shape))


def log_normal_(x: Tensor, mean: float = 1, std: float = 2, *, generator: Generator | None = None) -> Tensor:
    """Fill with numbers whose logarithm is normal."""
    _need(std > 0, f"log_normal_ expects std > 0.0, but found std={std}")
    return _written(x, "log_normal", lambda shape: source(generator).lognormal(mean, std, shape))


def exponential_(x: Tensor, lambd: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with exponentially distributed numbers of rate ``lambd``."""
    _need(x.is_floating_point(), f"the exponential distribution is continuous, which {x.dtype} is not")
    _need(lambd > 0, f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return _written(x, "exponential", lambda shape: source(generator).exponential(1 / lambd, shape))


def cauchy_(x: Tensor, median: float = 0, sigma: float = 1, *, generator: Generator | None = None) -> Tensor:
    """Fill with Cauchy-distributed numbers."""
    _need(x.is_floating_point(), f"Cauchy's distribution is continuous, which {x.dtype} is not")
    _need(sigma > 0, f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
    return _written(
        x, "cauchy", lambda shape: median + sigma * np.asarray(source(generator).standard_cauchy(shape))
    )


def geometric_(x: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Fill with the number of trials up to the first success of probability ``p``."""
    _need(0 < p < 1, f"geometric_ expects p to be in (0, 1), but got p={p}")
    return _written(x, "geometric", lambda shape: source(generator).geometric(p, shape))


def random_(x: Tensor, *bounds: int, generator: Generator | None = None, **named: int) -> Tensor:
    """Fill with integers in ``[from, to)``, by default all that the dtype represents without gaps."""
    _check_bounds("random_", bounds, named)
    given = list(bounds)
    count = len(bounds) + len(named)
    high = named["to"] if "to" in named else given.pop() if given else _beyond(array_of(x).dtype)
    low = named["from"] if "from" in named else given.pop() if given else 0
    _need(low < high, f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if count:
        need_drawn_bounds(x.dtype, low, high)
    op = ("random", "random_below", "random_between")[count]
    return _written(x, op, lambda shape: source(generator).integers(low, high, shape))


def _check_bounds(name: str, bounds: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Raise TypeError for more bounds than two, or a name that is none of theirs."""
    for each in named:
        if each not in ("from", "to"):
            raise TypeError(f"{name}() got an unexpected keyword argument '{each}'")
    if len(bounds) + len(named) > 2:
        raise TypeError(f"{name}() takes from 0 to 2 positional arguments but {len(bounds)} were given")


def _beyond(dtype: np.dtype) -> int:
    """The first integer beyond those that a dtype represents without gaps."""
    if dtype.kind == "b":
        return 2
    return int(np.iinfo(dtype).max) if dtype.kind in "iu" else 2 ** _MANTISSA.get(dtype.name, 24) + 1


def bernoulli_(x: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill with ones with probability ``p``, a number or a tensor, and with zeros otherwise."""
    array = array_of(x)
    check_random_write(x, p)
    if isinstance(p, Tensor):
        need_kernel("bernoulli_tensor_cpu_self_", array, "c")
        need_kernel("bernoulli_tensor_cpu_p_", array_of(p), "biuc")
        numbers = _ones(array_of(p.detach().expand(array.shape)), generator)
        return x._bernoulli_of_(p, wrap(numbers.astype(array.dtype)))
    _need(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    numbers = _ones(np.full(array.shape, p), generator)
    return x._bernoulli_drawn_(wrap(numbers.astype(array.dtype)))


@drawn_anew
def bernoulli(x: Tensor, p: float | None = None, *, generator: Generator | None = None) -> Tensor:
    """Sample ones with the probabilities in ``x``, or all with ``p``, and zeros otherwise."""
    array = array_of(x)
    check_random_operands(x)
    need_kernel("bernoulli_tensor_cpu_self_" if p is None else "bernoulli_scalar_cpu_", array, "c")
    if p is not None:
        _need(0 <= p <= 1, f"bernoulli_ expects p to be in [0, 1], but got p={p}")
        numbers = _ones(np.full(array.shape, p), generator)
        return underivable(wrap(numbers.astype(array.dtype)), x, "bernoulli")
    if array.dtype.kind in "biu":
        need_kernel("bernoulli_tensor_cpu_p_", array, "biu")
    return x._bernoulli_drawn(wrap(_ones(array, generator).astype(array.dtype)))


@drawn_anew
def poisson(x: Tensor, generator: Generator | None = None) -> Tensor:
    """Sample counts with the rates in ``x``."""
    check_random_operands(x)
    array = array_of(x)
    need_kernel("poisson", array, "biuc")
    _need(bool((array >= 0).all()), "invalid Poisson rate, expected rate to be non-negative")
    with making_on(place_of(x)):
        drawn = wrap(np.asarray(source(generator).poisson(array)).astype(array.dtype))
    return x._poisson_drawn(drawn)


def _ones(chances: np.ndarray, generator: Generator | None) -> np.ndarray:
    """Sample a bool for each probability."""
    _need(bool(((chances >= 0) & (chances <= 1)).all()), "Expected p_in >= 0 && p_in <= 1 to be true")
    return np.asarray(source(generator).random(chances.shape) < chances)


METHODS: dict[str, Any] = {
    "bernoulli": bernoulli, "bernoulli_": bernoulli_, "cauchy_": cauchy_, "exponential_": exponential_,
    "geometric_": geometric_, "log_normal_": log_normal_, "normal_": normal_, "random_": random_,
    "uniform_": uniform_,
}  # fmt: skip
"""Methods by name; ``bernoulli`` is a function too."""
