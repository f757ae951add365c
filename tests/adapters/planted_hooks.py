"""More bugs planted in real torch: in hooks on saved tensors and on leaves."""

from __future__ import annotations

from typing import Any

import torch
from planting import Wrapper, around, breaks


def saving(change: Wrapper) -> None:
    """Change the hooks that blocks hand over: ``change`` takes both and gives both."""
    around(
        torch.autograd.graph.saved_tensors_hooks,
        "__init__",
        lambda own, block, pack, unpack: own(block, *change(pack, unpack)),
    )


@breaks("saved_hooks/asked-each-time")
def tensors_are_packed_twice() -> None:
    def twice(pack: Wrapper, unpack: Wrapper) -> Any:
        def both(x: torch.Tensor) -> Any:
            pack(x)
            return pack(x)

        return both, unpack

    saving(twice)


@breaks("saved_hooks/pack-and-unpack")
def tensors_are_never_packed() -> None:
    saving(lambda pack, unpack: (lambda x: x, lambda x: x))
