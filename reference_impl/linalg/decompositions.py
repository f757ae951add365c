"""Decompositions with several results of one node: slogdet, eigh, svd, qr."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.autograd.function_node import node_named
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.namespace.composite import cat
from reference_impl.namespace.return_types import return_type
from specs.ops.linalg import by_column, need_matrix, need_square

_FIELDS: dict[str, tuple[str, ...]] = {
    "linalg_slogdet": ("sign", "logabsdet"), "linalg_eigh": ("eigenvalues", "eigenvectors"),
    "linalg_svd": ("U", "S", "Vh"), "linalg_qr": ("Q", "R"), "slogdet": ("sign", "logabsdet"),
}  # fmt: skip
_RESULTS: dict[str, Any] = {name: return_type(name, fields) for name, fields in _FIELDS.items()}


def _scaled(x: Tensor, by: Tensor) -> Tensor:
    """Scale the columns."""
    return x.mul(by.unsqueeze(-2))


def _differences(x: Tensor) -> Tensor:
    """The differences of all pairs, with ones in place of the zeros on the diagonal."""
    apart = x.unsqueeze(-2).sub(x.unsqueeze(-1))
    return apart.add(x.new_zeros(x.shape[-1]).add(1).diag_embed())


def _without_diagonal(x: Tensor) -> Tensor:
    return x.sub(x.diagonal(0, -2, -1).diag_embed())


@node_named("LinalgSlogdetBackward0")
class _Slogdet(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Any:
        sign, log = np.linalg.slogdet(array_of(x))
        found = wrap(np.asarray(sign)), wrap(np.asarray(log))
        ctx.save_for_backward(x, found[0])
        ctx.set_materialize_grads(False)
        return found

    @staticmethod
    def backward(ctx: Any, g_sign: Tensor | None, g: Tensor | None) -> Any:
        x, sign = ctx.saved_tensors
        if x.is_complex() and g_sign is not None:
            turned = g_sign.conj().mul(sign).imag.mul(-1j)
            g = turned if g is None else g.add(turned)
        if g is None:
            return None
        return x._linalg_inv().mH.mul(g.unsqueeze(-1).unsqueeze(-1))


@node_named("LinalgEighBackward0")
class _Eigh(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, lower: Any) -> Any:
        found = np.linalg.eigh(array_of(x), lower)
        values, vectors = wrap(found[0]), wrap(by_column(found[1]))
        ctx.save_for_backward(values, vectors)
        ctx.save_for_forward(values, vectors)
        ctx.set_materialize_grads(False)
        return values, vectors

    @staticmethod
    def jvp(ctx: Any, dx: Tensor, lower: None) -> Any:
        values, vectors = ctx.saved_tensors
        inner = vectors.mH.matmul(dx).matmul(vectors)  # which no symmetry of the tangent is needed for
        turning = _without_diagonal(inner.div(_differences(values)))
        return inner.diagonal(0, -2, -1).real, vectors.matmul(turning)

    @staticmethod
    def backward(ctx: Any, g_values: Tensor | None, g: Tensor | None) -> Any:
        values, vectors = ctx.saved_tensors
        if g is None:
            found = None if g_values is None else _scaled(vectors, g_values).matmul(vectors.mH)
            return found, None
        shares = vectors.mH.matmul(g)
        need_no_phase("eigh", shares)
        inner = _without_diagonal(_skew(shares).mul(0.5)).div(_differences(values))
        if g_values is not None:
            inner = inner.add(g_values.diag_embed())
        return vectors.matmul(inner.matmul(vectors.mH)), None


@node_named("LinalgSvdBackward0")
class _Svd(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, full: bool) -> Any:
        left, values, right = np.linalg.svd(array_of(x), full)
        u, s, vh = wrap(by_column(left)), wrap(np.ascontiguousarray(values)), wrap(by_column(right))
        ctx.save_for_backward(s, u, vh)
        ctx.set_materialize_grads(False)
        return u, s, vh

    @staticmethod
    def backward(ctx: Any, gu: Tensor | None, gs: Tensor | None, gvh: Tensor | None) -> Any:
        s, u, vh = ctx.saved_tensors
        # the vectors that belong to no singular value are any, and no loss may depend on them
        k = s.shape[-1]
        u, vh = u.narrow(-1, 0, k), vh.narrow(-2, 0, k)
        if gu is None and gvh is None:
            if gs is None:
                return None, None
            tall = u.shape[-2] >= vh.shape[-1]
            found = u.matmul(gs.unsqueeze(-1).mul(vh)) if tall else _scaled(u, gs).matmul(vh)
            return found, None
        gu = u.new_zeros(u.shape) if gu is None else gu.narrow(-1, 0, k)
        gvh = vh.new_zeros(vh.shape) if gvh is None else gvh.narrow(-2, 0, k)
        gs = s.new_zeros(s.shape) if gs is None else gs
        v, gv = vh.mH, gvh.mH
        squares = _differences(s.mul(s))
        left, right = (_skew(a.mH.matmul(b)) for a, b in ((u, gu), (v, gv)))
        diagonal = gs
        if u.is_complex():
            diagonal = gs.add(_phase(left, right).div(s.mul(2)))
            left, right = _without_diagonal(left), _without_diagonal(right)
        left, right = left.div(squares), right.div(squares)
        inner = _scaled(left, s).add(s.unsqueeze(-1).mul(right)).add(diagonal.diag_embed())
        found = u.matmul(inner).matmul(vh)
        if u.shape[-2] > k:
            found = found.add(_scaled(gu.sub(u.matmul(u.mH.matmul(gu))), s.reciprocal()).matmul(vh))
        if vh.shape[-1] > k:
            rest = gvh.sub(gvh.matmul(v).matmul(vh))
            found = found.add(u.matmul(s.reciprocal().unsqueeze(-1).mul(rest)))
        return found, None


def _phase(left: Tensor, right: Tensor) -> Tensor:
    """The part that the phases of complex singular vectors decide; refuse a loss that changes with them."""
    found = left.diagonal(0, -2, -1)
    if not np.allclose(array_of(found.add(right.diagonal(0, -2, -1))), 0, rtol=1e-2, atol=1e-2):
        raise RuntimeError(
            "svd_backward: The singular vectors in the complex case are specified up to multiplication by "
            "e^{i phi}. The specified loss function depends on this phase term, making it ill-defined."
        )
    return found


def need_no_phase(name: str, shares: Tensor) -> None:
    """Refuse a loss that changes with the phase of complex eigenvectors."""
    own = np.diagonal(array_of(shares), axis1=-2, axis2=-1)
    if not np.allclose(own.imag, 0, rtol=1e-2, atol=1e-2):
        raise RuntimeError(
            f"linalg_{name}_backward: The eigenvectors in the complex case are specified up to "
            "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it is "
            "ill-defined."
        )


def _skew(x: Tensor) -> Tensor:
    return x.sub(x.mH)


@node_named("LinalgQrBackward0")
class _Qr(Function):
    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, mode: Any) -> Any:
        array = array_of(x)
        if mode == "r":
            q, r = np.empty(0, array.dtype), by_column(np.linalg.qr(array, "r"))
        else:
            q, r = (by_column(factor) for factor in np.linalg.qr(array, mode))
        ctx.mode, found = mode, (wrap(q), wrap(r))
        ctx.save_for_backward(*found)
        return found

    @staticmethod
    def backward(ctx: Any, gq: Tensor, gr: Tensor) -> Any:
        q, r = ctx.saved_tensors
        if ctx.mode == "r":
            raise RuntimeError(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
            )
        k, columns = q.shape[-1], r.shape[-1]
        if k > columns:
            raise RuntimeError(
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
            )
        if k == columns:
            return _qr_backward(gq, gr, q, r), None
        # further columns follow from the factor of the first ones: their share goes there
        further = gr.narrow(-1, k, columns - k)
        gq = gq.add(q.matmul(r.narrow(-1, k, columns - k)).matmul(further.mH))
        first = _qr_backward(gq, gr.narrow(-1, 0, k), q, r.narrow(-1, 0, k))
        return cat([first, q.matmul(further)], -1), None


def _qr_backward(gq: Tensor, gr: Tensor, q: Tensor, r: Tensor) -> Tensor:
    inner = r.matmul(gr.mH).sub(gq.mH.matmul(q))
    inner = inner.tril().add(inner.tril(-1).mH)
    if inner.is_complex():
        inner = inner.sub(inner.diagonal(dim1=-2, dim2=-1).imag.mul(1j).diag_embed())
    return r.mH._linalg_solve_triangular(gq.add(q.matmul(inner)), upper=False, left=False)


def slogdet(A: Tensor, *, named: str = "linalg_slogdet") -> Any:
    """The sign and the logarithm of the size of the determinant."""
    need_square("linalg.slogdet", array_of(A))
    return _RESULTS[named](*_Slogdet.apply(A))


def logdet(A: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN where that is negative."""
    need_square("linalg.slogdet", array_of(A))
    sign, log = _Slogdet.apply(A)
    if sign.is_complex():
        return log.add(sign.log())
    return log.new_full((), math.nan).where(sign.detach().lt(0), log)


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """The eigenvalues, ascending, and the eigenvectors of symmetric or Hermitian matrices.

    One triangle is read, ``UPLO``. The gradient is that of a function of the whole matrix.
    """
    need_square("linalg.eigh", array_of(A), integers=True, kernel="linalg_eigh")
    if UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    return _RESULTS["linalg_eigh"](*_Eigh.apply(A, UPLO.upper()))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric or Hermitian matrices."""
    return eigh(A, UPLO)[0]


def svd(A: Tensor, full_matrices: bool = True, *, driver: Any = None) -> Any:
    """Singular vectors and values: ``U``, ``S`` descending, ``Vh``."""
    need_matrix("linalg.svd", array_of(A), kernel="linalg_svd")
    if driver is not None and A.device.type == "cpu":
        raise RuntimeError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER "
            "backend."
        )
    return _RESULTS["linalg_svd"](*_Svd.apply(A, full_matrices))


def svdvals(A: Tensor, *, driver: Any = None) -> Tensor:
    """The singular values, descending."""
    return svd(A, False, driver=driver)[1]


def qr(A: Tensor, mode: str = "reduced") -> Any:
    """An orthogonal and an upper triangular factor."""
    need_matrix("linalg.qr", array_of(A), kernel="geqrf")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            "'complete'"
        )
    return _RESULTS["linalg_qr"](*_Qr.apply(A, mode))
