"""``aminmax``: two results of one node."""

from __future__ import annotations

from typing import Any

from reference_impl.autograd.function import Function, FunctionNode
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.return_types import return_type
from specs.ops.reduce import amax

_RESULT: Any = return_type("aminmax", ("min", "max"))


class _Both(Function):
    """The smallest and the largest elements, of all or along a dimension."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dims: tuple[int, ...], keepdim: bool) -> Any:
        low, high = x.amin(dims, keepdim), x.amax(dims, keepdim)
        ctx.dims, ctx.keepdim = dims, keepdim
        ctx.save_for_backward(x, low, high)
        ctx.set_materialize_grads(False)
        return low, high

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if not by("op/aminmax-has-a-derivative"):
            refuse_by("op/no-derivative", what="aten::aminmax")
        x, *found = ctx.saved_tensors
        slope = amax.formulas["x"].fn
        parts = [
            slope(g, x, out, ctx.dims, ctx.keepdim)
            for g, out in zip(grads, found, strict=True)
            if g is not None
        ]
        return (parts[0] if len(parts) == 1 else parts[0].add(parts[1])) if parts else None, None, None


_Both._backward_cls = type("AminmaxBackward0", (FunctionNode,), {"_forward_cls": _Both})


def aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """The smallest and the largest elements, of all or along a dimension."""
    if dim is None and not x.numel():
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    dims = tuple(range(x.ndim)) if dim is None else (dim,)
    if STATE.level is not None:  # apart, each carries the tangent
        return _RESULT(x.amin(dims, keepdim), x.amax(dims, keepdim))
    return _RESULT(*_Both.apply(x, dims, keepdim))
