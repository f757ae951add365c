"""Kullback-Leibler divergences in closed form, by the types of the two distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.core.tensor import Tensor
from reference_impl.distributions.continuous import Exponential, Laplace, Normal, Uniform
from reference_impl.distributions.counts import Binomial, Cauchy, Geometric, Poisson
from reference_impl.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from reference_impl.distributions.distribution import Distribution, Independent, sum_rightmost
from reference_impl.distributions.gammas import Beta, Dirichlet, Gamma
from reference_impl.distributions.mapped import Pareto
from reference_impl.distributions.multivariate import MultivariateNormal, log_diagonal, squared_distance
from reference_impl.distributions.transformed import Gumbel, HalfNormal, LogNormal


def _normals(p: Normal, q: Normal) -> Tensor:
    ratio = p.scale.div(q.scale).pow(2)
    apart = p.loc.sub(q.loc).div(q.scale).pow(2)
    return ratio.add(apart).sub(1).sub(ratio.log()).mul(0.5)


def _laplaces(p: Laplace, q: Laplace) -> Tensor:
    ratio, apart = p.scale.div(q.scale), p.loc.sub(q.loc).abs()
    return ratio.log().neg().add(apart.div(q.scale)).add(ratio.mul(apart.neg().div(p.scale).exp())).sub(1)


def _uniforms(p: Uniform, q: Uniform) -> Tensor:
    found = q.high.sub(q.low).div(p.high.sub(p.low)).log()
    found[q.low.gt(p.low).logical_or(q.high.lt(p.high))] = math.inf
    return found


def _exponentials(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate.div(p.rate)
    return ratio.log().neg().add(ratio).sub(1)


def _bernoullis(p: Bernoulli, q: Bernoulli) -> Tensor:
    yes = p.probs.mul(q.logits.neg().softplus().sub(p.logits.neg().softplus()))
    no = (1 - p.probs).mul(q.logits.softplus().sub(p.logits.softplus()))
    yes[q.probs.eq(0)] = no[q.probs.eq(1)] = math.inf
    yes[p.probs.eq(0)] = no[p.probs.eq(1)] = 0
    return yes.add(no)


def _categoricals(p: Categorical, q: Categorical) -> Tensor:
    found = p.probs.mul(p.logits.sub(q.logits))
    found[q.probs.eq(0).expand_as(found)] = math.inf
    found[p.probs.eq(0).expand_as(found)] = 0
    return found.sum(-1)


def _independents(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


def _one_hots(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categoricals(p._categorical, q._categorical)


def _gammas(p: Gamma, q: Gamma) -> Tensor:
    found = q.concentration.mul(p.rate.div(q.rate).log())
    found = found.add(q.concentration.lgamma().sub(p.concentration.lgamma()))
    found = found.add(p.concentration.sub(q.concentration).mul(p.concentration.digamma()))
    return found.add(q.rate.sub(p.rate).mul(p.concentration.div(p.rate)))


def _dirichlets(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    apart = a.digamma().sub(a.sum(-1).digamma().unsqueeze(-1))
    found = a.sum(-1).lgamma().sub(b.sum(-1).lgamma()).sub(a.lgamma().sub(b.lgamma()).sum(-1))
    return found.add(a.sub(b).mul(apart).sum(-1))


def _betas(p: Beta, q: Beta) -> Tensor:
    return _dirichlets(p._dirichlet, q._dirichlet)


def _multivariate_normals(p: MultivariateNormal, q: MultivariateNormal) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )
    logs = log_diagonal(q._factor).sub(log_diagonal(p._factor))
    spread = q._factor._linalg_solve_triangular(p._factor, upper=False).pow(2).sum(-1).sum(-1)
    apart = squared_distance(q._factor, q.loc.sub(p.loc))
    return logs.add(spread.add(apart).sub(p.event_shape[0]).mul(0.5))


def _poissons(p: Poisson, q: Poisson) -> Tensor:
    return p.rate.mul(p.rate.log().sub(q.rate.log())).sub(p.rate.sub(q.rate))


def _gumbels(p: Any, q: Any) -> Tensor:
    ratio, theirs, own = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    apart = -ratio.log() - theirs + own
    return apart + ratio * _EULER + (theirs + (1 + ratio).lgamma() - own).exp() - (1 + _EULER)


def _geometrics(p: Any, q: Any) -> Tensor:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


def _binomials(p: Binomial, q: Binomial) -> Tensor:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    apart = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    found: Tensor = p.total_count * apart
    return found.masked_fill(p.total_count > q.total_count, math.inf)


def _half_normals(p: Any, q: Any) -> Tensor:
    return _normals(p.base_dist, q.base_dist)


def _cauchys(p: Any, q: Any) -> Tensor:
    apart = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return apart - (4 * p.scale * q.scale).log()


def _paretos(p: Any, q: Any) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() + -ratio.log() + ratio - 1
    found[p.scale < q.scale] = math.inf
    return found


def _log_normals(p: Any, q: Any) -> Tensor:
    return kl_divergence(p.base_dist, q.base_dist)


_EULER = 0.57721566490153286060
_CLOSED: dict[tuple[type, type], Callable[[Any, Any], Tensor]] = {
    (Normal, Normal): _normals,
    (Laplace, Laplace): _laplaces,
    (Uniform, Uniform): _uniforms,
    (Exponential, Exponential): _exponentials,
    (Bernoulli, Bernoulli): _bernoullis,
    (Categorical, Categorical): _categoricals,
    (OneHotCategorical, OneHotCategorical): _one_hots,
    (Independent, Independent): _independents,
    (Gamma, Gamma): _gammas,
    (Dirichlet, Dirichlet): _dirichlets,
    (Beta, Beta): _betas,
    (MultivariateNormal, MultivariateNormal): _multivariate_normals,
    (Poisson, Poisson): _poissons,
    (Gumbel, Gumbel): _gumbels,
    (Geometric, Geometric): _geometrics,
    (Binomial, Binomial): _binomials,
    (HalfNormal, HalfNormal): _half_normals,
    (Cauchy, Cauchy): _cauchys,
    (Pareto, Pareto): _paretos,
    (LogNormal, LogNormal): _log_normals,
}


def register_kl(type_p: type, type_q: type) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Register the divergence of two types of distributions."""

    def register(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        _CLOSED[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Compute the divergence of ``p`` from ``q``."""
    for one in type(p).__mro__:
        for other in type(q).__mro__:
            if (one, other) in _CLOSED:
                return _CLOSED[one, other](p, q)
    raise NotModelled(f"torch.distributions.kl_divergence of {type(p).__name__} and {type(q).__name__}")
