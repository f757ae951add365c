"""Constructors from before factories: ``FloatTensor`` and its kin, ``x.new``, ``Variable``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import device, find_device, place_of
from reference_impl.base.rules import refuse_arguments, refuse_by
from reference_impl.base.size import Size
from reference_impl.core.extension_points import fill
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import empty, tensor


class LegacyType:
    """A type of tensors, and their old constructor: from a sequence, of a size, or an alias of a tensor.

    ``own`` is the dtype of its tensors, or None if that is the default one, and any tensor's an alias.
    """

    def __init__(self, own: dtypes.dtype | None, place: str, name: str) -> None:
        self.own, self.place = own, place
        self.__name__ = name

    @property
    def dtype(self) -> dtypes.dtype:
        """The dtype of its tensors."""
        return self.own or dtypes.default()

    def __instancecheck__(self, x: Any) -> bool:
        return isinstance(x, Tensor) and (x.dtype, place_of(x).type) == (self.own, self.place)

    def __call__(self, *given: Any, **named: Any) -> Tensor:
        """Make a tensor.

        Raises TypeError for data that is no sequence and for arguments that it has not, RuntimeError for
        another device.
        """
        return _made(self, find_device(self.place), given, named, "torch.Tensor")

    def __repr__(self) -> str:
        return f"<class 'torch.{self.__name__}'>"


def new_like(x: Tensor, given: tuple[Any, ...], named: dict[str, Any]) -> Tensor:
    """Make a tensor of the dtype and on the device of ``x``, by the old constructor."""
    kind = LegacyType(x.dtype, place_of(x).type, "Tensor")
    return _made(kind, place_of(x), given, named, "tensor.new")


def _made(
    kind: LegacyType, place: device, given: tuple[Any, ...], named: dict[str, Any], form: str
) -> Tensor:
    where = named.pop("device", None)
    if where is not None:
        place = find_device(where)
        if place.type != kind.place:
            raise RuntimeError(
                f"legacy constructor expects device type: {kind.place} "
                f"but device type: {place.type} was passed"
            )
    first = given[0] if given else None
    if _is_size(given) and not named:
        return empty(_extents(given), dtype=kind.dtype, device=place)
    if len(given) + len(named) == 1:
        (key,) = named or ("",)
        data = named.get(key, first)
        if key in ("", "other") and isinstance(data, Tensor):
            if where is not None:
                raise RuntimeError(_ABOUT_ALIASES[form])
            return _alias_of(data, kind.own, place)
        if key == "size" and isinstance(data, (tuple, list)) and _is_size(tuple(data)):
            return empty(tuple(data), dtype=kind.dtype, device=place)
        if key in ("", "data"):
            return _from_sequence(data, kind, place)
    elif not (given or named):
        return empty(0, dtype=kind.dtype, device=place)
    refuse_arguments("new", given, named)
    return empty(0, dtype=kind.dtype, device=place)


_ABOUT_ALIASES = {
    "torch.Tensor": "Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not "
    "supported.  Use torch.tensor(...) or torch.as_tensor(...) instead.",
    "tensor.new": "Legacy tensor new of the form tensor.new(tensor, device=device) is not supported. "
    " Use torch.as_tensor(...) instead.",
}
"""The words of PyTorch about an alias that is to be elsewhere."""


def _is_size(given: tuple[Any, ...]) -> bool:
    """Tell whether arguments begin as a size does: with an integer, or with a `Size` that is alone."""
    if not given:
        return False
    first = given[0]
    if isinstance(first, Size):
        return len(given) == 1
    if isinstance(first, Tensor):
        return len(given) > 1 and first.ndim == 0 and first.dtype.numpy.kind in "iu"
    return hasattr(first, "__index__") and not isinstance(first, (bool, np.ndarray))


def _extents(given: tuple[Any, ...]) -> tuple[int, ...]:
    extents = tuple(given[0]) if isinstance(given[0], Size) else given
    for at, n in enumerate(extents, 1):
        if not hasattr(n, "__index__") or (isinstance(n, Tensor) and n.ndim):
            got = type(n).__name__
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {at} with error "
                f'"type must be tuple of ints,but got {got}"'
            )
    return tuple(n.__index__() for n in extents)


def _from_sequence(data: Any, kind: LegacyType, place: device) -> Tensor:
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, (Tensor, np.generic, dict)) or not hasattr(type(data), "__getitem__"):
        name = "numpy." * isinstance(data, np.generic) + type(data).__name__
        raise TypeError(f"new(): data must be a sequence (got {name})")
    return tensor(data, dtype=kind.dtype, device=place)


def _alias_of(x: Tensor, dtype: dtypes.dtype | None, place: device) -> Tensor:
    """A view of the whole tensor, as the old constructors return it.

    Raises TypeError for another dtype or device.
    """
    if (dtype is not None and x.dtype is not dtype) or place_of(x) is not place:
        raise TypeError(f"expected {dtype or x.dtype} on {place} (got {x.dtype} on {place_of(x)})")
    return x.alias()


_DEFAULT = LegacyType(None, "cpu", "Tensor")


@fill
def construct(*given: Any, **named: Any) -> Any:
    """Make a tensor of the default dtype, as ``torch.Tensor`` does."""
    return _DEFAULT(*given, **named)


_OLD = {
    "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64, "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16, "LongTensor": dtypes.int64, "IntTensor": dtypes.int32,
    "ShortTensor": dtypes.int16, "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8,
    "BoolTensor": dtypes.bool_,
}  # fmt: skip
LEGACY = {name: LegacyType(dtype, "cpu", name) for name, dtype in _OLD.items()}
"""The constructors of ``torch`` by name."""
LEGACY_CUDA = {name: LegacyType(dtype, "cuda", f"cuda.{name}") for name, dtype in _OLD.items()}
"""The constructors of ``torch.cuda`` by name."""


def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype to that of an old type of floating point, or of its name.

    Raises TypeError for any other, AttributeError for a name that is none.
    """
    known = {f"torch.{name}": kind for name, kind in LEGACY.items()}
    if isinstance(t, str) and t not in known:
        raise AttributeError(f"module 'torch' has no attribute {t.removeprefix('torch.')!r}")
    found = known[t] if isinstance(t, str) else t
    if not isinstance(found, LegacyType) or found.place != "cpu":
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if not found.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    text = "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
    text += "torch.set_default_dtype() and torch.set_default_device() as alternatives."
    warnings.warn(text, UserWarning, stacklevel=2)
    dtypes.set_default(found.dtype)


FUNCTIONS: dict[str, Any] = {**LEGACY, "set_default_tensor_type": set_default_tensor_type}
"""Functions by name."""


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
