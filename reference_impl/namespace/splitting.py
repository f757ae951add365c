"""Splitting into pieces, and joining along the first, second or third dimension."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reference_impl.base import dtypes
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import factories
from reference_impl.namespace.composite import cat, need_tensors
from specs.dtype_names import scalar_type
from specs.ops import cat as joining
from specs.ops.helpers import axis_of


# -- splitting -------------------------------------------------------------------------------------
def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> Any:
    """Split into consecutive pieces of the given sizes."""
    return x.split(tuple(split_sizes), dim)


def tensor_split(x: Tensor, sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Split at the given positions, or into a number of nearly equal pieces."""
    if not x.ndim:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )
    size = array_of(x).shape[axis_of(dim, x.ndim)]
    given = _read(sections) if isinstance(sections, Tensor) else sections
    if not isinstance(given, int):
        return _cut(x, given, dim)
    if given < 1:
        raise RuntimeError(f"number of sections must be larger than 0, got {given}")
    small, more = divmod(size, given)
    return _cut(x, [small * n + min(n, more) for n in range(1, given)], dim)


def _read(given: Tensor) -> Any:
    """The positions, or the number of pieces, in a tensor."""
    if given.ndim > 1:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional "
            f"tensor, but got a tensor with {given.ndim} dims"
        )
    if given.dtype is not dtypes.int64:
        raise RuntimeError(
            "tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{scalar_type(given)}"
        )
    return given.tolist()


def _cut(x: Tensor, ends: Iterable[int], dim: int) -> tuple[Tensor, ...]:
    """The pieces before and after each position."""
    marks = [0, *ends, array_of(x).shape[dim]]
    return tuple(x.slice(dim, start, end, 1) for start, end in itertools.pairwise(marks))


def _split_along(name: str, least: int, axis: int) -> Callable[..., Any]:
    def split(x: Tensor, sections: Any) -> tuple[Tensor, ...]:
        """Split at positions, or into equal parts, along a dimension."""
        if x.ndim < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                f"{x.ndim} dimensions!"
            )
        dim = min(axis, x.ndim - 1)
        size = array_of(x).shape[dim]
        if isinstance(sections, int) and (not sections or size % sections):
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {dim}, but the size of the dimension "
                f"{size} is not divisible by the split_size {sections}!"
            )
        return tensor_split(x, sections, dim)

    split.__name__ = name
    return split


# -- joining ---------------------------------------------------------------------------------------
def _need_some(name: str, tensors: Any) -> None:
    need_tensors(tensors, name)
    if not tensors:
        raise RuntimeError(f"{name} expects a non-empty TensorList")


def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack tensors row-wise."""
    _need_some("vstack", tensors)
    return cat([raised(x, 2) for x in tensors])


def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Concatenate along the second dimension, or the only one."""
    _need_some("hstack", tensors)
    parts = [raised(x, 1) for x in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack vectors as columns, beside matrices."""
    _need_some("column_stack", tensors)
    return cat([x.reshape((x.numel(), 1)) if x.ndim <= 1 else x for x in tensors], 1)


def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Stack along the third dimension."""
    _need_some("dstack", tensors)
    return cat([raised(x, 3) for x in tensors], 2)


def raised(x: Tensor, ndim: int) -> Tensor:
    """Add dimensions of size 1 until there are enough."""
    if x.ndim == 0:
        return x.reshape((1,) * ndim)
    if x.ndim == 1 and ndim > 1:
        x = x.unsqueeze(0)
    return x.unsqueeze(-1) if x.ndim == 2 and ndim == 3 else x


def _at_least(ndim: int) -> Any:
    def at_least(*tensors: Any) -> Any:
        """Add dimensions of size 1 until there are enough."""
        given = tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], Tensor) else tensors
        found = tuple(raised(x, ndim) for x in given)
        return found[0] if len(tensors) == 1 and isinstance(tensors[0], Tensor) else found

    return at_least


def block_diag(*tensors: Tensor) -> Tensor:
    """Matrices along a diagonal."""
    need_tensors(tensors, "block_diag")
    for at, x in enumerate(tensors):
        if x.ndim > 2:
            raise RuntimeError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {at} has {x.ndim} "
                "dimensions"
            )
    return joining.block_diag(tensors) if tensors else factories.zeros((1, 0))


BOTH: dict[str, Any] = {
    "hsplit": _split_along("hsplit", 1, 1), "vsplit": _split_along("vsplit", 2, 0),
    "dsplit": _split_along("dsplit", 3, 2), "split_with_sizes": split_with_sizes,
    "tensor_split": tensor_split,
}  # fmt: skip
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {
    "atleast_1d": _at_least(1), "atleast_2d": _at_least(2), "atleast_3d": _at_least(3),
    "block_diag": block_diag, "column_stack": column_stack, "dstack": dstack, "hstack": hstack,
    "row_stack": vstack, "vstack": vstack,
}  # fmt: skip
"""Functions that are not methods, by name."""
