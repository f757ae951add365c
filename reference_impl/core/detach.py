"""Detaching: the same elements without history, as another tensor or in place."""

from __future__ import annotations

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import alias_counter
from reference_impl.core.tensor import Tensor, alias


def shallow_copy_and_detach(tensor: Tensor) -> Tensor:
    """The same elements under the same version counter, without history and no view; an alias of an inference
    tensor counts its own writes.
    """
    out = alias(tensor)
    if tensor._inference:
        out._version_counter = alias_counter(tensor._inference)
    return out


def detach(self: Tensor) -> Tensor:
    """The same elements without history, under the same version counter; not a view."""
    by("detach/cuts"), by("detach/needs-no-grad"), by("detach/shares-storage")
    by("detach/is-no-view"), by("version/shared-by-detach")
    if self._inference:
        by("inference/detached-counts")
    return shallow_copy_and_detach(self)


def detach_(self: Tensor) -> Tensor:
    """Drop the history in place; refused on views."""
    if (STATE.inference or self._inference) and by("inference/detach-in-place-is-nothing"):
        return self
    if self._view is not None:
        refuse_by("detach/view-refused")
    self.__dict__.pop("_tangent", None)
    if by("detach/in-place-makes-a-leaf"):
        self._requires_grad = False
        self._node = None
        self._output_nr = 0
    by("detach/keeps-version"), by("retain/outlives-detach-in-place")
    return self
