"""``grad_dtype``: which dtype a leaf's grad has, where it is not that of the leaf.

Nearly no tensor has one of its own, so it lies in the tensor's ``__dict__``, and nobody looks before
somebody has set one (``STATE.grad_dtypes``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import geometry, place_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE

if TYPE_CHECKING:
    from reference_impl.core.tensor import Tensor


class OwnDtype:
    """Stands in a node's metadata for the dtype ``of`` a tensor whose gradients are cast ``to`` another, or
    not at all (None).
    """

    def __init__(self, of: np.dtype, to: np.dtype | None) -> None:
        self.of, self.to = of, to
        self.kind = of.kind


def grad_dtype_of(tensor: Tensor) -> Any:
    """What a node's metadata says of a tensor's dtype: that dtype, or an `OwnDtype`."""
    dtype = tensor._array.dtype
    return tensor.__dict__.get("_grad_dtype", dtype) if STATE.grad_dtypes else dtype


def cast_to(dtype: Any) -> np.dtype | None:
    """What gradients are cast to where a node's metadata says ``dtype``; None if they are not."""
    return dtype.to if isinstance(dtype, OwnDtype) else dtype


def _get(self: Tensor) -> dtypes.dtype | None:
    """The dtype its grad has; None if any."""
    node = self.grad_fn
    if node is not None:
        refuse_by("grad/own-dtype-read-on-leaves")
    found = cast_to(grad_dtype_of(self) if node is None else node.metadata[self._output_nr][1])
    return None if found is None else dtypes.of(found)


def _set(self: Tensor, dtype: Any) -> None:
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        refuse_by("grad/own-dtype-type", type=type(dtype).__name__)
    grad = self.grad  # NB: which warns of a non-leaf
    if dtype is not None and grad is not None and grad._array.dtype != dtype.numpy:
        refuse_by("grad/own-dtype-fits-the-grad", want=dtype, got=grad.dtype)
    if self._node is not None:
        refuse_by("grad/own-dtype-on-leaves")
    if not by("grad/own-dtype"):
        return
    STATE.grad_dtypes = True
    to = None if dtype is None else dtype.numpy
    own = OwnDtype(self._array.dtype, to or (None if by("grad/any-dtype") else self._array.dtype))
    self.__dict__["_grad_dtype"] = own
    accumulator = None if self._accumulator is None else self._accumulator()
    if accumulator is not None:
        accumulator.metadata[0] = geometry(accumulator.metadata[0][0], own, place_of(self))


METHODS = {"grad_dtype": property(_get, _set)}
