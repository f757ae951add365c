"""Functions of linear algebra that PyTorch has in its root, and as methods, under older names."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.autograd.function_node import node_named
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.linalg import decompositions, factors, norms, pseudo_inverse, solving
from reference_impl.namespace.return_types import return_type
from specs.dtype_names import SCALARS
from specs.errors import need_kernel
from specs.ops.linalg import by_column, summed_to
from specs.ops.triangular import substituted

_SVD: Any = return_type("svd", ("U", "S", "V"))
_QR: Any = return_type("qr", ("Q", "R"))
_TRIANGULAR: Any = return_type("triangular_solve", ("solution", "cloned_coefficient"))


def slogdet(input: Tensor) -> Any:
    """`torch.linalg.slogdet`, under its old name."""
    return decompositions.slogdet(input, named="slogdet")


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """`torch.linalg.cholesky`, under its old name."""
    need_kernel("cholesky", array_of(input), "biu")
    return input._old_cholesky(upper=upper)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """The solution of a system whose matrix has the triangular factor ``input2``."""
    for name, x in (("b", input), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(
                f"{name} should have at least 2 dimensions, but has {x.ndim} dimensions instead"
            )
    return input._cholesky_solve(input2, upper=upper)


def qr(input: Tensor, some: bool = True) -> Any:
    """`torch.linalg.qr`, under its old name."""
    return _QR(*decompositions.qr(input, "reduced" if some else "complete"))


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """Singular vectors and values; the second vectors as columns, or zeros for vectors."""
    if not compute_uv:
        rows, columns = input.shape[-2:]
        batch = tuple(input.shape[:-2])
        nothing = (input.new_zeros((*batch, n, n)) for n in (rows, columns))
        u, v = nothing
        return _SVD(u, decompositions.svdvals(input), v)
    u, s, vh = decompositions.svd(input, not some)
    return _SVD(u, s, vh.mH)


@node_named("TriangularSolveBackward0")
class _TriangularSolve(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, b: Tensor, A: Tensor, how: tuple[bool, bool, bool]) -> Any:
        upper, transpose, unitriangular = how
        right, left = array_of(b), array_of(A)
        batch = np.broadcast_shapes(right.shape[:-2], left.shape[:-2])
        matrix = np.triu(left) if upper else np.tril(left)
        if unitriangular:
            size = np.arange(left.shape[-1])
            matrix[..., size, size] = 1
        turned = np.swapaxes(matrix, -1, -2) if transpose else matrix
        with np.errstate(all="ignore"):
            found = wrap(by_column(substituted(turned, right, from_below=upper != transpose)))
        ctx.how, ctx.shapes = how, (right.shape, left.shape)
        ctx.save_for_backward(A, found)
        ctx.set_materialize_grads(False)
        return found, wrap(np.broadcast_to(left, (*batch, *left.shape[-2:])).copy())

    @staticmethod
    def backward(ctx: Any, g: Tensor | None, g_clone: Tensor | None) -> Any:
        A, found = ctx.saved_tensors
        upper, transpose, unitriangular = ctx.how
        of_a = None
        if g is not None:
            of_b = triangular_solve(g, A.conj(), upper, not transpose, unitriangular)[0]
            of_a = found.conj().matmul(of_b.mT) if transpose else of_b.matmul(found.mH)
            of_a = of_a.neg()
            of_a = of_a.triu(int(unitriangular)) if upper else of_a.tril(-int(unitriangular))
            of_b = summed_to(of_b, ctx.shapes[0])
        else:
            of_b = A.new_zeros(ctx.shapes[0])
        if g_clone is not None:
            of_a = g_clone if of_a is None else of_a.add(g_clone)
        return of_b, None if of_a is None else summed_to(of_a, ctx.shapes[1]), None


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of a triangular system, under its old name."""
    left, right = array_of(A), array_of(b)
    one, other = (SCALARS[x.dtype.name] for x in (b, A))
    if one != other:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {one} and A of type {other} "
            "instead."
        )
    for name, x in (("b", b), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {x.ndim} "
                "dimensions instead"
            )
    if left.shape[-2] != left.shape[-1]:
        raise RuntimeError(
            "A must be batches of square matrices, but they are "
            f"{left.shape[-2]} by {left.shape[-1]} matrices"
        )
    need_kernel("triangular_solve", left, "biueV")
    if left.shape[-1] != right.shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {left.shape[-1]} by "
            f"{left.shape[-1]} but each b matrix is {right.shape[-2]} by {right.shape[-1]}"
        )
    return _TRIANGULAR(*_TriangularSolve.apply(b, A, (upper, transpose, unitriangular)))


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Both triangular factors in one matrix, and the rows exchanged."""
    both, pivots, info = factors.lu_factor_ex(A, pivot=pivot, check_errors=not get_infos)
    return (both, pivots, info) if get_infos else (both, pivots)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution of a system whose matrix has those triangular factors."""
    return factors.lu_solve(LU_data, LU_pivots, b)


OLD_NAMES: dict[str, Any] = {
    "cholesky": cholesky, "cholesky_solve": cholesky_solve, "det": solving.det, "inverse": solving.inv,
    "logdet": decompositions.logdet, "lu": lu, "lu_solve": lu_solve, "lu_unpack": factors.lu_unpack,
    "matrix_exp": solving.matrix_exp, "matrix_power": solving.matrix_power, "matrix_rank": norms.matrix_rank,
    "pinverse": pseudo_inverse.pinverse, "qr": qr, "slogdet": slogdet, "svd": svd,
    "triangular_solve": triangular_solve,
}  # fmt: skip
"""Functions and methods by name."""
