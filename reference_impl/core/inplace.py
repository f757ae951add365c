"""In-place ops: check that a write is allowed, write, and rebase the history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.rules import by, refuse_by, warn_once
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core import extension_points
from reference_impl.core.graph import Node
from reference_impl.core.kernel import Kernel
from reference_impl.core.record import node_type
from reference_impl.core.tensor import Tensor, alias
from reference_impl.core.views import CopySlices, CreationMeta, change_history, described
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
            operands = (target, *(alias(x) if isinstance(x, Tensor) else x for x in operands[1:]))
    if mask:
        check_tracked(target)
    elif not STATE.enabled and target.requires_grad and not by("write/allowed-under-no-grad"):
        refuse_by("write/leaf-refused")
    node = (kernel.node_type or node_type(kernel))(kernel, operands, attributes) if mask else None
    for watch in STATE.write_watchers:
        watch(target)
    extension_points.write(write, kernel, operands, attributes)
    if by("version/write-bumps"):
        if target._inference or target._version_counter is UNTRACKED:
            bump(target, operands)
        else:
            target._version_counter[0] += 1
    if node is not None:
        node.add_output(target)
        rebase(target, node)
        node.save_output(target, written_view=target._view is not None)
    return target if by("write/returns-its-tensor") else alias(target)


def bump(tensor: Tensor, operands: tuple[Any, ...] = (), told: bool = False) -> None:
    """Count a write that has been done; may refuse all the same.

    In inference mode, writes to inference tensors count only if a normal tensor is among the operands, or if
    autograd is ``told`` of them; they need a counter.
    """
    alone = not told and tensor._inference and all(x._inference for x in operands if isinstance(x, Tensor))
    if STATE.inference and alone:
        return
    if tensor._version_counter is not UNTRACKED:
        tensor._version_counter[0] += 1
    elif not STATE.inference:
        refuse_by("inference/write-outside-refused")


def is_tracked(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """The operands for which autograd tracks the write, as a bit mask."""
    return kernel.recorded_mask(operands) if STATE.enabled and kernel.edges else 0


def check_recorded(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    """Refuse, before anything is computed, a call that autograd would have to record and cannot."""
    if STATE.enabled and kernel.edges and kernel.recorded_mask(operands):
        if kernel.mutates:
            check_tracked(operands[0])
        node_type(kernel)(kernel, operands, attributes)


def check_tracked(target: Tensor) -> None:
    """Refuse a write that autograd would have to track and cannot."""
    view = target._view
    if view is not None:
        if view.creation_meta is not CreationMeta.DEFAULT:
            case = None if target._node is not None else "no node"
            refuse_by(_CREATION_RULES[view.creation_meta], which=described(target, view), case=case)
        elif target.requires_grad and view.base._node is None:
            refuse_by("write/view-of-leaf-refused")
    if target._node is None and target.requires_grad:
        if view is not None and not by("view/unread-passes-for-a-leaf"):
            target.is_leaf  # noqa: B018  reading it brings it up to date
        if target._node is None:
            refuse_by("write/leaf-refused")


def write(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    """Compute an in-place op and store its result in operand 0."""
    arrays, dtype = kernel.prepare(operands)
    check_operands(operands[0], arrays, dtype)
    store(kernel.run(arrays, attributes), operands[0]._array)


def check_operands(target: Tensor, arrays: tuple[Any, ...], dtype: np.dtype | None) -> None:
    """Refuse operands that do not broadcast to the target, or whose common ``dtype`` does not cast to its."""
    if dtype is None:
        return
    array = target._array
    for operand in arrays[1:]:
        if isinstance(operand, np.ndarray):
            check_shape(operand.shape, array.shape)
    if dtype.kind != array.dtype.kind and not dtypes.castable(dtype, array.dtype):
        refuse_by("write/result-dtype", got=dtypes.of(dtype), want=target.dtype)


def check_shape(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    """Refuse a result that does not broadcast to the target's shape, or only together with it to a larger
    one.
    """
    if shape == target or not shape:
        return
    try:
        together = np.broadcast_shapes(shape, target)
    except ValueError:
        refuse_by("op/shapes-broadcast", **clash(target, shape))
        raise
    if together != target:
        refuse_by("write/broadcast-shape", got=list(together), want=list(target))


def as_stored(result: np.ndarray, array: np.ndarray) -> np.ndarray:
    """The result as it can be stored in ``array``: of complex numbers the real parts, if that is real."""
    check_shape(result.shape, array.shape)
    if result.dtype.kind == "c" and array.dtype.kind in "fiV":
        if array.size:
            warn_once("data/complex-to-real-warns")
        return result.real
    return result


def store(result: np.ndarray, array: np.ndarray) -> None:
    """Overwrite the elements of ``array``."""
    array[...] = as_stored(result, array)


def rebase(target: Tensor, node: Node, number: int = 0) -> None:
    """Make ``node``, of which it is the ``number``-th output, the history of what was written; a view's base
    then goes through `CopySlices`.
    """
    view = target._view
    if not target.requires_grad and not by("write/plain-tensor-joins-graph"):
        return
    by("grad/only-leaves-are-filled")
    if view is not None and by("write/rewrites-the-base"):
        base = view.base
        old = base._node
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
