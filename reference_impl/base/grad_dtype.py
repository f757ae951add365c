"""``grad_dtype``: the dtype of a leaf's grad, if it differs from the leaf's.

Few tensors have one, so it is kept in the tensor's ``__dict__``, and read only once any has been set
(``STATE.grad_dtypes``).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from reference_impl.base.session import STATE


class HasDtype(Protocol):
    """A tensor, of which only the elements are asked for."""

    _array: np.ndarray


class OwnDtype:
    """In input metadata, the dtype ``of`` a tensor whose gradients are cast ``to`` another, or not (None)."""

    def __init__(self, of: np.dtype, to: np.dtype | None) -> None:
        self.of, self.to = of, to
        self.kind = of.kind


def grad_dtype_of(tensor: HasDtype) -> Any:
    """The dtype of a tensor in input metadata: its own, or an `OwnDtype`."""
    dtype = tensor._array.dtype
    return tensor.__dict__.get("_grad_dtype", dtype) if STATE.grad_dtypes else dtype


def attributes_of(tensor: HasDtype) -> dict[str, Any]:
    """The attributes that were set on a tensor from outside: those that copies and pickles have, too."""
    return {name: value for name, value in tensor.__dict__.items() if name != "_grad_dtype"}


def cast_to(dtype: Any) -> np.dtype | None:
    """The dtype that gradients are cast to for a metadata ``dtype``; None if they are not cast."""
    return dtype.to if isinstance(dtype, OwnDtype) else dtype
