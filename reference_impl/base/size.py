"""The shape of a tensor and how it is laid out: values of their own in PyTorch's namespace."""

from __future__ import annotations

import math
from typing import Any, SupportsIndex


class Size(tuple):
    """A shape: a tuple of ints that stays a shape when it is cut or joined."""

    def numel(self) -> int:
        """How many elements a tensor of this shape has."""
        return math.prod(self)

    def __getitem__(self, at: Any) -> Any:
        found = super().__getitem__(at)
        return Size(found) if isinstance(at, slice) else found

    def __add__(self, other: tuple[Any, ...]) -> Size:
        return Size(tuple(self) + tuple(other))

    def __radd__(self, other: tuple[Any, ...]) -> Size:
        return Size(tuple(other) + tuple(self))

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(tuple(self) * times)

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class memory_format:
    """How a new tensor is to be laid out."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class layout(memory_format):
    """How elements are stored at all; dense ones with strides are the only ones there are."""

    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
strided = layout("strided")
