"""``torch.nn.utils.parametrizations.orthogonal``: a weight whose columns or rows stay orthonormal."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base.modes import no_grad
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.namespace import composite
from reference_impl.namespace.factories import eye, zeros_like
from reference_impl.namespace.random import randn
from reference_impl.nn.module import Module
from reference_impl.nn.utils.parametrize import register_parametrization

_MAPS = ("matrix_exp", "cayley", "householder")


def _made_orthogonal(x: Tensor) -> Tensor:
    """The orthogonal factor, whose other factor has a positive diagonal."""
    q, r = np.linalg.qr(array_of(x))
    signs = np.sign(np.diagonal(r, axis1=-2, axis2=-1))
    return wrap_beside(x, q).mul_(wrap_beside(x, signs[..., None, :]))


def _is_orthogonal(x: Tensor) -> bool:
    array = array_of(x)
    product = np.swapaxes(array, -1, -2).conj() @ array
    least = 10 * array.shape[-2] * np.finfo(array.dtype).eps
    return bool(np.allclose(product, np.eye(array.shape[-1]), atol=least))


def _reflected(x: Tensor) -> Tensor:
    """The product of the reflections whose vectors stand below the diagonal."""
    n, k = x.shape[-2], x.shape[-1]
    below = x.tril(-1)
    scales = below.mul(below).sum(-2).add(1.0).reciprocal().mul(2.0)
    vectors = below.add(eye(n, dtype=x.dtype, device=x.device).narrow(1, 0, k))
    product = eye(n, dtype=x.dtype, device=x.device)
    for at in range(k):
        v = vectors.narrow(-1, at, 1)
        product = product.sub(product.matmul(v).matmul(v.mT).mul(scales.narrow(-1, at, 1).unsqueeze(-1)))
    signs = x.diagonal(0, -2, -1).int().unsqueeze(-2)
    return product.narrow(-1, 0, k).mul(signs)


class _Orthogonal(Module):
    base: Any

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        n, k = X.shape[-2], X.shape[-1]
        if self.orthogonal_map == "householder":
            found = _reflected(X)
        else:
            X = X.tril()
            if n != k:
                X = composite.cat([X, X.new_zeros(n, n - k).expand((*X.shape[:-2], -1, -1))], -1)
            skew = X.sub(X.mH)
            if self.orthogonal_map == "matrix_exp":
                found = skew._linalg_matrix_exp()
            else:
                one = eye(n, dtype=skew.dtype, device=skew.device)
                found = one.add(skew, alpha=-0.5)._linalg_solve(one.add(skew, alpha=0.5))
            found = found if n == k else found[..., :k]
        if "base" in self._buffers:
            found = self.base.matmul(found)
        return found.mT if wide else found

    @no_grad()
    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape "
                f"{Q.shape}."
            )
        if "base" not in self._buffers:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        given = Q
        Q = Q.mT if Q.shape[-2] < Q.shape[-1] else Q
        n, k = Q.shape[-2], Q.shape[-1]
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
        else:
            more = randn(*Q.shape[:-2], n, n - k, dtype=Q.dtype, device=Q.device)
            Q = _made_orthogonal(composite.cat([Q, more], -1))
        self.base = Q
        negative = zeros_like(given)
        negative.diagonal(0, -2, -1).fill_(-1.0)
        return negative


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep the columns of a weight, or its rows if there are fewer, orthonormal."""
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    square = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
    chosen = orthogonal_map or ("matrix_exp" if square else "householder")
    if chosen not in _MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {chosen}'
        )
    made = _Orthogonal(weight, chosen, use_trivialization=use_trivialization)
    register_parametrization(module, name, made, unsafe=True)
    return module
