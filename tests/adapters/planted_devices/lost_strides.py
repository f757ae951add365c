"""A view loses its strides on the way to or from a device: its memory is copied in its own order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from planted_devices import moves


def losing(own: Callable[..., Any]) -> Callable[..., Any]:
    """The move, which takes any view for a contiguous one."""

    def move(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        moved = own(x, *args, **kwargs)
        there_is = x.untyped_storage().nbytes() // x.itemsize - x.storage_offset()
        if moves(x, moved) and not x.is_contiguous() and x.numel() <= there_is:
            in_a_row = x.detach().as_strided(x.shape, torch.empty(x.shape).stride())
            moved.data.copy_(own(in_a_row, *args, **kwargs))
        return moved

    return move


torch.Tensor.to = losing(torch.Tensor.to)  # type: ignore[assignment, method-assign]
torch.Tensor.cpu = losing(torch.Tensor.cpu)  # type: ignore[assignment, method-assign]
