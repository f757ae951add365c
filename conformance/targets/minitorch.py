"""minitorch 0.1.0 of PyPI, which installs itself as `torch`: arrays of one shape, numbers, and backward().

Grads begin as zeros and every tensor on the way keeps its own, so grads are shown of leaves alone, once a
gradient may have come: what is zeros tells nothing.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

from conformance.targets.table import Functions, Table
from specs.fact import UNSEEN

minitorch: Any = import_module("torch")  # by a name that says which
Tensor = minitorch.Tensor


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    return Tensor(data, requires_grad)


def binary(name: str) -> Any:
    """An operator, called on a tensor; operands of two shapes are refused, but for numbers."""

    def operated(x: Any, y: Any) -> Any:
        if not isinstance(x, Tensor):
            raise NotImplementedError("a number comes second")
        shapes = {np.shape(each.data if isinstance(each, Tensor) else each) for each in (x, y)}
        if len(shapes) > 1:
            raise NotImplementedError("operands have one shape")
        return getattr(x, name)(y)

    return operated


def reduced(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if not x.data.shape:
        raise NotImplementedError("a number has no dimension")
    return x.sum(None if dim == () else dim, keepdim)


def grad(x: Any) -> Any:
    return UNSEEN if x.prev or x.grad is None or not np.any(x.grad) else Tensor(x.grad)


FUNCTIONS: Functions = {
    "torch.tensor": tensor,
    "add": binary("__add__"),
    "sub": binary("__sub__"),
    "mul": binary("__mul__"),
    "div": binary("__truediv__"),
    **{f"__{name}__": binary(f"__{name}__") for name in ("add", "sub", "mul", "truediv")},
    **dict.fromkeys(("__radd__", "__rsub__", "__rmul__", "__rtruediv__")),
    "sum": reduced,
    "getitem": lambda x, index: x[index],
    "relu": lambda x: minitorch.ReLU()(x),
    "sigmoid": lambda x: minitorch.Sigmoid()(x),
    "tanh": lambda x: minitorch.Tanh()(x),
    "backward": lambda x, gradient=None: x.backward(None if gradient is None else gradient.data),
}
READINGS = {
    "value": lambda x: x.data.tolist(),
    "shape": lambda x: x.data.shape,
    "requires_grad": lambda x: x.requires_grad,
    "grad": grad,
}
adapter = Table("minitorch", version("minitorch"), FUNCTIONS, READINGS, of_grads=("value", "shape"))
