"""Cross-device checks: which devices the operands of an op may be on, and which device it runs on.

``dispatch`` comes this way as long as there is memory of a device other than the CPU (``STATE.devices``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_impl.base.device import CPU, device, making_on, place_of
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.extension_points import fill
from reference_impl.core.inplace import check_recorded
from reference_impl.core.kernel import Kernel
from reference_impl.core.tensor import Tensor, wrap_beside
from reference_impl.fidelity.inference_kernels import is_made_of_calls
from reference_impl.fidelity.zero_tensor import ZeroTensor
from specs.op import Op

_UNSEEN = ("product", "quotient", "addition", "subtraction")
"""The words of `Op.zero` for ops that do with a ZeroTensor wherever it is."""


@fill
def run_on_devices(
    execute: Callable[..., Any], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]
) -> Any:
    """Run an op on the device of its operands, or refuse if they are on several."""
    place = attributes.get("place")
    if place is None:
        tensors = [(at, x) for at, x in enumerate(operands) if isinstance(x, Tensor)]
        place = next((p for _, x in tensors if (p := place_of(x)) is not CPU), CPU)
        if place is not CPU and isinstance(kernel, Kernel) and not kernel.op.composite:
            if kernel.op.crosses and by("device/copy-crosses"):
                place = place_of(operands[0])
                if kernel.op.memory == "value" and _from_elsewhere(operands[1], place):
                    return operands[0]._fill_across_(operands[1])
            elif not (_looks_at_none(kernel.op, operands) or is_made_of_calls(kernel, operands)):
                _check(execute, kernel, operands, attributes, place)
    with making_on(place):
        return execute(kernel, operands, attributes)


def _from_elsewhere(value: Tensor, place: device) -> bool:
    """Return True for a 0-d tensor on another device."""
    return value._array.ndim == 0 and place_of(value) is not place


def _looks_at_none(op: Op, operands: tuple[Any, ...]) -> bool:
    """Return True if the op reads no element of another device: it gets or refuses to write a ZeroTensor."""
    if not any(isinstance(x, ZeroTensor) for x in operands):
        return False
    if op.mutates:
        return isinstance(operands[0], ZeroTensor)
    return op.zero in _UNSEEN and by("device/zeros-meet-all")


def _check(
    execute: Callable[..., Any],
    kernel: Kernel,
    operands: tuple[Any, ...],
    attributes: Mapping[str, Any],
    place: device,
) -> None:
    """Refuse operands on several devices. Elementwise ops check shapes first, most others devices."""
    op = kernel.op
    elementwise = op._layout is not None if op.iterates is None else op.iterates
    numbers = 0
    for at, x in enumerate(operands):
        if not isinstance(x, Tensor) or (here := place_of(x)) is place:
            continue
        stays = op.names[at] in op.on_cpu
        is_index = stays and op.operands[at].kind.name == "indices"
        if here is CPU and is_index and by("device/indices-may-be-on-the-cpu"):
            continue
        if here is CPU and not x._array.ndim and (at or not op.mutates) and by("device/number-goes-with-all"):
            if stays and not is_index:
                continue
            numbers += elementwise
            may_be = at or not op.beside_first or by("device/number-may-come-first")
            if elementwise and numbers == 1 and may_be:
                continue
        check_recorded(kernel, operands, attributes)
        if callable(op.checks_first):
            op.checks_first(*[x._array if isinstance(x, Tensor) else x for x in operands])
        elif elementwise or op.checks_first:
            _try(execute, kernel, operands, attributes)
        refuse_by("device/one-for-all", first=place, other=here)


def _try(
    execute: Callable[..., Any], kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]
) -> None:
    """Run the op on copies, so that it refuses whatever else is wrong."""
    with no_grad(), making_on(None):
        copies = [wrap_beside(x, x._array.copy()) if isinstance(x, Tensor) else x for x in operands]
        execute(kernel, tuple(copies), attributes)
