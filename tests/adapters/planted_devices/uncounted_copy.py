"""A copy from another device does not count as a write."""

from __future__ import annotations

from typing import Any

import torch

import planted_devices  # noqa: F401  # which makes the device

own = torch.Tensor.copy_


def copy_(x: torch.Tensor, source: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    if x.device == source.device:
        return own(x, source, *args, **kwargs)
    before = x._version
    own(x, source, *args, **kwargs)
    torch._C._autograd._unsafe_set_version_counter((x,), (before,))
    return x


torch.Tensor.copy_ = copy_  # type: ignore[assignment, method-assign]
