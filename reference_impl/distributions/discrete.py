"""Distributions of classes: Bernoulli, categorical, one-hot."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.base.size import Size
from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.distribution import Distribution, Lazy, broadcast_all, without_history
from reference_impl.namespace import composite, random
from reference_impl.namespace.settings import finfo
from reference_impl.nn import functional

ONE = "Either `probs` or `logits` must be specified, but not both."


class ByOdds(Distribution):
    """A distribution whose parameter is a probability, or the logarithm of its odds."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    _param: Tensor

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(ONE)
        given = logits if probs is None else probs
        (self._param,) = broadcast_all(given)
        self.__dict__["logits" if probs is None else "probs"] = self._param
        super().__init__(self._param.size() if isinstance(given, Tensor) else Size(()), (), validate_args)

    @Lazy
    def logits(self) -> Tensor:
        """The logarithms of the odds."""
        held = held_off(self.probs)
        return held.log().sub(held.neg().log1p())

    @Lazy
    def probs(self) -> Tensor:
        """The probabilities."""
        return self.logits.sigmoid()

    def _entropy_of_one(self) -> Tensor:
        return functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")


class Bernoulli(ByOdds):
    """Ones with probability ``probs``, else zeros."""

    support: Constraint = constraints.boolean

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def variance(self) -> Tensor:
        return self.probs.mul(self.probs.rsub(1))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with without_history():
            return self.probs.expand(self.extended(sample_shape)).bernoulli()

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        logits, value = composite.broadcast_tensors(self.logits, value)
        return functional.binary_cross_entropy_with_logits(logits, value, reduction="none").neg()

    def entropy(self) -> Tensor:
        return self._entropy_of_one()


def held_off(probs: Tensor) -> Tensor:
    """Probabilities held away from 0 and 1."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(eps, 1 - eps)


class Categorical(Distribution):
    """Class indices with probabilities along the last dimension, which need not sum to 1."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _param: Tensor

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        if probs is not None and logits is None:
            if probs.ndim < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self._param = self.__dict__["probs"] = probs.div(probs.sum(-1, True))
        elif logits is not None and probs is None:
            if logits.ndim < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self._param = self.__dict__["logits"] = logits.sub(logits.logsumexp(-1, True))
        else:
            raise ValueError(ONE)
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1], (), validate_args)

    @Lazy
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return held_off(self.probs).log()

    @Lazy
    def probs(self) -> Tensor:
        """The probabilities."""
        return functional.softmax(self.logits, -1)

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The indices."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return self.probs.new_full(self.extended(), math.nan)

    @property
    def mode(self) -> Tensor:
        """The most likely class."""
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.probs.new_full(self.extended(), math.nan)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        rows = self.probs.reshape((-1, self._num_events))
        count = math.prod(sample_shape)
        with without_history():
            drawn = random.multinomial(rows, count, True).t()
        return drawn.reshape((*sample_shape, *self._batch_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        index, logits = composite.broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index.narrow(-1, 0, 1)).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)
        return logits.mul(self.probs).sum(-1).neg()


class OneHotCategorical(Distribution):
    """One-hot vectors with the probabilities of `Categorical`."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        shape = self._categorical._param.size()
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return functional.one_hot(self.probs.argmax(-1), self._categorical._num_events).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs.mul(self.probs.rsub(1))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample(sample_shape)
        return functional.one_hot(drawn, self._categorical._num_events).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Tensor:
        return self._categorical.entropy()


class Multinomial(Distribution):
    """The counts of classes in ``total_count`` draws."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        if self._validate_args and total_count < 0:
            raise ValueError(f"Expected parameter total_count to be a nonnegative integer, got {total_count}")
        self.total_count, self._categorical = total_count, Categorical(probs, logits)
        shape = self._categorical._param.size()
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def mean(self) -> Tensor:
        return self.probs.mul(self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.probs.mul(self.total_count).mul(self.probs.rsub(1))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        return functional.one_hot(drawn, self._categorical._num_events).sum(0).type_as(self.probs)

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """The counts that sum up to no more than there are draws."""
        return constraints.multinomial(self.total_count)

    def log_prob(self, value: Tensor) -> Tensor:
        self.check_sample(value)
        logits, value = composite.broadcast_tensors(self.logits, value)
        logits = logits.masked_fill(value.eq(0).logical_and(logits.eq(-math.inf)), 0)
        ways = value.sum(-1).add(1).lgamma().sub(value.add(1).lgamma().sum(-1))
        return ways.add(logits.mul(value).sum(-1))
