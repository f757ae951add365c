"""Mutants of aliases and views: detach, ``.data``, ``reshape`` and views without a rule."""

from __future__ import annotations

from typing import Any

from reference_impl.base.rules import by
from reference_impl.core import detach, tensor, views
from reference_impl.core.tensor import Tensor
from reference_impl.mutants.replacing import without

_detach, _detach_ = detach.detach, detach.detach_
_variable_data, _as_view = tensor.variable_data, views.as_view
_reshape = vars(Tensor)["reshape"]


def _with_history_of(source: Tensor, out: Tensor) -> Tensor:
    """Give ``out`` the history of ``source``."""
    out._node, out._output_nr, out._requires_grad = source.grad_fn, source._output_nr, source._requires_grad
    return out


@without("detach/cuts", detach, "detach")
def _detach_with_history(self: Tensor) -> Tensor:
    """Keep the history."""
    return _with_history_of(self, _detach(self))


@without("detach/needs-no-grad", detach, "detach")
def _detach_with_flag(self: Tensor) -> Tensor:
    """Keep the flag, on a leaf of its own."""
    out = _detach(self)
    out._requires_grad = self.requires_grad
    return out


def _copied(out: Tensor) -> Tensor:
    """Give ``out`` elements of its own."""
    out._array = out._storage = out._array.copy()
    return out


@without("data/cuts", tensor, "variable_data")
def _data_as_recorded_copy(self: Tensor) -> Tensor:
    """Keep the history, and copy the elements."""
    return _copied(_with_history_of(self, _variable_data(self)))


@without("detach/shares-storage", detach, "detach")
def _detach_as_copy(self: Tensor) -> Tensor:
    """Copy the elements."""
    return _copied(_detach(self))


@without("version/shared-by-detach", detach, "detach")
def _detach_with_counter(self: Tensor) -> Tensor:
    """Count writes to the result by themselves."""
    out = _detach(self)
    out._version_counter = [0]
    return out


@without("inference/detached-counts", detach, "detach")
def _detach_untracked(self: Tensor) -> Tensor:
    """Share the counter of an inference tensor, too."""
    out = _detach(self)
    out._version_counter = self._version_counter
    return out


@without("detach/is-no-view", detach, "detach")
def _detach_as_view(self: Tensor) -> Tensor:
    """Make the result a view."""
    out = _detach(self)
    out._view = views.ViewOf(self, views.CreationMeta.DEFAULT, out._version_counter[0])
    return out


@without("detach/keeps-version", detach, "detach_")
def _detach_as_write(self: Tensor) -> Tensor:
    """Count the call as a write."""
    _detach_(self)._version_counter[0] += 1
    return self


@without("retain/outlives-detach-in-place", detach, "detach_")
def _detach_and_forget(self: Tensor) -> Tensor:
    """Have a tensor that loses its history no longer retain its grad."""
    _detach_(self)._retains = False
    return self


@without("version/shared-by-views", views, "as_view")
def _as_view_with_counter(source: Tensor, view: Tensor, multi: bool) -> None:
    """Count writes to a view by themselves."""
    _as_view(source, view, multi)
    if view._view is not None:
        view._version_counter, view._view.attr_version = [0], 0


@without("view/reshape-copies-when-it-must", Tensor, "reshape")
def _reshape_otherwise(self: Tensor, *shape: Any) -> Tensor:
    """Copy where strides allow a view, and take a view where they do not."""
    out = _reshape(self, *shape)
    if by("view/reshape-copies-when-it-must"):
        return out
    return out.clone() if out._storage is self._storage else self.view(*shape)
