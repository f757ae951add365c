"""``torch.cuda``: queries and no-ops for the virtual CUDA devices."""

from __future__ import annotations

from typing import Any

from reference_impl.base import device as devices
from reference_impl.base.session import STATE
from reference_impl.namespace.cuda_streams import (
    Event,
    Stream,
    current_stream,
    default_stream,
    device,
    set_device,
    stream,
)
from reference_impl.namespace.legacy import LEGACY_CUDA
from reference_impl.namespace.missing import loading


def is_available() -> bool:
    """Return True: virtual devices always exist."""
    return True


def device_count() -> int:
    """The number of virtual devices."""
    return devices.COUNT


def current_device() -> int:
    """The index of the device that "cuda" stands for."""
    return STATE.current_cuda


def is_initialized() -> bool:
    """Return True: nothing needs to be initialised."""
    return True


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Return True: every dtype of the CPU exists on the devices."""
    return True


def synchronize(device: Any = None) -> None:
    """Do nothing: all work is synchronous."""


def manual_seed_all(seed: int) -> None:
    """Do nothing: the devices share the CPU's generator."""


manual_seed = manual_seed_all


def empty_cache() -> None:
    """Do nothing: nothing is cached."""


def memory_allocated(device: Any = None) -> int:
    """Return 0: memory of the devices is not counted."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    """Do nothing: memory is not counted."""


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a line that says so: memory is not counted."""
    return "the memory of virtual CUDA devices is not counted"


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return the free and the whole memory of a virtual device, in bytes: as much as anybody wants."""
    return 1 << 40, 1 << 40


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Return the compute capability that virtual devices pretend to."""
    return 9, 0


def get_device_name(device: Any = None) -> str:
    """Return the name of the virtual devices."""
    return "virtual CUDA device"


__all__ = ["Event", "Stream", "current_stream", "default_stream", "device", "set_device", "stream"]
globals().update(LEGACY_CUDA)
__getattr__ = loading(__name__)
