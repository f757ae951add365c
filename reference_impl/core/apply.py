"""Running an op that writes nothing: compute, and attach the recorded node to the result.

`dispatch` finds the op that a call means, `base.promotion` prepares its arrays, `record` makes its node,
`inplace` runs ops that write, and `views` says what a view is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reference_impl.base.device import geometry
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.kernel import Kernel, all_inference
from reference_impl.core.record import OpNode, node_type
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.core.views import as_view
from specs.layout import laid_out_like, means_its_strides


def call(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op whose result has memory of its own."""
    recorded = STATE.enabled and kernel.edges and kernel.recorded_mask(operands)
    node = (kernel.node_type or node_type(kernel))(kernel, operands, attributes) if recorded else None
    arrays, dtype = kernel.prepare(operands)
    array = kernel.compute(arrays, attributes)
    if STATE.perturb is not None:
        array = STATE.perturb(kernel.op, array, arrays)
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    elif array is arrays[0]:
        array = array.copy()
    if array.dtype is not dtype and dtype is not None and not kernel.boolean:
        cast = array.astype(dtype, copy=False)
        laid_out = cast.ndim > 1 and (cast.size or means_its_strides(array))
        array = laid_out_like(cast, array) if laid_out else cast
    out = wrap(array)
    if node is not None:
        set_history(out, node)
    elif STATE.enabled:
        if kernel.boolean:
            leave_without_history(out, operands)
        if kernel.joins and operands[0].__class__ is Tensor and operands[0]._inference:
            copy_what_is_cast(kernel, operands, dtype)
    return out


def set_history(out: Tensor, node: OpNode) -> None:
    """Make ``node`` the history of an op's result."""
    kernel, array = node.kernel, out._array
    kind = array.dtype.kind
    if kind not in kernel.recordable and kind == "c":
        refuse_by("op/no-history-for-complex", name=kernel.op.kernel or kernel.op.name)
    elif kind not in kernel.recordable:
        refuse_by("op/no-history-for-integers", dtype=out.dtype)
    place = STATE.place
    node.input_metadata.append(
        (array.shape, array.dtype) if place is None else geometry(array.shape, array.dtype, place)
    )
    out._node = node
    if kernel.result:
        node.save_output(out)
    by("grad/only-leaves-are-filled")


def leave_without_history(out: Tensor, operands: tuple[Any, ...]) -> None:
    """Leave a result without history whose dtype cannot carry gradients, whatever its operands require."""
    if any(isinstance(x, Tensor) and x.requires_grad for x in operands):
        by("requires_grad/integer-results-never")


def copy_what_is_cast(kernel: Kernel, operands: tuple[Any, ...], dtype: np.dtype | None) -> None:
    """Ask for the history of what was cast to the ``dtype`` of all operands.

    Where these are inference tensors alone, a cast is a copy into a normal tensor, which is recorded and
    dropped. Elsewhere than on the CPU kernels cast for themselves.
    """
    if dtype is None or STATE.place is not None or STATE.inference or not all_inference(kernel, operands):
        return
    for x in operands:
        cast = isinstance(x, Tensor) and x._array.dtype != dtype and x.requires_grad
        if cast and by("inference/alone-but-for-calls"):
            _ = x.grad_fn


def call_view(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op whose result, or each of whose results, is a view of operand 0."""
    source = operands[0]
    recorded = STATE.enabled and kernel.edges and kernel.recorded_mask(operands)
    node = (kernel.node_type or node_type(kernel))(kernel, operands, attributes) if recorded else None
    result = kernel.compute((source._array,), attributes)
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
        by("grad/only-leaves-are-filled")
    return view
