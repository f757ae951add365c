"""Which tensors may meet in an op, by their devices, and where the op runs.

``dispatch`` comes this way as long as there is memory of a device other than the CPU (``devices``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference_impl.base.device import CPU, device, making_on, place_of
from reference_impl.base.modes import STATE, no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.inplace import check_recorded
from reference_impl.core.record import MADE_OF_CALLS, Kernel, recorded_mask
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.fidelity.zero_tensor import Zeros
from specs.op import Op
from specs.signature import clash

_CROSSING = frozenset({"copy_", "fill_", "_fill_across_"})
"""Ops that bring over what they write."""

_WITH_ZEROS = frozenset({"add", "sub", "mul", "div"})
"""Ops that do with zeros without memory wherever they are."""

_BY_INDEX = ("_index", "_index_put", "_index_put_", "_index_put_impl_", "_index_fill", "_index_fill_")
"""Ops with indices that may be on the CPU."""

_BESIDE_FIRST = frozenset({"_logical_and"})
"""Elementwise ops whose result PyTorch makes where the first operand is, whatever the others."""

_VALUE = {"masked_fill": 2, "masked_fill_": 2, "_index_put": 1, "_index_put_": 1, "_index_put_impl_": 1}
"""Where the value stands that is brought over if it is a single element."""


def run(
    execute: Callable[..., Any], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]
) -> Any:
    """Run an op where its operands are, with its results there too; refused if they are in several places."""
    place = attributes.get("place")
    if place is None:
        tensors = [(at, x) for at, x in enumerate(operands) if isinstance(x, Tensor)]
        place = next((p for _, x in tensors if (p := place_of(x)) is not CPU), CPU)
        if place is not CPU and isinstance(kernel, Kernel) and not kernel.op.composite:
            if kernel.op.name in _CROSSING and by("device/copy-crosses"):
                place = place_of(operands[0])
                if kernel.op.key == "fill_tensor_" and _from_elsewhere(operands[1], place):
                    return operands[0]._fill_across_(operands[1])
            elif not (_looks_at_none(kernel.op, operands) or _is_made_of_calls(kernel, operands)):
                _check(execute, kernel, operands, attributes, place)
    with making_on(place):
        return execute(kernel, operands, attributes)


def _from_elsewhere(value: Tensor, place: device) -> bool:
    """Whether it is a number that lies on another device."""
    return value._array.ndim == 0 and place_of(value) is not place


def _is_made_of_calls(kernel: Kernel, operands: tuple[Any, ...]) -> bool:
    """Whether the op is done by others, each of which looks for itself."""
    if kernel.alone is None or STATE.inference or not STATE.enabled:
        return False
    return recorded_mask(kernel, operands) == MADE_OF_CALLS


def _looks_at_none(op: Op, operands: tuple[Any, ...]) -> bool:
    """Whether the op looks at no element of another device: it is given zeros without memory, or refuses to
    write them.
    """
    if not any(isinstance(x, Zeros) for x in operands):
        return False
    if op.mutates:
        return isinstance(operands[0], Zeros)
    return op.name in _WITH_ZEROS and by("device/zeros-meet-all")


def _check(
    execute: Callable[..., Any],
    kernel: Kernel,
    operands: tuple[Any, ...],
    attributes: Mapping[str, Any],
    place: device,
) -> None:
    """Refuse operands that may not meet. NB: elementwise ops look at shapes first, most others at places."""
    op = kernel.op
    elementwise = op._layout is not None
    numbers = 0
    for at, x in enumerate(operands):
        if not isinstance(x, Tensor) or (here := place_of(x)) is place:
            continue
        is_index = op.name in _BY_INDEX and at >= (2 if "put" in op.name else 1)
        if here is CPU and is_index and by("device/indices-may-be-on-the-cpu"):
            continue
        if here is CPU and not x._array.ndim and (at or not op.mutates) and by("device/number-goes-with-all"):
            if _VALUE.get(op.name) == at or op.name in ("where", "_where"):
                continue
            numbers += elementwise
            may_be = at or op.name not in _BESIDE_FIRST or by("device/number-may-come-first")
            if elementwise and numbers == 1 and may_be:
                continue
        check_recorded(kernel, operands, attributes)
        if op.name == "mv" and not operands[0]._array.ndim:
            refuse_by("op/dim-range", low=0, high=-1, dim=0)
        if op.name in ("masked_fill", "masked_fill_"):
            _look_at_filling(op.name, operands)
        if elementwise or "_index_put" in op.name:
            _try(execute, kernel, operands, attributes)
        refuse_by("device/one-for-all", first=place, other=here)


def _look_at_filling(name: str, operands: tuple[Any, ...]) -> None:
    """What filling by a mask refuses before it asks where the mask is."""
    x, mask, value = operands
    if name == "masked_fill":
        try:
            np.broadcast_shapes(x._array.shape, mask._array.shape)
        except ValueError:
            refuse_by("op/shapes-broadcast", **clash(x._array.shape, mask._array.shape))
    if isinstance(value, Tensor) and value._array.ndim:
        refuse_by("op/masked-fill-value", ndim=value._array.ndim)


def _try(
    execute: Callable[..., Any], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]
) -> None:
    """Run the op on copies, for what else may be wrong."""
    with no_grad(), making_on(None):
        copies = [wrap_beside(x, x._array.copy()) if isinstance(x, Tensor) else x for x in operands]
        execute(kernel, tuple(copies), attributes)
