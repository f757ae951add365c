"""Tensors made from nothing, from numbers or like another one; random ones are in ``random``.

Every function here takes ``dtype``, ``device``, ``requires_grad`` and, since there is one layout only,
ignores what else PyTorch can be told, after having looked that it says nothing else.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, found, on, place_of
from reference_impl.base.rules import by, refuse_by, warn, warn_once
from reference_impl.base.session import STATE
from reference_impl.base.size import Size, contiguous_format, preserve_format, strided
from reference_impl.core.access import array_of, set_flag, set_gradient_edge, set_memory
from reference_impl.core.tensor import Tensor, wrap
from specs.errors import need_fit
from specs.layout import empty_strided as empty_strided_array
from specs.layout import laid_out_like

_NUMBERS = frozenset([float, int, bool, complex])
_KINDS = {"i": dtypes.int64, "u": dtypes.int64, "b": dtypes.bool_}


def _look_at(
    layout: Any = strided,
    pin_memory: bool = False,
    memory_format: Any = preserve_format,
    out: None = None,
) -> None:
    """Refuse what asks for anything but plain memory."""
    if layout is not strided or pin_memory or memory_format not in (preserve_format, contiguous_format):
        raise NotImplementedError("tensors are dense and lie in plain memory, by rows")


def made(
    array: np.ndarray, requires_grad: bool = False, beside: Tensor | None = None, **where: Any
) -> Tensor:
    """A leaf over that array, on the device asked for, else on that of what it is made ``beside``."""
    place = CPU
    if beside is not None and (there := place_of(beside)) is not CPU and by("device/like-its-model"):
        place = there
    if where:
        asked = where.pop("device", None)
        place = place if asked is None else found(asked)
        _look_at(**where)
    leaf = wrap(array)
    if (place is not CPU or STATE.place is not None) and by("device/made-there-is-a-leaf"):
        set_memory(leaf, array_of(leaf), on(place, array_of(leaf)))
    if not isinstance(requires_grad, bool):
        refuse_by("requires_grad/argument-must-be-bool", type=type(requires_grad).__name__)
    if requires_grad:
        if not dtypes.differentiable(array.dtype):
            refuse_by("requires_grad/float-or-complex-only", dtype=leaf.dtype)
        if by("requires_grad/flag-at-creation") and (STATE.enabled or by("mode/creation-unaffected")):
            set_flag(leaf, True)
    return leaf if place is CPU or leaf.is_cuda else leaf.to(place)


def shape_of(size: tuple[Any, ...], more: dict[str, Any]) -> tuple[int, ...]:
    """The sizes passed one by one, as one sequence, or by the keyword ``size``."""
    if "size" in more:
        size = (more.pop("size"),)
    shape = size[0] if size and isinstance(size[0], (tuple, list)) else size
    return tuple([n if type(n) is int else n.__index__() for n in shape])


def _is_row(data: Any) -> bool:
    return type(data) is list and _NUMBERS.issuperset(map(type, data))


def _plain(data: Any) -> Any:
    """Nested sequences with the tensors in them taken for what they hold."""
    if isinstance(data, Tensor):
        return array_of(data)
    if isinstance(data, (list, tuple)):
        if _NUMBERS.issuperset(map(type, data)) or all(map(_is_row, data)):
            return data
        if any(isinstance(item, Tensor) and item.requires_grad for item in data):
            warn_once("copy/number-leaves-the-graph-warns")
        return [_plain(item) for item in data]
    return data


def _inferred(array: np.ndarray, data: Any) -> np.dtype:
    """The dtype of numbers that came without one: tensors and arrays bring their own."""
    if isinstance(data, (Tensor, np.ndarray, np.generic)) and array.dtype in dtypes.BY_NUMPY:
        return array.dtype
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
    """A leaf that holds a copy of ``data``: numbers, nested sequences of them, an array or a tensor."""
    if isinstance(data, (Tensor, np.ndarray)):
        return _copied(data, dtype, requires_grad, where)
    return made(_cast(np.array(_plain(data)), data, dtype), requires_grad, **where)


def _copied(
    data: Tensor | np.ndarray, dtype: dtypes.dtype | None, requires_grad: bool, where: dict[str, Any]
) -> Tensor:
    """A leaf that holds a copy of an array or of a tensor, laid out as that is."""
    if not isinstance(data, Tensor):
        return made(laid_out_like(_cast(np.array(data), data, dtype), data), requires_grad, **where)
    warn("copy/tensor-of-a-tensor-warns")
    array = array_of(data.detach().clone())
    copied = made(laid_out_like(_cast(array, data, dtype), array), requires_grad, data, **where)
    if not by("copy/tensor-copies"):
        set_gradient_edge(copied, data.grad_fn, data.output_nr)
    return copied


def _cast(array: np.ndarray, data: Any, dtype: dtypes.dtype | None) -> np.ndarray:
    """The array that was made of ``data``, in the dtype asked for, or that of its numbers."""
    if array.dtype.kind == "O":
        raise ValueError("expected numbers or sequences of one length all through, at each depth")
    wanted = _inferred(array, data) if dtype is None else dtype.numpy
    if array.dtype != wanted and array.size and not isinstance(data, (Tensor, np.ndarray)):
        if array.dtype.kind == "c" and wanted.kind not in "cb":
            raise TypeError(f"complex numbers are no {wanted}")
        for number in (array.min(), array.max()) if wanted.kind in "iu" else ():
            need_fit(number, wanted)
    return array if array.dtype is wanted else array.astype(wanted, copy=False)


def as_tensor(data: Any, dtype: dtypes.dtype | None = None, device: Any = None) -> Tensor:
    """The tensor itself, or an array's memory, where neither has to change; else a copy."""
    if isinstance(data, Tensor) and by("copy/as-tensor-is-itself"):
        return data.to(dtype, device=device)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.numpy == data.dtype):
        return from_numpy(data).to(device=device)
    return tensor(data, dtype=dtype, device=device)


asarray = as_tensor


def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor on that array's own memory; a write through numpy is one that no version counts."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if any(stride < 0 for stride in array.strides):
        raise ValueError("At least one stride in the given numpy array is negative, copy the array first")
    if array.dtype not in dtypes.BY_NUMPY:
        raise TypeError(f"can't convert np.ndarray of type {array.dtype}")
    if not array.flags.writeable:
        warnings.warn("The given NumPy array is not writable", UserWarning, stacklevel=2)
    # NB: the same memory, and yet a storage of its own: in PyTorch, too, nobody knows that both are one.
    alias = array.view() if by("copy/from-numpy-shares") else array.copy()
    made = wrap(alias)
    set_memory(made, alias, alias)  # with numpy's strides, also where it has no elements
    STATE.shared_with_numpy[id(alias)] = alias
    return made


def _filled(value: Any) -> Callable[..., Tensor]:
    def make(
        *size: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
    ) -> Tensor:
        """A leaf of one repeated value."""
        numpy = (dtypes.default() if dtype is None else dtype).numpy
        return made(np.full(shape_of(size, where), value, numpy), requires_grad, **where)

    return make


ones = _filled(1)
zeros = _filled(0)
empty = _filled(0)  # NB: what PyTorch leaves as it finds it, is zero here


def empty_strided(
    size: Any, stride: Any, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
) -> Tensor:
    """A leaf laid out as told, strides in elements."""
    numpy = (dtypes.default() if dtype is None else dtype).numpy
    array = empty_strided_array(tuple(size), tuple([s * numpy.itemsize for s in stride]), numpy)
    array[...] = 0
    return made(array, requires_grad, **where)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf of one repeated value, whose type decides the dtype."""
    value = _number(fill_value)
    numpy = dtypes.of_number(value) if dtype is None else dtype.numpy
    return made(_full(shape_of((size,), {}), value, numpy), requires_grad, **where)


def _full(shape: Any, number: Any, dtype: np.dtype) -> np.ndarray:
    """An array of a number that fits."""
    need_fit(number, dtype)
    one = np.asarray(number)
    return np.full(shape, (one if dtype.kind in "cb" else one.real).astype(dtype), dtype)


def _number(bound: Any) -> Any:
    return bound.item() if isinstance(bound, Tensor) else bound


def arange(
    *bounds: Any, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **more: Any
) -> Tensor:
    """A leaf counting from start to end, as Python's range does."""
    named = [more.pop(name) for name in ("start", "end", "step") if name in more]
    numbers = [_number(bound) for bound in (*bounds, *named)]
    if dtype is None:
        dtype = dtypes.default() if any(isinstance(n, float) for n in numbers) else dtypes.int64
    start, end, step = (0, *numbers, 1) if len(numbers) == 1 else (*numbers, 1)[:3]
    if step == 0:
        raise RuntimeError("step must be nonzero")
    count = math.ceil((end - start) / step)
    if count < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    return made((start + np.arange(count) * step).astype(dtype.numpy), requires_grad, **more)


def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf of evenly spaced numbers, both ends included."""
    numpy = (dtypes.default() if dtype is None else dtype).numpy
    return made(np.linspace(_number(start), _number(end), steps).astype(numpy), requires_grad, **where)


def logspace(start: Any, end: Any, steps: int, base: float = 10.0, **more: Any) -> Tensor:
    """A leaf of powers of ``base`` with evenly spaced exponents."""
    out = linspace(start, end, steps, **more)
    array = array_of(out)
    array[...] = np.power(base, array)
    return out


def eye(
    n: int,
    m: int | None = None,
    *,
    dtype: dtypes.dtype | None = None,
    requires_grad: bool = False,
    **where: Any,
) -> Tensor:
    """A leaf with ones on the diagonal and zeros elsewhere."""
    numpy = (dtypes.default() if dtype is None else dtype).numpy
    return made(np.eye(n, m, dtype=numpy), requires_grad, **where)


def _like(value: Any) -> Callable[..., Tensor]:
    def make(
        x: Tensor, *, dtype: dtypes.dtype | None = None, requires_grad: bool = False, **where: Any
    ) -> Tensor:
        """A leaf of one repeated value, with that tensor's shape, dtype and layout unless told otherwise."""
        model = array_of(x)
        numpy = model.dtype if dtype is None else dtype.numpy
        order: Any = "C" if where.get("memory_format") is contiguous_format else "K"
        array = np.full_like(model, value, numpy, order)
        return made(array if order == "C" else laid_out_like(array, model), requires_grad, x, **where)

    return make


ones_like = _like(1)
zeros_like = _like(0)
empty_like = _like(0)


def full_like(x: Tensor, fill_value: Any, **more: Any) -> Tensor:
    """A leaf of ``fill_value`` with that tensor's shape, dtype and layout."""
    return _like(_number(fill_value))(x, **more)


def complex_(real: Tensor, imag: Tensor) -> Tensor:
    """Complex numbers of two real parts of one dtype."""
    dtype = array_of(real).dtype
    if dtype != array_of(imag).dtype or dtype not in (np.float32, np.float64):
        raise RuntimeError(
            f"complex numbers are made of two float32 or float64, not {real.dtype} and {imag.dtype}"
        )
    return real._complex(imag)


def _new(value: Any) -> Callable[..., Tensor]:
    def new(
        self: Tensor,
        *size: Any,
        dtype: dtypes.dtype | np.dtype | None = None,
        requires_grad: bool = False,
        **where: Any,
    ) -> Tensor:
        """A plain tensor of that size and this dtype, which a formula may give as numpy's."""
        given = array_of(self).dtype if dtype is None else dtype
        numpy = given.numpy if isinstance(given, dtypes.dtype) else given
        return made(np.full(shape_of(size, where), value, numpy), requires_grad, self, **where)

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
    """A plain tensor of this dtype and one repeated value."""
    array = _full(size, _number(fill_value), array_of(self).dtype if dtype is None else dtype.numpy)
    return made(array, requires_grad, self, **where)


def new_tensor(self: Tensor, data: Any, *, dtype: dtypes.dtype | None = None, **more: Any) -> Tensor:
    """A leaf with a copy of ``data`` in this dtype."""
    return tensor(data, dtype=self.dtype if dtype is None else dtype, **({"device": place_of(self)} | more))


def new_empty_strided(self: Tensor, size: Any, stride: Any, **more: Any) -> Tensor:
    """A plain tensor of this dtype laid out as told."""
    given: dict[str, Any] = {"dtype": self.dtype, "device": place_of(self)}
    return empty_strided(size, stride, **(given | more))


def legacy(dtype: dtypes.dtype, device: Any = "cpu") -> Callable[..., Tensor]:
    """The old constructor of one dtype on one device: from a sequence, of a size, or a tensor's alias."""

    def make(*given: Any) -> Tensor:
        if len(given) == 1 and isinstance(given[0], Tensor):
            return _alias_of(given[0], dtype, found(device))
        if len(given) == 1 and not isinstance(given[0], (int, Size)):
            return tensor(given[0], dtype=dtype, device=device)
        return empty(*given, dtype=dtype, device=device)

    return make


def _alias_of(x: Tensor, dtype: dtypes.dtype, place: Any) -> Tensor:
    """A view of everything, as the old constructors make of a tensor; another dtype or device is refused."""
    if x.dtype is not dtype or place_of(x) is not place:
        raise TypeError(f"expected {dtype} on {place} (got {x.dtype} on {place_of(x)})")
    return x.alias()


def new(self: Tensor, *given: Any) -> Tensor:
    """A plain tensor of this dtype, beside this one: from a sequence, or of a size."""
    return legacy(self.dtype, place_of(self))(*(given or (0,)))


_OLD = {
    "FloatTensor": dtypes.float32, "DoubleTensor": dtypes.float64, "HalfTensor": dtypes.float16,
    "BFloat16Tensor": dtypes.bfloat16, "LongTensor": dtypes.int64, "IntTensor": dtypes.int32,
    "ShortTensor": dtypes.int16, "CharTensor": dtypes.int8, "ByteTensor": dtypes.uint8,
    "BoolTensor": dtypes.bool_,
}  # fmt: skip
LEGACY = {name: legacy(dtype) for name, dtype in _OLD.items()}
"""The old constructors by name."""
LEGACY_CUDA = {name: legacy(dtype, "cuda") for name, dtype in _OLD.items()}
"""Those of ``torch.cuda``."""


class _Variables(type):
    """What counts as a variable: every tensor."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor)


class Variable(metaclass=_Variables):
    """The old name of a tensor; called, it gives an alias of one that may require grad."""

    def __new__(cls, data: Tensor, requires_grad: bool = False) -> Any:
        if not isinstance(data, Tensor):
            refuse_by("data/assign-type", type=type(data).__name__)
        alias = data.detach()
        return alias.requires_grad_() if requires_grad else alias
