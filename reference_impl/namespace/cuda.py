"""``torch.cuda``: queries and no-ops for the virtual CUDA devices."""

from __future__ import annotations

from typing import Any

from reference_impl.base import device as devices
from reference_impl.namespace.legacy import LEGACY_CUDA
from reference_impl.namespace.missing import loading


def is_available() -> bool:
    """Return True: virtual devices always exist."""
    return True


def device_count() -> int:
    """The number of virtual devices."""
    return devices.COUNT


def current_device() -> int:
    """The index of the default CUDA device."""
    return 0


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


def get_device_name(device: Any = None) -> str:
    """Return the name of the virtual devices."""
    return "virtual CUDA device"


globals().update(LEGACY_CUDA)
__getattr__ = loading(__name__)
