"""``x[...]`` and ``x[...] = value``, taken apart as PyTorch does: selects, slices, new dimensions, tensors.

What the pieces do is in ``parts``, ``views`` and ``create``; the indexing by several tensors, which only
brackets use, is here. A list in brackets stands for an index tensor.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from specs.active_rules import by
from specs.errors import refuse
from specs.index_key import in_range, key_of, need_elements, need_mask_shape, need_range, room_of
from specs.kind import Bool, Dim, Index, IntList, Kind, Scalar, Tensor
from specs.layout import indexed_as_torch_lays_out, laid_out_like, put_in_order
from specs.op import Op, composite, op
from specs.ops.gather import fitting, masked_fill_number

Positions = Annotated[
    Any, Kind("indices", "an int64 or bool tensor, or a list", (list,), tensor=True, operand=True)
]
Assigned = Annotated[Any, Kind("assigned", "what is assigned: a tensor or a Python number", (object,))]
MOST = 3
"""How many tensors may stand in one pair of brackets."""
LONG = 32
"""From so many items on, a list in brackets is one of positions whatever it holds."""


# -- by tensors ------------------------------------------------------------------------------------
def _index(x: Any, *indices: Any, places: Any) -> Any:
    """The elements that index tensors and masks name together, each at its place among the dimensions."""
    key = key_of(x, indices, places)
    key = in_range(x, key, room_of(x, key))
    return indexed_as_torch_lays_out(x, key)


def _index_put(x: Any, value: Any, *indices: Any, places: Any, accumulate: bool = False) -> Any:
    """``x`` with ``value`` put, or added, where `_index` would read."""
    return _put(_assign, x, value, indices, places, accumulate)


def _index_put_(x: Any, value: Any, *indices: Any, places: Any, accumulate: bool = False) -> Any:
    """The same in the memory of ``x``."""
    return _put(put_in_order, x, value, indices, places, accumulate)


def _assign(out: np.ndarray, x: np.ndarray, key: tuple[Any, ...], value: np.ndarray) -> None:
    out[key] = value


def _put(
    put: Callable[..., None], x: Any, value: Any, indices: Any, places: Any, accumulate: bool
) -> np.ndarray:
    key = key_of(x, indices, places)
    room = room_of(x, key)
    need_elements(x, key)
    if not _fits(value.shape, room):
        refuse("op/index-put-shape", value=list(value.shape), room=list(room))
    # One value for one mask is filled in, which casts.
    filling = value.size == 1 and not accumulate and [np.asarray(i).dtype.kind for i in indices] == ["b"]
    if value.dtype != x.dtype and not filling:
        refuse("op/index-put-dtype", x=x.dtype, value=value.dtype)
    value = fitting(value, x.dtype) if filling else value
    key = in_range(x, key, room)
    out = laid_out_like(x.copy(order="K"), x)
    if accumulate:
        np.add.at(out, key, value)
    else:
        put(out, x, key, value)
    return out


def _fits(shape: tuple[int, ...], room: tuple[int, ...]) -> bool:
    """Whether a value of that shape broadcasts into the room, which itself stays as it is."""
    pairs = zip(reversed(shape), reversed(room), strict=False)
    return len(shape) <= len(room) and all(n in (1, m) for n, m in pairs)


def _declared(body: Callable[..., Any], operands: tuple[str, ...], count: int, **facts: Any) -> Op:
    """The overload that takes ``count`` index tensors after the other operands."""

    def declared(*given: Any, **attributes: Any) -> Any:
        return body(*given, **attributes)

    kind = inspect.Parameter
    indices = [f"i{n}" for n in range(count)]
    attributes = [p for p in inspect.signature(body).parameters.values() if p.kind is kind.KEYWORD_ONLY]
    places = [kind(name, kind.POSITIONAL_OR_KEYWORD) for name in (*operands, *indices)]
    declared.__name__ = f"{facts['name'].strip('_')}_{count}"
    declared.__doc__ = body.__doc__
    declared.__annotations__ = (
        dict.fromkeys(operands, Tensor)
        | dict.fromkeys(indices, Positions)
        | {a.name: Bool if a.name == "accumulate" else IntList for a in attributes}
    )
    declared.__signature__ = inspect.Signature([*places, *attributes])  # type: ignore[attr-defined]
    return op(internal=True, dtypes="keep", complex=True, memory="apart", **facts)(declared)


def _with_indices(count: int, takes: tuple[str, ...], formula: Callable[..., Any]) -> Callable[..., Any]:
    """``formula(indices, *takes)`` as a formula that names each index tensor, so that each is saved."""

    def gradient(*given: Any) -> Any:
        return formula(given[:count], *given[count:])

    names = (*(f"i{n}" for n in range(count)), *takes)
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    gradient.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect honours it on any function
        [inspect.Parameter(name, kind) for name in names]
    )
    return gradient


def _family() -> dict[str, Op]:
    made: dict[str, Op] = {}
    for count in range(1, MOST + 1):
        index = _declared(_index, ("x",), count, name="_index", node="IndexBackward0")
        index.wrt(x=_with_indices(count, ("g", "x_shape", "x_dtype", "places"), _index_backward))
        put = _declared(
            _index_put, ("x", "value"), count, name="_index_put", node="IndexPutBackward0", inplace=True
        )
        assert put.in_place is not None
        put.in_place.body = _index_put_
        add = _declared(
            _index_put,
            ("x", "value"),
            count,
            name="_index_put_impl_",
            node="IndexPutImplBackward0",
            inplace="only",
        )
        for writing in (put, add):
            metadata = ("value_shape", "value_dtype", "places", "accumulate")
            writing.wrt(
                x=_with_indices(count, ("g", *metadata), _index_put_backward),
                value=_with_indices(count, ("g", "places"), _read_again),
            )
        made |= {each.key: each for each in (index, put, add)}
    return made


def _read_again(indices: tuple[Any, ...], g: Any, places: tuple[int, ...]) -> Any:
    return g._index(*indices, places=places)


def _index_backward(
    indices: tuple[Any, ...], g: Any, x_shape: tuple[int, ...], x_dtype: np.dtype, places: tuple[int, ...]
) -> Any:
    zeros = g.new_zeros(x_shape, dtype=x_dtype)  # NB: which a `grad_dtype` may have made another than g's
    return zeros._index_put_impl_(g, *indices, places=places, accumulate=True)


def _index_put_backward(
    indices: tuple[Any, ...],
    g: Any,
    value_shape: tuple[int, ...],
    value_dtype: np.dtype,
    places: tuple[int, ...],
    accumulate: bool,
) -> Any:
    if accumulate:
        return g
    return g._index_put(g.new_zeros(value_shape, dtype=value_dtype), *indices, places=places)


globals().update(_family())  # an op is found by being a module's attribute


@op(internal=True, inplace=True, node="IndexFillBackward0", dtypes="keep", memory="apart", complex=True)
def _index_fill(x: Tensor, index: Positions, *, dim: Dim, value: Scalar, room: Bool = True) -> Any:
    """``x`` with a number at the positions along a dimension; ``room`` says that its memory reaches the first
    of them.
    """
    if isinstance(value, complex) and x.dtype.kind != "c":
        refuse("op/value-overflow", value=value, dtype=x.dtype)  # NB: also if it is real after all
    value = fitting(value, x.dtype)
    at = np.asarray(index, np.int64).reshape(-1)
    if at.size and not room:
        refuse("view/window-outside-base", offset=0, end=1, size=0)
    out = x.copy(order="K")
    rows = out if x.ndim else out.reshape(1)
    if at.size and all(n for d, n in enumerate(x.shape) if d != dim):
        need_range(rows, (*(slice(None),) * dim, at))
        rows[(*(slice(None),) * dim, at)] = bool(value) if x.dtype.kind == "b" else value
    return out


_index_fill.wrt(x=lambda g, index, dim: g._index_fill(index, dim=dim, value=0))


@op(internal=True, inplace=True, node="MaskedFillBackward0", dtypes="keep", memory="mask", complex=True)
def _mask_fill(x: Tensor, index: Positions, *, dim: Dim, value: Scalar) -> Any:
    """``x`` with a number where a mask that stands for its dimensions from ``dim`` on is True."""
    mask = np.asarray(index)
    need_mask_shape(mask.shape, x.shape, dim)
    mask = mask.reshape(mask.shape + (1,) * (x.ndim - dim - mask.ndim))
    return masked_fill_number.body(x, mask, value)


_mask_fill.wrt(x=lambda g, index, dim: g._mask_fill(index, dim=dim, value=0))


# -- brackets --------------------------------------------------------------------------------------
def _is_tensor(item: Any) -> bool:
    return hasattr(item, "requires_grad")


def _is_bool(tensor: Any) -> bool:
    return str(tensor.dtype) == "torch.bool"


def _items(x: Any, index: Any) -> tuple[Any, ...]:
    """What stands in brackets as a tuple; a short list that holds more than numbers is taken for one."""
    if isinstance(index, tuple):
        return index
    if isinstance(index, list) and len(index) < LONG and any(map(_is_no_number, index)):
        x._warn_of_list()
        return tuple(index)
    return (index,)


def _is_no_number(item: Any) -> bool:
    return _is_tensor(item) or item is None or item is Ellipsis or isinstance(item, (list, tuple, slice))


def _bounds(index: slice) -> tuple[int, int | None, int]:
    """Start, end and step of a slice; only steps forward are taken."""
    given = (index.start, index.stop, index.step)
    start, end, step = (None if at is None else operator.index(at) for at in given)
    if step is not None and step < 1:
        refuse("op/slice-step", step=step)
    return start or 0, end, step or 1


def _covers(item: Any) -> int:
    """How many dimensions an item in brackets takes up."""
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
        elif isinstance(item, list) or (
            _is_tensor(item) and (item.ndim or item.dtype.is_floating_point or item.dtype.is_complex)
        ):
            tensors[dim - shift] = item
            covered = item.ndim if _is_tensor(item) and _is_bool(item) else 1
            shift += covered - 1
            dim += covered
        elif _is_tensor(item):
            view = _select(view, dim, item.item(), place)
        elif hasattr(item, "__index__"):
            view = _select(view, dim, operator.index(item), place)
        else:
            refuse("op/index-kind", type=type(item).__name__)
    return view, tensors


@composite(complex=True)
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


@composite(inplace="only", complex=True)
def setitem(x: Tensor, index: Index, value: Assigned) -> None:
    """``x[index] = value``: a copy into the view that the brackets make, a fill for a single value."""
    number = not _is_tensor(value)
    if number and not isinstance(value, (bool, int, float, complex)):
        refuse("op/assign-type", type=type(value).__name__)
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
    """The number as half precision holds it: what does not fit becomes infinite, where others refuse it."""
    if str(x.dtype) not in ("torch.float16", "torch.bfloat16") or np.imag(number):
        return number
    return x.new_tensor(number.real if isinstance(number, complex) else number).item()


def _filled_in(view: Any, tensors: dict[int, Any], number: Any) -> bool:
    """Fill a number in where the brackets point; False, and nothing done, if it takes more than one mask or
    one tensor of int64 positions.
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
    """Whether the memory goes as far as the first position along a dimension that has none would be, which
    PyTorch takes a look at before it looks at the positions.
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
