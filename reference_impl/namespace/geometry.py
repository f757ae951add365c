"""Readings of a tensor: its elements, and where they lie. `attributes` has shapes and strides."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, place_of
from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.size import Size
from reference_impl.core import extension_points
from reference_impl.core.access import array_of, storage_of
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import conjugated


def dtype(self: Tensor) -> dtypes.dtype:
    """The element type."""
    return dtypes.of(array_of(self).dtype)


def numel(self: Tensor) -> int:
    """The number of elements."""
    return array_of(self).size


def dim(self: Tensor) -> int:
    """The number of dimensions."""
    return array_of(self).ndim


def storage_offset(self: Tensor) -> int:
    """The index of the first element in the storage, in elements."""
    array, storage = array_of(self), storage_of(self)
    if array is storage:
        return 0
    if array.nbytes == storage.nbytes != 0 and array.flags.forc and storage.flags.forc:
        return 0  # the whole storage; asking numpy for addresses is slow
    here, start = array.__array_interface__["data"][0], storage.__array_interface__["data"][0]
    return (here - start) // array.itemsize


def is_floating_point(self: Tensor) -> bool:
    """Return True if the elements are real floating-point numbers."""
    return array_of(self).dtype.kind in dtypes.REAL


def is_complex(self: Tensor) -> bool:
    """Return True if the elements are complex numbers."""
    return array_of(self).dtype.kind == "c"


def tolist(self: Tensor) -> Any:
    """The elements as nested lists."""
    extension_points.on_read(self)
    if STATE.devices and place_of(self) is not CPU:
        self = self.cpu()  # recorded like any copy, which a stale view may refuse
    return array_of(self).tolist()


def shared_with_numpy(self: Tensor) -> np.ndarray:
    """The elements as an array on the same memory, which can no longer grow."""
    extension_points.on_numpy(self)
    if STATE.devices and place_of(self) is not CPU:
        refuse_by("device/numpy-takes-the-cpu-s", place=place_of(self))
    if self.requires_grad and STATE.enabled:
        refuse_by("copy/numpy-refused-with-grad")
    if conjugated.is_conj(self):
        refuse_by("copy/conjugates-refuse-numpy", bit="conjugate bit", first="resolve_conj")
    if conjugated.is_neg(self):
        refuse_by("copy/conjugates-refuse-numpy", bit="negative bit", first="resolve_neg")
    STATE.shared_with_numpy[id(storage_of(self))] = storage_of(self)
    return array_of(self)


def item(self: Tensor) -> Any:
    """The single element as a Python number."""
    if numel(self) != 1:
        refuse_by("op/item-size", size=numel(self))
    return array_of(self).item()


def length(self: Tensor) -> int:
    """The extent of the first dimension."""
    array = array_of(self)
    if array.ndim == 0:
        refuse_by("op/len-of-scalar")
    return array.shape[0]


def truth(self: Tensor) -> bool:
    """The truth value of the single element."""
    if numel(self) != 1:
        refuse_by("op/bool-of-many")
    return bool(array_of(self))


PROPERTIES: dict[str, Any] = {"dtype": property(dtype), "ndim": property(dim)}
"""The attributes that are no methods, by name."""


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that shapes broadcast to.

    Raises RuntimeError if they do not."""
    together: list[int] = []
    for at, shape in enumerate((s,) if isinstance(s, int) else tuple(s) for s in shapes):
        together = [1] * (len(shape) - len(together)) + together
        for back in range(-1, -1 - len(shape), -1):
            if 1 not in (shape[back], together[back]) and shape[back] != together[back]:
                raise RuntimeError(
                    f"Attempting to broadcast a dimension of length {shape[back]} at {back}! Mismatching "
                    f"argument at index {at} had {shape}; but expected shape should be broadcastable to "
                    f"{together}"
                )
            together[back] = shape[back] if together[back] == 1 else together[back]
    return Size(together)


METHODS: dict[str, Any] = {
    "__bool__": truth, "__len__": length, "dim": dim, "is_complex": is_complex,
    "is_floating_point": is_floating_point, "item": item, "ndimension": dim, "nelement": numel,
    "numel": numel, "storage_offset": storage_offset, "tolist": tolist,
}  # fmt: skip
"""The methods by name."""
