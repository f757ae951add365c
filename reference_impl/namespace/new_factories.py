"""Factories that are methods: ``x.new_zeros`` and its kin take dtype and device from ``x``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import place_of
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import (
    empty_strided,
    full_array,
    new_leaf,
    number_of,
    shape_of,
    tensor,
)
from reference_impl.namespace.legacy import new_like


def new(self: Tensor, *given: Any, **named: Any) -> Tensor:
    """A leaf of this dtype on this device: from a sequence, or of a size."""
    return new_like(self, given, named)


def _new(value: Any) -> Callable[..., Tensor]:
    def new(
        self: Tensor,
        *size: Any,
        dtype: dtypes.dtype | np.dtype | None = None,
        requires_grad: bool = False,
        **where: Any,
    ) -> Tensor:
        """A leaf of the given size, of this dtype by default; ``dtype`` may be numpy's."""
        given = array_of(self).dtype if dtype is None else dtype
        numpy = given if isinstance(given, np.dtype) else dtypes.numpy_of(given)
        return new_leaf(np.full(shape_of(size, where), value, numpy), requires_grad, self, **where)

    return new


new_ones = _new(1)
new_zeros = _new(0)
new_empty = _new(0)


def new_full(
    self: Tensor,
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf of one repeated value, of this dtype by default."""
    array = full_array(
        size, number_of(fill_value), array_of(self).dtype if dtype is None else dtypes.numpy_of(dtype)
    )
    return new_leaf(array, requires_grad, self, **where)


def new_tensor(self: Tensor, data: Any, *, dtype: dtypes.dtype | None = None, **more: Any) -> Tensor:
    """A leaf with a copy of ``data``, of this dtype by default, on this device."""
    return tensor(data, dtype=self.dtype if dtype is None else dtype, **({"device": place_of(self)} | more))


def new_empty_strided(self: Tensor, size: Any, stride: Any, **more: Any) -> Tensor:
    """A leaf with the given strides, of this dtype by default, on this device."""
    given: dict[str, Any] = {"dtype": self.dtype, "device": place_of(self)}
    return empty_strided(size, stride, **(given | more))


METHODS: dict[str, Any] = {
    "new": new,
    "new_empty": new_empty,
    "new_empty_strided": new_empty_strided,
    "new_full": new_full,
    "new_ones": new_ones,
    "new_tensor": new_tensor,
    "new_zeros": new_zeros,
}
"""Methods by name."""
