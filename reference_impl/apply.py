"""Running an op that writes nothing: promote, compute, and hang the recorded node on the result.

Which op a call means lives in ``dispatch``, what is recorded in ``record``, ops that write in ``write``, and
what a view is in ``views``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reference_impl import dtypes
from reference_impl.graph import NOWHERE, Node
from reference_impl.modes import STATE
from reference_impl.record import Kernel, OpNode, recorded_mask
from reference_impl.rule_marks import by, refuse
from reference_impl.tensor import Tensor
from reference_impl.views import as_view
from specs.op import Op
from specs.refusal import Refusal


def prepare(kernel: Kernel, operands: tuple[Any, ...]) -> tuple[tuple[Any, ...], np.dtype | None]:
    """The arrays a body computes on, cast as the op says, and the dtype they were cast to (None: none
    were).
    """
    count = len(operands)
    how = kernel.dtypes
    if count == 1:
        first = operands[0]._array
        arrays: tuple[Any, ...] = (first,)
    else:
        arrays = tuple([x._array if isinstance(x, Tensor) else x for x in operands])
        first = arrays[0]
    if how == "keep" or how == "same":
        return arrays, None
    if how == "numeric":
        _need_numbers(kernel.op, arrays)
        how = "promote"
    if count == 2 and type(first) is np.ndarray and first.dtype.kind == "f":
        second = arrays[1]
        if type(second) is np.ndarray:
            if first.dtype is second.dtype:
                return arrays, first.dtype
        elif type(second) is not complex:
            return arrays, first.dtype
    elif count == 1:
        if how == "promote" or first.dtype.kind in "fc":
            return arrays, first.dtype
        if how == "float":
            return (first.astype(dtypes.default().numpy),), dtypes.default().numpy
    if how == "sum":
        if first.dtype.kind in "biu" and not kernel.op.mutates:
            arrays = (first.astype(np.int64), *arrays[1:])
        return arrays, None
    return _promoted(kernel.op, arrays)


def _need_numbers(op: Op, arrays: tuple[Any, ...]) -> None:
    """Refuse bools, tensors or not, as they come: promotion would make numbers of them."""
    if any(a.dtype.kind == "b" if isinstance(a, np.ndarray) else isinstance(a, bool) for a in arrays):
        refuse("op/bool-arithmetic", name=op.name.rstrip("_"))


def _promoted(op: Op, arrays: tuple[Any, ...]) -> tuple[tuple[Any, ...], np.dtype]:
    """All operands but masks and indices in the dtype torch.result_type gives."""
    apart = [operand.kind.name in ("mask", "indices") for operand in op.operands]
    taking = [a for a, skip in zip(arrays, apart, strict=True) if not skip]
    target = dtypes.promote(
        [a for a in taking if isinstance(a, np.ndarray)], [a for a in taking if not isinstance(a, np.ndarray)]
    )
    if op.dtypes == "float" and target.kind in "biu":
        target = dtypes.default().numpy
    return tuple(a if skip else _cast(a, target) for a, skip in zip(arrays, apart, strict=True)), target


def _cast(value: Any, target: np.dtype) -> Any:
    if isinstance(value, np.ndarray):
        return value if value.dtype == target else value.astype(target)
    return np.asarray(value).astype(target)


def call(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op that writes nothing: its result, or a tuple of them."""
    op = kernel.op
    mask = recorded_mask(kernel, operands) if STATE.enabled and kernel.edges else 0
    node = OpNode(kernel, operands, attributes) if mask else None
    arrays, target = prepare(kernel, operands)
    try:
        result = kernel.compute(arrays, attributes)
    except Refusal as refused:
        if by(refused.rule):
            raise
        result = np.array(arrays[0])
    if kernel.view:
        return _views(op, operands[0], result, node)
    array = result if type(result) is np.ndarray else np.asarray(result)
    if array is arrays[0]:
        array = array.copy()
    if target is not None and array.dtype is not target and array.dtype != target and op.dtypes != "bool":
        array = array.astype(target)
    out = Tensor(array)
    if node is not None:
        if array.dtype.kind not in "fc":
            refuse("op/no-history-for-integers", dtype=out.dtype)
        node.metadata.append((array.shape, array.dtype))
        out._node = node
        if kernel.result:
            node.save_output(out)
        if not by("grad/only-leaves-are-filled"):
            out.retain_grad()
    elif op.dtypes == "bool" and STATE.enabled and _wrongly_recorded(operands):
        out._node = Node((NOWHERE,))
    return out


def _wrongly_recorded(operands: tuple[Any, ...]) -> bool:
    """Whether a result without gradient is taken for a differentiable one (only with that rule knocked
    out).
    """
    wanted = any(isinstance(x, Tensor) and x.requires_grad for x in operands)
    return wanted and not by("requires_grad/integer-results-never")


def _views(op: Op, source: Tensor, result: Any, node: OpNode | None) -> Any:
    multi = op.view == "multi"
    views = []
    for array in result if multi else (result,):
        if by("view/shares-storage"):
            view = Tensor(array, source._storage, source._counter)
        else:
            view = Tensor(array.copy())
        as_view(source, view, multi)
        if node is not None:
            if array.dtype.kind not in "fc":
                refuse("op/no-history-for-integers", dtype=view.dtype)
            view._node = node
            number = node.add_output(view)
            view._nr = number if not number or by("view/outputs-share-a-node") else 0
        views.append(view)
    return tuple(views) if multi else views[0]
