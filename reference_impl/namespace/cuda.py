"""``torch.cuda``: the virtual devices, as far as scripts ask about them and wait for them."""

from __future__ import annotations

from typing import Any

from reference_impl.base import device as devices
from reference_impl.namespace.factories import LEGACY_CUDA


def is_available() -> bool:
    """True: there are virtual ones."""
    return True


def device_count() -> int:
    """How many virtual devices there are."""
    return devices.COUNT


def current_device() -> int:
    """The number of the device that is meant where none is named."""
    return 0


def is_initialized() -> bool:
    """True: there is nothing to start."""
    return True


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """True: bfloat16 is a dtype there as on the CPU."""
    return True


def synchronize(device: Any = None) -> None:
    """Nothing to wait for: work is done when it is asked for."""


def manual_seed_all(seed: int) -> None:
    """Nothing to seed."""


manual_seed = manual_seed_all
globals().update(LEGACY_CUDA)
