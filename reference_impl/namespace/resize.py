"""In-place changes of shape, strides or storage: ``t_``, ``as_strided_``, ``resize_``, ``set_``.

Writes to elements are in ``core.inplace``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from math import prod
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import making_on, on, place_of
from reference_impl.base.rules import by, refuse_by, warn_or_hold
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core.access import (
    array_of,
    forget_accumulator,
    is_inference,
    node_of,
    set_gradient_edge,
    set_memory,
    storage_of,
    version_counter,
    view_of,
)
from reference_impl.core.as_strided import elements_of, window_on
from reference_impl.core.graph import Node, NotImplementedNode, gradient_edge
from reference_impl.core.inplace import bump, check_tracked, rebase
from reference_impl.core.kernel import Kernel
from reference_impl.core.record import OpNode, node_type
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.core.views import AsStridedBackward0, change_history
from reference_impl.fidelity.zero_tensor import ZeroTensor
from reference_impl.namespace.attributes import Storage
from reference_impl.namespace.conjugated import is_conj
from specs.layout import without_elements
from specs.ops import load, overloads


class AsStridedBackward1(AsStridedBackward0):
    """The history of a tensor after ``as_strided_``."""

    __slots__ = ()


def _is_tracked(target: Tensor, *others: Tensor) -> bool:
    """Return True if the change is recorded; refuse it where a write would be refused."""
    given = (target, *others)
    recording = STATE.enabled and not STATE.inference and not all(is_inference(x) for x in given)
    tracked = recording and any(x.requires_grad for x in given)
    if tracked:
        check_tracked(target)
    return tracked


def _show(
    target: Tensor, array: np.ndarray, storage: np.ndarray, node: Node | None, beside: tuple[Tensor, ...] = ()
) -> Tensor:
    """Show another array, bump the version and set the history. A view's base keeps its own history."""
    set_memory(target, array, storage)
    bump(target, beside)
    if node is not None:
        old = node_of(target)
        set_gradient_edge(target, node, 0)
        if not by("resize/hooks-stay-behind"):
            change_history(target, old, node)
        view = view_of(target)
        if view is not None:
            view.attr_version = target._version
    return target


@cache
def _in_place(kernel: Kernel) -> Kernel:
    """The kernel of a view with the node name of the in-place form."""
    op = kernel.op
    renamed = copy.copy(kernel)
    renamed.op = replace(op, node=op.node_in_place)
    return renamed


def _changing(view: str) -> Callable[..., Tensor]:
    """Make the in-place form of a view op."""

    def change(self: Tensor, *how: Any, **named: Any) -> Tensor:
        if _is_tracked(self) and not dtypes.differentiable(array_of(self).dtype):
            _show(self, array_of(getattr(self.detach(), view)(*how, **named)), storage_of(self), None)
            refuse_by("op/no-history-for-integers", dtype=self.dtype)
        if (
            isinstance(self, ZeroTensor)
            and overloads(view).bind((self, *how), named, Tensor)[0].zero == "kept"
        ):
            refuse_by("write/zeros-without-memory")
        # An alias of an inference tensor may have no version for a view to share.
        versionless = version_counter(self) is UNTRACKED and not is_inference(self)
        source = wrap(array_of(self)) if versionless else self
        out = getattr(Tensor, view)(source, *how, **named)
        node = node_of(out)
        if isinstance(node, OpNode):
            node.kernel = _in_place(node.kernel)
            node.__class__ = node_type(node.kernel)  # whose name scripts read
        if STATE.level is not None:
            STATE.level.follow(self, out)
        return _show(self, array_of(out), storage_of(self), node)

    change.__name__ = f"{view}_"
    return change


def _swapping(self: Tensor, axis0: int, axis1: int) -> Tensor:
    """Swap two dimensions in place. NB: in inference mode PyTorch takes it for a write to the elements."""
    if STATE.inference and isinstance(self, ZeroTensor):
        refuse_by("write/zeros-without-memory")
    return self.transpose_(axis0, axis1)


def _rows(size: tuple[int, ...]) -> tuple[int, ...]:
    """The row-major strides of a shape."""
    return tuple(prod(max(n, 1) for n in size[at + 1 :]) for at in range(len(size)))


def as_strided_(self: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Take another window on the same storage."""
    tracked = _is_tracked(self)
    offset = self.storage_offset() if storage_offset is None else storage_offset
    array = window_on(storage_of(self), array_of(self).dtype, (tuple(size), tuple(stride), offset))
    out = wrap(array)
    set_memory(out, array_of(out), storage_of(self))
    if STATE.level is not None:
        STATE.level.follow(self, self.as_strided(size, stride, offset))
    return _show(self, array, storage_of(self), AsStridedBackward1(self, out) if tracked else None)


def resize_(self: Tensor, size: Any, memory_format: Any = None) -> Tensor:
    """Take a shape, in row-major layout, and enlarge the storage if needed.

    NB: other tensors on a storage that had to grow stay on the old one; in PyTorch they share the new one.
    """
    if self.requires_grad and not (STATE.inference or is_inference(self)):
        refuse_by("resize/needs-no-grad")
    wanted = (size,) if isinstance(size, int) else tuple(size)
    if any(n < 0 for n in wanted):
        raise RuntimeError(f"Trying to resize to a negative size: {list(wanted)}")
    if STATE.level is not None and STATE.level.tangent(self) is not None:
        raise RuntimeError("cannot resize variables that has a forward grad")
    if wanted != array_of(self).shape:
        _enlarge(self, wanted)
        bump(self)
    return self


def _enlarge(self: Tensor, wanted: tuple[int, ...]) -> None:
    """Have a tensor show that shape in row-major layout, on more memory if needed."""
    offset, storage, dtype = self.storage_offset(), storage_of(self), array_of(self).dtype
    if prod(wanted) and elements_of(storage, dtype) < offset + prod(wanted):
        if id(storage) in STATE.shared_with_numpy:
            refuse_by("resize/lent-memory-stays")
        storage = on(place_of(self), np.zeros(offset + prod(wanted), dtype))
        old = storage_of(self).ravel("K").view(np.uint8)
        storage.view(np.uint8)[: old.size] = old
    set_memory(self, window_on(storage, dtype, (wanted, _rows(wanted), offset)), storage)


def resize_as_(self: Tensor, other: Tensor, *, memory_format: Any = None) -> Tensor:
    """Take the shape of another tensor, see `resize_`."""
    if isinstance(self, ZeroTensor) and not self.requires_grad:
        refuse_by("write/zeros-without-memory")
    return resize_(self, array_of(other).shape)


def warn_of_output(out: Tensor, result: Tensor) -> Tensor:
    """Return ``result``; warn if ``out``, to which it will be written, has elements and another shape."""
    if 0 != array_of(out).size and array_of(out).shape != array_of(result).shape:
        warn_or_hold("resize/output-is-resized-warns")
    return result


def shaped_for(out: Tensor, result: Tensor) -> Tensor:
    """Give ``out`` the shape of ``result``, whatever it requires. NB: only the copy that follows counts."""
    shape = array_of(warn_of_output(out, result)).shape
    if array_of(out).shape != shape:
        _enlarge(out, shape)
    return out


def need_room_for(out: Tensor, *operands: Tensor) -> None:
    """Refuse if ``out`` cannot hold the promoted dtype of the operands."""
    result = dtypes.promote([array_of(x) for x in operands])
    if not dtypes.castable(result, array_of(out).dtype):
        refuse_by("write/result-dtype", got=dtypes.of(result), want=out.dtype)


def _materialized(zeros: ZeroTensor) -> Tensor:
    """Give a ZeroTensor memory: a single element, expanded."""
    array = array_of(zeros)
    with making_on(place_of(zeros)):
        out = wrap(np.zeros((), array.dtype))
    memory = storage_of(out)
    set_memory(out, window_on(memory, array.dtype, (array.shape, (0,) * array.ndim, 0)), memory)
    return out


def set_(
    self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None
) -> Tensor:
    """Show the elements of another tensor or storage, or an empty storage."""
    if isinstance(source, Tensor) and array_of(source).dtype != array_of(self).dtype:
        refuse_by("resize/set-keeps-dtype", got=source.dtype, want=self.dtype)
    given = (self, source) if isinstance(source, Tensor) else (self,)
    if STATE.level is not None and any(STATE.level.tangent(x) is not None for x in given):
        raise NotImplementedError("Trying to use forward AD with set_ that does not support it")
    node = None
    if _is_tracked(*given):
        node = NotImplementedNode(tuple(map(gradient_edge, given)), "set_")
    if isinstance(self, ZeroTensor):
        refuse_by("write/zeros-without-memory")
    if isinstance(source, Tensor) and place_of(source) is not place_of(self):
        refuse_by("device/memory-stays-where-it-is", got=place_of(source), want=place_of(self))
    if source is None:
        array = without_elements(np.empty(0, array_of(self).dtype))
        storage = on(place_of(self), array)
    else:
        if isinstance(source, ZeroTensor):
            source = _materialized(source)
        elif isinstance(source, Tensor) and is_conj(source) != is_conj(self):
            source = source.detach().conj() if by("resize/set-takes-memory") else source
        is_tensor = isinstance(source, Tensor)
        array = array_of(source) if is_tensor else source.memory
        storage = storage_of(source) if is_tensor else source.memory
        if size is not None:
            steps = _rows(tuple(size)) if stride is None else tuple(stride)
            array = window_on(storage, array.dtype, (tuple(size), steps, storage_offset))
        elif isinstance(source, Storage):
            array = storage.reshape(-1)
    _show(self, array, storage, None, given)
    if node is not None:
        node.add_output(self)
        rebase(self, node)
    if not (STATE.inference or is_inference(self)) and by("resize/set-begins-a-new-end"):
        forget_accumulator(self)
    return self


METHODS: dict[str, Any] = {
    "_need_room_for": need_room_for,
    "_shaped_for": shaped_for,
    "_warn_of_output": warn_of_output,
    "as_strided_": as_strided_,
    "resize_": resize_,
    "resize_as_": resize_as_,
    "set_": set_,
    **{f"{name}_": _changing(name) for name, ops in load().items() if ops[0].node_in_place},
    "swapaxes_": _swapping,
    "swapdims_": _swapping,
}
"""Methods by name."""
