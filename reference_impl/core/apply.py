"""Running an op that writes nothing: compute, and hang the recorded node on the result.

Which op a call means lives in ``dispatch``, what it computes on in ``operands``, what is recorded in
``record``, ops that write in ``write``, and what a view is in ``views``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reference_impl.base.device import geometry
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.graph import NOWHERE, Node
from reference_impl.core.record import MADE_OF_CALLS, Kernel, OpNode, recorded_mask
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.core.views import as_view
from specs.errors import Refusal
from specs.layout import laid_out_like


def call(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op whose result has memory of its own."""
    recorded = STATE.enabled and kernel.edges and recorded_mask(kernel, operands)
    if recorded == MADE_OF_CALLS and not STATE.inference:
        return _call_alone(kernel, operands, attributes)
    node = OpNode(kernel, operands, attributes) if recorded else None
    prepare, compute = kernel.prepare, kernel.compute
    arrays, target = prepare(operands)
    try:
        array = compute(arrays, attributes)
        if STATE.moves is not None:
            array = STATE.moves(kernel.op, array)
        if STATE.inference and kernel.op.takes_view:
            _look_through(kernel, operands, attributes)
    except Refusal as refused:
        if STATE.inference and refused.rule == "op/index-range" and refused.details.get("size"):
            _look_through(kernel, operands, attributes)
        if by(refused.rule):
            raise
        array = np.array(arrays[0])
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    elif array is arrays[0]:
        array = array.copy()
    if array.dtype is not target and target is not None and not kernel.boolean:
        made = array.astype(target, copy=False)
        array = laid_out_like(made, array) if made.ndim > 1 and made.size else made
    out = wrap(array)
    if node is not None:
        if array.dtype.kind not in kernel.recordable:
            if array.dtype.kind == "c":
                refuse_by("op/no-history-for-complex", name=kernel.op.name)
            else:
                refuse_by("op/no-history-for-integers", dtype=out.dtype)
        node.metadata.append(
            (array.shape, array.dtype)
            if STATE.place is None
            else geometry(array.shape, array.dtype, STATE.place)
        )
        out._node = node
        if kernel.result:
            node.save_output(out)
        if not by("grad/only-leaves-are-filled"):
            out.retain_grad()
    elif kernel.boolean and STATE.enabled and _wrongly_recorded(operands):
        out._node = Node((NOWHERE,))
    return out


def _look_through(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
    """Take the views that a kernel takes of its operands.

    In inference mode that asks for the version, which a normal tensor lacks that was an inference tensor
    before its data was assigned.
    """
    op = kernel.op
    if op.takes_view is None or not op.takes_view(*operands, **attributes):
        return
    for x, operand in zip(operands, op.operands, strict=True):
        if operand.kind.name == "tensor" and not x._inference:
            x._version_counter[0]


def _call_alone(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op on inference tensors alone whose kernel makes calls that may be recorded."""
    assert kernel.alone is not None
    calls = STATE.place is None or not kernel.alone.cpu
    become = kernel.alone(*operands, **attributes) if calls and by("inference/alone-but-for-calls") else ""
    if become == "saved":
        refuse_by("inference/not-saved")
    if isinstance(become, Tensor):
        return become
    if become in ("copied", "copied by rows"):
        return _like(operands[0], attributes.get("dtype"), become == "copied by rows").copy_(operands[0])
    STATE.enabled = False
    try:
        made = call(kernel, operands, attributes)
    finally:
        STATE.enabled = True
    if become == "out":
        refuse_by("write/out-is-not-recorded")
    return made


def _like(x: Tensor, dtype: Any, by_rows: bool) -> Tensor:
    """The memory for a copy of a tensor."""
    if by_rows:
        return wrap(np.empty(x._array.shape, x._array.dtype))
    return wrap(laid_out_like(np.empty_like(x._array, dtype), x._array))


def _wrongly_recorded(operands: tuple[Any, ...]) -> bool:
    """Whether a result without gradient is taken for a differentiable one (only with that rule knocked
    out).
    """
    wanted = any(isinstance(x, Tensor) and x.requires_grad for x in operands)
    return wanted and not by("requires_grad/integer-results-never")


def call_view(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op whose result, or each of whose results, is a window on the memory of operand 0."""
    source = operands[0]
    recorded = STATE.enabled and kernel.edges and recorded_mask(kernel, operands)
    node = OpNode(kernel, operands, attributes) if recorded else None
    compute = kernel.compute
    try:
        result = compute((source._array,), attributes)
    except Refusal as refused:
        if by(refused.rule):
            raise
        result = np.array(source._array)
    if not kernel.multi:
        return _view(source, result, node)
    return tuple([_view(source, array, node, True) for array in result])


def _view(source: Tensor, array: np.ndarray, node: OpNode | None, multi: bool = False) -> Tensor:
    """One of the views that an op makes of ``source``."""
    view = wrap(array, source) if by("view/shares-storage") else wrap(array.copy())
    as_view(source, view, multi)
    if node is not None:
        if array.dtype.kind not in DIFFERENTIABLE:
            refuse_by("op/no-history-for-integers", dtype=view.dtype)
        view._node = node
        number = node.add_output(view)
        if number and by("view/outputs-share-a-node"):
            view._output_nr = number
    return view
