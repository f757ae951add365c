"""Linear algebra with one result: inverse, determinant, solving, Cholesky's factor.

Generated programs do not call these (``internal``). Results lie by columns, as LAPACK leaves them. Functions
with several results are in ``reference_impl/linalg``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.dtype_names import scalar_type
from specs.errors import need_kernel
from specs.kind import Bool, Dim, Tensor
from specs.op import op
from specs.ops.helpers import axis_of, need_one_dtype
from specs.ops.tangents import cholesky_jvp, without_jvp
from specs.ops.triangular import factored, permutation, solved, substituted

_FACTS: dict[str, Any] = {
    "internal": True, "wide": False, "layout": (), "exact": False, "ulp": 64, "complex": True,
}  # fmt: skip


class LinAlgError(RuntimeError):
    """Raised for a matrix that has no inverse or no factor."""


LinAlgError.__name__ = "_LinAlgError"  # as PyTorch's C++ names it


# -- demands -----------------------------------------------------------------------------------------
_NAMES = {"i": {1: "Char", 2: "Short", 4: "Int", 8: "Long"}, "u": {1: "Byte"}, "b": {1: "Bool"}}


def need_square(name: str, x: np.ndarray, **takes: Any) -> None:
    """Refuse what is no batch of square matrices; the rest is as for `need_matrix`."""
    need_matrix(name, x, **takes)
    if x.shape[-1] != x.shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {x.shape[-2]} by {x.shape[-1]} "
            "matrices"
        )


def need_matrix(
    name: str, x: np.ndarray, *, half: bool = False, integers: bool = False, kernel: str = ""
) -> None:
    """Refuse what is no batch of matrices of floating-point numbers, of ones in half precision or integers.

    Where PyTorch's function does not look at the dtype, a ``kernel`` refuses it.
    """
    if x.dtype.kind in "iub" and not integers:
        got = _NAMES[x.dtype.kind][x.dtype.itemsize]
        raise RuntimeError(f"{name}: Expected a floating point or complex tensor as input. Got {got}")
    if not (half or kernel) and (x.dtype.kind == "V" or x.dtype.itemsize == 2):
        got = "BFloat16" if x.dtype.kind == "V" else "Half"
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {got}")
    if x.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if kernel and x.size:
        need_kernel(kernel, x, "biueV")


def by_column(x: Any) -> np.ndarray:
    """The matrices of a batch laid out by columns."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)


def element(at: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """The matrix of a batch that a refusal speaks of."""
    return f"(Batch element {np.ravel_multi_index(at, shape)}): " if shape else ""


def refuse_singular(name: str, info: np.ndarray, words: str) -> None:
    """Refuse the first matrix of a batch that has a pivot of zero."""
    for at in np.ndindex(info.shape):
        if info[at]:
            raise LinAlgError(f"{name}: {element(at, info.shape)}{words.format(pivot=info[at])}")


# -- inverse and determinant -------------------------------------------------------------------------
NO_INVERSE = (
    "The diagonal element {pivot} is zero, the inversion could not be completed because the input matrix is "
    "singular."
)
NO_SOLUTION = "The solver failed because the input matrix is singular."


@op(node="LinalgInvExBackward0", dtypes="keep", **_FACTS)
def _linalg_inv(x: Tensor, *, checked: Bool = True) -> Any:
    """The inverse of each matrix; saves its result."""
    need_square("linalg.inv", x)
    both, pivots, info = factored(x)
    if not info.any():
        return by_column(np.linalg.inv(x))
    if checked:
        refuse_singular("linalg.inv", info, NO_INVERSE)
    size = x.shape[-1]
    return by_column(solved(both, permutation(pivots, size, x.dtype), np.eye(size, dtype=x.dtype)))


_linalg_inv.wrt(x=lambda g, out: out.mH.matmul(g.matmul(out.mH)).neg())


@op(node="LinalgDetBackward0", dtypes="keep", **_FACTS)
def _linalg_det(x: Tensor) -> Any:
    """The determinant of each matrix."""
    need_square("linalg.det", x, kernel="lu")
    if not x.size:
        return np.ones(x.shape[:-2], np.float32).astype(x.dtype)
    return np.asarray(np.linalg.det(x))


def _by_singular_values(g: Any, x: Any) -> Any:
    """The cofactors of each matrix, which stay finite where the determinant is zero."""
    u, s, v = x.svd()
    own = s.new_ones(s.shape).diag_embed() == 1
    others = s.unsqueeze(-2).expand(own.shape).masked_fill(own, 1).prod(-1)
    share = u._linalg_det().mul(v.mH._linalg_det()).conj().mul(g).unsqueeze(-1)
    diagonal = share.mul(others)
    return u.mul(diagonal.unsqueeze(-2)).matmul(v.mH)


def _det_backward(g: Any, x: Any, out: Any) -> Any:
    if not x.numel():
        return x.new_zeros(x.shape)
    if x.shape[-1] == 1:
        return g.unsqueeze(-1).unsqueeze(-1).expand(x.shape)
    singular = out.detach() == 0
    if not singular.any():
        return g.mul(out.conj()).unsqueeze(-1).unsqueeze(-1).mul(x._linalg_inv().mH)
    if singular.all():
        return _by_singular_values(g, x)
    found = x.new_zeros(x.shape)
    for part in (singular, ~singular):
        found[part] = _det_backward(g[part], x[part], out[part])
    return found


_linalg_det.wrt(x=_det_backward)


# -- solving -----------------------------------------------------------------------------------------
def is_vector(x: Any, y: Any) -> bool:
    """Tell a batch of vectors from a batch of matrices, as torch does by the shapes."""
    return y.ndim == 1 or (x.ndim - 1 == y.ndim and y.shape == x.shape[:-1])


def _need_system(name: str, x: np.ndarray, y: np.ndarray, left: bool, **takes: Any) -> None:
    need_square(name, x, **takes)
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {scalar_type(x)} and B "
            f"of type {scalar_type(y)} instead"
        )
    need_sides(name, x, (*y.shape, 1) if is_vector(x, y) else y.shape, left)  # a vector is a column


def need_sides(name: str, x: Any, shape: tuple[int, ...], left: bool) -> None:
    """Refuse a right side of that shape if it has another number of rows, or columns, than the matrices."""
    if len(shape) < 2:
        raise RuntimeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if shape[-2 if left else -1] != x.shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({x.shape[-2]}x{x.shape[-1]} and {shape[-2]}x{shape[-1]})"
        )


@op(node="LinalgSolveExBackward0", dtypes="keep", torch_names={"x": "A", "y": "B"}, **_FACTS)
def _linalg_solve(x: Tensor, y: Tensor, *, left: Bool = True, checked: Bool = True) -> Any:
    """The solution of each system of linear equations; saves its result."""
    _need_system("linalg.solve", x, y, left, kernel="lu")
    vector, (both, pivots, info) = is_vector(x, y), factored(x)
    y = y[..., None] if vector else y
    if info.any():
        if checked:
            refuse_singular("torch.linalg.solve", info, NO_SOLUTION)
        found = solved(both, permutation(pivots, x.shape[-1], x.dtype), y, left=left)
    elif left:
        found = np.linalg.solve(x, y)
    else:
        found = np.swapaxes(np.linalg.solve(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)
    if vector:
        return found[..., 0]
    return by_column(found) if left else np.ascontiguousarray(found)


def summed_to(g: Any, shape: Any) -> Any:
    """The sum over what broadcasting added."""
    return g.sum_to_size(shape) if tuple(g.shape) != tuple(shape) else g


def _solve_right(g: Any, x: Any, out: Any, y_shape: Any, left: bool) -> Any:
    return summed_to(x.mH._linalg_solve(g, left=left), y_shape)


def _solve_left(g: Any, x: Any, out: Any, y_shape: Any, left: bool) -> Any:
    inner = x.mH._linalg_solve(g, left=left)
    if tuple(y_shape) == tuple(x.shape[:-1]) or len(y_shape) == 1:
        product = inner.unsqueeze(-1).matmul(out.unsqueeze(-2).conj())
    else:
        product = inner.matmul(out.mH) if left else out.mH.matmul(inner)
    return summed_to(product.neg(), x.shape)


_linalg_solve.wrt(x=_solve_left, y=_solve_right)


@op(node="LinalgSolveTriangularBackward0", dtypes="keep", torch_names={"x": "self", "y": "B"}, **_FACTS)
def _linalg_solve_triangular(
    x: Tensor, y: Tensor, *, upper: Bool, left: Bool = True, unitriangular: Bool = False
) -> Any:
    """The solution of systems whose matrix has a triangle of zeros; the other triangle is not read."""
    _need_system("linalg.solve_triangular", x, y, left, integers=True, kernel="triangular_solve")
    need_sides("linalg.solve_triangular", x, y.shape, left)  # and it takes no vector
    matrix = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        size = np.arange(x.shape[-1])
        matrix = matrix.copy()
        matrix[..., size, size] = 1
    with np.errstate(all="ignore"):
        if not left:
            turned, b = np.swapaxes(matrix, -1, -2), np.swapaxes(y, -1, -2)
            return np.swapaxes(substituted(turned, b, from_below=not upper), -1, -2)
        return by_column(substituted(matrix, y, from_below=upper))


def _triangular(g: Any, x: Any, out: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    inner = x.mH._linalg_solve_triangular(g, upper=not upper, left=left, unitriangular=unitriangular)
    product = inner.matmul(out.mH) if left else out.mH.matmul(inner)
    cut = int(unitriangular)
    product = summed_to(product.neg(), x.shape)
    return product.triu(cut) if upper else product.tril(-cut)


_linalg_solve_triangular.wrt(
    x=_triangular,
    y=lambda g, x, y_shape, upper, left, unitriangular: summed_to(
        x.mH._linalg_solve_triangular(g, upper=not upper, left=left, unitriangular=unitriangular), y_shape
    ),
)


# -- Cholesky ----------------------------------------------------------------------------------------
NO_FACTOR = (
    "The factorization could not be completed because the input is not positive-definite (the leading "
    "minor of order {pivot} is not positive-definite)."
)


def _cholesky(name: str, x: np.ndarray, upper: bool, checked: bool) -> np.ndarray:
    need_square(name, x, kernel="cholesky")
    info = orders_not_positive(x, upper)
    if checked:
        refuse_singular(name, info, NO_FACTOR)
    lower = _lower_half(x, upper)
    out = np.tril(lower)
    for at in np.ndindex(x.shape[:-2]):
        if not info[at]:
            out[at] = np.linalg.cholesky(lower[at])
            continue
        known = info[at] - 1
        first = out[at][:known, :known] = np.linalg.cholesky(lower[at][:known, :known])
        # LAPACK leaves off at the pivot that is not positive: the columns before that are the factor's
        rest = lower[at][known:, :known].T
        rest = out[at][known:, :known] = substituted(first.conj(), rest, from_below=False).T
        out[at][known, known] -= (np.abs(rest[0]) ** 2).sum()
    return np.swapaxes(out, -1, -2).conj() if upper else by_column(out)


def _lower_half(x: np.ndarray, upper: bool) -> np.ndarray:
    return np.swapaxes(x, -1, -2).conj() if upper else x


def orders_not_positive(x: np.ndarray, upper: bool) -> np.ndarray:
    """The order of the first leading minor of each matrix that is not positive, or 0."""
    lower, info = _lower_half(x, upper), np.zeros(x.shape[:-2], np.int32)
    for at in np.ndindex(info.shape):
        orders = range(1, x.shape[-1] + 1) if not _is_positive(lower[at]) else ()
        info[at] = next((n for n in orders if not _is_positive(lower[at][:n, :n])), 0)
    return info


@op(node="LinalgCholeskyExBackward0", dtypes="keep", jvp=cholesky_jvp, **_FACTS)
def _linalg_cholesky(x: Tensor, *, upper: Bool = False, checked: Bool = True) -> Any:
    """The factor of each positive definite matrix, of which one triangle is read; saves its result."""
    return _cholesky("linalg.cholesky", x, upper, checked)


@op(node="CholeskyBackward0", dtypes="keep", jvp=without_jvp("cholesky"), **_FACTS)
def _old_cholesky(x: Tensor, *, upper: Bool = False) -> Any:
    """`torch.cholesky`, which has a node of its own."""
    return _cholesky("cholesky", x, upper, True)


def _is_positive(matrix: np.ndarray) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return math.isfinite(float(np.abs(matrix).sum()))


def _cholesky_backward(g: Any, out: Any, upper: bool) -> Any:
    factor = out.mH if upper else out
    g = g.mH if upper else g
    inner = factor.mH.matmul(g).tril()
    inner = inner.add(inner.tril(-1).mH).mul_scalar(0.5)
    half = factor.mH._linalg_solve_triangular(inner, upper=True)
    return factor._linalg_solve_triangular(half, upper=False, left=False)


_linalg_cholesky.wrt(x=_cholesky_backward)
_old_cholesky.wrt(x=_cholesky_backward)


# -- products ----------------------------------------------------------------------------------------
@op(
    node="LinalgCrossBackward0",
    dtypes="keep",
    internal=True,
    exact=False,
    ulp=4,
    complex=True,
    lacks="b",
    kernel="cross",
)
def _linalg_cross(x: Tensor, y: Tensor, *, dim: Dim = -1) -> Any:
    """The cross product of vectors of three elements along a dimension."""
    need_one_dtype("cross", x, y, "read")
    if x.ndim != y.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis_of(dim, x.ndim)
    if not x.shape[dim] == y.shape[dim] == 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[dim]} and {y.shape[dim]}"
        )
    shape = np.broadcast_shapes(x.shape, y.shape)
    x, y = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    return np.ascontiguousarray(np.cross(x, y, axis=dim))


_linalg_cross.wrt(
    x=lambda g, y, dim: y.conj()._linalg_cross(g, dim=dim),
    y=lambda g, x, dim: g._linalg_cross(x.conj(), dim=dim),
)
