"""Ops that make recorded calls when every operand is an inference tensor: the field ``alone`` of an op.

Outside inference mode an op on inference tensors alone is not recorded. But some of PyTorch's kernels are
made of other calls, and those meet the kernel's own result, which is a normal tensor. There an inference
tensor that requires grad counts again: a copy of it has a history, writing it as ``out=`` is refused, and so
is saving it beside a normal tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Literal, NoReturn

import numpy as np

from specs.errors import refuse

InferenceKernel = Literal["", "copied", "copied by rows", "out", "saved"]
"""Nothing special; operand 0 is copied into the result, which lies like it or by rows; the result is an
``out=``; an operand is saved.
"""


@dataclass(frozen=True, slots=True)
class Alone:
    """Answers a `InferenceKernel`, or the result itself, for given operands and attributes."""

    become: Callable[..., Any]
    cpu: bool = False  # the kernel is made of calls on the CPU only

    def __call__(self, *operands: Any, **attributes: Any) -> Any:
        return self.become(*operands, **attributes)


def _always(become: InferenceKernel) -> Callable[..., InferenceKernel]:
    return lambda *operands, **attributes: become


copied, copied_by_rows = Alone(_always("copied")), Alone(_always("copied by rows"))
out, out_on_cpu = Alone(_always("out")), Alone(_always("out"), cpu=True)
saved = Alone(lambda x, y: "saved" if x.ndim else "")


def _refuse_out(x: Any) -> NoReturn:
    refuse("write/out-is-not-recorded")


out_before_kernel = Alone(_refuse_out)


def _flip(x: Any, dims: tuple[int, ...]) -> InferenceKernel:
    """A copy if nothing moves."""
    shape = tuple(x.shape)
    ndim = max(len(shape), 1)
    if len({d % ndim for d in dims}) < len(dims) or not all(-ndim <= d < ndim for d in dims):
        return ""  # for the op itself to refuse
    return "" if prod(shape) > 1 and any(shape[d] > 1 and x.stride(d) for d in dims) else "copied"


flipped = Alone(_flip)


def flips(x: Any, dims: tuple[int, ...]) -> bool:
    """Say if elements move; the kernel moves them through a view."""
    return not _flip(x, dims)


def _masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """A clone that is filled in."""
    try:
        shape = np.broadcast_shapes(tuple(x.shape), tuple(mask.shape))
    except ValueError:
        return ""  # for the op itself to refuse
    # If one is expanded both are, and an expanded tensor requires no grad here.
    alike = tuple(x.shape) == tuple(mask.shape)
    return (x if alike else x.expand(shape)).clone().masked_fill_(mask, value)


def _cumsum(x: Any, dim: int) -> Any:
    """A single element is filled in."""
    return x.new_zeros(()).fill_(x) if not x.ndim and dim in (0, -1) else ""


def _pow(x: Any, exponent: Any) -> Any:
    """The power of 1 is a copy in the dtype of the result."""
    if exponent != 1:
        return ""
    dtype = x.detach().mul(exponent).dtype
    return "copied" if dtype is x.dtype else x.to(dtype)


def _rsub(x: Any, y: Any, alpha: Any = 1) -> Any:
    """A difference of tensors; the number becomes one of its own dtype."""
    if isinstance(y, bool):
        refuse("op/bool-arithmetic", name="sub")
    return x.new_full((), y).sub(x, alpha=alpha)


def _of_all(x: Any, dim: Any = None, correction: Any = 1, keepdim: bool = False) -> InferenceKernel:
    return "out" if dim is None else ""


def _norm(x: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False) -> InferenceKernel:
    """The absolute value, where the dimensions that go are of size 1 and stay."""
    every = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    return "out" if keepdim and ord != 0 and all(x.shape[d] == 1 for d in every) else ""


vector_norm = Alone(_norm)
masked_fill, running_sum, power, number_minus = Alone(_masked_fill), Alone(_cumsum), Alone(_pow), Alone(_rsub)
power_of_number = Alone(lambda x, base: "out" if base != 1 or isinstance(base, bool) else "")
spread_of_all = Alone(_of_all, cpu=True)


def with_tensor(method: str) -> Alone:
    """The number becomes a 0-d tensor, and that is a normal one."""
    return Alone(lambda x, y: getattr(x, method)(x.new_full((), y)))


def into_zeros(view: str) -> Alone:
    """A copy into a view of zeros."""

    def lay(x: Any, *, size: Any, **where: Any) -> Any:
        zeros = x.new_zeros(size)
        getattr(zeros, view)(**where).copy_(x)
        return zeros

    return Alone(lay)
