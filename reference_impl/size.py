"""The shape of a tensor and the place where it lives: values of their own in PyTorch's namespace."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, SupportsIndex


class Size(tuple):
    """A shape: a tuple of ints that stays a shape when it is cut or joined."""

    def __new__(cls, sizes: Iterable[int] = ()) -> Size:
        return super().__new__(cls, sizes)

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


_ELSEWHERE = ("cuda", "mps", "meta", "xpu", "hpu", "mtia", "xla")
"""Kinds of devices that PyTorch knows and numpy has nothing for."""


class device:
    """The place where a tensor lives, of which there is one: the CPU."""

    __slots__ = ("index", "type")
    type: str

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if not isinstance(type, str):
            raise TypeError(f"a device is named by a str, not {type!r}")
        kind, _, number = type.partition(":")
        if kind in _ELSEWHERE:
            raise AssertionError(f"Torch not compiled with {kind.upper()} enabled: all is on the CPU here")
        if kind != "cpu" or (number and not number.isdigit()):
            raise RuntimeError(f"Expected one of cpu device type at start of device string: {type}")
        self.type = kind
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and self.index == other.index

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


CPU = device("cpu")


def on_cpu(where: Any) -> None:
    """Refuse whatever is not the CPU; None means the default, which is the CPU."""
    if where is not None:
        device(where)


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
