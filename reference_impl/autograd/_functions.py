"""``torch.autograd._functions``: the custom functions that PyTorch itself still has."""

from __future__ import annotations

from math import prod
from typing import Any

from reference_impl.autograd.function import Function
from reference_impl.core.tensor import Tensor


class Resize(Function):
    """The elements in another shape of as many."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, sizes: tuple[int, ...]) -> Tensor:
        if prod(sizes) != x._array.size:
            raise RuntimeError(f"{list(x._array.shape)} does not have as many elements as {list(sizes)}")
        ctx.shape = x._array.shape
        return x.clone_contiguous().view(sizes)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        return g.clone_contiguous().view(ctx.shape), None
