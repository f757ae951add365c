"""Tensors of evenly spaced numbers: ranges, and numbers between two ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.quietly import quietly
from reference_impl.base.rules import refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import new_leaf, number_of
from specs.kind import NUMBERS
from specs.spacing import evenly_spaced, powers, stepped


def _plain(bound: Any) -> Any:
    """The number of a tensor that may stand for one: without a dimension, and needing no gradient."""
    return bound if isinstance(bound, Tensor) and (bound.ndim or bound.requires_grad) else number_of(bound)


def arange(
    *bounds: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **more: Any
) -> Tensor:
    """A leaf of evenly stepped numbers from start to end, end excluded."""
    named = [more.pop(name) for name in ("start", "end", "step") if name in more]
    numbers = [_plain(bound) for bound in (*bounds, *named)]
    if dtype is None:
        dtype = dtypes.default() if any(isinstance(n, float) for n in numbers) else dtypes.int64
    if not 1 <= len(numbers) <= 3 or not all(isinstance(n, NUMBERS) for n in numbers):
        given = ", ".join(type(bound).__name__ for bound in bounds)
        refuse_by("op/arguments", name="arange", given=given)
    start, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    return new_leaf(stepped(start, end, step, dtypes.numpy_of(dtype)), requires_grad, **more)


@quietly
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf of ``steps`` evenly spaced numbers, both ends included."""
    first, last, count = _ends("linspace", start, end, steps)
    kind = _dtype_between(first, last) if dtype is None else dtype.numpy
    return new_leaf(evenly_spaced(first, last, count, kind), requires_grad, **where)


@quietly
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf of powers of ``base`` with evenly spaced exponents."""
    first, last, count = _ends("logspace", start, end, steps)
    if isinstance(base, complex):
        refuse_by("op/arguments", name="logspace", given=f"base={base}")
    kind = _dtype_between(first, last) if dtype is None else dtype.numpy
    return new_leaf(powers(base, first, last, count, kind), requires_grad, **where)


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    """The numbers of both ends, which tensors may give too, and how many there shall be."""
    for which, given in (("start", start), ("end", end)):
        if isinstance(given, Tensor) and given.ndim:
            raise RuntimeError(
                f"{name} only supports 0-dimensional start and end tensors, but got {which} with "
                f"{given.ndim} dimension(s)."
            )
    count = number_of(steps)
    if not isinstance(count, int):
        refuse_by("op/arguments", name=name, given=f"steps={type(steps).__name__}")
    if count < 0:
        raise RuntimeError("number of steps must be non-negative")
    return number_of(start), number_of(end), count


def _dtype_between(start: Any, end: Any) -> np.dtype:
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    return dtypes.of_number(1j if is_complex else 1.0)
