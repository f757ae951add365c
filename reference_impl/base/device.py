"""Devices of tensors, of new memory and of gradients. ``fidelity.cross_device`` checks operands.

The CUDA devices are virtual: numpy memory under the rules of real devices. The storage carries the mark, so
all that share it are on one device. `STATE.devices` counts such memory; at 0 ops skip all checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from functools import cache
from typing import Any, Protocol

import numpy as np

from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE

COUNT = 2
"""The number of virtual CUDA devices."""

_ELSEWHERE = ("mps", "xpu", "hpu", "mtia", "xla")
"""Kinds of devices that PyTorch knows and the reference lacks."""


_TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga",
    "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
"""PyTorch's device types, as its error lists them."""


class device(ContextDecorator):
    """``torch.device``: the CPU, or a CUDA device, by its number or without one; in a block, or around a
    function, the default device.

    Raises RuntimeError for unknown kinds, AssertionError for kinds that a PyTorch for CUDA is built without,
    NotModelled for the kind that holds no elements."""

    __slots__ = ("index", "type")
    type: str

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if isinstance(type, int):
            type, index = "cuda", type
        if not isinstance(type, str):
            raise TypeError(
                "device() received an invalid combination of arguments - got "
                f"({type.__class__.__name__}), but expected one of:\n * (torch.device device)\n"
                " * (str type, int index = -1)\n"
            )
        kind, _, number = type.partition(":")
        if kind == "meta":
            raise NotModelled("torch.device('meta')")
        if kind in _ELSEWHERE:
            raise AssertionError(
                f"Torch not compiled with {kind.upper()} enabled: there are the CPU and CUDA"
            )
        if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
            raise RuntimeError(
                f"Expected one of {', '.join(_TYPES)} device type at start of device string: {type}"
            )
        self.type = kind
        self.index = int(number) if number else index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __enter__(self) -> device:
        STATE.default_devices.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        STATE.default_devices.pop()

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"


CPU = device("cpu")


@cache
def _numbered(index: int) -> device:
    return device("cuda", index)


def find_device(where: Any) -> device:
    """Find a device: None stands for the CPU, "cuda" for the current CUDA device; refuse a missing one."""
    if where is None:
        return CPU
    meant = device(where)
    if meant.type == "cpu":
        return CPU
    index = STATE.current_cuda if meant.index is None else meant.index
    if index >= COUNT:
        refuse_by("device/ordinal-exists", index=index)
        index = 0
    return _numbered(index)


def default_place() -> device:
    """Return the device of tensors that are made without being told one."""
    innermost = STATE.default_devices[-1] if STATE.default_devices else CPU
    return find_device(innermost) if by("device/default-is-for-what-is-made") else CPU


class _Memory(np.ndarray):
    """Memory of a CUDA device, counted in `STATE.devices`."""

    place: device

    def __array_finalize__(self, source: Any) -> None:
        STATE.devices += 1

    def __del__(self) -> None:
        STATE.devices -= 1


@cache
def _memory_of(place: device) -> type[_Memory]:
    return type("_Memory", (_Memory,), {"place": place})


def on(place: device, memory: np.ndarray) -> np.ndarray:
    """Mark memory as memory of a device."""
    if place is CPU:
        return memory.view(np.ndarray) if isinstance(memory, _Memory) else memory
    return memory.view(_memory_of(place))


class Stored(Protocol):
    """A tensor, of which only the memory is asked for."""

    _storage: np.ndarray


def place_of(tensor: Stored) -> device:
    """The device of a tensor."""
    storage = tensor._storage
    return storage.place if isinstance(storage, _Memory) else CPU


def ambient_for(tensor: Stored) -> device | None:
    """The value of `STATE.place` for memory beside that of a tensor."""
    storage = tensor._storage
    return storage.place if isinstance(storage, _Memory) else None


@contextmanager
def making_on(place: device | None) -> Iterator[None]:
    """Make new memory on a device in the block."""
    was, STATE.place = STATE.place, None if place is CPU else place
    try:
        yield
    finally:
        STATE.place = was


class Placed(tuple):
    """The shape, dtype and CUDA device of a gradient, counted in `STATE.devices`: memory may be gone."""

    place: device

    def __del__(self) -> None:
        STATE.devices -= 1


def geometry(shape: tuple[int, ...], dtype: Any, place: device | None) -> tuple[tuple[int, ...], Any]:
    """The input metadata of a node: shape and dtype, and the device if it is not the CPU."""
    if place is None or place is CPU:
        return shape, dtype
    placed = Placed((shape, dtype))
    placed.place = place
    STATE.devices += 1
    return placed


def place_in(metadata: Any) -> device:
    """The device in input metadata."""
    return metadata.place if type(metadata) is Placed else CPU


def ambient_in(metadata: list[Any]) -> device | None:
    """The value of `STATE.place` while a node with this metadata runs."""
    return metadata[0].place if metadata and type(metadata[0]) is Placed else None
