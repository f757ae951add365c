"""Eigenvalues of any square matrix, least squares and triangular factors: several results of one node."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.autograd.function_node import node_named
from reference_impl.base.device import place_of
from reference_impl.base.dtypes import complex64, complex128, float32, float64
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.linalg.decompositions import need_no_phase
from reference_impl.linalg.pseudo_inverse import above
from reference_impl.namespace.return_types import return_type
from specs.dtype_names import SCALARS
from specs.ops.linalg import by_column, need_square
from specs.ops.pseudo_inverse import pinv_backward
from specs.signature import clash

_EIG: Any = return_type("linalg_eig", ("eigenvalues", "eigenvectors"))
_LSTSQ: Any = return_type("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))


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


# -- least squares -----------------------------------------------------------------------------------
@node_named("LinalgLstsqBackward0")
class _Lstsq(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, share: float, driver: str) -> Any:
        left, right = array_of(a), array_of(b)
        vector = left.ndim > right.ndim
        right = right[..., None] if vector else right
        rows, columns = left.shape[-2:]
        wide = left.astype(np.result_type(left, np.float64))
        values = np.linalg.svd(wide, compute_uv=False)
        rank = above(values, left.shape, rtol=share).sum(-1)
        found = np.linalg.pinv(wide, 0.0 if driver == "gels" else share) @ right
        full = driver == "gels" or (driver != "gelsy" and np.all(rank == columns))
        apart = np.abs(wide @ found - right) ** 2
        none = np.empty(0, left.real.dtype)
        residuals = apart.sum(-2).astype(none.dtype) if rows > columns and full else none
        solution = np.asarray(found, left.dtype)
        rest = (
            wrap(np.asarray(rank if driver != "gels" else np.empty(0), np.int64, order="C")),
            wrap(values.astype(none.dtype) if driver in ("gelsd", "gelss") else none.copy()),
        )
        out = wrap(solution[..., 0] if vector else by_column(solution)), wrap(residuals)
        ctx.vector = vector
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*rest)
        ctx.save_for_backward(a, b, out[0])
        return (*out, *rest)

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, g_residuals: Tensor | None, *rest: Any) -> Any:
        a, b, solution = ctx.saved_tensors
        of_a: Any = None
        of_b: Any = None
        if ctx.vector:
            b, solution = b.unsqueeze(-1), solution.unsqueeze(-1)
        if g is not None:
            g, inverse = g.unsqueeze(-1) if ctx.vector else g, a._linalg_pinv()
            of_a, of_b = pinv_backward(g.matmul(b.mH), a, inverse), inverse.mH.matmul(g)
        if g_residuals is not None and g_residuals.numel():
            apart = a.matmul(solution).sub(b).mul(g_residuals.mul(2).unsqueeze(-2))
            by_a, by_b = apart.matmul(solution.mH), apart.neg()
            of_a, of_b = (by_a, by_b) if of_a is None else (of_a.add(by_a), of_b.add(by_b))
        if of_b is not None and ctx.vector:
            of_b = of_b.squeeze(-1)
        return of_a, of_b, None, None


_DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def _need_least_squares(A: Tensor, B: Tensor) -> None:
    name, left, right = "torch.linalg.lstsq", array_of(A), array_of(B)
    if A.ndim < 2:
        raise RuntimeError(f"{name}: input must have at least 2 dimensions.")
    if not B.ndim:
        raise RuntimeError(f"{name}: other must have at least 1 dimension.")
    if not 0 <= A.ndim - B.ndim <= 1:
        raise RuntimeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) "
            "<= 1"
        )
    at = -1 if A.ndim > B.ndim else -2
    if A.shape[-2] != B.shape[at]:
        raise RuntimeError(f"{name}: input.size(-2) should match other.size({at})")
    if A.dtype is not B.dtype:
        one, other = (SCALARS[x.dtype.name] for x in (A, B))
        raise RuntimeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {one} and "
            f"other's dtype {other}"
        )
    if A.dtype not in (float32, float64, complex64, complex128):
        raise RuntimeError("This function doesn't handle types other than float and double")
    batches = left.shape[:-2], right.shape[:at]
    try:
        np.broadcast_shapes(*batches)
    except ValueError:
        refuse_by("op/shapes-broadcast", **clash(*batches))


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: Any = None) -> Any:
    """The least squares solution of ``A X = B``.

    The drivers of LAPACK differ in what they tell beside it: residuals, the rank, singular values.
    """
    _need_least_squares(A, B)
    if driver not in (None, *_DRIVERS):
        raise RuntimeError(f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(_DRIVERS)})")
    left = array_of(A)
    driver = driver or ("gelsy" if place_of(A).type == "cpu" else "gels")
    share = np.finfo(left.dtype).eps * max(left.shape[-2:]) if rcond is None else rcond
    return _LSTSQ(*_Lstsq.apply(A, B, share, driver))
