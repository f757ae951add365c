"""The attribute ``grad_dtype``: the dtype that a leaf's grad must have."""

from __future__ import annotations

from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.device import geometry, place_of
from reference_impl.base.grad_dtype import OwnDtype, cast_to, grad_dtype_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor


def _get(self: Tensor) -> dtypes.dtype | None:
    """The dtype of the tensor's grad; None stands for any."""
    node = self.grad_fn
    if node is not None:
        refuse_by("grad/own-dtype-read-on-leaves")
    dtype = cast_to(grad_dtype_of(self) if node is None else node.input_metadata[self._output_nr][1])
    return None if dtype is None else dtypes.of(dtype)


def _set(self: Tensor, dtype: Any) -> None:
    """Have the grad be of that dtype, or of any (None)."""
    if dtype is not None and not isinstance(dtype, dtypes.dtype):
        refuse_by("grad/own-dtype-type", type=type(dtype).__name__)
    grad = self.grad  # warns of a non-leaf
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
        accumulator.input_metadata[0] = geometry(accumulator.input_metadata[0][0], own, place_of(self))


METHODS = {"grad_dtype": property(_get, _set)}
