"""``torch.autograd._functions``: the custom functions that remain in PyTorch."""

from __future__ import annotations

from math import prod
from typing import Any

from reference_impl.autograd.function import Function
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor


class Resize(Function):
    """Reshape to as many elements."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, sizes: tuple[int, ...]) -> Tensor:
        ctx.shape = array_of(x).shape
        if prod(sizes) != x.numel():
            raise RuntimeError(f"{list(ctx.shape)} does not have as many elements as {list(sizes)}")
        return x.clone_contiguous().view(sizes)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return g.clone_contiguous().view(ctx.shape), None
