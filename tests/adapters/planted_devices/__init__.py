"""The stand-in as a device from outside of torch: ``--import planted_devices --device elsewhere``.

Each of the modules beside this one plants a bug in it.
"""

from __future__ import annotations

import torch

from conformance.adapters import standin

NAME = "elsewhere"

standin.load(NAME)


def moves(x: torch.Tensor, moved: object) -> bool:
    """Tell whether a copy lies on another device."""
    return isinstance(moved, torch.Tensor) and x.device != moved.device
