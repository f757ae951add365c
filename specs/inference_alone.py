"""What an op does with inference tensors alone, where PyTorch's kernel is made of calls that are recorded.

Outside inference mode an op on inference tensors alone is not recorded. What its kernel calls meets the
kernel's own result, which is a normal tensor, and there the flag of an inference tensor counts again: what is
copied into the result has a history, what is written into it as ``out=`` is refused, and what would be saved
beside it is refused too.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Literal

import numpy as np

from specs.errors import refuse

Become = Literal["", "copied", "out", "saved"]
"""Nothing special; operand 0 is copied into the result; the result is an ``out=``; an operand is saved."""


def _always(become: Become) -> Callable[..., Become]:
    return lambda *operands, **attributes: become


def _flip(x: Any, dims: tuple[int, ...]) -> Become:
    """A copy where nothing moves."""
    shape = tuple(x.shape)
    ndim = max(len(shape), 1)
    if len({d % ndim for d in dims}) < len(dims) or not all(-ndim <= d < ndim for d in dims):
        return ""  # for the op itself to refuse
    return "" if prod(shape) > 1 and any(shape[d] > 1 and x.stride(d) for d in dims) else "copied"


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """A clone, which is filled in."""
    try:
        shape = np.broadcast_shapes(tuple(x.shape), tuple(mask.shape))
    except ValueError:
        return ""  # for the op itself to refuse
    # Where one of them is expanded both are; and what is expanded here requires no grad.
    alike = tuple(x.shape) == tuple(mask.shape)
    return (x if alike else x.expand(shape)).clone().masked_fill_(mask, value)


def _cumsum(x: Any, dim: int) -> Any:
    """Of a single element, which is filled in."""
    return x.new_zeros(()).fill_(x) if not x.ndim and dim in (0, -1) else ""


def _pow(x: Any, exponent: Any) -> Any:
    """A copy to the power of 1, in the dtype of the result."""
    if exponent != 1:
        return ""
    dtype = x.detach().mul(exponent).dtype
    return "copied" if dtype is x.dtype else x.to(dtype)


def _rsub(x: Any, y: Any, alpha: Any = 1) -> Any:
    """A difference of tensors, the number being made one of its own dtype."""
    if isinstance(y, bool):
        refuse("op/bool-arithmetic", name="sub")
    return x.new_full((), y).sub(x, alpha=alpha)


def _with_a_tensor(method: str) -> Callable[..., Any]:
    """The number is made a 0-d tensor, and that is a normal one."""
    return lambda x, y: getattr(x, method)(x.new_full((), y))


def _into_zeros(view: str) -> Callable[..., Any]:
    """A copy into a view of zeros."""

    def lay(x: Any, *, size: Any, **where: Any) -> Any:
        zeros = x.new_zeros(size)
        getattr(zeros, view)(**where).copy_(x)
        return zeros

    return lay


ALONE: dict[str, Callable[..., Any]] = {
    "clone": _always("copied"),
    "clone_contiguous": _always("copied"),
    "cast": _always("copied"),
    "copy_to": _always("copied"),
    "flip": _flip,
    "pow_scalar": _pow,
    "rpow_number": lambda x, base: "out" if base != 1 or isinstance(base, bool) else "",
    "abs": _always("out"),
    "mean_all": _always("out"),
    "mean_dim": _always("out"),
    "std": lambda x, dim=None, correction=1, keepdim=False: "out" if dim is None else "",
    "var": lambda x, dim=None, correction=1, keepdim=False: "out" if dim is None else "",
    "logsumexp": _always("out"),
    "mv": lambda x, y: "saved" if x.ndim else "",
    "masked_fill_number": _masked_fill,
    "masked_fill_tensor": _masked_fill,
    "rsub_scalar": _rsub,
    **{f"{name}_scalar": _with_a_tensor(name) for name in ("add", "sub", "mul", "div")},
    **{f"{view}_backward": _into_zeros(view) for view in ("select", "slice", "diagonal")},
    "cumsum": _cumsum,
}
"""By the key of an op: what becomes of it given operands and attributes, or its result itself."""

ON_THE_CPU = frozenset({"mean_all", "mean_dim", "std", "var"})
"""Those whose kernel is made of calls on the CPU alone."""
