"""The normal distribution of vectors, and mixtures."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.discrete import Categorical
from reference_impl.distributions.distribution import Distribution, without_history
from reference_impl.namespace.factories import empty, eye
from reference_impl.nn import functional
from specs.signature import clash


def squared_distance(factor: Tensor, apart: Tensor) -> Tensor:
    """The squared length of vectors in units of the factor of a covariance."""
    solved = factor._linalg_solve_triangular(apart.unsqueeze(-1), upper=False)
    return solved.squeeze(-1).pow(2).sum(-1)


def log_diagonal(factor: Tensor) -> Tensor:
    """The logarithm of the determinant of a triangular factor."""
    return factor.diagonal(0, -2, -1).log().sum(-1)


class MultivariateNormal(Distribution):
    """The normal distribution of vectors, by its covariance, its inverse or its triangular factor."""

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky,
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        ((name, matrix),) = given.items()
        if matrix.ndim < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch = empty(matrix.shape[:-2]).add(empty(loc.shape[:-1])).shape
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args)
        self._factor = _factor(name, matrix)

    def __getattr__(self, name: str) -> Any:
        factor = self.__dict__.get("_factor")
        if name == "scale_tril" and factor is not None:
            return factor.expand((*self.extended(), factor.shape[-1]))
        if name == "covariance_matrix" and factor is not None:
            return factor.matmul(factor.mT).expand((*self.extended(), factor.shape[-1]))
        return super().__getattr__(name)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        """The most likely vector."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._factor.pow(2).sum(-1).expand(self.extended())

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        noise = empty(self.extended(sample_shape), dtype=self.loc.dtype, device=self.loc.device).normal_()
        return self.loc.add(self._factor.matmul(noise.unsqueeze(-1)).squeeze(-1))

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        distance = squared_distance(self._factor, value.sub(self.loc))
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return distance.add(constant).mul(-0.5).sub(log_diagonal(self._factor))

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1 + math.log(2 * math.pi))
        found = log_diagonal(self._factor).add(constant)
        return found.expand(self._batch_shape) if self._batch_shape else found


def _factor(name: str, matrix: Tensor) -> Tensor:
    """The triangular factor of the covariance."""
    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return matrix._linalg_cholesky()
    turned = matrix.flip((-2, -1))._linalg_cholesky().flip((-2, -1)).transpose(-2, -1)
    identity = eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return turned._linalg_solve_triangular(identity, upper=False)


class MixtureSameFamily(Distribution):
    """A distribution chosen among several of one kind, which are the last batch dimension."""

    arg_constraints: ClassVar = {}

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        parts = component_distribution
        self._need_parts()
        super().__init__(parts.batch_shape[:-1], parts.event_shape, validate_args)

    def _need_parts(self) -> None:
        """Refuse what is no choice, no distribution, and choices among another number of parts."""
        choice, parts = self._mixture_distribution, self._component_distribution
        if not isinstance(choice, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(parts, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        if clash(choice.batch_shape, parts.batch_shape[:-1]):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({choice.batch_shape}) is not compatible with "
                f"`component_distribution.batch_shape`({parts.batch_shape[:-1]})"
            )
        chosen, of = choice.logits.shape[-1], parts.batch_shape[-1]
        if chosen != of:
            raise ValueError(
                f"`mixture_distribution component` ({chosen}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({of})"
            )

    @property
    def mixture_distribution(self) -> Any:
        """The distribution that chooses."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The distributions that are chosen from."""
        return self._component_distribution

    @property
    def support(self) -> Constraint:  # type: ignore[override]
        """That of the parts."""
        found: Constraint = self._component_distribution.support
        return found

    def _shares(self) -> Tensor:
        probs = self._mixture_distribution.probs
        return probs.reshape((*probs.shape, *(1,) * len(self._event_shape)))

    @property
    def mean(self) -> Tensor:
        at = -1 - len(self._event_shape)
        return self._shares().mul(self._component_distribution.mean).sum(at)

    @property
    def variance(self) -> Tensor:
        parts, at = self._component_distribution, -1 - len(self._event_shape)
        within = self._shares().mul(parts.variance).sum(at)
        return within.add(self._shares().mul(parts.mean.sub(self.mean.unsqueeze(at)).pow(2)).sum(at))

    def log_prob(self, value: Any) -> Tensor:
        self.check_sample(value)
        of_each = self._component_distribution.log_prob(value.unsqueeze(-1 - len(self._event_shape)))
        shares = functional.log_softmax(self._mixture_distribution.logits, -1)
        return of_each.add(shares).logsumexp(-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with without_history():
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            at = len(tuple(sample_shape)) + len(self._batch_shape)
            chosen = chosen.reshape((*chosen.shape, *(1,) * (len(self._event_shape) + 1)))
            shape = (*chosen.shape[: at + 1], *self._event_shape)
            return drawn.gather(at, chosen.expand(shape)).squeeze(at)
