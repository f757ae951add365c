"""Factories: tensors of given sizes, from data, or like another tensor. Random ones are in `random`.

Each takes ``dtype``, ``device`` and ``requires_grad``. ``layout``, ``pin_memory`` and ``memory_format`` are
accepted with the values that mean dense row-major memory, and refused otherwise.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, default_place, find_device, on, place_of
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.quietly import quietly
from reference_impl.base.rules import by, refuse_by, warn, warn_once
from reference_impl.base.session import STATE
from reference_impl.base.size import contiguous_format, preserve_format, strided
from reference_impl.core.access import (
    array_of,
    set_flag,
    set_gradient_edge,
    set_memory,
    storage_of,
    version_counter,
)
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import levels_of, marked
from reference_impl.fidelity.zero_tensor import ZeroTensor
from reference_impl.namespace.nested_numbers import dtype_of_parts, holds_numbers, refuse_data
from specs.errors import need_fit
from specs.layout import FORMATS, in_format, laid_out_like
from specs.layout import empty_strided as empty_strided_array
from specs.memory import span

_KINDS = {"i": dtypes.int64, "u": dtypes.int64, "b": dtypes.bool_}


def _check_plain(
    layout: Any = strided, pin_memory: bool = False, memory_format: Any = preserve_format, out: None = None
) -> None:
    """Refuse any other layout than plain memory."""
    if layout is not strided or pin_memory or memory_format not in (preserve_format, contiguous_format):
        raise NotModelled("torch's memory other than dense, by rows")


def new_leaf(
    array: np.ndarray, requires_grad: bool = False, beside: Tensor | None = None, **where: Any
) -> Tensor:
    """Wrap an array as a leaf, on the given device, or on that of ``beside``, or on the default device.

    Raises RuntimeError if ``requires_grad`` is set for a dtype without gradients, TypeError if it is no bool.
    """
    place = default_place() if beside is None and STATE.default_devices else CPU
    if beside is not None and (there := place_of(beside)) is not CPU and by("device/like-its-model"):
        place = there
    if where:
        asked = where.pop("device", None)
        place = place if asked is None else find_device(asked)
        wanted = where.get("memory_format")
        if str(wanted) in FORMATS:
            array, where["memory_format"] = in_format(array, str(wanted)), preserve_format
        _check_plain(**where)
    leaf = wrap(array)
    if (place is not CPU or STATE.place is not None) and by("device/made-there-is-a-leaf"):
        set_memory(leaf, array_of(leaf), on(place, array_of(leaf)))
    if not isinstance(requires_grad, bool):
        refuse_by("requires_grad/argument-must-be-bool", type=type(requires_grad).__name__, case="made")
    if requires_grad:
        if not dtypes.differentiable(array.dtype):
            refuse_by("requires_grad/float-or-complex-only", dtype=leaf.dtype, case="made")
        if by("requires_grad/flag-at-creation") and (STATE.enabled or by("mode/creation-unaffected")):
            set_flag(leaf, True)
    leaf = leaf if place is CPU or leaf.is_cuda else leaf.to(place)
    return marked(leaf, levels_of(beside)) if STATE.transforms else leaf


def shape_of(size: tuple[Any, ...], more: dict[str, Any], name: str = "") -> tuple[int, ...]:
    """The shape given as separate ints, as one sequence, or by the keyword ``size``."""
    if "size" in more:
        size = (more.pop("size"),)
    shape = size[0] if size and isinstance(size[0], (tuple, list)) else size
    shape = tuple([n if type(n) is int else _extent(n, at) for at, n in enumerate(shape, 1)])
    if shape and min(shape) < 0:
        negative = next(n for n in shape if n < 0)
        refuse_by("op/new-sizes-are-not-negative", size=negative, shape=list(shape), case=name)
    return shape


def _extent(n: Any, at: int) -> int:
    if not hasattr(n, "__index__"):
        raise TypeError(f"argument 'size' (position {at}) must be tuple of ints, not {type(n).__name__}")
    return n.__index__()


def _without_tensors(data: Any) -> Any:
    """Replace the tensors in nested sequences by their elements: each must have one."""
    if isinstance(data, Tensor):
        if STATE.transforms and levels_of(data):
            refuse_by("functional/vmap-takes-no-numbers")
        if array_of(data).size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return array_of(data).reshape(())
    if isinstance(data, (list, tuple)):
        if holds_numbers(data):
            return data
        if any(isinstance(item, Tensor) and item.requires_grad for item in data):
            warn_once("copy/number-leaves-the-graph-warns")
        return [_without_tensors(item) for item in data]
    return data


def _inferred(array: np.ndarray, data: Any, numbers: bool) -> np.dtype:
    """Infer a dtype: that of a tensor or array, else the default for the kind of number."""
    if not numbers:
        if isinstance(data, (Tensor, np.ndarray, np.generic)) and array.dtype in dtypes.BY_NUMPY:
            return array.dtype
        if (of_parts := dtype_of_parts(data)) is not None:
            return of_parts
    if not array.size:
        return dtypes.default().numpy
    if array.dtype.kind == "c":
        if dtypes.default() is dtypes.bfloat16:
            raise RuntimeError("complex numbers without a dtype have none where bfloat16 is the default")
        return dtypes.complex_of(dtypes.default().numpy)
    return _KINDS.get(array.dtype.kind, dtypes.default()).numpy


def tensor(
    data: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
) -> Tensor:
    """A leaf with a copy of ``data``: a number, nested sequences, an array or a tensor."""
    if isinstance(data, (Tensor, np.ndarray)):
        return _copied(data, dtype, requires_grad, where)
    numbers = holds_numbers(data)
    plain = data if numbers else _without_tensors(data)
    try:
        array = np.array(plain)
    except ValueError:  # numpy's words for a ragged sequence are its own
        array = np.empty((), object)
    if array.dtype.kind not in "biufcV" or array.dtype.kind == "O":
        refuse_data(plain)
    return new_leaf(_cast(array, data, dtype, numbers), requires_grad, **where)


def _copied(
    data: Tensor | np.ndarray, dtype: dtypes.dtype | None, requires_grad: bool, where: dict[str, Any]
) -> Tensor:
    """A leaf with a copy of an array or a tensor, in the same layout."""
    if not isinstance(data, Tensor):
        return new_leaf(laid_out_like(_cast(np.array(data), data, dtype), data), requires_grad, **where)
    warn("copy/tensor-of-a-tensor-warns")
    clone = data.detach().clone()
    array = array_of(clone)
    model = None if STATE.default_devices else data
    laid_out = laid_out_like(_cast(array, data, dtype), array)
    if isinstance(data, ZeroTensor):  # one zero, expanded, and copied where that is not contiguous
        laid_out = np.zeros(data.shape, laid_out.dtype)
        if laid_out.size <= 1:
            laid_out = empty_strided_array(data.shape, (0,) * laid_out.ndim, laid_out.dtype)
            laid_out[...] = 0
    copied = new_leaf(laid_out, requires_grad, model, **where)
    if data.is_inference() and not STATE.inference:
        version_counter(copied)[0] = clone._version  # which begins at 1
    if not by("copy/tensor-copies"):
        set_gradient_edge(copied, data.grad_fn, data.output_nr)
    return copied


@quietly
def _cast(array: np.ndarray, data: Any, dtype: dtypes.dtype | None, numbers: bool = False) -> np.ndarray:
    """Cast the array made of ``data``, of which ``numbers`` says that it is Python's alone, to the given or
    the inferred dtype.

    Raises ValueError for ragged sequences, TypeError for complex numbers in a real dtype, and refuses numbers
    that do not fit."""
    if array.dtype.kind == "O":
        raise ValueError("expected numbers or sequences of one length all through, at each depth")
    wanted = _inferred(array, data, numbers) if dtype is None else dtypes.numpy_of(dtype)
    if array.dtype != wanted and array.size and not isinstance(data, (Tensor, np.ndarray)):
        if array.dtype.kind == "c" and wanted.kind not in "cb":
            raise TypeError(f"complex numbers are no {wanted}")
        for number in (array.min(), array.max()) if wanted.kind in "iu" else ():
            need_fit(number, wanted, "made")
    return array if array.dtype is wanted else array.astype(wanted, copy=False)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """The tensor itself, or a tensor on the array's memory, if the dtype fits; else a copy."""
    device = default_place() if device is None and STATE.default_devices else device
    if isinstance(data, Tensor) and by("copy/as-tensor-is-itself"):
        return data.to(dtype, device=device)
    if isinstance(data, np.ndarray) and (dtype is None or dtypes.numpy_of(dtype) == data.dtype):
        return from_numpy(data).to(device=device)
    return tensor(data, dtype=dtype, device=device)


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on the array's memory; writes through numpy do not bump the version.

    Raises TypeError for anything else and for unsupported dtypes, ValueError for negative strides.
    """
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if any(stride < 0 for stride in array.strides):
        raise ValueError("At least one stride in the given numpy array is negative, copy the array first")
    if array.dtype not in dtypes.BY_NUMPY:
        raise TypeError(f"can't convert np.ndarray of type {array.dtype}")
    if not array.flags.writeable:
        warnings.warn("The given NumPy array is not writable", UserWarning, stacklevel=2)
    # A storage of its own on the same memory: PyTorch does not know either that both are one.
    alias = array.view() if by("copy/from-numpy-shares") else array.copy()
    out = wrap(alias)
    storage = span(alias)
    set_memory(out, alias, storage)  # keeps numpy's strides even without elements
    STATE.shared_with_numpy[id(storage)] = storage
    return out


def _filled(value: Any, name: str = "") -> Callable[..., Tensor]:
    def make(
        *size: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
    ) -> Tensor:
        """A leaf of one repeated value."""
        numpy = dtypes.numpy_of(dtype)
        return new_leaf(np.full(shape_of(size, where, name), value, numpy), requires_grad, **where)

    return make


ones = _filled(1)
zeros = _filled(0, "zeros")
empty = _filled(0)  # NB: zeros, where PyTorch leaves memory uninitialised


def empty_strided(
    size: Any, stride: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
) -> Tensor:
    """A leaf of zeros with the given strides, in elements."""
    numpy = dtypes.numpy_of(dtype)
    array = empty_strided_array(shape_of((size,), {}), tuple([s * numpy.itemsize for s in stride]), numpy)
    array[...] = 0
    leaf = new_leaf(array, requires_grad, **where)
    set_memory(leaf, array_of(leaf), span(storage_of(leaf)))
    return leaf


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf of one repeated value, whose type decides the dtype unless one is given."""
    value = number_of(fill_value)
    numpy = dtypes.of_number(value) if dtype is None else dtypes.numpy_of(dtype)
    return new_leaf(full_array(shape_of((size,), {}), value, numpy), requires_grad, **where)


def full_array(shape: Any, number: Any, dtype: np.dtype) -> np.ndarray:
    """An array of one repeated number; refuse one that does not fit the dtype."""
    need_fit(number, dtype)
    one = np.asarray(number)
    return np.full(shape, (one if dtype.kind in "cb" else one.real).astype(dtype), dtype)


def number_of(value: Any) -> Any:
    """The Python number that a number, of numpy's too, or a tensor of one element holds."""
    return value.item() if isinstance(value, (Tensor, np.generic)) else value


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf with ones on the diagonal, ``n`` by ``m`` or square."""
    numpy = dtypes.numpy_of(dtype)
    for name, size in (("n", n), ("m", m)):
        if size is not None and size < 0:
            raise RuntimeError(f"{name} must be greater or equal to 0, got {size}")
    return new_leaf(np.eye(n, m, dtype=numpy), requires_grad, **where)


def _like(value: Any) -> Callable[..., Tensor]:
    def make(
        x: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
    ) -> Tensor:
        """A leaf of one repeated value, with the shape, dtype and layout of ``x`` by default."""
        model = array_of(x)
        numpy = model.dtype if dtype is None else dtypes.numpy_of(dtype)
        order: Any = "C" if where.get("memory_format") is contiguous_format else "K"
        array = np.full_like(model, value, numpy, order)
        return new_leaf(array if order == "C" else laid_out_like(array, model), requires_grad, x, **where)

    return make


ones_like = _like(1)
zeros_like = _like(0)
empty_like = _like(0)


def full_like(x: Tensor, fill_value: Any, **more: Any) -> Tensor:
    """A leaf of ``fill_value`` with the shape, dtype and layout of ``x``."""
    return _like(number_of(fill_value))(x, **more)
