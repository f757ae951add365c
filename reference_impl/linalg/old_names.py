"""Functions of linear algebra that PyTorch has in its root, and as methods, under older names."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.linalg import decompositions, eigen, norms, solving
from reference_impl.namespace.return_types import return_type
from specs.errors import need_kernel

_SVD: Any = return_type("svd", ("U", "S", "V"))
_QR: Any = return_type("qr", ("Q", "R"))
_TRIANGULAR: Any = return_type("triangular_solve", ("solution", "cloned_coefficient"))


def slogdet(input: Tensor) -> Any:
    """`torch.linalg.slogdet`, under its old name."""
    return decompositions.slogdet(input, named="slogdet")


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """`torch.linalg.cholesky`, under its old name."""
    need_kernel("cholesky", array_of(input), "biu")
    return solving.cholesky(input, upper=upper)


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


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """The solution of a triangular system, under its old name."""
    turned = A.mT if transpose else A
    found = solving.solve_triangular(turned, b, upper=upper != transpose, unitriangular=unitriangular)
    return _TRIANGULAR(found, A.clone())


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """Both triangular factors in one matrix, and the rows exchanged."""
    return tuple(eigen.lu_factor(A, pivot=pivot))


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """The solution of a system whose matrix has those triangular factors."""
    return eigen.lu_solve(LU_data, LU_pivots, b)


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor) -> Any:
    """The permutation and the triangular factors."""
    both = array_of(LU_data)
    lower = np.tril(both, -1) + np.eye(both.shape[-1], dtype=both.dtype)
    parts = (eigen.permutation(array_of(LU_pivots), both.dtype), lower, np.triu(both))
    return tuple(wrap(np.ascontiguousarray(part)) for part in parts)


OLD_NAMES: dict[str, Any] = {
    "cholesky": cholesky, "cholesky_solve": cholesky_solve, "det": solving.det, "inverse": solving.inv,
    "logdet": decompositions.logdet, "lu": lu, "lu_solve": lu_solve, "lu_unpack": lu_unpack,
    "matrix_exp": solving.matrix_exp, "matrix_power": solving.matrix_power, "matrix_rank": norms.matrix_rank,
    "pinverse": solving.pinv, "qr": qr, "slogdet": slogdet, "svd": svd, "triangular_solve": triangular_solve,
}  # fmt: skip
"""Functions and methods by name."""
