"""Conjugates, which formulas take of what they multiply by: of real numbers they are these themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.kind import Tensor
from specs.op import composite, op


def conj(x: Any) -> Any:
    """The conjugate of a tensor or number in a formula; no node comes of a real one."""
    if isinstance(x, (int, float, complex)):
        return x.conjugate()
    return x.conj() if x.is_complex() else x


@op(internal=True, node="ConjBackward0", dtypes="keep", layout=("x",), complex=True)
def _conj(x: Tensor) -> Any:
    """The conjugates. NB: in PyTorch a view that is conjugated when it is read, here a copy."""
    return np.conjugate(x)


_conj.wrt(x=lambda g: conj(g))


@composite(name="conj", internal=True)
def conjugate(x: Tensor) -> Any:
    """The conjugates of complex elements; a real tensor itself."""
    return x._conj() if x.is_complex() else x
