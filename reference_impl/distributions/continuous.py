"""Distributions of real numbers: normal, uniform, exponential, Laplace."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.base.size import Size
from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.distribution import Distribution, broadcast_all, without_history
from reference_impl.namespace.factories import empty
from reference_impl.namespace.random import normal, rand
from reference_impl.namespace.settings import finfo


class TwoParameters(Distribution):
    """A distribution of two parameters that broadcast, tensors or numbers."""

    has_rsample = True
    support: Constraint = constraints.real
    parameters: ClassVar[tuple[str, str]] = ("loc", "scale")

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        first, second = broadcast_all(loc, scale)
        self.__dict__.update(zip(self.parameters, (first, second), strict=True))
        numbers = not isinstance(loc, Tensor) and not isinstance(scale, Tensor)
        super().__init__(() if numbers else first.size(), (), validate_args)


class Normal(TwoParameters):
    """The normal distribution with mean ``loc`` and standard deviation ``scale``."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    loc: Tensor
    scale: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self.extended(sample_shape)
        with without_history():
            return normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = empty(self.extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc.add(noise.mul(self.scale))

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        variance = self.scale.pow(2)
        apart = value.sub(self.loc).pow(2).neg().div(variance.mul(2))
        return apart.sub(self.scale.log()).sub(math.log(math.sqrt(2 * math.pi)))

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of no more than a value."""
        self.check_sample(value)
        apart = value.sub(self.loc).mul(self.scale.reciprocal()).div(math.sqrt(2))
        return apart.erf().add(1).mul(0.5)

    def icdf(self, value: Tensor) -> Tensor:
        """The value that no more than so many fall below."""
        return self.loc.add(self.scale.mul(value.mul(2).sub(1).erfinv()).mul(math.sqrt(2)))

    def entropy(self) -> Tensor:
        return self.scale.log().add(0.5 + 0.5 * math.log(2 * math.pi))


class Laplace(TwoParameters):
    """The Laplace distribution around ``loc``."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    loc: Tensor
    scale: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2).mul(2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape, tiny = self.extended(sample_shape), finfo(self.loc.dtype).eps
        u = self.loc.new_empty(shape).uniform_(tiny - 1, 1)
        return self.loc.sub(self.scale.mul(u.sign()).mul(u.abs().neg().log1p()))

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        return self.scale.mul(2).log().neg().sub(value.sub(self.loc).abs().div(self.scale))

    def entropy(self) -> Tensor:
        return self.scale.mul(2).log().add(1)


class Uniform(TwoParameters):
    """The uniform distribution on ``[low, high)``."""

    arg_constraints: ClassVar = {"low": constraints.real, "high": constraints.real}
    parameters: ClassVar[tuple[str, str]] = ("low", "high")
    low: Tensor
    high: Tensor

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        super().__init__(low, high, validate_args)
        if self._validate_args and not bool(self.low.lt(self.high).all()):
            raise ValueError("Uniform is not defined when low>= high")

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The interval."""
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Tensor:
        return self.high.add(self.low).div(2)

    @property
    def stddev(self) -> Tensor:
        return self.high.sub(self.low).div(math.sqrt(12))

    @property
    def variance(self) -> Tensor:
        return self.high.sub(self.low).pow(2).div(12)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn = rand(self.extended(sample_shape), dtype=self.low.dtype, device=self.low.device)
        return self.low.add(drawn.mul(self.high.sub(self.low)))

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        inside = self.low.le(value).type_as(self.low).mul(self.high.gt(value).type_as(self.low))
        return inside.log().sub(self.high.sub(self.low).log())

    def entropy(self) -> Tensor:
        return self.high.sub(self.low).log()


class Exponential(Distribution):
    """The exponential distribution of a rate."""

    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size() if isinstance(rate, Tensor) else Size(()), (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.rate.new_empty(self.extended(sample_shape)).exponential_().div(self.rate)

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        return self.rate.log().sub(self.rate.mul(value))

    def entropy(self) -> Tensor:
        return self.rate.log().rsub(1)
