"""The normal distribution of vectors whose covariance is a diagonal and a few directions."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from reference_impl.distributions import constraints
from reference_impl.distributions.distribution import Distribution, Lazy
from reference_impl.distributions.multivariate import log_diagonal, squared_distance
from reference_impl.namespace import composite
from reference_impl.namespace.factories import empty


class LowRankMultivariateNormal(Distribution):
    """The normal distribution with the covariance ``cov_factor @ cov_factor.T + diag(cov_diag)``."""

    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.ndim < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            wide: Any = composite.broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError:
            shapes = f"loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            raise ValueError(f"Incompatible batch shapes: {shapes}") from None
        self.loc, self.cov_factor, self.cov_diag = wide[0][..., 0], wide[1], wide[2][..., 0]
        self._factor, self._diagonal = cov_factor, cov_diag
        self._capacitance = _with_ones(self._scaled().matmul(cov_factor)).cholesky()
        super().__init__(self.loc.shape[:-1], event, validate_args)

    def _scaled(self) -> Any:
        return self._factor.mT / self._diagonal.unsqueeze(-2)

    @property
    def mean(self) -> Any:
        return self.loc

    @property
    def mode(self) -> Any:
        """The most likely vector."""
        return self.loc

    @Lazy
    def variance(self) -> Any:
        """The diagonal of the covariance."""
        return (self._factor.pow(2).sum(-1) + self._diagonal).expand(self.extended())

    @Lazy
    def covariance_matrix(self) -> Any:
        """The covariance."""
        found = self._factor.matmul(self._factor.mT) + self._diagonal.diag_embed()
        return found.expand((*self.extended(), self._event_shape[0]))

    @Lazy
    def scale_tril(self) -> Any:
        """The triangular factor of the covariance."""
        root = self._diagonal.sqrt().unsqueeze(-1)
        scaled = self._factor / root
        found = root * _with_ones(scaled.matmul(scaled.mT)).cholesky()
        return found.expand((*self.extended(), self._event_shape[0]))

    @Lazy
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        part = self._capacitance._linalg_solve_triangular(self._scaled(), upper=False)
        found = self._diagonal.reciprocal().diag_embed() - part.mT @ part
        return found.expand((*self.extended(), self._event_shape[0]))

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape, like = self.extended(sample_shape), {"dtype": self.loc.dtype, "device": self.loc.device}
        along = empty((*shape[:-1], self.cov_factor.shape[-1]), **like).normal_()
        apart = empty(shape, **like).normal_()
        spread = self._factor.matmul(along.unsqueeze(-1)).squeeze(-1)
        return self.loc + spread + self._diagonal.sqrt() * apart

    def _log_determinant(self) -> Any:
        return log_diagonal(self._capacitance).mul(2) + self._diagonal.log().sum(-1)

    def distance(self, apart: Any) -> Any:
        """The squared length of vectors in units of the covariance."""
        inside = self._scaled().matmul(apart.unsqueeze(-1)).squeeze(-1)
        return (apart.pow(2) / self._diagonal).sum(-1) - squared_distance(self._capacitance, inside)

    def log_prob(self, value: Any) -> Any:
        self.check_sample(value)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self._log_determinant() + self.distance(value - self.loc))

    def entropy(self) -> Any:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        found = 0.5 * (constant + self._log_determinant())
        return found.expand(self._batch_shape) if self._batch_shape else found


def _with_ones(matrix: Any) -> Any:
    """Add ones to the diagonal."""
    size, made = matrix.shape[-1], matrix.contiguous()
    made.view(-1, size * size)[:, :: size + 1] += 1
    return made
