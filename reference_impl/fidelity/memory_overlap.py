"""Writes to memory that operands share, or that the target shows more than once.

PyTorch refuses some such writes, tolerates others, and leaves the result of the rest to the order in which a
processor visits the elements: those are `Unspecified`. The order of PyTorch's checks decides which of several
refusals a write meets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference_impl.base.rules import Unspecified, UnspecifiedOrder, refuse_by, warn_or_hold
from reference_impl.base.session import STATE
from reference_impl.core.as_strided import StridedGeometry
from reference_impl.core.extension_points import fill
from reference_impl.core.inplace import as_stored, check_operands, store
from reference_impl.core.kernel import Kernel
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.shown_apart import spread
from reference_impl.fidelity.zero_tensor import ZeroTensor
from specs.errors import Refusal
from specs.index_key import key_of
from specs.memory import dense, overlaps_itself, overlaps_partly
from specs.ops.gather import fitting

_SEEN_WHEN_FILLING = {"op/shapes-broadcast", "op/value-overflow", "write/broadcast-shape"}
"""The refusals of a ``masked_fill_`` that come after its warning about expanded memory; all others come
before.
"""

_OUT_OF_RANGE = {"op/index-range", "op/gather-range"}


@fill
def write(
    plain: Callable[..., None], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]
) -> None:
    """Compute an in-place op and store its result in operand 0, if that does not depend on the order of
    writes.
    """
    _write(kernel, operands, attributes)
    if STATE.shown_apart:
        spread(operands[0]._array)


def _write(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    op, target = kernel.op, operands[0]
    if kernel.copies and _is_same_window(target, operands[1]):
        return
    if kernel.copies and isinstance(operands[1], ZeroTensor):  # PyTorch goes on to zero_()
        store(np.zeros((), target._array.dtype), target._array)
        return
    if op.memory in ("mask", "apart"):
        _write_some(kernel, operands, attributes)
        return
    if op.memory == "alone":
        _write_alone(kernel, operands, attributes)
        return
    arrays, dtype = kernel.prepare(operands)
    if not kernel.computes_first:
        _check_memory(op.memory, operands)
    try:
        check_operands(target, arrays, dtype)
    except Refusal:
        _check_memory(op.memory, operands)
        raise
    try:
        result = kernel.run(arrays, attributes)
    except Refusal as refused:
        # Elementwise ops check the target before they look for a kernel, unless it is complex.
        if refused.rule == "op/no-kernel" and op.layout and target._array.dtype.kind != "c":
            _check_memory(op.memory, operands[:1])
        raise
    if kernel.computes_first:
        _check_memory(op.memory, operands[:1])
    store(result, target._array)


def _write_some(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    """Store a result that leaves most elements alone, which may lie at the same places as written ones."""
    array, memory = operands[0]._array, kernel.op.memory
    expanded, taken_out = has_internal_overlap(array), False
    if expanded and not operands[0].is_cpu:
        raise UnspecifiedOrder("the target shows an element twice")
    if memory == "apart":
        if expanded:
            warn_or_hold("write/expanded-deprecated")
        if len(operands) == 3 and operands[1].numel() == 1 and _is_mask(operands[2]):
            # NB: PyTorch goes on to masked_fill_ here, with the value taken out.
            memory, taken_out = "mask", True
    arrays, dtype = kernel.prepare(operands)
    if memory == "apart":
        _check_memory(memory, operands)
    check_operands(operands[0], arrays, dtype)
    beside = operands[:1] if taken_out else operands
    try:
        if taken_out:
            key_of(arrays[0], arrays[2:], attributes["places"])  # refuses a mask of another shape first
            arrays = (arrays[0], fitting(arrays[1].copy(), array.dtype), *arrays[2:])
        result = kernel.run(arrays, attributes)
    except Refusal as refused:
        if memory == "mask" and refused.rule in _SEEN_WHEN_FILLING:
            _check_filling(beside, expanded)
        raise
    if memory == "mask":
        _check_filling(beside, expanded)
    result = np.broadcast_to(as_stored(result, array), array.shape)
    if expanded or not dense(array):
        changed = result != array
        array[changed] = result[changed]
    else:
        array[...] = result


def _write_alone(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    """Store a result whose operands share no memory with it, which is checked before positions are."""
    arrays, _ = kernel.prepare(operands)
    try:
        result = kernel.run(arrays, attributes)
    except Refusal as refused:
        if refused.rule in _OUT_OF_RANGE:
            _check_memory("alone", operands)
        raise
    _check_memory("alone", operands)
    store(result, operands[0]._array)


def _check_filling(operands: tuple[Any, ...], expanded: bool) -> None:
    """Check memory as ``masked_fill_`` does: after mask and value as such, before their shapes."""
    if expanded:
        warn_or_hold("write/expanded-deprecated")
    _check_memory("mask", operands)


def _is_same_window(target: Tensor, source: Tensor) -> bool:
    """Return True if copying one to the other changes nothing, not even where an element shows up twice."""
    if target is source:
        return True
    a, b = target._array, source._array
    return (
        target._storage is source._storage
        and a.dtype is b.dtype
        and (a.shape, a.strides) == (b.shape, b.strides)
        and target.storage_offset() == source.storage_offset()
    )


def _check_memory(memory: str, operands: tuple[Any, ...]) -> None:
    """Refuse a write whose result would depend on the order in which elements are visited."""
    target = operands[0]
    if memory in ("window", "value", "alone") and not target._array.flags.c_contiguous:
        if has_internal_overlap(target._array):
            refuse_by("write/overlap-refused")
        if overlaps_itself(target._array):
            raise Unspecified("the target shows an element twice, and which write to it is the last is open")
    apart = memory in ("apart", "alone")
    for other in operands[1:] if apart else operands[1:2]:
        if not isinstance(other, Tensor) or other._storage is not target._storage:
            continue
        if overlaps(target, other, fully_too=apart):
            refuse_by("write/partial-overlap-refused")
        if other is not target and overlaps_partly(target._array, other._array):
            raise Unspecified(
                "the result depends on the CPU's vector width: the operand overlaps the written memory"
            )


def _is_mask(index: Any) -> bool:
    """Return True if an index is a bool tensor or a list of bools."""
    return np.asarray(index._array if isinstance(index, Tensor) else index).dtype.kind == "b"


def has_internal_overlap(array: np.ndarray) -> bool:
    """Return True if an element of memory shows up twice, as far as a stride of 0 tells."""
    if array.flags.c_contiguous:
        return False
    return any(s == 0 and n > 1 for n, s in zip(array.shape, array.strides, strict=True))


def overlaps(written: Tensor, read: Tensor, fully_too: bool) -> bool:
    """Return True if two dense tensors on one storage share some memory without being the same window on it
    (with ``fully_too``, also if they are).
    """
    if written is read:
        return fully_too
    a, b = written._array, read._array
    if a.size == 0 or b.size == 0 or not dense(a) or not dense(b):
        return False
    a_begin, b_begin = written.storage_offset() * a.itemsize, read.storage_offset() * b.itemsize
    a_end, b_end = a_begin + a.nbytes, b_begin + b.nbytes
    if (a_begin, a_end) == (b_begin, b_end):
        return fully_too or written.stride() != read.stride()
    return a_begin < b_end and b_begin < a_end


@fill
def check_covered(geometry: StridedGeometry, base: StridedGeometry) -> None:
    """Refuse to say what is read through a geometry that reaches between the elements of its base."""
    if not np.isin(_places(geometry), _places(base)).all():
        raise Unspecified("PyTorch reads memory that nobody wrote, between the elements of a view's base")


def _places(window: StridedGeometry) -> np.ndarray:
    """Return the places in memory of a window's elements."""
    places = np.array(window[2])
    for count, stride in zip(window[0], window[1], strict=True):
        places = np.add.outer(places, np.arange(count) * stride)
    return places
