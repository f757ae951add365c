"""Functions of ``torch.nn.functional`` under older names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.nn import image_functions


def _upsample(name: str, mode: str, align_corners: bool | None) -> Callable[..., Tensor]:
    def upsample(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
        """Resize images, by the old name of a mode of `interpolate`."""
        warnings.warn(
            f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.", stacklevel=2
        )
        return image_functions.interpolate(input, size, scale_factor, mode, align_corners)

    return upsample


upsample_nearest = _upsample("upsample_nearest", "nearest", None)
upsample_bilinear = _upsample("upsample_bilinear", "bilinear", True)
