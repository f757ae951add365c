"""``torch.linalg``: norms, products, solving and decompositions."""

from reference_impl.linalg.decompositions import eigh, eigvalsh, qr, slogdet, svd, svdvals
from reference_impl.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from reference_impl.linalg.solving import (
    cholesky,
    cross,
    det,
    diagonal,
    inv,
    matrix_power,
    multi_dot,
    pinv,
    solve,
    solve_triangular,
    vecdot,
)
from reference_impl.namespace.missing import loading
from specs.ops.linalg import LinAlgError

__getattr__ = loading(__name__)

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eigh", "eigvalsh", "inv", "matrix_norm",
    "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve",
    "solve_triangular", "svd", "svdvals", "vecdot", "vector_norm",
]  # fmt: skip
