"""Eigenvalues of any square matrix, least squares and triangular factors: several results of one node."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.base.device import place_of
from reference_impl.base.not_modelled import NotModelled, refuse_unless_default
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import marking
from reference_impl.linalg.decompositions import need_no_phase, node_named, svdvals
from reference_impl.namespace.return_types import return_type
from specs.ops.linalg import by_column, need_matrix, need_square
from specs.ops.pseudo_inverse import pinv_backward

_EIG: Any = return_type("linalg_eig", ("eigenvalues", "eigenvectors"))
_LSTSQ: Any = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))
_LU: Any = return_type("linalg_lu", ("P", "L", "U"))
_LU_FACTOR: Any = return_type("linalg_lu_factor", ("LU", "pivots"))


@node_named("LinalgEigBackward0")
class _Eig(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        array = array_of(x)
        kind = np.result_type(array.dtype, np.complex64)
        found = np.linalg.eig(array)
        values, vectors = wrap(found[0].astype(kind)), wrap(by_column(found[1].astype(kind)))
        ctx.real = array.dtype.kind != "c"
        ctx.save_for_backward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def backward(ctx: Any, g_values: Any, g: Any) -> Any:
        values, vectors = ctx.saved_tensors
        turned = vectors.mH
        if g is None:
            inner = g_values.unsqueeze(-1).mul(turned)
        else:
            shares = turned.matmul(g)
            need_no_phase("eig", shares)
            own = shares.diagonal(0, -2, -1)
            inner = shares.sub(turned.matmul(vectors.mul(own.real.unsqueeze(-2))))
            apart = values.unsqueeze(-2).sub(values.unsqueeze(-1)).conj()
            ones = apart.detach().mul(0).diagonal(0, -2, -1).add(1).diag_embed()
            inner = inner.div(apart.add(ones))
            inner = inner.sub(inner.diagonal(0, -2, -1).diag_embed())
            if g_values is not None:
                inner = inner.add(g_values.diag_embed())
            inner = inner.matmul(turned)
        found = turned._linalg_solve(inner)
        return found.real if ctx.real else found


def eig(A: Tensor) -> Any:
    """The eigenvalues and eigenvectors of square matrices; complex ones."""
    need_square("linalg.eig", array_of(A), kernel="linalg_eig_out")
    return _EIG(*_Eig.apply(A))


def eigvals(A: Tensor) -> Tensor:
    """The eigenvalues of square matrices; complex ones."""
    need_square("linalg.eigvals", array_of(A), kernel="linalg_eig_out")
    return _Eig.apply(A)[0]


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@node_named("LinalgLstsqBackward0")
class _Lstsq(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, with_residuals: bool) -> Any:
        left, right = array_of(a), array_of(b)
        found = np.asarray(np.linalg.pinv(left.astype(np.result_type(left, np.float64))) @ right, right.dtype)
        apart = np.abs(left @ found - right)
        rest = (apart**2).sum(-2) if with_residuals else apart[:0].reshape(-1)
        ctx.save_for_backward(a, b)
        ctx.set_materialize_grads(False)
        return wrap(by_column(found)), wrap(rest)

    @staticmethod
    def backward(ctx: Any, g: Any, g_rest: Any) -> Any:
        a, b = ctx.saved_tensors
        inverse = a._linalg_pinv()
        by_a = by_b = None
        if g is not None:
            by_a = pinv_backward(g.matmul(b.mH), a, inverse) if a.requires_grad else None
            by_b = inverse.mH.matmul(g) if b.requires_grad else None
        if g_rest is not None and g_rest.numel():
            solution = inverse.matmul(b)
            apart = a.matmul(solution).sub(b).mul(g_rest.unsqueeze(-2)).mul(2)
            more = apart.matmul(solution.mH)
            by_a = more if by_a is None else by_a.add(more)
            by_b = apart.neg() if by_b is None else by_b.sub(apart)
        return by_a, by_b, None


@marking
def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """The least squares solution of ``A X = B`` for matrices of full rank.

    The drivers of LAPACK differ in what they tell beside it: residuals, the rank, singular values.
    """
    refuse_unless_default("linalg.lstsq", {"rcond": rcond}, rcond=None)
    left = array_of(A)
    need_matrix("torch.linalg.lstsq", left)
    if driver not in (None, *_DRIVERS):
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    driver = driver or ("gelsy" if place_of(A).type == "cpu" else "gels")
    vector = B.ndim == A.ndim - 1
    rank = np.linalg.matrix_rank(left)
    rows, columns = left.shape[-2:]
    full = driver != "gelsy" and rows > columns and bool(np.all(rank == columns))
    solution, residuals = _Lstsq.apply(A, B.unsqueeze(-1) if vector else B, full)
    values = A.new_empty((0,)) if driver in ("gels", "gelsy") else svdvals(A.detach())
    ranks = np.empty(0) if driver == "gels" else rank
    return _LSTSQ(
        solution.squeeze(-1) if vector else solution, residuals, wrap(np.asarray(ranks, np.int64)), values
    )


# -- triangular factors ------------------------------------------------------------------------------------
def _exchanged(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both factors in one square matrix, and the rows exchanged, counted from 1."""
    work, pivots = array.astype(np.float64), np.zeros(len(array), np.int32)
    for n in range(len(work)):
        best = n + int(np.argmax(np.abs(work[n:, n])))
        pivots[n] = best + 1
        work[[n, best]] = work[[best, n]]
        if work[n, n]:
            work[n + 1 :, n] /= work[n, n]
            work[n + 1 :, n + 1 :] -= np.outer(work[n + 1 :, n], work[n, n + 1 :])
    return work.astype(array.dtype), pivots


def _factored(A: Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    array = array_of(A)
    need_square(name, array, integers=True, kernel="lu")
    if A.requires_grad:
        raise NotModelled(f"the gradient of torch.{name}")
    flat = [_exchanged(one) for one in array.reshape((-1, *array.shape[-2:]))]
    both = np.array([one for one, _ in flat]).reshape(array.shape)
    return both, np.array([rows for _, rows in flat], np.int32).reshape(array.shape[:-1])


def permutation(pivots: np.ndarray, dtype: Any) -> np.ndarray:
    """The matrices of the exchanges of rows that pivots name."""
    flat = pivots.reshape(-1, pivots.shape[-1])
    found = []
    for rows in flat:
        order = list(range(len(rows)))
        for n, best in enumerate(rows):
            order[n], order[best - 1] = order[best - 1], order[n]
        found.append(np.eye(len(rows), dtype=dtype)[order].T)
    return np.array(found).reshape((*pivots.shape, pivots.shape[-1]))


@marking
def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows exchanged."""
    both, pivots = _factored(A, "linalg.lu_factor")
    return _LU_FACTOR(wrap(by_column(both)), wrap(pivots))


@marking
def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation, a lower and an upper triangular factor."""
    both, pivots = _factored(A, "linalg.lu")
    lower = np.tril(both, -1) + np.eye(both.shape[-1], dtype=both.dtype)
    parts = (permutation(pivots, both.dtype), lower, np.triu(both))
    return _LU(*(wrap(np.ascontiguousarray(part)) for part in parts))


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor) -> Tensor:
    """The solution of a system whose matrix has those triangular factors."""
    both = array_of(LU)
    whole = (
        permutation(array_of(pivots), both.dtype)
        @ (np.tril(both, -1) + np.eye(both.shape[-1], dtype=both.dtype))
        @ np.triu(both)
    )
    if LU.requires_grad:
        raise NotModelled("the gradient of torch.linalg.lu_solve by its factors")
    return wrap(whole)._linalg_solve(B)
