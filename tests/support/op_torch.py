"""torch's tensors under our internal names, as the formulas of the arithmetic families call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

aten = torch.ops.aten

INTERNAL: dict[str, Callable[..., Any]] = {
    "mul_scalar": aten.mul.Scalar,
    "div_scalar": aten.div.Scalar,
    "div_scalar_": aten.div_.Scalar,
    "add_scalar": aten.add.Scalar,
    "sub_scalar": aten.sub.Scalar,
    "tanh_backward": aten.tanh_backward,
    "sigmoid_backward": aten.sigmoid_backward,
    "threshold_backward": aten.threshold_backward,
    "_unsafe_view": aten._unsafe_view,
    "zeros_like": torch.zeros_like,
    "slice": aten.slice.Tensor,
    "_without_memory": lambda g: torch._efficientzerotensor(g.shape, dtype=g.dtype),
    "_logical_and": torch.logical_and,
    "_where": lambda x, condition, y: torch.where(condition, x, y),
    "_is_recorded": lambda x: torch.is_grad_enabled(),
    "div": torch.div,  # which takes a number first, too
    "squeeze_fresh": torch.Tensor.squeeze_,
    "_cat": lambda *parts, dim, sizes: torch.cat(parts, dim),
    "clone_contiguous": lambda x: x.clone(memory_format=torch.contiguous_format),
    "rsub": torch.rsub,
    "rpow": lambda x, base: torch.pow(base, x),
    "rmatmul": lambda x, y: torch.matmul(y, x),
    "rtruediv": lambda x, y: y / x,
    **{
        name: getattr(aten, name)
        for name in (
            "silu", "silu_", "silu_backward", "leaky_relu", "leaky_relu_", "threshold_",
            "hardtanh_", "threshold", "elu", "hardtanh",
            "hardtanh_backward", "softplus", "softplus_backward", "gelu", "gelu_backward",
        )
    },
    "leaky_relu_backward": lambda g, x, negative_slope: aten.leaky_relu_backward(g, x, negative_slope, False),
    "elu_backward": lambda g, x, alpha: aten.elu_backward(g, alpha, 1, 1, False, x),
}  # fmt: skip
"""The names that only formulas and operators use, as torch has them."""


@contextmanager
def methods(functions: Mapping[str, Callable[..., Any]] = INTERNAL) -> Iterator[None]:
    """Give torch's tensors the methods that formulas and composites expect of ours, for a while."""
    for name, function in functions.items():
        setattr(torch.Tensor, name, _method(function))
    yield
    for name in functions:
        delattr(torch.Tensor, name)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """A Python function, since a builtin one would not be bound to the tensor."""
    return lambda *args, **kwargs: function(*args, **kwargs)


def tree(node: Any) -> str:
    """The names of a graph from a node down, leaves as dots."""
    if node is None:
        return "-"
    below = ",".join(tree(n) for n, _ in node.next_functions)
    return "." if "AccumulateGrad" in node.name() else f"{node.name()}({below})"
