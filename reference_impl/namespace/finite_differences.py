"""Estimates of derivatives from samples: ``torch.gradient``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.rules import refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.factories import number_of
from specs.kind import NUMBERS
from specs.ops.helpers import axes_of, axis_of


def gradient(x: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The differences of neighbours on both sides, along each dimension, and at the edges of one side."""
    dims = list(range(x.ndim)) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    spacing = number_of(spacing)
    if spacing is not None and not isinstance(spacing, (*NUMBERS, list, tuple)):
        refuse_by("op/arguments", name="gradient", given=f"Tensor, spacing={type(spacing).__name__}")
    spacings = list(spacing) if isinstance(spacing, (list, tuple)) else None
    if x.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if spacings is not None:
        _need_as_many(len(spacings), len(dims), None if dim is None else dims)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(x.shape[d] <= edge_order for d in axes_of(dims, x.ndim)):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    steps = [1 if spacing is None else spacing] * len(dims) if spacings is None else spacings
    found = []
    for d, step in zip(dims, steps, strict=True):
        axis = axis_of(d, x.ndim)
        number = isinstance(step, NUMBERS)
        parts = _evenly(x, axis, step, edge_order) if number else _at_places(x, axis, step, edge_order)
        found.append(composite.cat(parts, axis))
    return tuple(found)


def _need_as_many(given: int, dims: int, asked: Sequence[int] | None) -> None:
    if given == dims:
        return
    raise RuntimeError(
        f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
        f"'self.dim() = {dims}', since dim argument was not given, but got a list of length {given}"
        if asked is None
        else "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments "
        f"to have the same length, but got a spacing argument of length {given} and a dim argument of "
        f"length {dims}."
    )


def _from(x: Tensor, axis: int, start: int, end: int | None) -> Tensor:
    size = x.shape[axis]
    first, last = (n if n >= 0 else n + size for n in (start, size if end is None else end))
    return x.slice(axis, first, last, 1)


def _apart(x: Tensor, axis: int, high: tuple[int, int | None], low: tuple[int, int | None]) -> Tensor:
    before = _from(x, axis, *low)  # NB: PyTorch's compiler begins with the second operand
    return _from(x, axis, *high).sub(before)


def _evenly(x: Tensor, axis: int, step: Any, order: int) -> list[Tensor]:
    """The first edge, the middle, and the last edge, of samples that lie ``step`` apart."""

    def weighed(weights: tuple[float, float, float], start: int) -> list[Tensor]:
        ends = [start + n if start + n < 0 or start == 0 else None for n in (1, 2, 3)]
        found = [_from(x, axis, start + n, ends[n]).mul_scalar(weights[n]) for n in (2, 1, 0)]
        return found[::-1]

    middle = _apart(x, axis, (2, None), (0, -2)).div_scalar(step)
    if order == 1:
        first = _apart(x, axis, (1, 2), (0, 1)).div_scalar(step)
        last = _apart(x, axis, (-1, None), (-2, -1)).div_scalar(step)
    else:
        near, next_, third = weighed((-1.5, 2, 0.5), 0)
        first = near.add(next_).sub(third).div_scalar(step)
        third, next_, near = weighed((0.5, 2, 1.5), -3)
        last = third.sub(next_).add(near).div_scalar(step)
    return [first, middle.div_scalar(2), last]


def _at_places(x: Tensor, axis: int, places: Tensor, order: int) -> list[Tensor]:
    """The same of samples at these places."""
    if places.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{places.ndim} dimensions!"
        )

    def along(factor: Tensor) -> Tensor:
        return factor.reshape([-1 if d == axis else 1 for d in range(x.ndim)])

    def total(factors: tuple[Tensor, ...], parts: tuple[tuple[int, int | None], ...]) -> Tensor:
        third, second, first = (
            factor.mul(_from(x, axis, *each)) for factor, each in zip(factors[::-1], parts[::-1], strict=True)
        )
        return first.add(second).add(third)

    apart = places.diff(1, 0)
    before, after = apart.slice(0, 0, apart.shape[0] - 1, 1), apart.slice(0, 1, apart.shape[0], 1)
    low = along(after.neg().div(before.mul(before.add(after))))
    here = along(after.sub(before).div(before.mul(after)))
    high = along(before.div(after.mul(before.add(after))))
    middle = total((low, here, high), ((0, -2), (1, -1), (2, None)))
    if order == 1:
        first = _apart(x, axis, (1, 2), (0, 1)).div(apart[0])
        last = _apart(x, axis, (-1, None), (-2, -1)).div(apart[-1])
        return [first, middle, last]
    near, far = apart[0], apart[1]
    low = near.mul_scalar(2.0).add(far).neg().div(near.mul(near.add(far)))
    here, high = near.add(far).div(near.mul(far)), near.neg().div(far.mul(near.add(far)))
    first = total((low, here, high), ((0, 1), (1, 2), (2, 3)))
    near, far = apart[-1], apart[-2]
    low, here = near.div(far.mul(near.add(far))), near.add(far).neg().div(near.mul(far))
    high = near.mul_scalar(2).add(far).div(near.mul(near.add(far)))
    last = total((low, here, high), ((-3, -2), (-2, -1), (-1, None)))
    return [first, middle, last]


FUNCTIONS: dict[str, Any] = {"gradient": gradient}
"""Functions that are not methods, by name."""
