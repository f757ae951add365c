"""Triangular factors of matrices whose rows are exchanged: of any shape, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.autograd.function_node import node_named
from reference_impl.base.device import place_of
from reference_impl.base.dtypes import int32
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import refuse_by
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.composite import cat
from reference_impl.namespace.return_types import return_type
from specs.dtype_names import SCALARS
from specs.errors import need_kernel
from specs.ops import triangular
from specs.ops.linalg import by_column, need_matrix, need_sides, need_square, refuse_singular, summed_to

_LU: Any = return_type("linalg_lu", ("P", "L", "U"))
_LU_FACTOR: Any = return_type("linalg_lu_factor", ("LU", "pivots"))
_LU_FACTOR_EX: Any = return_type("linalg_lu_factor_ex", ("LU", "pivots", "info"))
_LU_UNPACK: Any = return_type("lu_unpack", ("P", "L", "U"))


# -- gradients ---------------------------------------------------------------------------------------
def _backward(gl: Tensor, gu: Tensor, p: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """The gradient of a matrix, of those of its factors.

    What lies beyond the square of both follows from the square, and so its share goes there first.
    """
    rows, columns, least = lower.shape[-2], upper.shape[-1], lower.shape[-1]
    l1, u1 = lower.narrow(-2, 0, least), upper.narrow(-1, 0, least)
    gl1, gu1, rest = gl.narrow(-2, 0, least), gu.narrow(-1, 0, least), []
    if columns > least:
        over = columns - least
        rest = [_left(l1, gu.narrow(-1, least, over))]
        gl1 = gl1.sub(rest[0].matmul(upper.narrow(-1, least, over).mH))
    if rows > least:
        over = rows - least
        rest = [_right(u1, gl.narrow(-2, least, over))]
        gu1 = gu1.sub(lower.narrow(-2, least, over).mH.matmul(rest[0]))
    inner = l1.mH.matmul(gl1).tril(-1).add(gu1.matmul(u1.mH).triu())
    found = _left(l1, _right(u1, inner))
    return p.matmul(cat([found, *rest], -1 if columns > least else -2))


def _left(lower: Tensor, x: Tensor) -> Tensor:
    return lower.mH._linalg_solve_triangular(x, upper=True, unitriangular=True)


def _right(upper: Tensor, x: Tensor) -> Tensor:
    return upper.mH._linalg_solve_triangular(x, upper=False, left=False)


@node_named("LinalgLuFactorExBackward0")
class _LuFactor(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        both, pivots, info = (wrap(part) for part in triangular.factored(array_of(x)))
        both = wrap(by_column(array_of(both)))
        ctx.mark_non_differentiable(pivots, info)
        ctx.save_for_backward(both, pivots)
        return both, pivots, info

    @staticmethod
    def backward(ctx: Any, g: Tensor, *rest: Any) -> Any:
        both, pivots = ctx.saved_tensors
        least = min(both.shape[-2:])
        gl, gu = g.narrow(-1, 0, least), g.narrow(-2, 0, least)
        return _backward(gl, gu, *lu_unpack(both, pivots))


@node_named("LinalgLuBackward0")
class _Lu(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        both, pivots, _ = triangular.factored(array_of(x))
        exchange = triangular.permutation(pivots, both.shape[-2], both.dtype)
        p, lower, upper = wrap(exchange), wrap(triangular.lower(both)), wrap(triangular.upper(both))
        ctx.mark_non_differentiable(p)
        ctx.save_for_backward(p, lower, upper)
        return p, lower, upper

    @staticmethod
    def backward(ctx: Any, _: Any, gl: Tensor, gu: Tensor) -> Any:
        return _backward(gl, gu, *ctx.saved_tensors)


@node_named("LuUnpackBackward0")
class _LuUnpack(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, both: Tensor, pivoted: tuple[Tensor], data: bool, exchanges: bool) -> Any:
        (pivots,) = pivoted  # in a tuple they are no input, as they have no gradient
        array = array_of(both)
        ctx.shape, ctx.data = array.shape, data
        rows = array.shape[-2]
        nothing = np.empty(0, array.dtype)
        p = wrap(triangular.permutation(array_of(pivots), rows, array.dtype) if exchanges else nothing)
        lower, upper = (
            wrap(part(array) if data else nothing.copy()) for part in (triangular.lower, triangular.upper)
        )
        ctx.mark_non_differentiable(p)
        return p, lower, upper

    @staticmethod
    def backward(ctx: Any, _: Any, gl: Tensor, gu: Tensor) -> Any:
        if not ctx.data:
            return None, None, None, None
        *_, rows, columns = ctx.shape
        gl = gl.tril(-1).constant_pad_nd((0, columns - gl.shape[-1]), 0)
        gu = gu.triu().constant_pad_nd((0, 0, 0, rows - gu.shape[-2]), 0)
        return gl.add(gu), None, None, None


@node_named("LinalgLuSolveBackward0")
class _LuSolve(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, both: Tensor, pivoted: tuple[Tensor], b: Tensor, left: bool, adjoint: bool) -> Any:
        (pivots,) = pivoted  # no input, see `_LuUnpack`
        array = array_of(both)
        exchange = triangular.permutation(array_of(pivots), array.shape[-1], array.dtype)
        found = triangular.solved(array, exchange, array_of(b), left=left, adjoint=adjoint)
        out = wrap(by_column(found) if left else found)
        ctx.how, ctx.shape = (left, adjoint), tuple(b.shape)
        ctx.save_for_backward(both, pivots, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        both, pivots, out = ctx.saved_tensors
        left, adjoint = ctx.how
        by_b = lu_solve(both, pivots, g, left=left, adjoint=not adjoint) if ctx.needs_input_grad[2] else None
        by_both = _of_factors(both, pivots, out, g, left, adjoint) if ctx.needs_input_grad[0] else None
        return by_both, None, None if by_b is None else summed_to(by_b, ctx.shape), None, None


def _of_factors(both: Tensor, pivots: Tensor, out: Tensor, g: Tensor, left: bool, adjoint: bool) -> Tensor:
    p, lower, upper = lu_unpack(both, pivots)
    if left != adjoint:
        given, other = (g, out.mH) if left else (g.mH, out)
        of_upper = upper.mH._linalg_solve_triangular(given.matmul(other).neg(), upper=False)
        of_lower = _left(lower, of_upper.matmul(upper.mH))
    else:
        given, other = (out, g.mH) if left else (out.mH, g)
        of_lower = p.mT.matmul(given).matmul(other).matmul(p).neg()
        of_lower = lower.mH._linalg_solve_triangular(of_lower, upper=True, left=False, unitriangular=True)
        of_upper = _right(upper, lower.mH.matmul(of_lower))
    return summed_to(of_lower.tril(-1).add(of_upper.triu()), both.shape)


# -- functions ---------------------------------------------------------------------------------------
def _need_matrices(name: str, x: Tensor) -> None:
    if x.ndim < 2:
        raise RuntimeError(
            f"{name}: Expected tensor with 2 or more dimensions. Got size: {list(x.shape)} instead"
        )


def _need(name: str, A: Tensor, pivot: bool) -> None:
    _need_matrices("torch.lu_factor" if name == "linalg.lu_factor" else name, A)
    need_matrix(name, array_of(A), integers=True, kernel="lu")
    if not pivot:
        if place_of(A).type == "cpu":
            raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
        raise NotModelled(f"torch.{name}(pivot=False)")


_ZERO_PIVOT = (
    "U[{pivot},{pivot}] is zero and using it on lu_solve would result in a division by zero. If you still "
    "want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """Both triangular factors in one matrix, the rows exchanged, and the first pivots of zero."""
    _need("linalg.lu_factor", A, pivot)
    found = _LU_FACTOR_EX(*_LuFactor.apply(A))
    if check_errors:
        refuse_singular("torch.linalg.lu_factor_ex", array_of(found.info), _ZERO_PIVOT)
    return found


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """Both triangular factors in one matrix, and the rows exchanged."""
    both, pivots, info = lu_factor_ex(A, pivot=pivot)
    refuse_singular("torch.linalg.lu_factor", array_of(info), _ZERO_PIVOT)
    return _LU_FACTOR(both, pivots)


def lu(A: Tensor, *, pivot: bool = True) -> Any:
    """A permutation, a lower and an upper triangular factor."""
    _need("linalg.lu", A, pivot)
    return _LU(*_Lu.apply(A))


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Any:
    """The permutation and the triangular factors that `lu_factor` gave."""
    _need_matrices("torch.lu_unpack", LU_data)
    if place_of(LU_data) is not place_of(LU_pivots):
        refuse_by("device/one-for-all", first=place_of(LU_data), other=place_of(LU_pivots))
    if unpack_pivots and LU_pivots.dtype is not int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: "
            "this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    return _LU_UNPACK(*_LuUnpack.apply(LU_data, (LU_pivots,), unpack_data, unpack_pivots))


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """The solution of a system whose matrix has those triangular factors."""
    array = array_of(LU)
    need_square("torch.linalg.lu_solve", array, half=True)
    if LU.dtype is not B.dtype:
        one, other = (SCALARS[x.dtype.name] for x in (LU, B))
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {one} and B of "
            f"type {other} instead"
        )
    if pivots.dtype is not int32:
        raise RuntimeError("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    if B.ndim < 2:
        raise RuntimeError("linalg.lu_solve: The input tensor B must have at least 2 dimensions.")
    need_sides("linalg.lu_solve", array, tuple(B.shape), left)
    if LU.shape[-1] != pivots.shape[-1]:
        raise RuntimeError(
            "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
        )
    if LU.shape[:-1] != pivots.shape:
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with "
            f"shape {list(pivots.shape)} instead"
        )
    need_kernel("linalg.lu_solve", array, "eV")
    return _LuSolve.apply(LU, (pivots,), B, left, adjoint)
