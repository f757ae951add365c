"""``torch.Size``, ``torch.memory_format``, ``torch.layout``."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex


class Size(tuple):
    """A shape: a tuple of ints that stays a `Size` when sliced or concatenated."""

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return math.prod(self)

    def __getitem__(self, at: Any) -> Any:
        item = super().__getitem__(at)
        return Size(item) if isinstance(at, slice) else item

    def __add__(self, other: tuple[Any, ...]) -> Size:
        return Size(super().__add__(other))

    def __radd__(self, other: tuple[Any, ...]) -> Size:
        return Size(other + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple(self) * times)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class memory_format:
    """The layout of a new tensor."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class layout(memory_format):
    """The kind of storage; only ``strided`` exists."""

    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
strided = layout("strided")
