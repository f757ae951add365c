"""Tensor attributes and conversions: shape and strides, storage, numpy arrays, Python numbers, transposes.

`geometry` has element readings, `casts` dtype and device changes, `serialization` copies, `tensor_repr` text.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, place_of
from reference_impl.base.rules import by, refuse_by, warn_once
from reference_impl.base.session import STATE
from reference_impl.base.size import Size, contiguous_format, layout, strided
from reference_impl.core.access import array_of, hooks_of, is_inference, set_hooks, storage_of
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.shown_apart import memory_shown
from reference_impl.namespace import conjugated
from reference_impl.namespace.factories import from_numpy
from reference_impl.namespace.geometry import shared_with_numpy
from reference_impl.namespace.tensor_repr import tensor_repr
from specs.layout import lies_in


def shape(self: Tensor) -> Size:
    """The extent of each dimension."""
    return Size(array_of(self).shape)


def size(self: Tensor, dim: int | None = None) -> Any:
    """The shape, or its extent along ``dim``."""
    return Size(array_of(self).shape) if dim is None else array_of(self).shape[_axis(self, dim)]


def stride(self: Tensor, dim: int | None = None) -> Any:
    """The strides in elements, or the one along ``dim``."""
    array = array_of(self)
    strides = tuple([step // array.itemsize for step in array.strides])
    return strides if dim is None else strides[_axis(self, dim)]


def _axis(self: Tensor, dim: int) -> int:
    ndim = self.ndim
    if not -ndim <= dim < ndim:
        refuse_by("op/dim-range", low=-ndim, high=ndim - 1, dim=dim, case="" if ndim else "scalar")
    return dim


def is_contiguous(self: Tensor, *, memory_format: Any = contiguous_format) -> bool:
    """Return True if the elements are row-major without gaps, or lie so in another format."""
    if memory_format is contiguous_format:
        return bool(array_of(self).flags.c_contiguous)
    return lies_in(array_of(self), str(memory_format))


def element_size(self: Tensor) -> int:
    """The size of one element in bytes."""
    return array_of(self).itemsize


def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    own = storage_of(self)
    memory, offset = memory_shown(own)
    at: int = array_of(self).__array_interface__["data"][0]
    return at if memory is own else at - own.ctypes.data + memory.ctypes.data + offset


def get_device(self: Tensor) -> int:
    """The index of the tensor's CUDA device, -1 for the CPU."""
    index = place_of(self).index
    return -1 if index is None else index


class Storage:
    """The memory shared by a tensor and its views."""

    def __init__(self, array: np.ndarray) -> None:
        self.memory = array

    @property
    def _cdata(self) -> int:
        """An identity that no other storage shares."""
        return id(memory_shown(self.memory)[0])

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return memory_shown(self.memory)[0].__array_interface__["data"][0]

    def nbytes(self) -> int:
        """The size in bytes."""
        return self.memory.nbytes

    def size(self) -> int:
        """The number of elements, in the dtype of its tensors."""
        return self.memory.size

    __len__ = size


def storage(self: Tensor) -> Storage:
    """The tensor's storage."""
    return Storage(storage_of(self))


def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as an array on the same memory; with ``force`` a copy, which nothing forbids."""
    array = np.array(array_of(self)) if force else shared_with_numpy(self)
    if array.dtype == dtypes.bfloat16.numpy:
        refuse_by("copy/bfloat16-refuses-numpy")
    if force:
        return array
    if not array.size:
        return np.empty(array.shape, array.dtype)  # as numpy makes one, whose strides are its own
    return array if by("copy/numpy-shares") else array.copy()


def array_wrap(self: Tensor, array: np.ndarray) -> Tensor:
    """Make a tensor of the array that one of numpy's functions made of this tensor."""
    return from_numpy(array.astype(np.uint8) if array.dtype == bool else array)


def _number(self: Tensor, kind: type) -> Any:
    """The single element as a number of type ``kind``."""
    if self.requires_grad and STATE.enabled and kind is not int:
        warn_once("copy/number-leaves-the-graph-warns")
    array = array_of(self)
    if array.size != 1:
        refuse_by("copy/number-of-one-element")
    number = array.item()
    if isinstance(number, complex) and kind is not complex:
        if number.imag:
            raise RuntimeError(f"value cannot be converted to type {kind.__name__} without overflow")
        number = number.real
    return kind(number)


def index(self: Tensor) -> int:
    """The single integer as a Python index."""
    array = array_of(self)
    if array.dtype.kind not in "iub" or array.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(array.item())


def iterate(self: Tensor) -> Iterator[Tensor]:
    """Iterate over the first dimension; all slices share one ``UnbindBackward0`` node."""
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def contains(self: Tensor, element: Any) -> bool:
    """Return True if some element equals ``element``."""
    if not isinstance(element, (Tensor, int, float, complex)):
        raise RuntimeError(
            f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
        )
    return bool(array_of(self.eq(element)).any())


def formatted(self: Tensor, spec: str) -> str:
    """Format a 0-d tensor as its number and any other as its repr."""
    if self.ndim == 0 and type(self) is Tensor:
        return format(array_of(self).item(), spec)
    return object.__format__(self, spec)


def is_nonzero(self: Tensor) -> bool:
    """Return True if the single element is not zero."""
    return bool(self)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Return True if both tensors have the same shape."""
    return array_of(self).shape == array_of(other).shape


def _no_deleting(name: str, read: Any, write: Any = None) -> property:
    """A property that refuses to be deleted."""

    def deleting(self: Tensor) -> None:
        raise RuntimeError(f"{name} cannot be deleted")

    return property(read, write, deleting)


def volatile(self: Tensor) -> bool:
    """Return False: `no_grad` replaced volatile variables."""
    warnings.warn("volatile was removed, no_grad is there instead", UserWarning, stacklevel=2)
    return False


def transposed(self: Tensor) -> Tensor:
    """``x.T``: all dimensions in reverse."""
    if self.ndim != 2:
        return self.permute(tuple(range(self.ndim))[::-1])
    return self.permute((1, 0))


def matrix_transposed(self: Tensor) -> Tensor:
    """``x.mT``: the last two dimensions swapped; a 0-d tensor is returned itself."""
    if self.ndim == 1:
        raise RuntimeError("mT and mH are for matrices and batches of them, not for one dimension")
    return self.transpose(-2, -1) if self.ndim else self


def adjoint(self: Tensor) -> Tensor:
    """``x.mH``: each matrix transposed and conjugated; a real 0-d tensor is returned itself."""
    return matrix_transposed(self).conj()


def matrix_adjoint(self: Tensor) -> Tensor:
    """``x.H``: one matrix transposed and conjugated."""
    if self.ndim > 2:
        raise RuntimeError(f"H is for a matrix, not for {self.ndim} dimensions")
    return adjoint(self)


def _constant(value: Any) -> property:
    return property(lambda self: value)


PROPERTIES: dict[str, Any] = {
    "shape": property(shape),
    "_backward_hooks": _no_deleting("_backward_hooks", hooks_of, set_hooks),
    "_grad_fn": _no_deleting("_grad_fn", lambda self: self.grad_fn),
    "device": property(place_of),
    "volatile": property(volatile),
    "layout": _constant(strided),
    "is_cuda": property(lambda self: place_of(self) is not CPU),
    "is_cpu": property(lambda self: place_of(self) is CPU),
    "is_sparse": _constant(False),
    "is_quantized": _constant(False),
    "is_meta": _constant(False),
    "is_mkldnn": _constant(False),
    "is_nested": _constant(False),
    **dict.fromkeys(("is_vulkan", "is_ipu", "is_xpu", "is_mps", "is_maia"), _constant(False)),
    "name": _constant(None),
    "itemsize": property(element_size),
    "nbytes": property(lambda self: array_of(self).nbytes),
    "T": property(transposed),
    "mT": property(matrix_transposed),
    "mH": property(adjoint),
    "H": property(matrix_adjoint),
}
"""Properties by name."""

METHODS: dict[str, Any] = {
    "size": size,
    "stride": stride,
    "is_contiguous": is_contiguous,
    "element_size": element_size,
    "data_ptr": data_ptr,
    "get_device": get_device,
    "storage": storage,
    "untyped_storage": storage,
    "_typed_storage": storage,
    "numpy": numpy,
    "is_nonzero": is_nonzero,
    "is_same_size": is_same_size,
    "is_signed": lambda self: array_of(self).dtype.kind not in "bu",
    "is_inference": lambda self: is_inference(self),
    **conjugated.FUNCTIONS,
    "_of_array": lambda self, array: from_numpy(array),
    "__array_wrap__": array_wrap,
    "__array__": lambda self, dtype=None, copy=None: np.array(numpy(self), dtype, copy=copy),
    "__float__": lambda self: _number(self, float),
    "__int__": lambda self: _number(self, int),
    "__complex__": lambda self: _number(self, complex),
    "__index__": index,
    "__iter__": iterate,
    "__contains__": contains,
    "__format__": formatted,
    "__repr__": tensor_repr,
}
"""Methods by name."""
FUNCTIONS: dict[str, Any] = {
    name: METHODS[name] for name in (*conjugated.FUNCTIONS, "is_inference", "is_nonzero")
}
"""Functions of the namespace, by name."""

__all__ = ["FUNCTIONS", "METHODS", "PROPERTIES", "Storage", "layout"]
