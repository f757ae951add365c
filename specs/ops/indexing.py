"""Brackets: ``x[...]`` and ``x[...] = value`` as selects, slices, new dimensions and index tensors.

The pieces are in ``slice``, ``view``, ``create`` and ``index_put``. A list stands for an index tensor.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any

import numpy as np

from specs.active_rules import by
from specs.errors import refuse
from specs.index_key import need_mask_shape
from specs.kind import Index, Kind, Tensor
from specs.op import composite

Assigned = Annotated[Any, Kind("assigned", "what is assigned: a tensor or a Python number", (object,))]
LONG = 32
"""A list in brackets with this many items is one of positions, whatever it holds."""


def _is_tensor(item: Any) -> bool:
    return hasattr(item, "requires_grad")


def _is_bool(tensor: Any) -> bool:
    return str(tensor.dtype) == "torch.bool"


def _items(x: Any, index: Any) -> tuple[Any, ...]:
    """The index as a tuple; a short list that holds more than numbers is taken for a tuple."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < LONG and any(map(_is_no_number, index)):
        x._warn_of_list()
        return tuple(index)
    return (index,)


def _is_no_number(item: Any) -> bool:
    return _is_tensor(item) or item is None or item is Ellipsis or isinstance(item, (list, tuple, slice))


def _without_array(x: Any, item: Any) -> Any:
    """A mask or a list for an array of numpy's."""
    if not isinstance(item, np.ndarray) or not item.ndim:
        return item
    return x.new_tensor(item.tolist()).bool() if item.dtype == bool else item.astype(np.int64).tolist()


def _takes_an_index(item: Any) -> bool:
    """Say if a tensor in brackets is looked up as an index tensor, and not read as a number."""
    return bool(
        item.ndim
        or item.dtype.is_floating_point
        or item.dtype.is_complex
        or hasattr(item, "_maps")  # it stands for many numbers
    )


def _bounds(index: slice) -> tuple[int, int | None, int]:
    """Start, end and step of a slice; only steps forward are taken."""
    given = (index.start, index.stop, index.step)
    start, end, step = (None if at is None else operator.index(at) for at in given)
    if step is not None and step < 1:
        refuse("op/slice-step", case="zero" if step == 0 else None, step=step)
    return start or 0, end, step or 1


def _covers(item: Any) -> int:
    """The number of dimensions that an item in brackets takes up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    return item.ndim if _is_tensor(item) and _is_bool(item) else 1


def _select(x: Any, dim: int, index: int, place: int) -> Any:
    if not index and not dim and not x.ndim:
        refuse("op/scalar-has-no-items", name="indexing")
    size = x.shape[dim] if x.ndim else 0
    if not -size <= index < size:
        refuse("op/index-range", index=index, dim=place, size=size)
    return x.select(dim, index)


def _taken_apart(x: Any, index: Any) -> tuple[Any, dict[int, Any]]:
    """The view that ints, slices and new dimensions make of ``x``, and the index tensors left, by place."""
    if type(index) is int:
        return _select(x, 0, index, 0), {}
    if isinstance(index, slice) and not x.ndim:
        _bounds(index)
        refuse("op/scalar-has-no-items", name="slice")
    items = _items(x, index)
    taken = sum(_covers(item) for item in items)
    if taken > x.ndim:
        refuse("op/index-count", count=taken, ndim=x.ndim)
    view, dim, shift = x, 0, 0
    tensors: dict[int, Any] = {}
    for place, item in enumerate(items):
        if item is Ellipsis:
            dim += x.ndim - taken
        elif item is None:
            view = view.unsqueeze(dim)
            dim += 1
        elif isinstance(item, slice):
            start, end, step = _bounds(item)
            if start or step > 1 or (end is not None and end < view.shape[dim]):
                view = view.slice(dim, start, end, step)
            dim += 1
        elif isinstance(item, bool) or (_is_tensor(item) and _is_bool(item) and not item.ndim):
            view = view.unsqueeze(dim)
            tensors[dim - shift] = [0] if bool(item) else []
            dim += 1
        elif isinstance(item, list) or (_is_tensor(item) and _takes_an_index(item)):
            tensors[dim - shift] = item
            covered = item.ndim if _is_tensor(item) and _is_bool(item) else 1
            shift += covered - 1
            dim += covered
        elif _is_tensor(item):
            view = _select(view, dim, item.item(), place)
        elif isinstance(item, np.ndarray) and item.ndim:
            return _taken_apart(x, tuple(_without_array(x, each) for each in items))
        elif hasattr(item, "__index__"):
            view = _select(view, dim, operator.index(item), place)
        else:
            if isinstance(item, str):  # a sequence, whose elements are no numbers
                raise TypeError("new(): invalid data type 'str'")
            refuse("op/index-kind", type=type(item).__name__)
    return view, tensors


@composite(complex=True, grows="keeps", often=4, function=False, aliases="maybe")
def getitem(x: Tensor, index: Index) -> Any:
    """``x[index]``: a view, unless tensors or lists stand in the brackets."""
    if index is Ellipsis:
        return x.alias()
    if isinstance(index, slice):
        return x.slice(0, *_bounds(index))
    view, tensors = _taken_apart(x, index)
    if tensors:
        return view._index(*tensors.values(), places=tuple(tensors))
    return x.alias() if view is x else view


@composite(inplace="only", complex=True, grows="keeps", often=3, function=False, overwrites="part")
def setitem(x: Tensor, index: Index, value: Assigned) -> None:
    """``x[index] = value``: a copy into the view that the brackets make, a fill for a single value."""
    number = not _is_tensor(value)
    if number and not isinstance(value, (bool, int, float, complex)):
        if not isinstance(value, np.integer):
            kind = type(value)
            refuse("op/assign-type", type=("numpy." if kind.__module__ == "numpy" else "") + kind.__name__)
        value = int(value)
    filling = number and by("write/number-is-filled-in")
    if number and not filling:
        value = _as_tensor(x, value)
    if index is False:
        return
    if index is None or index is True:
        index = (None,)
    view, tensors = _taken_apart(x, index)
    if filling:
        if _filled_in(view, tensors, value):
            return
        value = _as_tensor(x, value)
    if tensors:
        shape = _without_leading_ones(value)
        value = value if shape == tuple(value.shape) else value.view(shape)
        view._index_put_(value, *tensors.values(), places=tuple(tensors))
    else:
        _copy_to(view, value)


def _as_tensor(x: Any, number: Any) -> Any:
    return x.new_full((), _rounded(x, number))


def _rounded(x: Any, number: Any) -> Any:
    """The number as half precision holds it: one that is too large becomes infinite, and is not refused."""
    if str(x.dtype) not in ("torch.float16", "torch.bfloat16") or np.imag(number):
        return number
    return x.new_tensor(number.real if isinstance(number, complex) else number).item()


def _filled_in(view: Any, tensors: dict[int, Any], number: Any) -> bool:
    """Fill a number in where the brackets point.

    False, with nothing done, if that takes more than one mask or one tensor of int64 positions.
    """
    if not tensors:
        view.fill_(_rounded(view, number))
        return True
    (dim, index), *more = tensors.items()
    given = np.asarray(index) if isinstance(index, list) else None
    if _is_bool(index) if given is None else given.dtype.kind == "b":
        need_mask_shape(index.shape if given is None else given.shape, view.shape, dim)
        if not more:
            view._mask_fill_(index, dim=dim, value=number)
        return not more
    if given is None:
        fits = str(index.dtype) == "torch.int64" and (index.ndim == 1 or index.is_contiguous())
    else:
        fits = given.dtype.kind == "i" or not given.size
    if fits and not more:
        room = bool(view.shape[dim]) or _has_room(view, dim)
        view._index_fill_(index, dim=dim, value=number, room=room)
    return fits and not more


def _has_room(view: Any, dim: int) -> bool:
    """Say if the memory reaches the first position along a dimension of size 0.

    PyTorch checks that before it looks at the positions.
    """
    others = [(n, s) for d, (n, s) in enumerate(zip(view.shape, view.stride(), strict=True)) if d != dim]
    last = view.storage_offset() + sum((n - 1) * s for n, s in others)
    elements = view.untyped_storage().nbytes() // view.element_size()
    return last < elements or any(n == 0 for n, _ in others)


def _copy_to(view: Any, value: Any) -> None:
    shape = tuple(view.shape)
    if shape == tuple(value.shape):
        view.copy_(value)
    elif not value.ndim and value.is_cpu:
        view.fill_(value)
    else:
        value = value.view(_without_leading_ones(value))
        view.copy_(value if shape == tuple(value.shape) else value.expand(shape))


def _without_leading_ones(value: Any) -> tuple[int, ...]:
    shape = tuple(value.shape)
    ones = next((n for n, size in enumerate(shape) if size != 1), len(shape))
    return shape[ones:]
