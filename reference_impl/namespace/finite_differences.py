"""`torch.gradient`: differences of neighbours over their distance, at points that may lie anywhere.

PyTorch: aten/src/ATen/native/ReduceOps.cpp (gradient)."""

from __future__ import annotations

from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.rules import refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from specs.ops.helpers import axes_of


def gradient(x: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The slope along each dimension: by the neighbours on both sides, and at the edges by two or three
    points, as ``edge_order`` says.

    ``spacing`` is the distance of points, or one for each dimension, which may be their places. Raises
    RuntimeError for other spacings, for too few points and for any other ``edge_order``.
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    dims = range(x.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    steps = _steps(spacing, dims, dim is None)
    if any(x.shape[d] <= edge_order for d in axes_of(dims, x.ndim)):
        raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    if x.dtype is dtypes.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    return tuple(_slope(x, d, step, edge_order) for d, step in zip(dims, steps, strict=True))


def _steps(spacing: Any, dims: Any, all_of_them: bool) -> list[Any]:
    """A spacing for each dimension."""
    if isinstance(spacing, Tensor) and not spacing.ndim:
        spacing = spacing.item()
    if not isinstance(spacing, (int, float, complex, list, tuple)):
        refuse_by("op/arguments", name="gradient", given=f"Tensor, spacing={type(spacing).__name__}")
    if not isinstance(spacing, (list, tuple)):
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        what = f"'self.dim() = {len(dims)}'" if all_of_them else "the dim argument's"
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar, or a list of length {what}, but "
            f"got a list of length {len(spacing)}"
        )
    for each in spacing:
        if isinstance(each, Tensor) and each.ndim != 1:
            raise RuntimeError(
                "torch.gradient expected each element of spacing to have one dimension, but got an element "
                f"with {each.ndim} dimensions!"
            )
    return list(spacing)


def _slope(x: Tensor, d: int, step: Any, edge_order: int) -> Tensor:
    n = x.shape[d]
    if isinstance(step, Tensor):
        inner, low, high = _between_places(x, d, step)
        if edge_order == 1:
            apart = step.diff()
            low, high = _difference(x, d, 0).div(apart[0]), _difference(x, d, n - 2).div(apart[-1])
    else:
        inner = x.slice(d, 2, n, 1).sub(x.slice(d, 0, n - 2, 1)).div_scalar(step).div_scalar(2)
        if edge_order == 1:
            low, high = _difference(x, d, 0), _difference(x, d, n - 2)
        else:
            low, high = _weighed(x, d, 0, (-1.5, 2, -0.5), 1), _weighed(x, d, n - 3, (0.5, -2, 1.5), 1)
        low, high = low.div_scalar(step), high.div_scalar(step)
    return composite.cat([low, inner, high], d)


def _between_places(x: Tensor, d: int, places: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The slopes within, at the first and at the last of three points, by the parabola through them."""
    apart, n = places.diff(), x.shape[d]
    shape = [-1 if axis == d % x.ndim else 1 for axis in range(x.ndim)]
    a, b = (part.reshape(shape) for part in (apart[:-1], apart[1:]))
    within = (-b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b)))
    inner = _weighed(x, d, 0, within, n - 2)
    if n < 3:
        return inner, inner, inner  # which the edges of two points do not need
    a, b = apart[0], apart[1]
    first = (-(a * 2 + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))
    low = _weighed(x, d, 0, first, 1)
    a, b = apart[-2], apart[-1]
    last = (b / (a * (a + b)), -(a + b) / (a * b), (b * 2 + a) / (b * (a + b)))
    return inner, low, _weighed(x, d, n - 3, last, 1)


def _difference(x: Tensor, d: int, at: int) -> Tensor:
    return x.slice(d, at + 1, at + 2, 1).sub(x.slice(d, at, at + 1, 1))


def _weighed(x: Tensor, d: int, first: int, weights: Any, count: int) -> Tensor:
    """The sum of ``count`` elements and of those one and two behind, each times its weight."""
    parts = [x.slice(d, first + at, first + at + count, 1).mul(weight) for at, weight in enumerate(weights)]
    return parts[0].add(parts[1]).add(parts[2])


FUNCTIONS = {"gradient": gradient}
"""Functions by name."""
