"""Conjugates, by which formulas multiply; the conjugate of a real number is the number itself."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def conj_beside(g: Any, y: Any) -> Any:
    """The conjugate of the other operand of a product, for its gradient.

    NB: of a complex number PyTorch makes a CPU tensor in double precision, which counts as one beside a ``g``
    without dimensions: the product is cast back.
    """
    if isinstance(y, complex) and by("op/gradients-conjugate"):
        return g.new_zeros((), device="cpu").cast(np.dtype(np.complex128)).add(y.conjugate())
    return conj(y)


@op(
    internal=True,
    node="ConjBackward0",
    view=True,
    dtypes="keep",
    layout=("x",),
    complex=True,
    shown_apart=True,
)
def _conj(x: Tensor) -> Any:
    """The conjugates.

    A view, which shares the version of its source. NB: PyTorch conjugates it when it is read; here it has
    memory of its own, and a later write to either shows in the other.
    """
    return np.asarray(np.conjugate(x))


_conj.wrt(x=lambda g: conj(g))


@composite(name="conj", internal=True)
def conjugate(x: Tensor) -> Any:
    """The conjugates of complex elements; a real tensor itself."""
    return x._conj() if x.is_complex() else x


@op(internal=True, node="ComplexBackward0", dtypes="same")
def _complex(x: Tensor, imag: Tensor) -> Any:
    """Complex numbers of two real parts."""
    return (x + 1j * imag).astype({4: np.complex64, 8: np.complex128}[x.itemsize])


_complex.wrt(
    x=lambda g: g.view_as_real().select(-1, 0),
    imag=lambda g: g.view_as_real().select(-1, 1),
)
