"""tinygrad: lazy tensors, whose backward() fills the grad of every tensor of floats that it passes.

There is no flag that asks for gradients, and so no leaf: grads are shown of what was made with requires_grad.
A number is a constant to it, which has no memory and no grad: one is made as the only element of a list.
"""

from __future__ import annotations

import operator
import os
import shutil
from importlib.metadata import version
from typing import Any

os.environ.setdefault("PARALLEL", "0")  # it would start processes of its own, which outlive this one
if shutil.which(os.environ.get("CC", "clang")) is None:  # for its kernels; Python runs them, slowly
    os.environ["DEV"] = "PYTHON"
from tinygrad import Tensor, dtypes

from conformance.targets.numpy_shaped import sizes
from conformance.targets.table import Functions, Table
from specs.fact import UNSEEN

SAME = ("add", "sub", "mul", "div", "neg", "exp", "log", "sqrt", "sin", "cos", "tan", "tanh", "sinh", "cosh",
        "asin", "acos", "atan", "abs", "square", "reciprocal", "sigmoid", "relu", "maximum", "minimum",
        "matmul", "exp2", "log2", "log10", "rsqrt", "erf", "sign", "floor", "ceil", "logaddexp")  # fmt: skip


def made(x: Any, requires_grad: bool) -> Any:
    x.shows_grad = requires_grad
    return x


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    if isinstance(data, (list, tuple)):
        return made(Tensor(data, dtype=dtypes.float32), requires_grad)
    return made(Tensor([data], dtype=dtypes.float32).reshape(()), requires_grad)


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    return made(Tensor.ones(*sizes(size)).clone(device=Tensor([0.0]).device), requires_grad)


def method(name: str) -> Any:
    return lambda x, *rest: getattr(x, name)(*rest)


def reduction(name: str) -> Any:
    def reduced(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return getattr(x, name)(axis=None if x.ndim == 0 or dim == () else dim, keepdim=keepdim)

    return reduced


def backward(x: Any, gradient: Any = None) -> None:
    if gradient is None and x.ndim:
        raise NotImplementedError("without a gradient it starts from a number, as documented")
    x.backward(gradient)


FUNCTIONS: Functions = {
    **{name: method(name) for name in SAME},
    **dict.fromkeys(("__iadd__", "__isub__", "__imul__", "__itruediv__", "__abs__")),
    "torch.tensor": tensor,
    "torch.ones": ones,
    "pow": operator.pow,
    "sum": reduction("sum"),
    "mean": reduction("mean"),
    "prod": reduction("prod"),
    "amax": reduction("max"),
    "amin": reduction("min"),
    "logsumexp": reduction("logsumexp"),
    "cumsum": lambda x, dim: x.cumsum(dim),
    "cumprod": lambda x, dim: x.cumprod(dim),
    "reshape": lambda x, *shape: x.reshape(sizes(shape)),
    "flatten": lambda x: x.flatten(),
    "permute": lambda x, *dims: x.permute(sizes(dims)),
    "transpose": lambda x, dim0, dim1: x.transpose(dim0, dim1),
    "unsqueeze": lambda x, dim: x.unsqueeze(dim),
    "squeeze": lambda x, dim=None: x.squeeze(dim),
    "expand": lambda x, *size: x.expand(sizes(size)),
    "getitem": lambda x, index: x[index],
    "torch.cat": lambda tensors, dim=0: tensors[0].cat(*tensors[1:], dim=dim),
    "clamp": lambda x, min=None, max=None: x.clamp(min, max),
    "detach": lambda x: x.detach(),
    "backward": backward,
}
READINGS = {
    "value": lambda x: x.tolist(),
    "shape": lambda x: tuple(x.shape),
    "grad": lambda x: x.grad if getattr(x, "shows_grad", False) else UNSEEN,
}
adapter = Table("tinygrad", version("tinygrad"), FUNCTIONS, READINGS, dtypes=("float32",),
                features=("detach",))  # fmt: skip
