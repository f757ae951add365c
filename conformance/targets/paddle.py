"""PaddlePaddle in dynamic mode: nearly PyTorch's names, and `stop_gradient` for the reverse of requires_grad.

Its documentation says that backward() of a tensor with several elements starts from ones. Neither refusals
nor views are claimed: what goes wrong in a write through a view, and in a refused one, is in the findings.
"""

from __future__ import annotations

import operator
import os
from typing import Any

os.environ.setdefault("GLOG_minloglevel", "2")  # a failing node writes lines on its own

import paddle

from conformance.targets.numpy_shaped import functions, sizes
from conformance.targets.table import Functions, Table

paddle.set_device("cpu")

DTYPES = {name: getattr(paddle, name) for name in ("float64", "float32", "int64", "bool")}
SAME = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "abs",
        "square", "reciprocal", "expm1", "log1p", "log2", "log10", "sigmoid", "rsqrt", "erf", "floor", "ceil",
        "sign", "maximum", "minimum", "atan2", "neg", "dot", "mv", "mm", "bmm", "outer",
        "clone", "detach", "exp_", "sqrt_", "sigmoid_", "tanh_", "reciprocal_", "sin_",
        "cos_", "abs_", "rsqrt_", "neg_")  # fmt: skip


def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
    return paddle.to_tensor(data, dtype=dtype, stop_gradient=not requires_grad)


def ones(*size: Any, dtype: Any = paddle.float32, requires_grad: bool = False) -> Any:
    x = paddle.ones(sizes(size), dtype=dtype)
    x.stop_gradient = not requires_grad
    return x


def write(name: str) -> Any:
    """A write; Paddle's take tensors alone."""
    return lambda x, y: getattr(x, name)(y if isinstance(y, paddle.Tensor) else paddle.to_tensor(y, x.dtype))


def method(name: str) -> Any:
    return lambda x, *rest: getattr(x, name)(*rest)


def reduction(name: str) -> Any:
    def reduced(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        axis = None if dim == () else list(dim) if isinstance(dim, tuple) else dim
        return getattr(paddle, name)(x, axis=axis, keepdim=keepdim)

    return reduced


def transpose(x: Any, dim0: int, dim1: int) -> Any:
    dims = list(range(x.ndim))
    if dims:
        dims[dim0], dims[dim1] = dims[dim1], dims[dim0]
    return paddle.transpose(x, dims)


def backward(x: Any, gradient: Any = None, retain_graph: bool = False) -> None:
    x.backward(gradient, retain_graph)


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: Any = None,
         create_graph: bool = False, allow_unused: bool = False) -> Any:  # fmt: skip
    given = [list(each) if isinstance(each, tuple) else each for each in (outputs, inputs, grad_outputs)]
    if any(type(each) is list and len(set(map(id, each))) < len(each) for each in given[:2]):
        raise NotImplementedError("Paddle differentiates for each tensor once")
    found = paddle.grad(*given, retain_graph, create_graph, allow_unused=allow_unused)
    return tuple(found)


def assign_grad(x: Any, grad: Any) -> None:
    if not x.is_leaf:
        raise NotImplementedError("Paddle assigns the grads of leaves alone")
    x.grad = grad


def requires_grad_(x: Any, requires_grad: bool = True) -> Any:
    x.stop_gradient = not requires_grad
    return x


FUNCTIONS: Functions = {
    **{op: f for op, f in functions(paddle).items() if op in ("add", "sub", "mul", "div", "pow", "matmul")},
    **{name: method(name) for name in SAME if hasattr(paddle.Tensor, name)},
    **{name: reduction(name) for name in ("sum", "mean", "prod", "amax", "amin", "logsumexp")},
    **{name: write(name) for name in ("add_", "sub_", "mul_", "div_")},
    **dict.fromkeys(("__iadd__", "__isub__", "__imul__", "__itruediv__")),  # not in place: they bind anew
    "setitem": operator.setitem,
    "getitem": lambda x, index: x[index],
    "torch.tensor": tensor,
    "torch.ones": ones,
    "relu": lambda x: paddle.nn.functional.relu(x),
    "cumsum": lambda x, dim: paddle.cumsum(x, axis=dim),
    "reshape": lambda x, *shape: paddle.reshape(x, sizes(shape)),
    "view": lambda x, *size: paddle.view(x, list(sizes(size))),
    "expand": lambda x, *size: paddle.expand(x, sizes(size)),
    "transpose": transpose,
    "permute": lambda x, *dims: paddle.transpose(x, [d % x.ndim for d in sizes(dims)]),
    "unsqueeze": lambda x, dim: paddle.unsqueeze(x, dim),
    "squeeze": lambda x, dim=None: paddle.squeeze(x, dim),
    "flatten": lambda x: paddle.flatten(x),
    "narrow": lambda x, dim, start, length: paddle.narrow(x, dim, start, length),
    "torch.cat": lambda tensors, dim=0: paddle.concat(list(tensors), dim),
    "where": lambda x, condition, other: paddle.where(condition, x, other),
    "torch.where": lambda condition, x, other: paddle.where(condition, x, other),
    "masked_fill": lambda x, mask, value: paddle.masked_fill(x, mask, value),
    "zero_": method("zero_"),
    "clamp": lambda x, min=None, max=None: paddle.clip(x, min, max),
    "backward": backward,
    "torch.autograd.grad": grad,
    "retain_grad": lambda x: x.retain_grads(),
    ".grad": operator.attrgetter("grad"),
    ".grad=": assign_grad,
    ".is_leaf": operator.attrgetter("is_leaf"),
    "._version": operator.attrgetter("inplace_version"),
    "requires_grad_": requires_grad_,
    ".requires_grad=": requires_grad_,
}
READINGS = {
    "value": lambda x: x.tolist(),
    "dtype": lambda x: str(x.dtype).removeprefix("paddle."),
    "shape": lambda x: tuple(x.shape),
    "is_leaf": lambda x: x.is_leaf,
    "requires_grad": lambda x: not x.stop_gradient,
    "version": lambda x: x.inplace_version,
    "grad": lambda x: x.grad,
}
LACKS = (
    "The kernel with key",  # an operation for some dtypes
    "Type promotion only support calculations between",
    "The rank of input should be less than 7, but received 0",  # an assignment into a 0-d tensor
)
"""The words of its errors about what is not there."""
MODES = {"no_grad": paddle.no_grad, "enable_grad": paddle.enable_grad,
         "set_grad_enabled(True)": lambda: paddle.set_grad_enabled(True),
         "set_grad_enabled(False)": lambda: paddle.set_grad_enabled(False)}  # fmt: skip
adapter = Table("paddle", paddle.__version__, FUNCTIONS, READINGS, dtypes=DTYPES,
                dtype=DTYPES.__getitem__, modes=MODES,
                features=("inplace", "detach", "retain", "double", "grad_call", "modes"),
                of_grads=("value", "dtype", "shape"), lacks=LACKS)  # fmt: skip
