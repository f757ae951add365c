"""In-place ops: whether a write is allowed, what it does to the memory, and what it does to histories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.rules import Unspecified, by, refuse_by, warn_once, warn_or_hold
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core.graph import Node
from reference_impl.core.record import Kernel, OpNode, recorded_mask
from reference_impl.core.tensor import Tensor
from reference_impl.core.views import (
    CopySlices,
    CreationMeta,
    change_history,
    described,
    has_internal_overlap,
    overlaps,
)
from specs.errors import Refusal
from specs.index_key import key_of
from specs.memory import dense, overlaps_itself, overlaps_partly
from specs.ops.gather import fitting
from specs.signature import clash

_CREATION_RULES = {
    CreationMeta.NO_GRAD: "write/no-grad-view-refused",
    CreationMeta.MULTI_OUTPUT: "write/multi-output-refused",
    CreationMeta.FUNCTION: "write/function-view-refused",
    CreationMeta.INFERENCE: "inference/view-write-refused",
}


def call_in_place(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Tensor:
    """Run an op that writes its result into operand 0, which it returns."""
    target = operands[0]
    mask = is_tracked(kernel, operands)
    if mask and kernel.copies:
        if not dtypes.differentiable(target._array.dtype):
            mask = 0
        elif mask & ~1 and not by("write/copy-passes-gradient"):
            mask &= 1
    if mask:
        check_tracked(target)
    elif not STATE.enabled and target.requires_grad and not by("write/allowed-under-no-grad"):
        refuse_by("write/leaf-refused")
    node = OpNode(kernel, operands, attributes) if mask else None
    for watch in STATE.write_watchers:
        watch(target)
    _write(kernel, operands, attributes)
    if by("version/write-bumps"):
        if target._inference or target._version_counter is UNTRACKED:
            bump(target, operands)
        else:
            target._version_counter[0] += 1
    if node is not None:
        node.add_output(target)
        rebase(target, node)
        node.save_output(target, written_view=target._view is not None)
    return target


def bump(tensor: Tensor, operands: tuple[Any, ...] = (), told: bool = False) -> None:
    """Count a write. NB: where that is refused, it has been done.

    In inference mode writes to inference tensors count only beside a normal tensor, if there is a counter,
    or where autograd is ``told`` of them.
    """
    alone = not told and tensor._inference and all(x._inference for x in operands if isinstance(x, Tensor))
    if STATE.inference and alone:
        return
    if tensor._version_counter is not UNTRACKED:
        tensor._version_counter[0] += 1
    elif not STATE.inference:
        refuse_by("inference/write-outside-refused")


def is_tracked(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """Which operands make the write one that autograd tracks, as a bit mask."""
    return recorded_mask(kernel, operands) if STATE.enabled and kernel.edges else 0


def check_recorded(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    """Refuse what autograd would have to record and cannot, which it does before anything is computed."""
    if STATE.enabled and kernel.edges and recorded_mask(kernel, operands) > 0:
        if kernel.mutates:
            check_tracked(operands[0])
        OpNode(kernel, operands, attributes)


def check_tracked(target: Tensor) -> None:
    """Refuse a write that autograd would have to track and cannot."""
    view = target._view
    if view is not None:
        if view.creation_meta is not CreationMeta.DEFAULT:
            refuse_by(_CREATION_RULES[view.creation_meta], which=described(target, view))
        elif target.requires_grad and view.base._node is None:
            refuse_by("write/view-of-leaf-refused")
    if target._node is None and target.requires_grad:
        if view is not None and not by("view/unread-passes-for-a-leaf"):
            target.is_leaf  # noqa: B018  reading it brings it up to date
        if target._node is None:
            refuse_by("write/leaf-refused")


_SEEN_WHEN_FILLING = {"op/shapes-broadcast", "op/value-overflow", "write/broadcast-shape"}
"""What PyTorch refuses of a ``masked_fill_`` once it is at it; all else comes before a warning."""


def _write(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    prepare, compute = kernel.prepare, kernel.compute
    target = operands[0]
    array = target._array
    if kernel.copies and _same_window(target, operands[1]):
        return
    memory, computes_first, expanded = kernel.op.memory, kernel.computes_first, False
    taken_out = False
    if memory == "mask" or memory == "apart":
        expanded = has_internal_overlap(array)
    if memory == "apart":
        if expanded:
            warn_or_hold("write/expanded-deprecated")
        if len(operands) == 3 and operands[1].numel() == 1 and _is_mask(operands[2]):
            # NB: PyTorch goes on to masked_fill_ here, with the value taken out
            memory, computes_first, taken_out = "mask", True, True
    arrays, promoted = prepare(operands)
    if not computes_first and memory != "mask":
        _check_memory(memory, operands)
    if promoted is not None:
        for operand in arrays[1:]:
            if isinstance(operand, np.ndarray) and not _fits(operand.shape, array.shape):
                return
        if promoted.kind != array.dtype.kind and not dtypes.castable(promoted, array.dtype):
            if computes_first:
                _check_memory(memory, operands[:1])
            refuse_by("write/result-dtype", got=dtypes.of(promoted), want=target.dtype)
    try:
        if taken_out:
            key_of(arrays[0], arrays[2:], attributes["places"])  # refuses a mask of another shape first
            arrays = (arrays[0], fitting(arrays[1].copy(), array.dtype), *arrays[2:])
        result = compute(arrays, attributes)
        if STATE.moves is not None:
            result = STATE.moves(kernel.op, result)
    except Refusal as refused:
        if memory == "mask" and refused.rule in _SEEN_WHEN_FILLING:
            _check_filling(operands[:1] if computes_first else operands, expanded)
        elif refused.rule == "op/no-kernel" and kernel.op.layout and array.dtype.kind != "c":
            # Elementwise, PyTorch looks at it before it finds a kernel; complex numbers it refuses before.
            _check_memory(memory, operands[:1])
        if by(refused.rule):
            raise
        return
    if memory == "mask":
        _check_filling(operands[:1] if computes_first else operands, expanded)
    elif computes_first:
        _check_memory(memory, operands[:1])
    if not _fits(result.shape, array.shape):
        return
    if result.dtype.kind == "c" and array.dtype.kind in "fiV":
        if array.size:
            warn_once("data/complex-to-real-warns")
        result = result.real
    if expanded or (kernel.op.memory in ("apart", "mask") and not dense(array)):
        # What is put somewhere leaves the rest alone, which may lie at the same places.
        changed = np.broadcast_to(result, array.shape) != array
        array[changed] = np.broadcast_to(result, array.shape)[changed]
    else:
        array[...] = result


def _check_filling(operands: tuple[Any, ...], expanded: bool) -> None:
    """What ``masked_fill_`` looks at between mask and value by themselves and how the mask fits."""
    if expanded:
        warn_or_hold("write/expanded-deprecated")
    _check_memory("mask", operands)


def _same_window(target: Tensor, source: Tensor) -> bool:
    """Whether copying one to the other would change nothing, not even where elements show up twice."""
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
    if (memory == "window" or memory == "value") and not target._array.flags.c_contiguous:
        if has_internal_overlap(target._array):
            refuse_by("write/overlap-refused")
        if overlaps_itself(target._array):
            raise Unspecified("the target shows an element twice, and which write to it is the last is open")
    apart = memory == "apart"
    for other in operands[1:] if apart else operands[1:2]:
        if not isinstance(other, Tensor) or other._storage is not target._storage:
            continue
        if overlaps(target, other, fully_too=apart):
            refuse_by("write/partial-overlap-refused")
        if other is not target and overlaps_partly(target._array, other._array):
            raise Unspecified("how much is read before it is written goes by what a processor takes at once")


def _is_mask(index: Any) -> bool:
    """Whether what stands in brackets is a bool tensor, or a list of bools."""
    return np.asarray(index._array if isinstance(index, Tensor) else index).dtype.kind == "b"


def _fits(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether a result of that shape can be written; refused if it does not broadcast, or only to more
    elements.
    """
    if shape == target or not shape:
        return True
    try:
        together = np.broadcast_shapes(shape, target)
    except ValueError:
        refuse_by("op/shapes-broadcast", **clash(target, shape))
        return False
    if together != target:
        refuse_by("write/broadcast-shape", got=list(together), want=list(target))
    return together == target


def rebase(target: Tensor, node: Node, number: int = 0) -> None:
    """Make ``node``, of which it is the ``number``-th output, the history of what was written; a view's base
    then goes through `CopySlices`.
    """
    view = target._view
    if not target.requires_grad and not by("write/plain-tensor-joins-graph"):
        return
    if view is not None and by("write/rewrites-the-base"):
        base = view.base
        old = base._node if base._view is None else base.grad_fn
        required = target.requires_grad
        target._output_nr = 0
        slices = CopySlices(base, target, node)
        was = base._output_nr
        base._node, base._output_nr = slices, 0
        if required:
            change_history(base, old, slices, was)
        target.grad_fn  # noqa: B018 — brings the written view up to date at once
        return
    if by("write/history-becomes-the-write"):
        old = target._node
        was = target._output_nr
        target._node, target._output_nr = node, number
        change_history(target, old, node, was)
        if view is not None:
            view.attr_version = target._version_counter[0]
