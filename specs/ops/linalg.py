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

_FACTS: dict[str, Any] = {
    "internal": True,
    "wide": False,
    "layout": (),
    "exact": False,
    "ulp": 64,
    "complex": True,
}


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
    if kernel:
        need_kernel(kernel, x, "biueV")


def by_column(x: Any) -> np.ndarray:
    """The matrices of a batch laid out by columns."""
    return np.swapaxes(np.ascontiguousarray(np.swapaxes(x, -1, -2)), -1, -2)


def _batch(at: tuple[int, ...], shape: tuple[int, ...]) -> str:
    return f"(Batch element {np.ravel_multi_index(at, shape)}): " if shape else ""


def _zero_pivot(x: np.ndarray) -> int:
    """The first pivot, counted from 1, that is zero in a decomposition with row exchanges; 0 if none is."""
    x = x.copy()
    for n in range(len(x)):
        best = n + int(np.argmax(np.abs(x[n:, n])))
        if x[best, n] == 0:
            return n + 1
        x[[n, best]] = x[[best, n]]
        x[n + 1 :] -= np.outer(x[n + 1 :, n] / x[n, n], x[n])
    return 0


def _refuse_singular(name: str, x: np.ndarray, words: str) -> None:
    """Refuse the first matrix of a batch that is singular."""
    for at in np.ndindex(x.shape[:-2]):
        if pivot := _zero_pivot(x[at]):
            raise LinAlgError(f"{name}: {_batch(at, x.shape[:-2])}{words.format(pivot=pivot)}")


# -- inverse and determinant -------------------------------------------------------------------------
@op(node="LinalgInvExBackward0", dtypes="keep", **_FACTS)
def _linalg_inv(x: Tensor) -> Any:
    """The inverse of each matrix; saves its result."""
    need_square("linalg.inv", x)
    _refuse_singular(
        "linalg.inv",
        x,
        "The diagonal element {pivot} is zero, the inversion could not be completed because the input matrix "
        "is singular.",
    )
    return by_column(np.linalg.inv(x))


_linalg_inv.wrt(x=lambda g, out: out.mH.matmul(g.matmul(out.mH)).neg())


@op(node="LinalgDetBackward0", dtypes="keep", **_FACTS)
def _linalg_det(x: Tensor) -> Any:
    """The determinant of each matrix."""
    need_square("linalg.det", x, kernel="lu")
    return np.asarray(np.linalg.det(x))


@op(node="", dtypes="keep", **_FACTS)
def _cofactors(x: Tensor) -> Any:
    """The cofactors of each matrix, which stay finite where the determinant is zero."""
    u, s, vh = np.linalg.svd(x)
    n = s.shape[-1]
    others = np.stack([np.prod(np.delete(s, i, -1), -1) for i in range(n)], -1)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    return np.asarray(sign[..., None, None] * np.matmul(u * others[..., None, :], vh))


def _det_backward(g: Any, x: Any, out: Any) -> Any:
    g = g.unsqueeze(-1).unsqueeze(-1)
    if bool((out.detach() == 0).any()):
        if x._is_recorded() and g.requires_grad:
            raise NotImplementedError("second derivatives of the determinant of a singular matrix")
        return g.mul(x.detach()._cofactors().conj())
    return g.mul(out.unsqueeze(-1).unsqueeze(-1).conj()).mul(x._linalg_inv().mH)


_linalg_det.wrt(x=_det_backward)


# -- solving -----------------------------------------------------------------------------------------
def _is_vector(x: np.ndarray, y: np.ndarray) -> bool:
    """Tell a batch of vectors from a batch of matrices, as torch does by the shapes."""
    return y.ndim == 1 or (x.ndim - 1 == y.ndim and y.shape == x.shape[:-1])


def _need_system(name: str, x: np.ndarray, y: np.ndarray, left: bool, **takes: Any) -> None:
    need_square(name, x, **takes)
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {scalar_type(x)} and B "
            f"of type {scalar_type(y)} instead"
        )
    side = y.shape[-1] if _is_vector(x, y) else y.shape[-2 if left else -1]
    if side != x.shape[-1]:
        # torch speaks of a vector as of a matrix of one column
        shape = (*y.shape, 1) if _is_vector(x, y) else y.shape
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({x.shape[-2]}x{x.shape[-1]} and {shape[-2]}x{shape[-1]})"
        )


@op(node="LinalgSolveExBackward0", dtypes="keep", torch_names={"x": "A", "y": "B"}, **_FACTS)
def _linalg_solve(x: Tensor, y: Tensor, *, left: Bool = True) -> Any:
    """The solution of each system of linear equations; saves its result."""
    _need_system("linalg.solve", x, y, left, kernel="lu")
    _refuse_singular("torch.linalg.solve", x, "The solver failed because the input matrix is singular.")
    if _is_vector(x, y):
        return np.linalg.solve(x, y[..., None])[..., 0]
    if left:
        return by_column(np.linalg.solve(x, y))
    return np.swapaxes(np.linalg.solve(np.swapaxes(x, -1, -2), np.swapaxes(y, -1, -2)), -1, -2)


def _summed_to(g: Any, shape: Any) -> Any:
    """The sum over what broadcasting added."""
    return g.sum_to_size(shape) if tuple(g.shape) != tuple(shape) else g


def _solve_right(g: Any, x: Any, out: Any, y_shape: Any, left: bool) -> Any:
    return _summed_to(x.mH._linalg_solve(g, left=left), y_shape)


def _solve_left(g: Any, x: Any, out: Any, y_shape: Any, left: bool) -> Any:
    inner = x.mH._linalg_solve(g, left=left)
    if tuple(y_shape) == tuple(x.shape[:-1]) or len(y_shape) == 1:
        product = inner.unsqueeze(-1).matmul(out.unsqueeze(-2).conj())
    else:
        product = inner.matmul(out.mH) if left else out.mH.matmul(inner)
    return _summed_to(product.neg(), x.shape)


_linalg_solve.wrt(x=_solve_left, y=_solve_right)


@op(node="LinalgSolveTriangularBackward0", dtypes="keep", torch_names={"x": "self", "y": "B"}, **_FACTS)
def _linalg_solve_triangular(
    x: Tensor, y: Tensor, *, upper: Bool, left: Bool = True, unitriangular: Bool = False
) -> Any:
    """The solution of systems whose matrix has a triangle of zeros; the other triangle is not read."""
    _need_system("linalg.solve_triangular", x, y, left, integers=True, kernel="triangular_solve")
    matrix = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        size = np.arange(x.shape[-1])
        matrix = matrix.copy()
        matrix[..., size, size] = 1
    with np.errstate(all="ignore"):
        if not left:
            return np.swapaxes(
                _substituted(np.swapaxes(matrix, -1, -2), np.swapaxes(y, -1, -2), not upper), -1, -2
            )
        return by_column(_substituted(matrix, y, upper))


def _substituted(matrix: np.ndarray, y: np.ndarray, upper: bool) -> np.ndarray:
    """Solve row by row; a zero on the diagonal gives infinities, as in LAPACK."""
    shape = np.broadcast_shapes(matrix.shape[:-2], y.shape[:-2])
    out = np.broadcast_to(y, (*shape, *y.shape[-2:])).copy()
    size = matrix.shape[-1]
    for n in range(size)[::-1] if upper else range(size):
        known = slice(n + 1, size) if upper else slice(0, n)
        out[..., n, :] -= np.matmul(matrix[..., n : n + 1, known], out[..., known, :])[..., 0, :]
        out[..., n, :] /= matrix[..., n, n, None]
    return out


def _triangular(g: Any, x: Any, out: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    inner = x.mH._linalg_solve_triangular(g, upper=not upper, left=left, unitriangular=unitriangular)
    product = inner.matmul(out.mH) if left else out.mH.matmul(inner)
    cut = int(unitriangular)
    product = _summed_to(product.neg(), x.shape)
    return product.triu(cut) if upper else product.tril(-cut)


_linalg_solve_triangular.wrt(
    x=_triangular,
    y=lambda g, x, y_shape, upper, left, unitriangular: _summed_to(
        x.mH._linalg_solve_triangular(g, upper=not upper, left=left, unitriangular=unitriangular), y_shape
    ),
)


# -- Cholesky ----------------------------------------------------------------------------------------
@op(node="LinalgCholeskyExBackward0", dtypes="keep", **_FACTS)
def _linalg_cholesky(x: Tensor, *, upper: Bool = False) -> Any:
    """The factor of each positive definite matrix, of which one triangle is read; saves its result."""
    need_square("linalg.cholesky", x, kernel="cholesky")
    lower = np.swapaxes(x, -1, -2).conj() if upper else x
    out = np.empty_like(lower, order="C")
    for at in np.ndindex(x.shape[:-2]):
        try:
            out[at] = np.linalg.cholesky(lower[at])
        except np.linalg.LinAlgError:
            order = next(n for n in range(1, x.shape[-1] + 1) if not _is_positive(lower[at][:n, :n]))
            raise LinAlgError(
                f"linalg.cholesky: {_batch(at, x.shape[:-2])}The factorization could not be completed "
                f"because the input is not positive-definite (the leading minor of order {order} is not "
                "positive-definite)."
            ) from None
    return np.swapaxes(out, -1, -2).conj() if upper else by_column(out)


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
    if x.ndim != y.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis_of(dim, x.ndim)
    if x.shape[dim] != 3 or y.shape[dim] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[dim]} and {y.shape[dim]}"
        )
    need_one_dtype("cross", x, y, "read")
    shape = np.broadcast_shapes(x.shape, y.shape)
    x, y = np.broadcast_to(x, shape), np.broadcast_to(y, shape)
    return np.ascontiguousarray(np.cross(x, y, axis=dim))


_linalg_cross.wrt(
    x=lambda g, y, dim: y.conj()._linalg_cross(g, dim=dim),
    y=lambda g, x, dim: g._linalg_cross(x.conj(), dim=dim),
)
