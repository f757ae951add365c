"""Distributions by the gamma function: gamma, chi-squared, beta, Dirichlet, Student's t."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from reference_impl.autograd.function import Function, FunctionNode
from reference_impl.base.size import Size
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.distributions import constraints
from reference_impl.distributions.distribution import Distribution, broadcast_all
from reference_impl.namespace import composite
from reference_impl.namespace.factories import empty
from reference_impl.namespace.random import source
from reference_impl.namespace.settings import finfo

STEPS = 400
"""The points at which densities are integrated."""


# -- samples that depend on their parameters ---------------------------------------------------------
def slope_of_sample(sample: np.ndarray, a: np.ndarray, log_density: Any) -> np.ndarray:
    """The derivative of a sample by its parameter: that of the share below it, over minus the density."""
    log_u = np.linspace(-60, 0, STEPS * 5 + 1)
    shares = []
    h = 1e-4 * np.maximum(a, 1)
    points = sample[..., None] * np.exp(log_u)
    for shifted in (a - h, a + h):
        with np.errstate(all="ignore"):
            density = np.exp(log_density(points, shifted[..., None])) * points
        shares.append(np.trapezoid(np.nan_to_num(density), log_u, axis=-1))
    return -(shares[1] - shares[0]) / (2 * h) / np.exp(log_density(sample, a))


def _log_gamma(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.lgamma, otypes=[np.float64])(x)


def log_of_gamma(x: np.ndarray, a: np.ndarray) -> np.ndarray:
    return (a - 1) * np.log(x) - x - _log_gamma(a)


def log_of_beta(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a - 1) * np.log(x) + (b - 1) * np.log1p(-x) + _log_gamma(a + b) - _log_gamma(a) - _log_gamma(b)


def _not_twice(what: str) -> None:
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


class _StandardGamma(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Any:
        numbers = source(None).standard_gamma(array_of(concentration).astype(np.float64))
        made = wrap_beside(concentration, np.asarray(numbers).astype(array_of(concentration).dtype))
        ctx.save_for_backward(concentration, made)
        return made

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        a, x = (array_of(each).astype(np.float64) for each in ctx.saved_tensors)
        slope = slope_of_sample(x, a, log_of_gamma)
        return g.mul(wrap_beside(g, np.asarray(slope).astype(array_of(g).dtype)))


_StandardGamma._backward_cls = type(
    "StandardGammaBackward0", (FunctionNode,), {"_forward_cls": _StandardGamma}
)


class _Dirichlet(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, concentration: Tensor) -> Any:
        numbers = source(None).standard_gamma(array_of(concentration).astype(np.float64))
        numbers = np.maximum(numbers, np.finfo(np.float64).tiny)
        shares = numbers / numbers.sum(-1, keepdims=True)
        made = wrap_beside(concentration, shares.astype(array_of(concentration).dtype))
        ctx.save_for_backward(made, concentration)
        return made

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, a = (array_of(each).astype(np.float64) for each in ctx.saved_tensors)
        rest = a.sum(-1, keepdims=True) - a
        slope = slope_of_sample(
            x, a, lambda at, of: log_of_beta(at, of, rest[..., None] if at.ndim > a.ndim else rest)
        )
        made = ctx.saved_tensors[0]
        scale = wrap_beside(g, (slope / (1 - x)).astype(array_of(g).dtype))
        return scale.mul(g.sub(made.mul(g).sum(-1, True)))


# -- the distributions -------------------------------------------------------------------------------
class Gamma(Distribution):
    """The gamma distribution of a concentration and a rate."""

    arg_constraints: ClassVar = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        numbers = not isinstance(concentration, Tensor) and not isinstance(rate, Tensor)
        super().__init__(() if numbers else self.concentration.size(), (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration.div(self.rate)

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.concentration.sub(1).div(self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration.div(self.rate.pow(2))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self.extended(sample_shape)
        value = _StandardGamma.apply(self.concentration.expand(shape)).div(self.rate.expand(shape))
        value.detach().clamp_(min=finfo(value.dtype).tiny)
        return value

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        of_value = self.concentration.sub(1).xlogy(value)
        found = self.concentration.xlogy(self.rate).add(of_value).sub(self.rate.mul(value))
        return found.sub(self.concentration.lgamma())

    def entropy(self) -> Tensor:
        a = self.concentration
        return a.sub(self.rate.log()).add(a.lgamma()).add(a.neg().add(1).mul(a.digamma()))


class Chi2(Gamma):
    """The sum of that many squares of normal numbers."""

    arg_constraints: ClassVar = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(df * 0.5, 0.5, validate_args)

    @property
    def df(self) -> Tensor:
        """The number of squares."""
        return self.concentration.mul(2)


class Dirichlet(Distribution):
    """Shares that add up to one."""

    arg_constraints: ClassVar = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, concentration: Any, validate_args: bool | None = None) -> None:
        if concentration.ndim < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.size()[:-1], concentration.size()[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration.div(self.concentration.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        return self.concentration.mul(total.sub(self.concentration)).div(total.pow(2).mul(total.add(1)))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        made: Tensor = _Dirichlet.apply(self.concentration.expand(self.extended(sample_shape)))
        return made

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        a = self.concentration
        found = a.sub(1).xlogy(value).sum(-1)
        return found.add(a.sum(-1).lgamma()).sub(a.lgamma().sum(-1))

    def entropy(self) -> Tensor:
        a, size = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        found = a.lgamma().sum(-1).sub(total.lgamma()).sub(total.neg().add(size).mul(total.digamma()))
        return found.sub(a.sub(1).mul(a.digamma()).sum(-1))


class Beta(Distribution):
    """A share between 0 and 1."""

    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        both = composite.stack(list(broadcast_all(concentration1, concentration0)), -1)
        self._dirichlet = Dirichlet(both, validate_args)
        super().__init__(self._dirichlet.batch_shape, (), validate_args)

    @property
    def concentration1(self) -> Tensor:
        """The parameter for ones."""
        return self._dirichlet.concentration.select(-1, 0)

    @property
    def concentration0(self) -> Tensor:
        """The parameter for zeros."""
        return self._dirichlet.concentration.select(-1, 1)

    @property
    def mean(self) -> Tensor:
        return self.concentration1.div(self.concentration1.add(self.concentration0))

    @property
    def variance(self) -> Tensor:
        total = self.concentration1.add(self.concentration0)
        return self.concentration1.mul(self.concentration0).div(total.pow(2).mul(total.add(1)))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        return self._dirichlet.log_prob(composite.stack([value, value.neg().add(1)], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()


class StudentT(Distribution):
    """Student's distribution with that many degrees of freedom."""

    arg_constraints: ClassVar = {
        "df": constraints.positive, "loc": constraints.real, "scale": constraints.positive,
    }  # fmt: skip
    support = constraints.real
    has_rsample = True

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size() if isinstance(df, Tensor) else Size(()), (), validate_args)

    @property
    def mean(self) -> Tensor:
        found = self.loc.clone()
        found[self.df.le(1)] = math.nan
        return found

    @property
    def mode(self) -> Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        found, wide = self.df.clone(), self.df.gt(2)
        df = self.df.masked_select(wide)
        found[wide] = self.scale.masked_select(wide).pow(2).mul(df).div(df.sub(2))
        found[self.df.le(2).logical_and(self.df.gt(1))] = math.inf
        found[self.df.le(1)] = math.nan
        return found

    def entropy(self) -> Tensor:
        half, more = self.df.mul(0.5), self.df.add(1).mul(0.5)
        beta = half.lgamma().add(math.lgamma(0.5)).sub(more.lgamma())
        found = self.scale.log().add(more.mul(more.digamma().sub(half.digamma())))
        return found.add(self.df.log().mul(0.5)).add(beta)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = empty(self.extended(sample_shape), dtype=self.df.dtype, device=self.df.device).normal_()
        spread = self._chi2.rsample(sample_shape).div(self.df).rsqrt()
        return self.loc.add(self.scale.mul(noise.mul(spread)))

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        y = value.sub(self.loc).div(self.scale)
        total = self.scale.log().add(self.df.log().mul(0.5)).add(0.5 * math.log(math.pi))
        total = total.add(self.df.mul(0.5).lgamma()).sub(self.df.add(1).mul(0.5).lgamma())
        return self.df.add(1).mul(-0.5).mul(y.pow(2).div(self.df).log1p()).sub(total)
