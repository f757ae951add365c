"""Pseudo-inverses, and bounds below which a singular value counts as zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.autograd.function import Function
from reference_impl.autograd.function_node import node_named
from reference_impl.base.dtypes import complex64, complex128, float32, float64
from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from specs.dtype_names import SCALARS
from specs.ops.linalg import need_square
from specs.ops.pseudo_inverse import pinv_backward


def read_tolerances(name: str, **given: Any) -> dict[str, Any]:
    """The tolerances as arrays; complex ones are refused."""
    for each, value in given.items():
        if isinstance(value, Tensor) and value.is_complex():
            got = SCALARS[value.dtype.name]
            raise RuntimeError(f"torch.{name}: {each} tensor of complex type is not supported. Got {got}")
    return {each: array_of(value) if isinstance(value, Tensor) else value for each, value in given.items()}


def one_spelling(name: str, old: str, given: Any, rtol: Any, atol: Any) -> Any:
    """The relative tolerance under its old name, beside which the others are not given, or under its own."""
    if given is None:
        return rtol
    refuse_unless_default(name, {"atol": atol, "rtol": rtol}, atol=None, rtol=None)
    return given


def above(values: np.ndarray, shape: tuple[int, ...], atol: Any = None, rtol: Any = None) -> Any:
    """Tell the values that do not count as zero: along a last dimension, of matrices of that shape."""
    if not values.shape[-1]:
        return np.zeros(values.shape, bool)
    least = np.asarray(0.0 if atol is None else atol, np.float64)
    share = rtol
    if share is None:
        share = np.where(least > 0, 0.0, np.finfo(values.dtype).eps * max(shape[-2:]))
    bound = np.maximum(least, np.asarray(share) * values.max(-1))
    return values > bound[..., None]


# -- pseudo-inverses ------------------------------------------------------------------------------
@node_named("LinalgPinvBackward0")
class _Pinv(Function):
    """The pseudo-inverse with tolerances; `_linalg_pinv` is the one without."""

    _computes_on_arrays = True

    @staticmethod
    def forward(ctx: Any, x: Tensor, hermitian: bool, given: Any) -> Any:
        array = array_of(x)
        if hermitian:
            values, v = np.linalg.eigh(array)
            u, sizes = v, np.abs(values)
        else:
            u, values, vh = np.linalg.svd(array, False)
            v, sizes = np.swapaxes(vh, -1, -2).conj(), values
        kept = above(sizes, array.shape, **given)
        inverse = np.where(kept, 1, 0) / np.where(kept, values, 1)
        found = np.matmul(v * inverse[..., None, :], np.swapaxes(u, -1, -2).conj())
        out = wrap(np.asarray(found, array.dtype, order="C"))
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return pinv_backward(g, *ctx.saved_tensors), None, None


def pinv(
    A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None
) -> Tensor:
    """The pseudo-inverse of matrices; of one that is called Hermitian one triangle is read."""
    rtol = one_spelling("linalg.pinv", "rcond", rcond, rtol, atol)
    if A.ndim < 2 or A.dtype not in (float32, float64, complex64, complex128):
        raise RuntimeError(
            f"linalg.pinv({SCALARS[A.dtype.name]}{{{list(A.shape)}}}): expected a tensor with 2 or more "
            "dimensions of float, double, cfloat or cdouble types"
        )
    if not hermitian and atol is None and rtol is None:
        return A._linalg_pinv()
    given = read_tolerances("linalg.pinv", atol=atol, rtol=rtol)
    if hermitian:
        need_square("linalg.eigh", array_of(A))
    return _Pinv.apply(A, hermitian, given)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """`pinv`, under its old name and with another tolerance."""
    return pinv(input, rcond)
