"""Forms of several tensors, functions of matrices, memory formats; generated programs do not call these."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.active_rules import by
from specs.demands import one_dtype
from specs.dtype_names import scalar_type
from specs.inference_alone import copied
from specs.kind import Bool, Format, IntList, Size, Tensor
from specs.layout import in_format
from specs.op import composite, op
from specs.ops.linalg import by_column, need_square

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "wide": True, "exact": False, "ulp": 64}


# -- the product of three --------------------------------------------------------------------------
def _wider(x: np.ndarray, dims: tuple[int, ...]) -> np.ndarray:
    for d in sorted(dims):
        x = np.expand_dims(x, d)
    return x


@op(node="TrilinearBackward0", complex_history=False, **_FACTS)
def _trilinear(
    x1: Tensor, x2: Tensor, x3: Tensor, *, wide1: IntList, wide2: IntList, wide3: IntList, summed: IntList
) -> Any:
    """The product of three tensors with new dimensions each, summed over some."""
    return np.sum(_wider(x1, wide1) * _wider(x2, wide2) * _wider(x3, wide3), summed, dtype=x1.dtype)


_trilinear.wrt(
    x1=lambda g, x2, x3, wide1, wide2, wide3, summed: g._trilinear(
        x2, x3, wide1=summed, wide2=wide2, wide3=wide3, summed=wide1
    ),
    x2=lambda g, x1, x3, wide1, wide2, wide3, summed: x1._trilinear(
        g, x3, wide1=wide1, wide2=summed, wide3=wide3, summed=wide2
    ),
    x3=lambda g, x1, x2, wide1, wide2, wide3, summed: x1._trilinear(
        x2, g, wide1=wide1, wide2=wide2, wide3=summed, summed=wide3
    ),
)


# -- functions of a matrix -------------------------------------------------------------------------
@op(node="TraceBackward0", **_FACTS | {"dtypes": "accumulate", "complex": True}, lacks="b")
def trace(x: Tensor) -> Any:
    """The sum of the diagonal of a matrix."""
    if x.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {x.ndim}")
    return np.asarray(np.sum(np.diagonal(x)))


def _on_diagonal(g: Any, x_shape: Size) -> Any:
    rows, columns = x_shape
    flat = g.new_zeros((rows * columns,))
    places = np.arange(min(rows, columns)) * (columns + 1)
    return flat.index_fill(0, flat.new_tensor(places.tolist()).long(), g).view(x_shape)


trace.wrt(x=_on_diagonal)


_PADE = [math.factorial(26 - k) * math.factorial(13) / (math.factorial(26) * math.factorial(k)
         * math.factorial(13 - k)) for k in range(14)]  # fmt: skip
"""The coefficients of the rational function that stands for the exponential near zero."""


def _exponential(x: np.ndarray) -> np.ndarray:
    """The exponential of a matrix: of a small part of it, squared again and again."""
    size = np.max(np.sum(np.abs(x), 0), initial=0.0)
    halvings = max(0, math.ceil(math.log2(size)) + 1) if 0 < size < math.inf else 0
    part, power = x / 2**halvings, np.eye(len(x), dtype=x.dtype)
    even, odd = np.zeros_like(power), np.zeros_like(power)
    for k, share in enumerate(_PADE):
        if k % 2:
            odd = odd + share * power
        else:
            even = even + share * power
        power = power @ part
    found = np.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        found = found @ found
    return found


@op(node="LinalgMatrixExpBackward0", **_FACTS | {"complex": True})
def _linalg_matrix_exp(x: Tensor) -> Any:
    """The exponential of each matrix."""
    need_square("linalg.matrix_exp", x)
    wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
    flat = wide.reshape((-1, *x.shape[-2:]))
    found = np.array([_exponential(one) for one in flat]).reshape(x.shape)
    return found.astype(x.dtype)


def _exp_backward(g: Any, x: Any) -> Any:
    """The upper right block of the exponential of the matrix with the gradient in its upper right block."""
    n, turned = x.shape[-1], x.mH
    whole = g.new_zeros((*x.shape[:-2], 2 * n, 2 * n))
    for row, column, block in ((0, 0, turned), (n, n, turned), (0, n, g)):
        whole.narrow(-2, row, n).narrow(-1, column, n).copy_(block)
    return whole._linalg_matrix_exp().narrow(-2, 0, n).narrow(-1, n, n)


_linalg_matrix_exp.wrt(x=_exp_backward)


# -- solving with a factor that is known -----------------------------------------------------------
def _factored(factor: np.ndarray, upper: bool) -> np.ndarray:
    lower = np.swapaxes(np.triu(factor), -1, -2).conj() if upper else np.tril(factor)
    return lower @ np.swapaxes(lower, -1, -2).conj()


@op(node="CholeskySolveBackward0", lacks="biueV", kernel="cholesky_solve", **_FACTS)
def _cholesky_solve(x: Tensor, factor: Tensor, *, upper: Bool) -> Any:
    """The solution of a system whose matrix has that triangular factor."""
    if x.dtype != factor.dtype:
        found = f"b of type {scalar_type(x)} and A of type {scalar_type(factor)}"
        raise RuntimeError(f"Expected b and A to have the same dtype, but found {found} instead.")
    matrix = _factored(factor.astype(np.result_type(factor, np.float64)), upper)
    return by_column(np.linalg.solve(matrix, x).astype(x.dtype))


def _factor_of_solution(g: Any, x: Any, factor: Any, out: Any, upper: bool) -> Any:
    product = g._cholesky_solve(factor, upper=upper).matmul(out.mH)
    common = product.add(product.mH)
    found = factor.matmul(common) if upper else common.matmul(factor)
    return found.neg()


_cholesky_solve.wrt(
    x=lambda g, x, factor, out, upper: g._cholesky_solve(factor, upper=upper), factor=_factor_of_solution
)


@op(node="CholeskyInverseBackward0", lacks="biueV", kernel="cholesky_inverse_out", **_FACTS)
def cholesky_inverse(x: Tensor, upper: Bool = False) -> Any:
    """The inverse of the matrix with that triangular factor."""
    need_square("cholesky_inverse", x)
    matrix = _factored(x.astype(np.result_type(x, np.float64)), upper)
    return by_column(np.linalg.inv(matrix).astype(x.dtype))


def _factor_of_inverse(g: Any, x: Any, out: Any, upper: bool) -> Any:
    common = out.matmul(g.add(g.mH).matmul(out))
    return (x.matmul(common) if upper else common.matmul(x)).neg()


cholesky_inverse.wrt(x=_factor_of_inverse)


# -- gates -----------------------------------------------------------------------------------------
@op(node="GluBackward0", lacks="biuc", kernel="glu", **_FACTS)
def _glu(x: Tensor, *, dim: IntList) -> Any:
    """The first half times the sigmoid of the second."""
    a, b = np.split(x, 2, dim[0])
    return a / (1 + np.exp(-b))


@op(node="GluBackwardBackward0", **_FACTS)
def _glu_backward(dy: Tensor, whole: Tensor, *, dim: IntList) -> Any:
    """The gradient of both halves."""
    a, b = np.split(whole, 2, dim[0])
    gate = 1 / (1 + np.exp(-b))
    return np.concatenate([dy * gate, dy * a * gate * (1 - gate)], dim[0])


def _halves(x: Any, dim: Any) -> tuple[Any, Any]:
    size = x.shape[dim[0]] // 2
    return x.narrow(dim[0], 0, size), x.narrow(dim[0], size, size)


def _glu_twice_dy(g: Any, whole: Any, dim: Any) -> Any:
    (ga, gb), (a, b) = _halves(g, dim), _halves(whole, dim)
    gate = b.sigmoid()
    return ga.mul(gate).add(gb.mul(a).mul(gate.sub(gate.mul(gate))))


def _glu_twice_whole(g: Any, dy: Any, whole: Any, dim: Any) -> Any:
    (ga, gb), (a, b) = _halves(g, dim), _halves(whole, dim)
    gate = b.sigmoid()
    slope = gate.sub(gate.mul(gate))
    second = ga.add(gb.mul(a).mul(gate.mul_scalar(-2).add_scalar(1))).mul(slope).mul(dy)
    axis = dim[0] % whole.ndim
    return gb.mul(dy).mul(slope)._cat(second, dim=axis, sizes=(a.shape[axis], a.shape[axis]))


_glu.wrt(x=one_dtype("x", "g", case="iterated")(lambda g, x, dim: g._glu_backward(x, dim=dim)))
_glu_backward.wrt(dy=_glu_twice_dy, whole=_glu_twice_whole)


# -- memory formats ----------------------------------------------------------------------------------
@op(name="clone", node="CloneBackward0", dtypes="keep", internal=True, complex=True, alone=copied)
def clone_in_format(x: Tensor, *, memory_format: Format) -> Any:
    """A copy in a memory format."""
    return in_format(x, memory_format)


clone_in_format.wrt(x=lambda g: g)


@composite(name="contiguous", complex=True, internal=True, function=False)
def contiguous_in_format(x: Tensor, *, memory_format: Format) -> Any:
    """The tensor itself if it is laid out in that format, else a copy that is."""
    kept = x.is_contiguous(memory_format=memory_format) and by("copy/nothing-to-do-is-itself")
    return x if kept else x.clone(memory_format=memory_format)
