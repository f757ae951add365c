"""``torch.distributions.constraints``: what parameters and values of a distribution have to be."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside


class Constraint:
    """A set of values; `check` tells of each value if it is one of them."""

    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        """Return a bool for each value, or for each event."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value.eq(value)


class _Boolean(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value.eq(0).logical_or(value.eq(1))


class _Simplex(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return value.ge(0).all(-1).logical_and(value.sum(-1).sub(1).abs().lt(1e-6))


class _OneHot(Constraint):
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return value.eq(0).logical_or(value.eq(1)).all(-1).logical_and(value.sum(-1).eq(1))


class _GreaterThan(Constraint):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Tensor) -> Tensor:
        return value.gt(self.lower_bound)

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}(lower_bound={self.lower_bound})"


class _GreaterThanEq(_GreaterThan):
    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound)


class _Interval(Constraint):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound).logical_and(value.le(self.upper_bound))

    def __repr__(self) -> str:
        bounds = f"lower_bound={self.lower_bound}, upper_bound={self.upper_bound}"
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _HalfOpenInterval(_Interval):
    def check(self, value: Tensor) -> Tensor:
        return value.ge(self.lower_bound).logical_and(value.lt(self.upper_bound))


class _IntegerInterval(_Interval):
    def check(self, value: Tensor) -> Tensor:
        return value.remainder(1).eq(0).logical_and(super().check(value))


class _Multinomial(Constraint):
    event_dim = 1

    def __init__(self, upper_bound: int) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return value.ge(0).all(-1).logical_and(value.sum(-1).le(self.upper_bound))


class _IndependentConstraint(Constraint):
    def __init__(self, base: Constraint, dims: int) -> None:
        self.base, self.dims = base, dims
        self.event_dim = base.event_dim + dims

    def check(self, value: Tensor) -> Tensor:
        found = self.base.check(value)
        return found.flatten(-self.dims).all(-1) if self.dims else found

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base!r}, {self.dims})"


class _PositiveDefinite(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        apart, size = value.sub(value.mT).abs(), value.mT.abs()
        symmetric = apart.le(size.mul(1e-5).add(1e-6)).all(-1).all(-1)
        if not bool(symmetric.all()):
            return symmetric
        positive = np.linalg.eigvalsh(array_of(value.detach()).astype(np.float64)).min(-1) > 0
        return symmetric.logical_and(wrap_beside(value, np.asarray(positive)))


class _LowerCholesky(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        lower = value.tril().eq(value).all(-1).all(-1)
        return lower.logical_and(value.diagonal(0, -2, -1).gt(0).all(-1))


class _NonnegativeInteger(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value.remainder(1).eq(0).logical_and(value.ge(0))


greater_than, greater_than_eq, interval = _GreaterThan, _GreaterThanEq, _Interval
half_open_interval = _HalfOpenInterval
multinomial = _Multinomial
integer_interval, independent = _IntegerInterval, _IndependentConstraint
real, boolean, simplex, one_hot = _Real(), _Boolean(), _Simplex(), _OneHot()
real_vector = independent(real, 1)
positive_definite, lower_cholesky = _PositiveDefinite(), _LowerCholesky()
nonnegative_integer = _NonnegativeInteger()
positive, nonnegative, unit_interval = greater_than(0.0), greater_than_eq(0.0), interval(0.0, 1.0)
