"""``var_mean`` and ``std_mean``: two results of one node."""

from __future__ import annotations

import math
from typing import Any

from reference_impl.autograd.function import Function, FunctionNode
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.like_operands import like_its_operands
from reference_impl.namespace.spread_arguments import spread_arguments
from specs.ops.helpers import axes_of


class _Spread(Function):
    """Variance or standard deviation, and mean, along dimensions."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, measure: str, dims: tuple[int, ...], how: dict[str, Any]) -> Any:
        spread = getattr(x, measure)(dims, **how)
        ctx.measure, ctx.dims, ctx.how = measure, dims, how
        ctx.save_for_backward(x, *([spread] if measure == "std" else []))
        return spread, x.mean(dims, how["keepdim"])

    @staticmethod
    def backward(ctx: Any, g: Tensor, g_mean: Tensor) -> Any:
        x, *root = ctx.saved_tensors
        kept = tuple(1 if dim in ctx.dims else n for dim, n in enumerate(array_of(x).shape))
        count = array_of(x).size // max(array_of(g).size, 1)
        for spread in root:
            g = g / (spread * 2)
        off = x - x.mean(ctx.dims, True)
        freedom = count - ctx.how["correction"]
        scale = 2 / freedom if freedom else math.inf
        return off * g.reshape(kept) * scale + g_mean.reshape(kept) / count, None, None, None


def _node(measure: str) -> type[Function]:
    name = f"{measure.capitalize()}Mean"
    function: type[Function] = type(name, (_Spread,), {})
    function._backward_cls = type(f"{name}Backward0", (FunctionNode,), {"_forward_cls": function})
    return function


_NODES = {measure: _node(measure) for measure in ("var", "std")}


def _both(measure: str, x: Tensor, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    dim, how = spread_arguments(f"{measure}_mean", given, named)
    if STATE.level is not None:  # apart, each carries the tangent
        return getattr(x, measure)(dim, **how), x.mean(dim, how.get("keepdim", False))
    dims = axes_of((dim,) if isinstance(dim, int) else dim, x.ndim)
    return _NODES[measure].apply(x, measure, dims, {"correction": 1, "keepdim": False} | how)


@like_its_operands
def var_mean(input: Tensor, *where: Any, **how: Any) -> tuple[Tensor, Tensor]:
    """Compute variance and mean."""
    return _both("var", input, where, how)


@like_its_operands
def std_mean(input: Tensor, *where: Any, **how: Any) -> tuple[Tensor, Tensor]:
    """Compute standard deviation and mean."""
    return _both("std", input, where, how)


FUNCTIONS: dict[str, Any] = {"std_mean": std_mean, "var_mean": var_mean}
"""Functions by name."""
