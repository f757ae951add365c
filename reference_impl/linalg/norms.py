"""Norms of vectors and matrices, and what follows from singular values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.dtypes import complex64, complex128, float32, float64
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import marking
from reference_impl.linalg.decompositions import eigvalsh, svdvals
from reference_impl.linalg.pseudo_inverse import above, read_tolerances
from reference_impl.linalg.solving import inv_ex
from reference_impl.namespace.computed_dtype import casting_itself
from specs.dtype_names import SCALARS
from specs.ops.helpers import axis_of
from specs.ops.linalg import need_matrix, need_square


def cast_for(name: str, x: Tensor, dtype: Any) -> Tensor:
    """Cast to the dtype that a norm is computed in, which loses nothing."""
    if dtype is None or not (x.is_floating_point() or x.is_complex()):
        return x
    to, own = SCALARS[dtype.name], SCALARS[x.dtype.name]
    if not (dtype.is_floating_point or dtype.is_complex):
        raise RuntimeError(f"{name}: dtype should be floating point or complex, but got {to}")
    if dtype.is_complex is not x.is_complex():
        kind = "complex" if x.is_complex() else "real"
        raise RuntimeError(f"{name}: dtype should be {kind} for {kind} inputs, but got {to}")
    if dtypes.join(x.dtype.numpy, dtype.numpy) != dtype.numpy:
        raise RuntimeError(
            f"{name}: the dtype of the input ({own}) should be convertible without narrowing to the "
            f"specified dtype ({to})"
        )
    return x.to(dtype)


def vector_norm(
    x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The p-norm of all elements, or of vectors along dimensions."""
    cast = cast_for("linalg.vector_norm", x, dtype)
    return casting_itself(x, cast, cast.vector_norm(ord, dim, keepdim))


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices: "fro", "nuc", or 1, -1, 2, -2, inf, -inf."""
    A = cast_for("linalg.matrix_norm", A, dtype)
    need_matrix("linalg.matrix_norm", array_of(A), half=ord not in ("nuc", 2, -2))
    rows, columns = _matrix_dims(dim, A.ndim)
    if ord == "fro":
        return vector_norm(A, 2, dim, keepdim)
    if ord not in ("nuc", 1, -1, 2, -2, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord in ("nuc", 2, -2):
        values = svdvals(_last(A, rows, columns))
        if ord == "nuc":
            found = values.sum(-1, keepdim)
        else:
            found = values.amax(-1, keepdim) if ord > 0 else values.amin(-1, keepdim)
        return _kept(found, rows, columns) if keepdim else found
    if abs(ord) == math.inf:
        rows, columns = columns, rows
    sums = vector_norm(A, 1, rows, keepdim)
    at = columns if keepdim or columns < rows else columns - 1
    return sums.amax(at, keepdim) if ord > 0 else sums.amin(at, keepdim)


def nuclear(x: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the singular values, as ``torch.norm`` is asked for it."""
    return matrix_norm(x, "nuc", tuple(range(x.ndim)) if dim is None else dim, keepdim)


def _matrix_dims(dim: Any, ndim: int) -> tuple[int, int]:
    """The dimensions of matrices, counted from the front."""
    given = dim if isinstance(dim, (tuple, list)) else (dim,)
    if len(given) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, given))}")
    rows, columns = (axis_of(d, ndim) for d in given)
    if rows == columns:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({given[0]}, {given[1]})")
    return rows, columns


def _order(x: Tensor, rows: int, columns: int) -> tuple[int, ...]:
    """The dimensions, those of the matrices last."""
    return (*[d for d in range(x.ndim) if d not in (rows, columns)], rows, columns)


def _last(x: Tensor, rows: int, columns: int) -> Tensor:
    return x.permute(_order(x, rows, columns))


def _kept(x: Tensor, rows: int, columns: int) -> Tensor:
    """The result with the two dimensions, of which it has one, back in their places as ones."""
    x = x.unsqueeze(-1)
    order = _order(x, rows, columns)
    return x.permute(tuple(order.index(d) for d in range(x.ndim)))


def norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of vectors, or of matrices if two dimensions are given or ``ord`` is of a matrix."""
    if isinstance(dim, (tuple, list)) and len(dim) not in (1, 2) and not isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    one = isinstance(dim, int) or (dim is not None and len(dim) == 1)
    if ord is None or (one and not isinstance(ord, str)):
        return vector_norm(A, 2 if ord is None else ord, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndim}D."
            )
        if A.ndim == 1 and not isinstance(ord, str):
            return vector_norm(A, ord, None, keepdim, dtype=dtype)
        dim = (0, 1)
    return matrix_norm(A, ord, dim, keepdim, dtype=dtype)


_CONDITIONS = (None, 2, -2, 1, -1, "fro", "nuc", math.inf, -math.inf)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The condition number in a norm, by default from the singular values.

    In norms that need the inverse it has no gradient, since infinity is written over what has no inverse.
    """
    if A.ndim < 2:
        raise RuntimeError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p not in _CONDITIONS:
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not A.numel():
        return A.detach().abs().new_zeros(A.shape[:-2])
    if p in (None, 2, -2):
        values = svdvals(A)
        first, last = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (last.div(first) if p == -2 else first.div(last)).squeeze(-1)
    need_square(
        f"linalg.cond(ord={f'{p:f}' if isinstance(p, float) else p})", array_of(A), half=True, integers=True
    )
    if p == "nuc":
        values = svdvals(A)
        return values.sum(-1).mul(values.reciprocal().sum(-1))
    inverse, info = inv_ex(A)
    inverse.masked_fill_(info.gt(0).unsqueeze(-1).unsqueeze(-1), math.inf)
    return matrix_norm(A, p).mul(matrix_norm(inverse, p)).nan_to_num_(math.inf, math.inf, -math.inf)


@marking
def matrix_rank(
    A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """The number of singular values above a bound; it has no gradient."""
    if A.dtype not in (float32, float64, complex64, complex128):
        raise RuntimeError("This function doesn't handle types other than float and double")
    if A.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    atol = tol if atol is None else atol
    given = read_tolerances("linalg.matrix_rank", atol=atol, rtol=0.0 if tol is not None else rtol)
    values = eigvalsh(A.detach()).abs() if hermitian else svdvals(A.detach())
    counted = above(array_of(values), array_of(A).shape, **given).sum(-1)
    return wrap(np.asarray(counted, np.int64, order="C"))
