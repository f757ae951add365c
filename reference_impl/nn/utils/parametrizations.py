"""``torch.nn.utils.parametrizations``: weight norm, spectral norm and orthogonality as parametrizations."""

from __future__ import annotations

from typing import TypeVar

from reference_impl.base.modes import no_grad
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.missing import loading
from reference_impl.nn.module import Module
from reference_impl.nn.utils.normalized_weights import (
    EPS,
    as_matrix,
    norm_except_dim,
    unit,
    with_norms,
)
from reference_impl.nn.utils.orthogonal_weights import orthogonal  # noqa: F401  PyTorch has it here
from reference_impl.nn.utils.parametrize import register_parametrization

M = TypeVar("M", bound=Module)


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return with_norms(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Split a weight into its norms (``original0``) and its direction (``original1``)."""
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight: Tensor, iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        if iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={iterations}"
            )
        self.dim, self.n_power_iterations, self.eps = dim, iterations, eps
        if weight.ndim > 1:
            matrix = as_matrix(weight, dim)
            u = matrix.new_empty(matrix.shape[0]).normal_(0, 1)
            v = matrix.new_empty(matrix.shape[1]).normal_(0, 1)
            self.register_buffer("_u", unit(u, eps))
            self.register_buffer("_v", unit(v, eps))
            self._iterate(matrix, 15)

    @no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        for _ in range(times):
            self._u.copy_(unit(matrix.mv(self._v), self.eps))
            self._v.copy_(unit(matrix.t().mv(self._u), self.eps))

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return unit(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight.div(u.dot(matrix.mv(v)))

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: M, name: str = "weight", n_power_iterations: int = 1, eps: float = EPS, dim: int | None = None
) -> M:
    """Divide a weight by its largest singular value, which power iteration estimates whenever it is read."""
    transposed = type(module).__name__.startswith("ConvTranspose")
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    with no_grad():
        made = _SpectralNorm(weight, n_power_iterations, int(transposed) if dim is None else dim, eps)
    register_parametrization(module, name, made)
    return module


__getattr__ = loading(__name__)
