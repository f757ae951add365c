"""Conjugates, by which formulas multiply; the conjugate of a real number is the number itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from specs.active_rules import by
from specs.kind import Tensor
from specs.op import composite, op


def conj(x: Any) -> Any:
    """The conjugate of a tensor or number in a formula; a real tensor gets no node."""
    if isinstance(x, (int, float)):
        return x
    if isinstance(x, complex):
        return x.conjugate() if by("op/gradients-conjugate") else x
    return x.conj() if x.is_complex() and by("op/gradients-conjugate") else x


@op(
    internal=True,
    node="ConjBackward0",
    view=True,
    dtypes="keep",
    layout=(),
    complex=True,
    shown_apart=True,
)
def _conj(x: Tensor) -> Any:
    """The conjugates.

    A view, which shares the version and the strides of its source. NB: PyTorch conjugates it when it is read;
    here it has memory of its own, and a later write to either shows in the other.
    """
    span = sum((size - 1) * step for size, step in zip(x.shape, x.strides, strict=True)) if x.size else 0
    memory = np.empty(1 + span // x.itemsize, x.dtype)
    return np.conjugate(x, out=as_strided(memory, x.shape, x.strides))


_conj.wrt(x=lambda g: conj(g))


@composite(name="conj", internal=True)
def conjugate(x: Tensor) -> Any:
    """The conjugates of complex elements; a real tensor itself."""
    return x._conj() if x.is_complex() else x


@op(internal=True, node="ComplexBackward0", dtypes="same", layout=("x", "imag"))
def _complex(x: Tensor, imag: Tensor) -> Any:
    """Complex numbers of two real parts."""
    out: np.ndarray = np.empty(
        np.broadcast_shapes(x.shape, imag.shape), {4: np.complex64, 8: np.complex128}[x.itemsize]
    )
    out.real, out.imag = x, imag  # a product with 1j would make NaN of an infinity
    return out


_complex.wrt(
    x=lambda g, x: g.view_as_real().select(-1, 0),
    imag=lambda g, imag: g.view_as_real().select(-1, 1),
)


@op(internal=True, node="AngleBackward0", dtypes="keep", complex=True, exact=False, ulp=4)
def _angle(x: Tensor) -> Any:
    """The angle of complex numbers in the plane."""
    return np.angle(x)


@op(internal=True, node="AngleBackward0", dtypes="float")
def _angle_of_real(x: Tensor) -> Any:
    """Pi below zero, else zero."""
    return np.where(np.isnan(x), x, np.where(x < 0, np.pi, 0)).astype(x.dtype)


@composite(internal=True)
def angle(x: Tensor) -> Any:
    """The angle in the plane of complex numbers."""
    return x._angle() if x.is_complex() else x._angle_of_real()


def _angle_backward(g: Any, x: Any) -> Any:
    turned = g.mul(x).div(x.abs().pow(2)).mul_scalar(1j)
    return x.new_zeros(x.shape)._where(x.eq(0), turned)


_angle.wrt(x=_angle_backward)
_angle_of_real.wrt(x=lambda g: g.zeros_like())
