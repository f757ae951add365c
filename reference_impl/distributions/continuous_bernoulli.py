"""The continuous Bernoulli distribution, on the unit interval."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.base.size import Size
from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.discrete import ONE, held_off
from reference_impl.distributions.distribution import Distribution, Lazy, broadcast_all, without_history
from reference_impl.namespace import composite, random
from reference_impl.namespace.factories import ones_like, zeros_like
from reference_impl.nn import functional


class ContinuousBernoulli(Distribution):
    """Numbers between 0 and 1 with a geometric density; with ``probs`` within ``lims`` by series."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support: Constraint = constraints.unit_interval
    has_rsample = True
    _param: Tensor

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if (probs is None) == (logits is None):
            raise ValueError(ONE)
        given = logits if probs is None else probs
        (self._param,) = broadcast_all(given)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(self._param).all():
                raise ValueError("The parameter probs has invalid values")
            self._param = held_off(self._param)
        self.__dict__["logits" if probs is None else "probs"] = self._param
        self._lims = lims
        super().__init__(self._param.size() if isinstance(given, Tensor) else Size(()), (), validate_args)

    @Lazy
    def logits(self) -> Any:
        """The logarithms of the odds."""
        held = held_off(self.probs)
        return held.log().sub(held.neg().log1p())

    @Lazy
    def probs(self) -> Any:
        """The parameter on the unit interval."""
        return held_off(self.logits.sigmoid())

    def _apart(self) -> Any:
        """Tell where the parameter is far enough from one half."""
        low, high = self._lims
        return self.probs.le(low).maximum(self.probs.gt(high))

    def _cut(self) -> Any:
        """The parameter, or the lower limit near one half."""
        return self.probs.where(self._apart(), ones_like(self.probs).mul(self._lims[0]))

    def _chosen(self, far: Any, near: Any) -> Any:
        return far.where(self._apart(), near)

    def _log_norm(self) -> Any:
        """The logarithm of the constant that makes the density integrate to 1."""
        cut = self._cut()
        below = cut.where(cut.le(0.5), zeros_like(cut))
        above = cut.where(cut.ge(0.5), ones_like(cut))
        halves = (-2.0 * below).log1p().where(cut.le(0.5), (2.0 * above - 1.0).log())
        far = ((-cut).log1p() - cut.log()).abs().log() - halves
        x = (self.probs - 0.5).pow(2)
        return self._chosen(far, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self) -> Any:
        cut = self._cut()
        far = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        x = self.probs - 0.5
        return self._chosen(far, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def variance(self) -> Any:
        cut = self._cut()
        far = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / ((-cut).log1p() - cut.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return self._chosen(far, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape: Any = ()) -> Any:
        with without_history():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = random.rand(self.extended(sample_shape), dtype=self.probs.dtype, device=self.probs.device)
        return self.icdf(drawn)

    def log_prob(self, value: Any) -> Any:
        self.check_sample(value)
        logits, value = composite.broadcast_tensors(self.logits, value)
        entropy = functional.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return entropy.neg().add(self._log_norm())

    def cdf(self, value: Any) -> Any:
        """The probability of at most that value."""
        self.check_sample(value)
        cut = self._cut()
        powers = cut.pow(value) * (1.0 - cut).pow(1.0 - value)
        inside = ((powers + cut - 1.0) / (2.0 * cut - 1.0)).where(self._apart(), value)
        return zeros_like(value).where(value.le(0.0), ones_like(value).where(value.ge(1.0), inside))

    def icdf(self, value: Any) -> Any:
        """The value up to which there is that probability."""
        cut = self._cut()
        scaled = (-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()
        return self._chosen(scaled / (cut.log() - (-cut).log1p()), value)

    def entropy(self) -> Any:
        of_zero, of_one = (-self.probs).log1p(), self.probs.log()
        return self.mean * (of_zero - of_one) - self._log_norm() - of_zero
