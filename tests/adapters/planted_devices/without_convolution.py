"""The device without a kernel of a convolution, as PyTorch says it of a backend that brings none."""

from __future__ import annotations

from typing import Any, NoReturn

import torch

import planted_devices  # noqa: F401  (the device itself)

_KERNELS = torch.library.Library("aten", "IMPL")


def _lacking(*args: Any) -> NoReturn:
    raise NotImplementedError("convolution_overrideable not implemented")


_KERNELS.impl("convolution_overrideable", _lacking, "PrivateUse1", allow_override=True)
