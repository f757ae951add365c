"""Kernels that show through on inference tensors: `specs.inference_alone` says of which ops.

Outside inference mode, an op on inference tensors alone makes the recorded calls that its kernel is made of.
In inference mode, a kernel that takes a view of an operand asks for the operand's version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.apply import call
from reference_impl.core.kernel import Kernel, all_inference
from reference_impl.core.tensor import Tensor, wrap
from specs.errors import Refusal
from specs.inference_alone import copied, copied_by_rows
from specs.layout import laid_out_like
from specs.op import Op

_REFUSED_AFTER_VIEWS = {"op/index-range", "op/new-sizes-are-not-negative", "op/stack-sizes"}
"""The refusals of a kernel that takes its views first: of all tensors, or of those before the one that is
refused. A position in a dimension without elements is refused before.
"""


def runner_for(op: Op) -> Callable[..., Any] | None:
    """The function that runs an op whose kernel shows through, or None."""
    if op.counts_itself:
        return _call_counted
    return None if op.alone is op.takes_view is None else _call


def _call_counted(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op whose last step is a write to its own result."""
    out = call(kernel, operands, attributes)
    count_birth(out, kernel.op.counts_itself)
    return out


def count_birth(out: Tensor, rule: str) -> None:
    """Count the write by which a result was made; inference tensors count nothing."""
    if not out._inference and by(rule):
        out._version_counter[0] += 1


def _call(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op whose kernel may show through."""
    if STATE.inference and kernel.op.takes_view is not None:
        return _call_taking_a_view(kernel, operands, attributes)
    if operands[0]._inference and is_made_of_calls(kernel, operands):
        return _call_made_of_calls(kernel, operands, attributes)
    out = call(kernel, operands, attributes)
    if operands[0]._inference and not STATE.inference and kernel.op.alone in (copied, copied_by_rows):
        count_birth(out, "inference/copy-counts")
    return out


def is_made_of_calls(kernel: Kernel, operands: tuple[Any, ...]) -> bool:
    """Return True if the op runs as calls of others, each of which is checked and recorded by itself."""
    if STATE.inference or not STATE.enabled or kernel.op.alone is None:
        return False
    required = any(isinstance(x, Tensor) and x.requires_grad for x in operands)
    return required and all_inference(kernel, operands) and by("inference/alone-records-nothing")


def _call_made_of_calls(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op on inference tensors alone whose kernel makes calls that may be recorded."""
    alone = kernel.op.alone
    assert alone is not None
    calls = STATE.place is None or not alone.cpu
    become = alone(*operands, **attributes) if calls and by("inference/alone-but-for-calls") else ""
    if become == "saved":
        refuse_by("inference/not-saved")
    if isinstance(become, Tensor):
        return become
    if become in ("copied", "copied by rows"):
        return _like(operands[0], attributes.get("dtype"), become == "copied by rows").copy_(operands[0])
    out = call(kernel, operands, attributes)
    if become == "out":
        refuse_by("write/out-is-not-recorded")
    return out


def _like(x: Tensor, dtype: Any, by_rows: bool) -> Tensor:
    """The memory for a copy of a tensor."""
    if by_rows:
        return wrap(np.empty(x._array.shape, x._array.dtype))
    return wrap(laid_out_like(np.empty_like(x._array, dtype), x._array))


def _look_through(
    kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any], until: int | None = None
) -> None:
    """Take the views that a kernel takes of its operands, of all or of the first ones.

    In inference mode that asks for the version, which a normal tensor lacks that was an inference tensor
    before its data was assigned.
    """
    op = kernel.op
    viewed = () if op.takes_view is None else op.takes_view(*operands, **attributes)
    if viewed is True:
        pairs = zip(operands, op.operands, strict=True)
        viewed = tuple(x for x, operand in pairs if operand.kind.name == "tensor")
    for x in (viewed or ())[:until]:
        if not x._inference:
            x._version_counter[0]


def _call_taking_a_view(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    """Run an op in inference mode whose kernel takes a view of an operand."""
    try:
        out = call(kernel, operands, attributes)
    except Refusal as refused:
        if refused.rule in _REFUSED_AFTER_VIEWS and refused.details.get("size") != 0:
            _look_through(kernel, operands, attributes, refused.details.get("at"))
        raise
    _look_through(kernel, operands, attributes)
    return out
