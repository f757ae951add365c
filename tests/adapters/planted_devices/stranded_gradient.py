"""A gradient stays on the device where it is: the node of a copy hands none on."""

from __future__ import annotations

from typing import Any

import torch

from planted_devices import moves

own = torch.Tensor.to


def to(x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    moved = own(x, *args, **kwargs)
    if moves(x, moved) and moved.grad_fn is not None:
        moved.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (None,))
    return moved


torch.Tensor.to = to  # type: ignore[assignment, method-assign]
