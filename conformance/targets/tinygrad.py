"""tinygrad: lazy tensors, whose backward() fills the grad of every tensor that it passes.

There is no flag that asks for gradients, and so no leaf: grads are shown of what was made with requires_grad.
"""

from __future__ import annotations

import operator
import os
import shutil
from importlib.metadata import version
from typing import Any

if shutil.which("clang") is None:  # its kernels for the CPU are compiled; Python runs them too, slowly
    os.environ["DEV"] = "PYTHON"
from tinygrad import Tensor, dtypes

from conformance.targets.numpy_shaped import sizes
from conformance.targets.table import Functions, Table
from specs.fact import UNSEEN

SAME = ("add", "sub", "mul", "div", "neg", "exp", "log", "sqrt", "sin", "cos", "tanh", "abs", "square",
        "reciprocal", "sigmoid", "relu", "maximum", "minimum", "matmul",
        "exp2", "log2", "rsqrt", "erf")  # fmt: skip


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    x = Tensor(data, dtype=dtypes.float32)
    x.shows_grad = requires_grad
    return x


def ones(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
    x = Tensor.ones(*sizes(size))
    x.shows_grad = requires_grad
    return x


def method(name: str) -> Any:
    return lambda x, *rest: getattr(x, name)(*rest)


def reduction(name: str) -> Any:
    def reduced(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        return getattr(x, name)(axis=None if x.ndim == 0 or dim == () else dim, keepdim=keepdim)

    return reduced


FUNCTIONS: Functions = {
    **{name: method(name) for name in SAME},
    **dict.fromkeys(("__iadd__", "__isub__", "__imul__", "__itruediv__", "__abs__")),
    "torch.tensor": tensor,
    "torch.ones": ones,
    "pow": operator.pow,
    "sum": reduction("sum"),
    "mean": reduction("mean"),
    "amax": reduction("max"),
    "cumsum": lambda x, dim: x.cumsum(dim),
    "reshape": lambda x, *shape: x.reshape(sizes(shape)),
    "permute": lambda x, *dims: x.permute(sizes(dims)),
    "transpose": lambda x, dim0, dim1: x.transpose(dim0, dim1),
    "unsqueeze": lambda x, dim: x.unsqueeze(dim),
    "squeeze": lambda x, dim=None: x.squeeze(dim),
    "expand": lambda x, *size: x.expand(sizes(size)),
    "getitem": lambda x, index: x[index],
    "detach": lambda x: x.detach(),
    "backward": lambda x, gradient=None: x.backward(gradient) and None,
}
READINGS = {
    "value": lambda x: x.tolist(),
    "shape": lambda x: tuple(x.shape),
    "grad": lambda x: x.grad if getattr(x, "shows_grad", False) else UNSEEN,
}
adapter = Table("tinygrad", version("tinygrad"), FUNCTIONS, READINGS, dtypes=("float32",),
                features=("detach",))  # fmt: skip
