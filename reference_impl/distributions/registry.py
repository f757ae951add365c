"""``biject_to`` and ``transform_to``: from a constraint to a transform of unconstrained numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.distributions import constraints as c
from reference_impl.distributions import transforms as t


class ConstraintRegistry:
    """Makers of transforms by the class of a constraint; scripts may register more."""

    def __init__(self) -> None:
        self._makers: dict[type, Callable[[Any], Any]] = {}

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Register a maker for a constraint's class; without one, return a decorator."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = type(constraint) if isinstance(constraint, c.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, c.Constraint)):
            raise TypeError(
                f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}"
            )
        self._makers[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        if type(constraint) not in self._makers:
            raise NotModelled(f"a transform to {type(constraint).__name__}")
        return self._makers[type(constraint)](constraint)


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _above(constraint: Any) -> Any:
    return t.ComposeTransform([t.ExpTransform(), t.AffineTransform(constraint.lower_bound, 1)])


def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return t.SigmoidTransform()
    return t.ComposeTransform([t.SigmoidTransform(), t.AffineTransform(low, high - low)])


def _each(registry: ConstraintRegistry) -> Callable[[Any], Any]:
    return lambda constraint: t.IndependentTransform(registry(constraint.base), constraint.dims)


for _registry in (biject_to, transform_to):
    _registry.register(c.real, lambda _: t.identity_transform)
    _registry.register(c.independent, _each(_registry))
    _registry.register(c.greater_than, _above)
    _registry.register(c.greater_than_eq, _above)
    _registry.register(c.interval, _between)
    _registry.register(c.half_open_interval, _between)
biject_to.register(c.simplex, lambda _: t.StickBreakingTransform())
transform_to.register(c.simplex, lambda _: t.SoftmaxTransform())
transform_to.register(c.lower_cholesky, lambda _: t.LowerCholeskyTransform())
