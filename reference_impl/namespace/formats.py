"""Memory formats: results of layers whose channels lie last, as those of what the layers were given do."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from reference_impl.base.size import memory_format
from reference_impl.core.access import array_of, set_memory, storage_of
from reference_impl.core.tensor import Tensor, wrap_beside
from specs.layout import FORMATS, in_format, lies_with_channels_last, strides_in


def lay_out(made: Tensor, wanted: memory_format | str) -> Tensor:
    """Lay the elements of a tensor that nobody has seen yet out in a format."""
    beside = wrap_beside(made, in_format(array_of(made), str(wanted)))
    set_memory(made, array_of(beside), storage_of(beside))
    return made


def strides_fit(x: Tensor, wanted: memory_format | str) -> bool:
    """Tell whether the strides are those that the format gives, also along dimensions of size 1."""
    array = array_of(x)
    return array.ndim != FORMATS.get(str(wanted)) or array.strides == strides_in(array)


def keeping_format(layer: Callable[..., Any]) -> Callable[..., Any]:
    """Make of a layer's function one whose result has its channels last if its input or its weight has."""

    @wraps(layer)
    def kept(*args: Any, **kwargs: Any) -> Any:
        out = layer(*args, **kwargs)
        given = (*args[:2], kwargs.get("input"), kwargs.get("weight"))
        if any(isinstance(x, Tensor) and lies_with_channels_last(array_of(x)) for x in given):
            for each in out if isinstance(out, tuple) else (out,):
                if each is not args[0] and each.ndim in FORMATS.values():
                    lay_out(each, "torch.channels_last" if each.ndim == 4 else "torch.channels_last_3d")
        return out

    return kept
