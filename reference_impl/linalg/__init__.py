"""``torch.linalg``: norms, products, solving and decompositions."""

from reference_impl.fidelity.out_argument import taking_out
from reference_impl.linalg.decompositions import eigh, eigvalsh, qr, slogdet, svd, svdvals
from reference_impl.linalg.eigen import eig, eigvals, lstsq
from reference_impl.linalg.factors import lu, lu_factor, lu_factor_ex, lu_solve
from reference_impl.linalg.norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from reference_impl.linalg.old_names import OLD_NAMES
from reference_impl.linalg.pseudo_inverse import pinv
from reference_impl.linalg.solving import (
    cholesky,
    cholesky_ex,
    cross,
    det,
    diagonal,
    inv,
    inv_ex,
    matrix_exp,
    matrix_power,
    multi_dot,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
    vander,
    vecdot,
)
from reference_impl.namespace.missing import loading
from reference_impl.namespace.tensor_arguments import tell_of_tensors
from specs.ops.linalg import LinAlgError

_WITH_OUT = (
    "cholesky", "cross", "det", "eigvalsh", "inv", "matrix_norm", "matrix_power", "multi_dot", "norm", "pinv",
    "solve", "solve_triangular", "svdvals", "tensorinv", "tensorsolve",
    "vecdot", "vector_norm",
)  # fmt: skip
_CASTING_OUT = ("pinv", "tensorinv")
globals().update({name: taking_out(globals()[name], casts=name in _CASTING_OUT) for name in _WITH_OUT})
tell_of_tensors(globals(), __name__, "linalg_")
__getattr__ = loading(__name__)

__all__ = [
    "OLD_NAMES",
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals",
    "eigvalsh", "inv", "inv_ex", "lstsq", "lu", "lu_factor", "lu_factor_ex", "lu_solve", "matrix_exp",
    "matrix_norm",
    "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "solve_ex",
    "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vander",
    "vecdot", "vector_norm",
]  # fmt: skip
