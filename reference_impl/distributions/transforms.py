"""``torch.distributions.transforms``: maps with an inverse and the logarithm of their derivative."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.distributions import constraints
from reference_impl.distributions.constraints import Constraint
from reference_impl.distributions.distribution import broadcast_all, sum_rightmost
from reference_impl.distributions.transform import Transform
from reference_impl.namespace.factories import zeros_like
from reference_impl.namespace.settings import finfo
from reference_impl.nn import functional


class ExpTransform(Transform):
    """``exp(x)``."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """``x ** exponent``."""

    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(self.exponent.reciprocal())

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return y.mul(self.exponent).div(x).abs().log()


class AbsTransform(Transform):
    """``|x|``, which has no inverse."""

    codomain = constraints.positive
    bijective = False

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class SigmoidTransform(Transform):
    """``sigmoid(x)``, held away from 0 and 1."""

    codomain = constraints.unit_interval

    def _call(self, x: Any) -> Any:
        known = finfo(x.dtype)
        return x.sigmoid().clamp(min=known.tiny, max=1.0 - known.eps)

    def _inverse(self, y: Any) -> Any:
        known = finfo(y.dtype)
        y = y.clamp(min=known.tiny, max=1.0 - known.eps)
        return y.log().sub(y.neg().log1p())

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return functional.softplus(x.neg()).neg().sub(functional.softplus(x))


class TanhTransform(Transform):
    """``tanh(x)``."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.neg().add(math.log(2.0)).sub(functional.softplus(x.mul(-2.0))).mul(2.0)


class SoftplusTransform(Transform):
    """``log(1 + exp(x))``."""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return functional.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return y.neg().expm1().neg().log().add(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return functional.softplus(x.neg()).neg()


class AffineTransform(Transform):
    """``loc + scale * x``."""

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self.event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    def _call(self, x: Any) -> Any:
        return x.mul(self.scale).add(self.loc)

    def _inverse(self, y: Any) -> Any:
        return y.sub(self.loc).div(self.scale)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shape = tuple(x.shape)
        if isinstance(self.scale, Tensor):
            found = self.scale.abs().log()
        else:
            found = x.new_full(shape, math.log(abs(self.scale)))
        if self.event_dim:
            found = found.view((*found.shape[: -self.event_dim], -1)).sum(-1)
            shape = shape[: -self.event_dim]
        return found.expand(shape)


class StickBreakingTransform(Transform):
    """Shares of a stick of which a piece is broken off for each number; the last is what remains."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _offset(self, x: Any) -> Any:
        return x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)

    def _call(self, x: Any) -> Any:
        known = finfo(x.dtype)
        pieces = (x - self._offset(x).log()).sigmoid().clamp(min=known.tiny, max=1.0 - known.eps)
        rest = (1 - pieces).cumprod(-1)
        return functional.pad(pieces, [0, 1], value=1) * functional.pad(rest, [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        cut = y[..., :-1]
        rest = (1 - cut.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return cut.log() - rest.log() + self._offset(cut).log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self._offset(x).log()
        return (-x + functional.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return (*shape[:-1], shape[-1] + 1)


class SoftmaxTransform(Transform):
    """The softmax along the last dimension, which has an inverse up to a shift."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = False

    def _call(self, x: Any) -> Any:
        shares = (x - x.max(-1, True)[0]).exp()
        return shares / shares.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()


class LowerCholeskyTransform(Transform):
    """Triangular matrices with a positive diagonal, of any matrices."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(0, -2, -1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(0, -2, -1).log().diag_embed()


class ComposeTransform(Transform):
    """One map after another."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        if self.parts:
            first, last = self.parts[0].domain, self.parts[-1].codomain
            dims = last.event_dim
            for part in reversed(self.parts):
                dims = max(dims + part.domain.event_dim - part.codomain.event_dim, part.domain.event_dim)
            self.domain = _of_dims(first, dims)
            dims = first.event_dim
            for part in self.parts:
                dims = max(dims + part.codomain.event_dim - part.domain.event_dim, part.codomain.event_dim)
            self.codomain = _of_dims(last, dims)

    def with_cache(self, cache_size: int = 1) -> Transform:
        """Return the maps with a memory each."""
        return ComposeTransform(self.parts, cache_size)

    @property
    def inv(self) -> Transform:
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    def __call__(self, x: Any) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y: Any) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        if not self.parts:
            return zeros_like(x.detach())
        found, dims = None, self.domain.event_dim
        for n, part in enumerate(self.parts):
            after = y if n == len(self.parts) - 1 else part(x)
            own = sum_rightmost(part.log_abs_det_jacobian(x, after), dims - part.domain.event_dim)
            dims += part.codomain.event_dim - part.domain.event_dim
            found = own if found is None else found.add(own)
            x = after
        return found

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


def _of_dims(constraint: Constraint, dims: int) -> Constraint:
    """The constraint on events of at least that many dimensions."""
    more = dims - constraint.event_dim
    return constraints.independent(constraint, more) if more > 0 else constraint


def _need_rank(x: Tensor, least: int) -> None:
    if x.ndim < least:
        raise ValueError("Too few dimensions on input")


class IndependentTransform(Transform):
    """A map of elements taken for one of events."""

    def __init__(
        self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0
    ) -> None:
        super().__init__(cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    def _call(self, x: Any) -> Any:
        _need_rank(x, self.domain.event_dim)
        return self.base_transform(x)

    def _inverse(self, y: Any) -> Any:
        _need_rank(y, self.codomain.event_dim)
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        found = self.base_transform.log_abs_det_jacobian(x, y)
        return sum_rightmost(found, self.reinterpreted_batch_ndims)

    def forward_shape(self, shape: Any) -> Any:
        return self.base_transform.forward_shape(shape)

    def __repr__(self) -> str:
        return f"IndependentTransform({self.base_transform!r}, {self.reinterpreted_batch_ndims})"


identity_transform = ComposeTransform([])
