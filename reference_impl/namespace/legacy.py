"""Constructors from before factories: ``FloatTensor`` and its kin, ``x.new``, ``Variable``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.device import find_device, place_of
from reference_impl.base.rules import refuse_by
from reference_impl.base.size import Size
from reference_impl.core.extension_points import fill
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty, tensor


def legacy(dtype: dtypes.dtype, device: Any = "cpu") -> Callable[..., Tensor]:
    """Make the old constructor of a dtype: from a sequence, of a size, or an alias of a tensor."""

    def make(*given: Any) -> Tensor:
        if not given:
            return empty(0, dtype=dtype, device=device)
        if len(given) == 1 and isinstance(given[0], Tensor):
            return _alias_of(given[0], dtype, find_device(device))
        if len(given) == 1 and not isinstance(given[0], (int, Size)):
            return tensor(given[0], dtype=dtype, device=device)
        return empty(*given, dtype=dtype, device=device)

    return make


def _alias_of(x: Tensor, dtype: dtypes.dtype, place: Any) -> Tensor:
    """A view of the whole tensor, as the old constructors return it.

    Raises TypeError for another dtype or device.
    """
    if x.dtype is not dtype or place_of(x) is not place:
        raise TypeError(f"expected {dtype} on {place} (got {x.dtype} on {place_of(x)})")
    return x.alias()


@fill
def construct(*given: Any, **named: Any) -> Any:
    """Make a tensor of the default dtype, as ``torch.Tensor`` does."""
    if len(given) == 1 and isinstance(given[0], Tensor):
        return _alias_of(given[0], dtypes.default(), find_device(named.get("device")))
    return legacy(dtypes.default(), named.get("device", "cpu"))(*given)


_OLD = {
    "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64, "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16, "LongTensor": dtypes.int64, "IntTensor": dtypes.int32,
    "ShortTensor": dtypes.int16, "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8,
    "BoolTensor": dtypes.bool_,
}  # fmt: skip
LEGACY = {name: legacy(dtype) for name, dtype in _OLD.items()}
"""The constructors of ``torch`` by name."""
LEGACY_CUDA = {name: legacy(dtype, "cuda") for name, dtype in _OLD.items()}
"""The constructors of ``torch.cuda`` by name."""


class _Variables(type):
    """Makes every tensor an instance of `Variable`."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_Variables):
    """The old name of `Tensor`; called, it returns a detached alias, which may require grad."""

    def __new__(cls, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Any:
        if not isinstance(data, Tensor):
            refuse_by("data/assign-type", type=type(data).__name__)
        if volatile:
            text = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."
            warnings.warn(text, UserWarning, stacklevel=2)
        alias = data.detach()
        return alias.requires_grad_() if requires_grad else alias
