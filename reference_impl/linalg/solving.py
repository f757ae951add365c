"""Inverse, determinant, systems of equations, products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.base.dtypes import complex64, complex128, float32, float64, int32
from reference_impl.base.not_modelled import NotModelled, refuse_unless_default
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.composite import cat
from reference_impl.namespace.factories import eye, zeros
from reference_impl.namespace.return_types import return_type
from specs.dtype_names import SCALARS
from specs.ops.linalg import need_square


def inv(A: Tensor) -> Tensor:
    """The inverse of square matrices; `LinAlgError` if there is none."""
    return A._linalg_inv()


def det(A: Tensor) -> Tensor:
    """The determinant of square matrices."""
    return A._linalg_det()


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """The solution of ``A X = B``, or of ``X A = B``."""
    return A._linalg_solve(B, left=left)


def solve_triangular(
    A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """The solution of ``A X = B`` for a triangular ``A``."""
    return A._linalg_solve_triangular(B, upper=upper, left=left, unitriangular=unitriangular)


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """The lower or upper triangular factor of positive definite matrices."""
    return A._linalg_cholesky(upper=upper)


def matrix_exp(A: Tensor) -> Tensor:
    """The exponential of square matrices."""
    return A._linalg_matrix_exp()


def _with_success(found: Tensor, name: str, field: str) -> Any:
    """The result beside a zero for each matrix: there is no failure that is not refused."""
    return return_type(name, (field, "info"))(found, zeros(found.shape[:-2], dtype=int32))


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and whether there is one."""
    return _with_success(inv(A), "linalg_inv_ex", "inverse")


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The triangular factor, and whether there is one."""
    return _with_success(cholesky(A, upper=upper), "linalg_cholesky_ex", "L")


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution, and whether there is one."""
    return _with_success(solve(A, B, left=left), "linalg_solve_ex", "result")


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """The solution of a linear system whose unknowns are the last dimensions of ``A``."""
    moved = list(dims or ())
    if moved:
        A = A.permute([d for d in range(A.ndim) if d not in [each % A.ndim for each in moved]] + moved)
    unknown = tuple(A.shape)[B.ndim :]
    if math.prod(unknown) != B.numel():
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {math.prod(unknown)} != {B.numel()}"
        )
    return solve(A.reshape((B.numel(), -1)), B.flatten()).reshape(unknown)


_NO_POWERS = {"torch.bool": "Bool", "torch.float16": "Half", "torch.bfloat16": "BFloat16"}
"""The dtypes that `vander` does not take, with PyTorch's names for them."""


def vander(x: Tensor, N: int | None = None) -> Tensor:
    """The powers of numbers up to ``N``, from the zeroth on, along a last dimension."""
    if str(x.dtype) in _NO_POWERS:
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{_NO_POWERS[str(x.dtype)]}"
        )
    count = x.shape[-1] if N is None else N
    if count <= 1:
        raise RuntimeError("N must be greater than 1.")
    powers = x.unsqueeze(-1).expand((*x.shape, count - 1)).cumprod(-1)
    return cat([powers.new_ones((*x.shape, 1)), powers], -1)


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of the map from the last dimensions to the first ``ind``."""
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    shape = tuple(A.shape)
    if math.prod(shape[:ind]) != math.prod(shape[ind:]):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but "
            f"got {math.prod(shape[ind:])} != {math.prod(shape[:ind])}"
        )
    return inv(A.reshape((-1, math.prod(shape[ind:])))).reshape((*shape[ind:], *shape[:ind]))


def pinv(
    A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """The pseudo-inverse of matrices, which are called Hermitian only if they are."""
    given = {"rcond": rcond, "atol": atol, "rtol": rtol}
    refuse_unless_default("linalg.pinv", given, rcond=None, atol=None, rtol=None)
    if A.ndim < 2 or A.dtype not in (float32, float64, complex64, complex128):
        raise RuntimeError(
            f"linalg.pinv({SCALARS[A.dtype.name]}{{{list(A.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        array = array_of(A)
        need_square("linalg.eigh", array)
        if not np.array_equal(array, np.swapaxes(array, -1, -2).conj()):
            raise NotModelled("torch.linalg.pinv(hermitian=True) of a matrix that is not")
    return A._linalg_pinv()


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of three elements."""
    return input._linalg_cross(other, dim=dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The inner product of vectors along a dimension."""
    if not x.is_floating_point() and not x.is_complex():
        refuse_by("op/norm-dtype", name="linalg.vecdot", dtype=array_of(x).dtype)
    return (x.conj() if x.is_complex() else x).mul(y).sum(dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal, of the last two dimensions by default."""
    return A.diagonal(offset, dim1, dim2)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """The product of a matrix with itself, or with its inverse if ``n`` is negative."""
    need_square("linalg.matrix_power", array_of(A), half=True, integers=True)
    if n == 0:
        return A.clone().copy_(eye(A.shape[-1], dtype=A.dtype, device=A.device).expand_as(A))
    if n < 0:
        A, n = inv(A), -n
    if n == 1:
        return A.clone()
    power: Tensor | None = None
    while n:
        if n & 1:
            power = A if power is None else power.matmul(A)
        n >>= 1
        if n:
            A = A.matmul(A)
    assert power is not None
    return power


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of matrices, in the order that needs the fewest multiplications; vectors may end it.

    Raises RuntimeError for less than two tensors.
    """
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    parts = list(tensors)
    first, last = parts[0].ndim == 1, parts[-1].ndim == 1
    if first:
        parts[0] = parts[0].unsqueeze(0)
    if last:
        parts[-1] = parts[-1].unsqueeze(-1)
    product = _best(parts)
    shape = (() if first else (product.shape[0],)) + (() if last else (product.shape[1],))
    return product.view(shape)


def _best(parts: list[Tensor]) -> Tensor:
    sizes = [parts[0].shape[0], *(x.shape[1] for x in parts)]
    cost: dict[tuple[int, int], tuple[int, int]] = {(i, i): (0, i) for i in range(len(parts))}
    for span in range(1, len(parts)):
        for i in range(len(parts) - span):
            j = i + span
            cost[i, j] = min(
                (cost[i, k][0] + cost[k + 1, j][0] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            )

    def product(i: int, j: int) -> Tensor:
        if i == j:
            return parts[i]
        k = cost[i, j][1]
        return product(i, k).mm(product(k + 1, j))

    return product(0, len(parts) - 1)
