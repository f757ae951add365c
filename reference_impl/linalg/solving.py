"""Inverse, determinant, systems of equations, products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from reference_impl.base.rules import refuse_by
from reference_impl.base.size import contiguous_format
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import marking
from reference_impl.namespace.composite import cat
from reference_impl.namespace.factories import eye
from reference_impl.namespace.return_types import return_type
from specs.dtype_names import SCALARS, type_in_c
from specs.ops.linalg import (
    NO_FACTOR,
    NO_INVERSE,
    NO_SOLUTION,
    need_square,
    orders_not_positive,
    refuse_singular,
)
from specs.ops.triangular import factored


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


_INV_EX: Any = return_type("linalg_inv_ex", ("inverse", "info"))
_CHOLESKY_EX: Any = return_type("linalg_cholesky_ex", ("L", "info"))
_SOLVE_EX: Any = return_type("linalg_solve_ex", ("result", "info"))


def _placed(info: np.ndarray, beside: Tensor) -> Tensor:
    return wrap(info).to(beside.device)


@marking
def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """The inverse, and the first pivot of zero of each matrix that has none."""
    found, info = A._linalg_inv(checked=False), factored(array_of(A))[2]
    if check_errors:
        refuse_singular("linalg.inv_ex", info, NO_INVERSE)
    return _INV_EX(found, _placed(info, A))


@marking
def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """The triangular factor, and the order of the first minor that is not positive where there is none."""
    found = A._linalg_cholesky(upper=upper, checked=False)
    info = orders_not_positive(array_of(A), upper)
    if check_errors:
        refuse_singular("linalg.cholesky_ex", info, NO_FACTOR)
    return _CHOLESKY_EX(found, _placed(info, A))


@marking
def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """The solution, and the first pivot of zero of each matrix that has no inverse."""
    found, info = A._linalg_solve(B, left=left, checked=False), factored(array_of(A))[2]
    if check_errors:
        refuse_singular("torch.linalg.solve_ex", info, NO_SOLUTION)
    return _SOLVE_EX(found, _placed(info, A))


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
    x = x.unsqueeze(-1) if not x.ndim else x
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


def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The cross product of vectors of three elements."""
    return input._linalg_cross(other, dim=dim)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The inner product of vectors along a dimension."""
    if not x.is_floating_point() and not x.is_complex():
        refuse_by("op/norm-dtype", name="linalg.vecdot", dtype=array_of(x).dtype)
    if x.dtype is not y.dtype:
        own, other = (SCALARS[each.dtype.name] for each in (x, y))
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{own} and y of type {other} instead"
        )
    if x.ndim == 1 and y.ndim == 1:
        return x.vdot(y)
    return (x.conj() if x.is_complex() else x).mul(y).sum(dim)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonal, of the last two dimensions by default."""
    return A.diagonal(offset, dim1, dim2)


def matrix_power(A: Tensor, n: int) -> Tensor:
    """The product of a matrix with itself, or with its inverse if ``n`` is negative."""
    need_square("linalg.matrix_power", array_of(A), half=True, integers=True)
    if n == 0:
        identity = eye(A.shape[-1], dtype=A.dtype, device=A.device).expand_as(A)
        return A.clone(memory_format=contiguous_format).copy_(identity)
    if n < 0:
        A, n = inv(A), -n
        if n == 1:
            return A
    if n == 1:
        return A.clone(memory_format=contiguous_format)
    if n == 3:
        return A.matmul(A).matmul(A)
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
    for at in range(len(parts)):
        _need_a_link(parts, at, tensors[at].ndim)
    product = _best(parts)
    shape = (() if first else (product.shape[0],)) + (() if last else (product.shape[1],))
    return product.view(shape)


def _need_a_link(parts: list[Tensor], at: int, ndim: int) -> None:
    """Refuse a part that is no matrix, or whose rows are not the columns of the one before."""
    x, before = parts[at], parts[at - 1] if at else None
    if x.ndim != 2:
        which = {0: "the first tensor", len(parts) - 1: "the last tensor"}.get(at)
        told = f"{which} must be 1D or 2D" if which else f"tensor {at} must be 2D"
        raise RuntimeError(f"multi_dot(): {told} but got {ndim}D")
    first = parts[0]
    if x.dtype is not first.dtype:
        raise RuntimeError(
            "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
            f"{type_in_c(first)} and tensor {at} {type_in_c(x)}"
        )
    if before is not None and before.shape[1] != x.shape[0]:
        raise RuntimeError(
            f"multi_dot(): tensors {at - 1} and {at} with shapes {list(before.shape)} and {list(x.shape)} "
            "cannot be multiplied"
        )


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
