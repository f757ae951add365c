"""Distributions of what a map makes of another distribution's values."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.continuous import Normal, Uniform
from reference_impl.distributions.discrete import Categorical
from reference_impl.distributions.distribution import (
    Distribution,
    Independent,
    broadcast_all,
    sum_rightmost,
    without_history,
)
from reference_impl.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    SigmoidTransform,
    Transform,
)
from reference_impl.namespace.factories import zeros_like
from reference_impl.namespace.random import rand
from reference_impl.namespace.settings import finfo


class TransformedDistribution(Distribution):
    """The values of ``base_distribution`` after one map or several."""

    arg_constraints: ClassVar = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if not isinstance(transforms, (Transform, list)):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        self.transforms: list[Transform] = [transforms] if isinstance(transforms, Transform) else transforms
        if not all(isinstance(each, Transform) for each in self.transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        more = max([t.domain.event_dim for t in self.transforms], default=0) - len(
            base_distribution.event_shape
        )
        base = Independent(base_distribution, more) if more > 0 else base_distribution
        self.base_dist = base
        shape: Any = (*base.batch_shape, *base.event_shape)
        for transform in self.transforms:
            shape = transform.forward_shape(shape)
        cut = len(shape) - len(base.event_shape)
        super().__init__(shape[:cut], shape[cut:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Tell whether samples can have a history."""
        found: bool = self.base_dist.has_rsample
        return found

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The values that the last map gives."""
        if not self.transforms:
            found: Constraint = self.base_dist.support
            return found
        last = self.transforms[-1].codomain
        more = len(self._event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with without_history():
            return self._mapped(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._mapped(self.base_dist.rsample(sample_shape))

    def _mapped(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        dims, found, y = len(self._event_shape), None, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            slope = transform.log_abs_det_jacobian(x, y)
            slope = sum_rightmost(slope, dims - transform.domain.event_dim)
            found = slope.neg() if found is None else found.sub(slope)
            y = x
        of_base = sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))
        return of_base if found is None else found.add(of_base)


class LogNormal(TransformedDistribution):
    """Numbers whose logarithm is normal."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args), ExpTransform(), validate_args)

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the logarithm."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.loc.add(self.scale.pow(2).div(2)).exp()

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc.sub(self.scale.square()).exp()

    @property
    def variance(self) -> Tensor:
        squares = self.scale.pow(2)
        return squares.expm1().mul(self.loc.mul(2).add(squares).exp())

    def entropy(self) -> Tensor:
        return self.base_dist.entropy().add(self.loc)


class HalfNormal(TransformedDistribution):
    """The sizes of normal numbers."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, False), AbsTransform(), validate_args)

    @property
    def scale(self) -> Tensor:
        """The standard deviation before the sign went."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return self.scale.mul(math.sqrt(2 / math.pi))

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return zeros_like(self.scale.detach())

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2).mul(1 - 2 / math.pi)

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        found = self.base_dist.log_prob(value).add(math.log(2))
        return found.where(value.ge(0), found.new_full((), -math.inf))

    def entropy(self) -> Tensor:
        return self.base_dist.entropy().sub(math.log(2))


class Gumbel(TransformedDistribution):
    """The distribution of largest values."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        known = finfo(self.loc.dtype)
        numbers = not isinstance(loc, Tensor) and not isinstance(scale, Tensor)
        low, high = (known.tiny, 1 - known.eps)
        if not numbers:
            low, high = (self.loc.detach().mul(0).add(each) for each in (low, high))
        base = Uniform(low, high, validate_args)
        steps = [
            ExpTransform().inv,
            AffineTransform(0, self.scale.detach().mul(0).sub(1)),
            ExpTransform().inv,
            AffineTransform(self.loc, self.scale.neg()),
        ]
        super().__init__(base, steps, validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.add(self.scale.mul(0.57721566490153286060))

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2).mul(math.pi**2 / 6)

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        y = self.loc.sub(value).div(self.scale)
        return y.sub(y.exp()).sub(self.scale.log())

    def entropy(self) -> Tensor:
        return self.scale.log().add(1 + 0.57721566490153286060)


# -- relaxed classes ---------------------------------------------------------------------------------
def _clamped(probs: Tensor) -> Tensor:
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class LogitRelaxedBernoulli(Distribution):
    """Log-odds of what `RelaxedBernoulli` draws."""

    support = constraints.real
    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self.temperature = temperature
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        (given,) = broadcast_all(logits if probs is None else probs)
        self.logits = given if probs is None else _clamped(given).log().sub(_clamped(given).neg().log1p())
        self.probs = given.sigmoid() if probs is None else given
        super().__init__(given.size(), (), validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self.extended(sample_shape)
        probs = _clamped(self.probs.expand(shape))
        u = _clamped(rand(shape, dtype=probs.dtype, device=probs.device))
        odds = u.log().sub(u.neg().log1p()).add(probs.log()).sub(probs.neg().log1p())
        return odds.div(self.temperature)

    def log_prob(self, value: Any) -> Tensor:
        apart = self.logits.sub(value.mul(self.temperature))
        log = self.temperature.log()
        return apart.add(log).sub(apart.exp().log1p().mul(2))


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1, the nearer to them the lower the temperature."""

    has_rsample = True

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args)
        self.temperature = temperature
        self.logits, self.probs = self.base_dist.logits, self.base_dist.probs


class ExpRelaxedCategorical(Distribution):
    """Logarithms of what `RelaxedOneHotCategorical` draws."""

    has_rsample = True
    support = constraints.real_vector
    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        shape = self._categorical._param.size()
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        logits = self._categorical.logits
        u = _clamped(rand(self.extended(sample_shape), dtype=logits.dtype, device=logits.device))
        scores = logits.add(u.log().neg().log().neg()).div(self.temperature)
        return scores.sub(scores.logsumexp(-1, True))

    def log_prob(self, value: Any) -> Tensor:
        logits, size = self._categorical.logits, self._categorical._num_events
        log = self.temperature.log().mul(-(size - 1))
        constant = logits.detach().new_full((), float(size)).lgamma().sub(log)
        score = logits.sub(value.mul(self.temperature))
        return score.sub(score.logsumexp(-1, True)).sum(-1).add(constant)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Shares of classes, the nearer to one-hot the lower the temperature."""

    support = constraints.simplex

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        super().__init__(ExpRelaxedCategorical(temperature, probs, logits), ExpTransform(), validate_args)
        self.temperature = temperature
        self.logits, self.probs = self.base_dist._categorical.logits, self.base_dist._categorical.probs
