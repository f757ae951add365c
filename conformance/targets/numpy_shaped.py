"""PyTorch's spellings of what a numpy-shaped namespace has.

PyTorch takes sizes one by one or as a tuple, and lets dimensions 0 and -1 of a 0-d tensor pass: that is
spelled out here, so that nobody is blamed for the other convention. Nothing here computes anything itself.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

_SAME = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "abs", "square", "reciprocal",
         "expm1", "log1p", "exp2", "log2", "log10", "maximum", "minimum", "logaddexp", "hypot", "floor",
         "ceil", "sign")  # fmt: skip
_RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "outer": "outer"}
_REDUCTIONS = {"sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min"}
_OPERATORS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "pow": operator.pow, "neg": operator.neg, **dict.fromkeys(("matmul", "mm", "mv", "dot"), operator.matmul),
}  # fmt: skip
WRITES: dict[str, Callable[..., Any]] = {
    "add_": operator.iadd, "sub_": operator.isub, "mul_": operator.imul, "div_": operator.itruediv,
    "setitem": operator.setitem,
}  # fmt: skip


def functions(xp: Any) -> dict[str, Callable[..., Any]]:
    """The functions of a namespace by PyTorch's names, as far as it has them."""
    found: dict[str, Callable[..., Any]] = {**_OPERATORS, "getitem": lambda x, index: x[index]}
    named = {**dict(zip(_SAME, _SAME, strict=True)), **_RENAMED}
    found |= {op: _elementwise(getattr(xp, name)) for op, name in named.items() if hasattr(xp, name)}
    found |= {op: _reduction(getattr(xp, name)) for op, name in _REDUCTIONS.items() if hasattr(xp, name)}
    found |= {op: _running(getattr(xp, op), xp) for op in ("cumsum", "cumprod") if hasattr(xp, op)}
    return found | _shapes(xp)


def values(array: Callable[..., Any], ones: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The functions that make values of the one float dtype there is, where nothing is said of grads."""

    def tensor(data: Any, *, dtype: Any = None, requires_grad: bool = False) -> Any:
        return array(_floats(data))

    def made(*size: Any, dtype: Any = None, requires_grad: bool = False) -> Any:
        return array(ones(sizes(size)))

    return {"torch.tensor": tensor, "torch.ones": made}


def _floats(data: Any) -> Any:
    return list(map(_floats, data)) if isinstance(data, (list, tuple)) else float(data)


def sizes(given: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes or dimensions that are given one by one, or as a tuple."""
    return tuple(given[0]) if len(given) == 1 and isinstance(given[0], (tuple, list)) else given


def _elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *operands: function(*operands)


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduced(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        axis = None if x.ndim == 0 or dim == () else tuple(dim) if isinstance(dim, list) else dim
        return function(x, axis=axis, keepdims=keepdim)

    return reduced


def _running(function: Callable[..., Any], xp: Any) -> Callable[..., Any]:
    def run(x: Any, dim: int) -> Any:
        return function(x, axis=dim) if x.ndim else xp.reshape(function(xp.reshape(x, (1,)), axis=0), ())

    return run


def _shapes(xp: Any) -> dict[str, Callable[..., Any]]:
    def reshape(x: Any, *shape: Any) -> Any:
        return xp.reshape(x, sizes(shape))

    def transpose(x: Any, dim0: int, dim1: int) -> Any:
        return xp.swapaxes(x, dim0, dim1) if x.ndim else xp.reshape(x, ())

    def permute(x: Any, *dims: Any) -> Any:
        return xp.transpose(x, sizes(dims)) if x.ndim else xp.reshape(x, ())

    def unsqueeze(x: Any, dim: int) -> Any:
        return xp.expand_dims(x, dim)

    def expand(x: Any, *size: Any) -> Any:
        size = sizes(size)
        kept = (None,) * (len(size) - x.ndim) + tuple(x.shape)
        return xp.broadcast_to(x, tuple(k if n == -1 else n for n, k in zip(size, kept, strict=True)))

    def narrow(x: Any, dim: int, start: int, length: int) -> Any:
        start %= x.shape[dim] or 1
        return x[(*[slice(None)] * (dim % x.ndim), slice(start, start + length))]

    def select(x: Any, dim: int, index: int) -> Any:
        return x[(*[slice(None)] * (dim % x.ndim), index)]

    def flatten(x: Any) -> Any:
        return xp.reshape(x, (-1,))

    found: dict[str, Any] = {"reshape": reshape, "view": reshape, "transpose": transpose, "permute": permute,
                             "unsqueeze": unsqueeze, "expand": expand, "narrow": narrow, "select": select,
                             "flatten": flatten}  # fmt: skip
    needs = {"permute": "transpose", "transpose": "swapaxes", "unsqueeze": "expand_dims",
             "expand": "broadcast_to"}  # fmt: skip
    found = {op: f for op, f in found.items() if hasattr(xp, needs.get(op, "reshape"))}
    if hasattr(xp, "where"):
        found["where"] = lambda x, condition, other: xp.where(condition, x, other)
        found["torch.where"] = lambda condition, x, other: xp.where(condition, x, other)
    if hasattr(xp, "concatenate"):
        found["torch.cat"] = lambda tensors, dim=0: xp.concatenate(tensors, axis=dim)
    return found
