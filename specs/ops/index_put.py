"""Indexing by several tensors, lists or masks at once, reading and writing.

Brackets are taken apart in ``indexing``; indexing along one dimension is in ``gather``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import numpy as np

from specs.errors import refuse
from specs.index_key import in_range, key_of, need_elements, need_mask_shape, need_range, room_of
from specs.kind import Bool, Dim, IntList, Kind, Scalar, Tensor
from specs.layout import indexed_as_torch_lays_out, laid_out_like, put_in_order
from specs.op import Op, op
from specs.ops.gather import fitting, masked_fill_number

Positions = Annotated[
    Any, Kind("indices", "an int64 or bool tensor, or a list", (list,), tensor=True, operand=True)
]
MOST = 3
"""The largest number of index tensors in one pair of brackets."""


def _index(x: Any, *indices: Any, places: Any) -> Any:
    """The elements that index tensors and masks name together, each at its place among the dimensions."""
    key = key_of(x, indices, places)
    key = in_range(x, key, room_of(x, key))
    return indexed_as_torch_lays_out(x, key)


def _index_put(x: Any, value: Any, *indices: Any, places: Any, accumulate: bool = False) -> Any:
    """``x`` with ``value`` put, or added, at the places that `_index` reads."""
    return _put(_assign, x, value, indices, places, accumulate)


def _index_put_(x: Any, value: Any, *indices: Any, places: Any, accumulate: bool = False) -> Any:
    """``x`` with ``value`` put, or added, in its own memory."""
    return _put(put_in_order, x, value, indices, places, accumulate)


def _assign(out: np.ndarray, x: np.ndarray, key: tuple[Any, ...], value: np.ndarray) -> None:
    out[key] = value


def _put(
    put: Callable[..., None], x: Any, value: Any, indices: Any, places: Any, accumulate: bool
) -> np.ndarray:
    key = key_of(x, indices, places)
    room = room_of(x, key)
    need_elements(x, key)
    # One value for one mask is filled in, which casts, and its dimensions do not count.
    filling = value.size == 1 and not accumulate and [np.asarray(i).dtype.kind for i in indices] == ["b"]
    if not filling and not _fits(value.shape, room):
        refuse("op/index-put-shape", value=list(value.shape), room=list(room))
    if value.dtype != x.dtype and not filling:
        refuse("op/index-put-dtype", x=x.dtype, value=value.dtype)
    value = fitting(value.reshape(()), x.dtype) if filling else value
    key = in_range(x, key, room)
    out = laid_out_like(x.copy(order="K"), x)
    if accumulate:
        np.add.at(out, key, value)
    else:
        put(out, x, key, value)
    return out


def _fits(shape: tuple[int, ...], room: tuple[int, ...]) -> bool:
    """Say if a value of that shape broadcasts into the room, which itself stays as it is."""
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
    facts |= {"on_cpu": (*operands[1:], *indices), "checks_first": "value" in operands}
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
        index = _declared(
            _index,
            ("x",),
            count,
            name="_index",
            node="IndexBackward0",
            takes_view=lambda x, *indices, places: True,
        )
        index.wrt(x=_with_indices(count, ("g", "x_shape", "x_dtype", "places"), _index_backward))
        put = _declared(
            _index_put,
            ("x", "value"),
            count,
            name="_index_put",
            node="IndexPutBackward0",
            inplace=True,
            batched_write="index_put_",
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
            batched_write="index_put_",
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


@op(
    batched_write="index_put_",
    internal=True,
    inplace=True,
    node="IndexFillBackward0",
    dtypes="keep",
    memory="apart",
    complex=True,
    on_cpu=("index",),
)
def _index_fill(x: Tensor, index: Positions, *, dim: Dim, value: Scalar, room: Bool = True) -> Any:
    """``x`` with a number at positions along a dimension; ``room``: its memory reaches the first one."""
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


@op(
    batched_write="index_put_",
    internal=True,
    inplace=True,
    node="MaskedFillBackward0",
    dtypes="keep",
    memory="mask",
    complex=True,
)
def _mask_fill(x: Tensor, index: Positions, *, dim: Dim, value: Scalar) -> Any:
    """``x`` with a number where a mask is True; the mask stands for the dimensions from ``dim`` on."""
    mask = np.asarray(index)
    need_mask_shape(mask.shape, x.shape, dim)
    mask = mask.reshape(mask.shape + (1,) * (x.ndim - dim - mask.ndim))
    return masked_fill_number.body(x, mask, value)


_mask_fill.wrt(x=lambda g, index, dim: g._mask_fill(index, dim=dim, value=0))
