"""Arguments that PyTorch calls otherwise than the functions here do, or takes one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.core.tensor import Tensor

_AXES = {"dim0": "axis0", "dim1": "axis1"}
_POSITIONS = {"indices": "sections"}
RENAMED: dict[str, dict[str, str]] = {
    "ger": {"vec2": "other"}, "outer": {"vec2": "other"},
    "heaviside": {"values": "other"}, "heaviside_": {"values": "other"},
    "dsplit": _POSITIONS, "hsplit": _POSITIONS, "vsplit": _POSITIONS,
    "resize_as_": {"the_template": "other"},
    "swapdims": _AXES, "swapdims_": _AXES,
    "tensor_split": _POSITIONS | {"tensor_indices_or_sections": "sections"},
}  # fmt: skip
"""The own names of a function's arguments by those that PyTorch gives them."""

ONE_BY_ONE = {
    "count_nonzero": "dim", "dsplit": "indices", "hsplit": "indices", "resize_": "size", "squeeze": "dim",
    "squeeze_": "dim", "tile": "dims", "vsplit": "indices",
}  # fmt: skip
"""The last argument of methods that take ints one by one, unlike the functions of their names."""


def renaming(function: Callable[..., Any], names: dict[str, str]) -> Callable[..., Any]:
    """Let a function be called with other names for its arguments."""

    @wraps(function)
    def called(*args: Any, **named: Any) -> Any:
        return function(*args, **{names.get(name, name): value for name, value in named.items()})

    return called


def taking_ints_one_by_one(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make a method to which a sequence of ints may also come one by one: ``x.squeeze(0, 1)``."""

    @wraps(function)
    def method(self: Tensor, *ints: Any, **named: Any) -> Any:
        if not ints and name in named:
            ints = (named.pop(name),)
        return (
            function(self, ints if len(ints) > 1 else ints[0], **named) if ints else function(self, **named)
        )

    return method


def gathering(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``gather`` be told that its gradient is not to be sparse."""

    @wraps(function)
    def gather(*args: Any, sparse_grad: bool = False, **named: Any) -> Any:
        refuse_unless_default("gather", {"sparse_grad": sparse_grad}, sparse_grad=False)
        return function(*args, **named)

    return gather
