"""Devices: where a tensor's memory lies, and where gradients belong. Which tensors may meet: ``meeting``.

Besides the CPU there are virtual CUDA devices: the rules of real ones, on numpy. A storage is marked as
memory of one of them; all that shares it is there. Programs that never leave the CPU pay one question an op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE

if TYPE_CHECKING:
    from reference_impl.core.tensor import Tensor

COUNT = 2
"""How many virtual CUDA devices there are."""

_ELSEWHERE = ("mps", "meta", "xpu", "hpu", "mtia", "xla")
"""Kinds of devices that PyTorch knows and that are not here."""


class device:
    """A place where tensors live: the CPU, or a CUDA device by its number (without one, the current)."""

    __slots__ = ("index", "type")
    type: str

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if isinstance(type, int):
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(f"a device is named by a str, not {type!r}")
        kind, _, number = type.partition(":")
        if kind in _ELSEWHERE:
            raise AssertionError(
                f"Torch not compiled with {kind.upper()} enabled: there are the CPU and CUDA"
            )
        if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
            raise RuntimeError(f"Expected one of cpu, cuda device type at start of device string: {type}")
        self.type = kind
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


CPU = device("cpu")


@cache
def _numbered(index: int) -> device:
    return device("cuda", index)


def found(where: Any) -> device:
    """The device that is meant (None: the CPU; CUDA by itself: the first); refused if there is none."""
    if where is None:
        return CPU
    meant = device(where)
    if meant.type == "cpu":
        return CPU
    index = meant.index or 0
    if index >= COUNT:
        refuse_by("device/ordinal-exists", index=index)
        index = 0
    return _numbered(index)


class _Memory(np.ndarray):
    """Memory of a device; how much of it there is anywhere decides whether ops ask where operands are."""

    place: device

    def __array_finalize__(self, source: Any) -> None:
        STATE.devices += 1

    def __del__(self) -> None:
        STATE.devices -= 1


@cache
def _memory_of(place: device) -> type[_Memory]:
    return type("_Memory", (_Memory,), {"place": place})


def on(place: device, memory: np.ndarray) -> np.ndarray:
    """That memory, as memory of that device."""
    if place is CPU:
        return memory.view(np.ndarray) if isinstance(memory, _Memory) else memory
    return memory.view(_memory_of(place))


def place_of(tensor: Tensor) -> device:
    """The device that a tensor is on."""
    storage = tensor._storage
    return storage.place if isinstance(storage, _Memory) else CPU


def ambient_for(tensor: Tensor) -> device | None:
    """What `STATE.place` is to be for memory beside that of a tensor."""
    storage = tensor._storage
    return storage.place if isinstance(storage, _Memory) else None


@contextmanager
def making_on(place: device | None) -> Iterator[None]:
    """In the block new memory is that device's."""
    was, STATE.place = STATE.place, None if place is CPU else place
    try:
        yield
    finally:
        STATE.place = was


class Placed(tuple):
    """The shape and dtype of gradients that belong on a device other than the CPU; counts as its memory does,
    which may be gone by then.
    """

    place: device

    def __del__(self) -> None:
        STATE.devices -= 1


def geometry(shape: tuple[int, ...], dtype: Any, place: device | None) -> tuple[tuple[int, ...], Any]:
    """What a node's metadata says of gradients: shape, dtype, and the device where it is not the CPU."""
    if place is None or place is CPU:
        return shape, dtype
    placed = Placed((shape, dtype))
    placed.place = place
    STATE.devices += 1
    return placed


def place_in(metadata: Any) -> device:
    """The device that such metadata tells."""
    return metadata.place if type(metadata) is Placed else CPU


def beside_its_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for which new memory is where its first tensor is."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not STATE.devices:
            return function(*args, **kwargs)
        with making_on(next((place_of(x) for x in args if hasattr(x, "_storage")), None)):
            return function(*args, **kwargs)

    return called


# -- gradients -------------------------------------------------------------------------------------
def ambient_in(metadata: list[Any]) -> device | None:
    """What `STATE.place` is to be while a node runs that has such metadata."""
    return metadata[0].place if metadata and type(metadata[0]) is Placed else None


def copied_to_device(g: Tensor, metadata: Any) -> Tensor:
    """A gradient where it belongs; refused if it came from elsewhere and is more than one element."""
    want, got = place_in(metadata), place_of(g)
    if want is got:
        return g
    if g._array.ndim == 0 and by("device/one-element-gradient-follows"):
        return g.copy_to(g._array.dtype, want)
    refuse_by("device/gradient-elsewhere", want=want, got=got)
    return g
