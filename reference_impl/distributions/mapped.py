"""Distributions that scripts use now and then, most of them maps of common ones."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.continuous import Exponential, Normal, Uniform
from reference_impl.distributions.counts import Cauchy
from reference_impl.distributions.discrete import ByOdds
from reference_impl.distributions.distribution import Distribution, broadcast_all, without_history
from reference_impl.distributions.gammas import Gamma
from reference_impl.distributions.transformed import TransformedDistribution
from reference_impl.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    StickBreakingTransform,
)
from reference_impl.namespace.factories import full_like, ones_like, zeros_like
from reference_impl.namespace.random_inplace import poisson
from reference_impl.namespace.settings import finfo
from reference_impl.nn import functional

_EULER = 0.57721566490153286060


class HalfCauchy(TransformedDistribution):
    """The sizes of numbers with a Cauchy distribution."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Any:
        """The scale before the sign went."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        return self.scale.new_full(self.extended(), math.inf)

    @property
    def mode(self) -> Any:
        """The most likely value."""
        return zeros_like(self.scale.detach())

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        self.check_sample(value)
        found: Any = self.base_dist.log_prob(value).add(math.log(2))
        return found.where(value >= 0, -math.inf)

    def entropy(self) -> Any:
        return self.base_dist.entropy().sub(math.log(2))


class InverseGamma(TransformedDistribution):
    """The inverses of numbers with a gamma distribution."""

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args)
        super().__init__(base, PowerTransform(base.rate.new_ones(()).neg()), validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of the gamma distribution."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma distribution."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        found = self.rate / (self.concentration - 1)
        return found.where(self.concentration > 1, math.inf)

    @property
    def mode(self) -> Any:
        """The most likely value."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        found = self.rate.square() / ((a - 1).square() * (a - 2))
        return found.where(a > 2, math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()


class Kumaraswamy(TransformedDistribution):
    """A share between 0 and 1, much as of a beta distribution."""

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        both: Any = broadcast_all(concentration1, concentration0)
        self.concentration1, self.concentration0 = both
        plain = self.concentration0.detach()
        base = Uniform(full_like(plain, 0), full_like(plain, 1), validate_args)
        steps = [
            PowerTransform(self.concentration0.reciprocal()),
            AffineTransform(1.0, -1.0),
            PowerTransform(self.concentration1.reciprocal()),
        ]
        super().__init__(base, steps, validate_args)

    def _moment(self, n: int) -> Any:
        a, b = self.concentration1, self.concentration0
        more = 1 + n / a
        return b * (more.lgamma() + b.lgamma() - (more + b).lgamma()).exp()

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def variance(self) -> Any:
        return self._moment(2) - self.mean.pow(2)

    def entropy(self) -> Any:
        rest1, rest0 = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = (self.concentration0 + 1).digamma() + _EULER
        return rest0 + rest1 * harmonic - self.concentration1.log() - self.concentration0.log()


class Pareto(TransformedDistribution):
    """Numbers above a scale, with a heavy tail."""

    arg_constraints: ClassVar = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        both: Any = broadcast_all(scale, alpha)
        self.scale, self.alpha = both
        base = Exponential(self.alpha, validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args)

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The numbers from the scale on."""
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Any:
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    @property
    def mode(self) -> Any:
        """The most likely value."""
        return self.scale

    @property
    def variance(self) -> Any:
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())


class Weibull(TransformedDistribution):
    """Lifetimes whose failure rate is a power of their age."""

    arg_constraints: ClassVar = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        both: Any = broadcast_all(scale, concentration)
        self.scale, self.concentration = both
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(ones_like(self.scale.detach()), validate_args)
        steps = [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]
        super().__init__(base, steps, validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * (1 + self.concentration_reciprocal).lgamma().exp()

    @property
    def mode(self) -> Any:
        """The most likely value."""
        share = (self.concentration - 1) / self.concentration
        return self.scale * share ** self.concentration.reciprocal()

    @property
    def variance(self) -> Any:
        inverse = self.concentration_reciprocal
        apart = (1 + 2 * inverse).lgamma().exp() - (2 * (1 + inverse).lgamma()).exp()
        return self.scale.pow(2) * apart

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return _EULER * (1 - inverse) + (self.scale * inverse).log() + 1


class LogisticNormal(TransformedDistribution):
    """Shares that add up to one, made of normal numbers."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base: Any = Normal(loc, scale, validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args)

    @property
    def loc(self) -> Any:
        """The means of the normal numbers."""
        return self.base_dist.base_dist.loc

    @property
    def scale(self) -> Any:
        """The standard deviations of the normal numbers."""
        return self.base_dist.base_dist.scale


class FisherSnedecor(Distribution):
    """The ratio of two sums of squares."""

    arg_constraints: ClassVar = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        numbers = not isinstance(df1, Tensor) and not isinstance(df2, Tensor)
        both: Any = broadcast_all(df1, df2)
        self.df1, self.df2 = both
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        super().__init__(() if numbers else self.df1.size(), (), validate_args)

    @property
    def mean(self) -> Any:
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def variance(self) -> Any:
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self.extended(sample_shape)
        above: Any = self._gamma1.rsample(sample_shape).view(shape)
        below: Any = self._gamma2.rsample(sample_shape).view(shape)
        tiny = finfo(below.dtype).tiny
        below.clamp_(min=tiny)
        made = above / below
        made.clamp_(min=tiny)
        return made

    def log_prob(self, value: Any) -> Any:
        self.check_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        constant = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        rise = half1 * ratio.log() + (half1 - 1) * value.log()
        return constant + rise - (half1 + half2) * (ratio * value).log1p()


class NegativeBinomial(ByOdds):
    """The number of successes before a given number of failures."""

    support = constraints.nonnegative_integer
    arg_constraints: ClassVar = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }  # fmt: skip

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if logits is None else ("logits", logits)
        count, own = broadcast_all(total_count, given)
        self.total_count: Any = count.type_as(own)
        self.__dict__[name] = self._param = own
        Distribution.__init__(self, own.size(), (), validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * self.logits.exp()

    @property
    def mode(self) -> Any:
        """The most likely number."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / self.logits.neg().sigmoid()

    def sample(self, sample_shape: Any = ()) -> Any:
        with without_history():
            rate = Gamma(self.total_count, self.logits.neg().exp(), False).sample(sample_shape)
            return poisson(rate)

    def log_prob(self, value: Any) -> Any:
        self.check_sample(value)
        count, logits = self.total_count, self.logits
        shares = count * functional.logsigmoid(-logits) + value * functional.logsigmoid(logits)
        norm = -(count + value).lgamma() + (1.0 + value).lgamma() + count.lgamma()
        return shares - norm.masked_fill(count + value == 0.0, 0.0)

    def entropy(self) -> Any:
        raise NotImplementedError
