"""Distributions of counts, and one with heavy tails: Poisson, geometric, binomial, Cauchy."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from reference_impl.base.size import Size
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.continuous import TwoParameters
from reference_impl.distributions.discrete import ByOdds, OneHotCategorical
from reference_impl.distributions.distribution import Distribution, broadcast_all, without_history
from reference_impl.namespace.random import source
from reference_impl.namespace.random_inplace import poisson
from reference_impl.namespace.ranges import arange
from reference_impl.namespace.settings import finfo


class Poisson(Distribution):
    """The number of events at a rate."""

    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.size() if isinstance(rate, Tensor) else Size(()), (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with without_history():
            return poisson(self.rate.expand(self.extended(sample_shape)))

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate).sub(rate).sub(value.add(1).lgamma())


class Geometric(ByOdds):
    """The number of failures before the first success."""

    support: Constraint = constraints.nonnegative_integer

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(probs, logits, validate_args)
        if self._validate_args and probs is not None and not self.probs.gt(0).all():
            shape, odd = tuple(self.probs.shape), self.probs.data[self.probs.le(0)]
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {shape}) of distribution {self!r} to be positive "
                f"but found invalid values:\n{odd}"
            )

    @property
    def mean(self) -> Tensor:
        return self.probs.reciprocal().sub(1)

    @property
    def variance(self) -> Tensor:
        return self.probs.reciprocal().sub(1).div(self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with without_history():
            u = self.probs.new_empty(self.extended(sample_shape)).uniform_(finfo(self.probs.dtype).tiny, 1)
            return u.log().div(self.probs.neg().log1p()).floor()

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone().masked_fill_(probs.eq(1).logical_and(value.eq(0)), 0)
        return value.mul(probs.neg().log1p()).add(self.probs.log())

    def entropy(self) -> Tensor:
        return self._entropy_of_one().div(self.probs)


class Binomial(ByOdds):
    """The number of successes among ``total_count``."""

    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer, **ByOdds.arg_constraints,
    }  # fmt: skip

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(probs, logits, validate_args)
        count, self._param = broadcast_all(total_count, self._param)
        self.__dict__["logits" if probs is None else "probs"] = self._param
        self.total_count = count.type_as(self._param)
        Distribution.__init__(self, self._param.size(), (), validate_args)

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The numbers up to the total."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count.mul(self.probs)

    @property
    def variance(self) -> Tensor:
        return self.mean.mul(self.probs.rsub(1))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = tuple(self.extended(sample_shape))
        counts, probs = (array_of(x.detach().expand(shape)) for x in (self.total_count, self.probs))
        drawn = source(None).binomial(counts.astype(np.int64), probs.astype(np.float64))
        return wrap_beside(self.probs, np.asarray(drawn).astype(probs.dtype))

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        total, logits = self.total_count, self.logits
        least = logits.clamp(min=0).add(logits).sub(logits.clamp(max=0)).div(2)
        every = total.mul(least).add(total.mul(logits.abs().neg().exp().log1p())).sub(total.add(1).lgamma())
        ways = value.mul(logits).sub(value.add(1).lgamma()).sub(total.sub(value).add(1).lgamma())
        return ways.sub(every)

    def entropy(self) -> Tensor:
        self._need_one_total("entropy")
        logs = self.log_prob(self.enumerate_support(False))
        return logs.exp().mul(logs).sum(0).neg()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """The numbers up to the total, along a new first dimension."""
        total = self._need_one_total("enumerate_support")
        values = arange(1 + total, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1, *[1] * len(self._batch_shape)))
        return values.expand((-1, *self._batch_shape)) if expand else values

    def _need_one_total(self, name: str) -> int:
        most = int(self.total_count.max())
        if self.total_count.min() != most:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return most


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """One-hot vectors whose gradient is that of their probabilities."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        drawn, probs = self.sample(sample_shape), self.probs
        return drawn.add(probs.sub(probs.detach()))


class Cauchy(TwoParameters):
    """The Cauchy distribution, which has no mean."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    loc: Tensor
    scale: Tensor

    @property
    def mean(self) -> Tensor:
        return self.loc.new_full(self.extended(), math.nan)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.loc.new_full(self.extended(), math.inf)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = self.loc.new_empty(self.extended(sample_shape)).cauchy_()
        return self.loc.add(noise.mul(self.scale))

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        tail = value.sub(self.loc).div(self.scale).pow(2).log1p()
        return self.scale.log().neg().sub(math.log(math.pi)).sub(tail)

    def entropy(self) -> Tensor:
        return self.scale.log().add(math.log(4 * math.pi))
