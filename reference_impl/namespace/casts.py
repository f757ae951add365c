"""Casts and device moves: ``to``, ``type``, ``cpu``, ``cuda``, ``double`` and its kin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, device, find_device, making_on, place_of
from reference_impl.base.dtypes import dtype, of_class
from reference_impl.base.quietly import quietly
from reference_impl.base.rules import by, refuse_by, warn_once
from reference_impl.base.session import STATE
from reference_impl.base.size import memory_format, preserve_format
from reference_impl.core.access import array_of, is_inference, set_flag, showing
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import marking
from reference_impl.fidelity.inference_kernels import count_birth
from reference_impl.namespace.formats import lay_out, strides_fit
from specs.dtype_names import SCALARS
from specs.errors import Refusal
from specs.layout import FORMATS, converted, laid_out_like, lies_with_channels_last


def cast(self: Tensor, target: dtype) -> Tensor:
    """Cast to a dtype; return the tensor itself if it has it."""
    if array_of(self).dtype == target.numpy and by("copy/nothing-to-do-is-itself"):
        return self
    if dtypes.differentiable(target.numpy):
        return self.cast(target.numpy)
    out = _without_gradient(self, target, place_of(self))
    if STATE.enabled and self.requires_grad and not by("requires_grad/integer-results-never"):
        set_flag(out, True)
    return out


@marking
@quietly
def _without_gradient(self: Tensor, target: dtype, place: device) -> Tensor:
    """Copy to integers or bools on a device, without history."""
    array = array_of(self)
    with making_on(place):
        out = wrap(laid_out_like(converted(array, target.numpy), array))
    if is_inference(self) and not STATE.inference:
        count_birth(out, "inference/copy-counts")
    if array.dtype.kind == "c" and target.numpy.kind in "iu" and array.size:
        warn_once("data/complex-to-real-warns")
    return out


def moved(self: Tensor, target: dtype, place: device, copy: bool = False) -> Tensor:
    """Cast and move; return the tensor itself if neither is needed and no copy is asked for."""
    if place_of(self) is place and by("device/there-already-is-itself"):
        out = cast(self, target)
        if out is not self or not copy:
            return out
    if not dtypes.differentiable(target.numpy):
        return _without_gradient(self, target, place)
    with making_on(place):
        if by("device/copy-is-an-op"):
            return self.copy_to(target.numpy, place)
        array = array_of(self)
        out = wrap(laid_out_like(array.astype(target.numpy), array))
    set_flag(out, self.requires_grad)
    return out


def _found_for(x: Tensor, where: Any) -> device:
    """Find the named device. As in PyTorch, a stale view may refuse before a missing device does."""
    try:
        return find_device(where)
    except Refusal:
        if STATE.enabled and x.requires_grad:
            x.grad_fn  # noqa: B018  may refuse_by
        raise


def to(self: Tensor, *wanted: Any, **more: Any) -> Tensor:
    """Cast to a dtype, move to a device, or match another tensor in both; ``self`` if nothing changes.

    Raises TypeError for any other argument."""
    if len(wanted) == 1 and type(wanted[0]) is dtype and not more:
        return cast(self, wanted[0])
    *_, copy = (False, *[flag for flag in wanted if isinstance(flag, bool)][1:2])  # behind non_blocking
    copy = more.pop("copy", copy)
    more.pop("non_blocking", None)
    layout = more.pop("memory_format", None)
    target, place = self.dtype, place_of(self)
    for value in (*wanted, *more.values()):
        if isinstance(value, dtype):
            target = value
        elif isinstance(value, Tensor):
            target, place = value.dtype, place_of(value)
        elif isinstance(value, (str, device)) or type(value) is int:
            place = _found_for(self, value)
        elif isinstance(value, type):
            target = of_class(value)
        elif value is not None and not isinstance(value, bool):
            raise TypeError(f"to() takes dtypes, tensors and devices, not {type(value).__name__}")
    return _laid_out(self, target, place, layout, copy)


def _laid_out(self: Tensor, target: dtype, place: device, layout: Any, copy: bool = False) -> Tensor:
    """Cast and move to a memory format; return the tensor itself if none of these changes anything."""
    if layout is None or layout is preserve_format:
        return moved(self, target, place, copy)
    if not isinstance(layout, memory_format):
        refuse_by("op/arguments", name="to", given=f"memory_format={type(layout).__name__}")
    if str(layout) in FORMATS and self.ndim != FORMATS[str(layout)]:
        what = str(layout).removeprefix("torch.")
        raise RuntimeError(f"required rank {FORMATS[str(layout)]} tensor to use {what} format")
    # NB: strides that are no other format's count as contiguous
    is_so = (
        strides_fit(self, layout) if str(layout) in FORMATS else not lies_with_channels_last(array_of(self))
    )
    result = moved(self, target, place, copy or not is_so)
    return lay_out(result, layout) if result is not self else result


def type_name(self: Tensor) -> str:
    """The name of the tensor type, such as ``torch.FloatTensor``."""
    where = "" if place_of(self) is CPU else "cuda."
    return f"torch.{where}{SCALARS[self.dtype.name]}Tensor"


def type_(self: Tensor, target: Any = None, non_blocking: bool = False) -> Any:
    """Return the type's name, or cast to a type given by name, dtype or constructor."""
    if target is None:
        return type_name(self)
    place = place_of(self)
    if isinstance(target, str):
        where, _, name = target.removeprefix("torch.").removesuffix("Tensor").rpartition(".")
        known = {SCALARS[each.name]: each for each in dtypes.ALL}
        if name not in known:
            raise ValueError(f"invalid type: {target!r}")
        target = known[name]
        place = _found_for(self, where or "cpu")
    elif target in (int, float, bool, complex):
        raise ValueError(f"invalid type: '{target.__name__}'")
    elif not isinstance(target, dtype):
        out = target()  # an old constructor
        target, place = out.dtype, place_of(out)
    return moved(self, target, place)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """Cast and move to match another tensor."""
    return moved(self, other.dtype, place_of(other))


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """Move to the CPU; ``self`` if it is there."""
    return _laid_out(self, self.dtype, CPU, memory_format)


def cuda(self: Tensor, device: Any = "cuda", non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """Move to a CUDA device, by default the first; ``self`` if it is there."""
    place = _found_for(self, "cuda" if device is None else device)
    return _laid_out(self, self.dtype, place, memory_format)


def read_as(self: Tensor, target: Any) -> Tensor:
    """Read the same memory as elements of another dtype; without history, and no view."""
    if not isinstance(target, dtype):
        refuse_by("op/arguments", name="view", given=type(target).__name__)
    array, new = array_of(self), target.numpy
    if array.itemsize != new.itemsize:
        _need_a_row(
            self, array.itemsize, new.itemsize, f"{SCALARS[self.dtype.name]} as {SCALARS[target.name]}"
        )
    return showing(self.detach(), array.view(new), self)


def _need_a_row(x: Tensor, old: int, new: int, what: str) -> None:
    """Refuse what elements of another size cannot be read from: the last dimension has to be a row."""
    why = f"to view {what} (different element sizes)"
    if not x.ndim:
        raise RuntimeError(f"self.dim() cannot be 0 {why}")
    ratio = max(new // old, 1)
    for name, got in (("size(-1)", x.shape[-1]), ("storage_offset()", x.storage_offset())):
        if got % ratio:
            raise RuntimeError(f"self.{name} must be divisible by {ratio} {why}, but got {got}")
    *lead, last = x.stride()
    if last != 1:
        raise RuntimeError(f"self.stride(-1) must be 1 {why}, but got {last}")
    for at, got in enumerate(lead):
        if got % ratio:
            raise RuntimeError(f"self.stride({at}) must be divisible by {ratio} {why}, but got {got}")


def _to(target: dtype) -> Callable[..., Tensor]:
    def casting(self: Tensor, *, memory_format: Any = None) -> Tensor:
        if memory_format is None:
            return cast(self, target)
        return _laid_out(self, target, place_of(self), memory_format)

    casting.__doc__ = f"Cast to {target.name}."
    return casting


CASTS: dict[str, Callable[..., Any]] = {
    "to": to, "type": type_, "type_as": type_as, "cpu": cpu, "cuda": cuda, "double": _to(dtypes.float64),
    "float": _to(dtypes.float32), "half": _to(dtypes.float16), "bfloat16": _to(dtypes.bfloat16),
    "long": _to(dtypes.int64), "int": _to(dtypes.int32), "short": _to(dtypes.int16), "char": _to(dtypes.int8),
    "byte": _to(dtypes.uint8), "bool": _to(dtypes.bool_), "cfloat": _to(dtypes.complex64),
    "cdouble": _to(dtypes.complex128), "_read_as": read_as,
}  # fmt: skip
"""Methods by name."""
