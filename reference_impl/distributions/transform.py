"""The base of the transforms of `torch.distributions.transforms`, and their inverses."""

from __future__ import annotations

import copy
from typing import Any

from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint


class Transform:
    """A map; the last result is remembered if ``cache_size`` is 1."""

    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real
    bijective = True

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._kept: tuple[Any, Any] = (None, None)

    @property
    def inv(self) -> Transform:
        """The inverse."""
        return Inverse(self)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the map with a memory."""
        if self._cache_size == cache_size:
            return self
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        found = copy.copy(self)
        found._cache_size, found._kept = cache_size, (None, None)
        return found

    def __call__(self, x: Any) -> Any:
        if self._cache_size and x is self._kept[0]:
            return self._kept[1]
        y = self._call(x)
        self._kept = (x, y) if self._cache_size else (None, None)
        return y

    def _inv_call(self, y: Any) -> Any:
        if self._cache_size and y is self._kept[1]:
            return self._kept[0]
        x = self._inverse(y)
        self._kept = (x, y) if self._cache_size else (None, None)
        return x

    def _call(self, x: Any) -> Any:
        raise NotImplementedError

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        """The logarithm of the size of the derivative, of ``x`` and its result ``y``."""
        raise NotImplementedError

    def forward_shape(self, shape: Any) -> Any:
        """The shape of the result."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class Inverse(Transform):
    """The inverse of a transform."""

    def __init__(self, of: Transform) -> None:
        super().__init__(of._cache_size)
        self._of = of
        self.domain, self.codomain = of.codomain, of.domain

    @property
    def inv(self) -> Transform:
        return self._of

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._of.with_cache(cache_size).inv

    def __call__(self, x: Any) -> Any:
        return self._of._inv_call(x)

    def _inv_call(self, y: Any) -> Any:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self._of.log_abs_det_jacobian(y, x).neg()

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"
