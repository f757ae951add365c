"""torch's tensors under our internal names, and the comparisons that the view and the bracket tests share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import torch

from specs.errors import Refusal
from specs.op import Op, Overloads
from specs.rule import classify

aten = torch.ops.aten
I = torch.tensor  # noqa: E741 -- the index tensors of the tests are read as indices
M3, M23 = I([True, False, True]), I([[True, False, True], [False, True, True]])

FAMILIES = ("view", "slice", "cat", "gather", "index_put", "indexing")


def _ours() -> dict[str, Overloads]:
    found: dict[str, list[Op]] = {}
    for family in FAMILIES:
        for value in vars(import_module(f"specs.ops.{family}")).values():
            for form in (value, value.in_place) if isinstance(value, Op) else ():
                if form is not None and form not in found.setdefault(form.name, []):
                    found[form.name].append(form)
    return {name: Overloads(name, ops) for name, ops in found.items()}


OURS = _ours()


# -- torch's tensors under our internal names ------------------------------------------------------
def _slots(indices: tuple[Any, ...], places: tuple[int, ...]) -> list[Any]:
    """torch's list of optional index tensors."""
    given = dict(zip(places, indices, strict=True))
    slots = [given.get(place) for place in range(max(places) + 1)]
    return [torch.tensor(s, dtype=None if s else torch.int64) if isinstance(s, list) else s for s in slots]


def _putting(function: Any) -> Callable[..., Any]:
    def put(x: Any, value: Any, *indices: Any, places: Any, accumulate: bool = False) -> Any:
        return function(x, _slots(indices, places), value, accumulate)

    return put


def _positions(index: Any) -> Any:
    return _slots((index,), (0,))[0].reshape(-1)


def _mask(x: Any, index: Any, dim: int) -> Any:
    mask = torch.as_tensor(index)
    return mask.reshape(*mask.shape, *(1,) * (x.ndim - dim - mask.ndim))


INTERNAL: dict[str, Callable[..., Any]] = {
    "alias": aten.alias,
    "slice": aten.slice,
    "select_backward": aten.select_backward,
    "slice_backward": aten.slice_backward,
    "diagonal_backward": aten.diagonal_backward,
    "masked_scatter_backward": aten.masked_scatter_backward,
    "clone_contiguous": lambda x: x.clone(memory_format=torch.contiguous_format),
    "_unsafe_view": aten._unsafe_view,
    "_reshape_alias": lambda x, *, size, stride: aten._reshape_alias(x, size, stride),
    "_stack": lambda *parts, dim: torch.stack(parts, dim),
    "_cat": lambda *parts, dim, sizes: torch.cat(parts, dim),
    "_index": lambda x, *i, places: aten.index(x, _slots(i, places)),
    "_index_put": _putting(aten.index_put),
    "_index_put_": _putting(aten.index_put_),
    "_index_put_impl_": _putting(lambda *args: aten._index_put_impl_(*args, True)),
    "_index_fill_": lambda x, index, *, dim, value, room: x.index_fill_(dim, _positions(index), value),
    "_mask_fill_": lambda x, index, *, dim, value: x.masked_fill_(_mask(x, index, dim), value),
    "getitem": lambda x, index: x[index],
}  # fmt: skip


# -- operands --------------------------------------------------------------------------------------
def fresh(*shape: int) -> Any:
    return torch.arange(1.0, 1 + int(np.prod(shape))).reshape(shape)


def turned(*shape: int) -> Any:
    """The same shape with dimensions lying the other way round in memory."""
    return fresh(*shape[::-1]).permute(*range(len(shape) - 1, -1, -1))


def gappy(*shape: int) -> Any:
    """Every other element along the last dimension of something larger, not starting at its beginning."""
    return fresh(*shape[:-1], 2 * shape[-1] + 1)[..., 1::2]


def stretched(*shape: int) -> Any:
    return fresh(*shape[1:]).expand(shape)


# -- running ---------------------------------------------------------------------------------------
def shape_of(f: Any) -> str:
    """A history as text: names and edges down to the leaves."""
    if f is None:
        return "-"
    if f.name().endswith("AccumulateGrad"):
        return f"leaf{tuple(f.variable.shape)}"
    return f"{f.name()}({', '.join(shape_of(g) + (f'#{nr}' if nr else '') for g, nr in f.next_functions)})"


def attempt(function: Callable[[], Any]) -> tuple[Any, str | None]:
    """The result of a call, or the rule that refuses it."""
    try:
        return function(), None
    except Refusal as refused:
        return None, refused.rule
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        rule = classify(type(error).__name__, str(error))
        if rule is None:
            raise
        return None, rule


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def prepared(op: Op, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(o.detach().numpy() if isinstance(o, torch.Tensor) else o for o in operands)


def values_of(op: Op, operands: Sequence[Any], attributes: dict[str, Any], out: Any, g: Any) -> list[Any]:
    """The values that a node would have kept, in the order of the op's slots."""
    metadata = {
        "shape": lambda x: tuple(x.shape), "dtype": lambda x: x.dtype, "strides": lambda x: x.stride(),
        "offset": lambda x: x.storage_offset(), "operand": lambda x: x,
    }  # fmt: skip
    plain = {"g": g, "gs": g, "out": out} | attributes
    return [
        plain[s.name] if s.source in ("g", "out", "attribute") else metadata[s.source](operands[s.operand])
        for s in op.slots
    ]


def same(expected: Any, actual: Any) -> None:
    assert tuple(expected.shape) == tuple(actual.shape)
    assert expected.dtype == actual.dtype
    assert expected.tolist() == actual.tolist()


def check_body(op: Op, operands: tuple[Any, ...], attributes: dict[str, Any], expected: Any) -> None:
    """Values, shape, strides, offset, and whether the result shows its operand's memory.

    Strides and offsets of tensors without elements are left out: numpy keeps none.
    """
    arrays = prepared(op, operands)
    results = as_tuple(op.compute(arrays, attributes))
    assert len(as_tuple(expected)) == len(results)
    for want, got in zip(as_tuple(expected), results, strict=True):
        assert tuple(want.shape) == got.shape
        assert want.stride() == tuple(s // got.itemsize for s in got.strides) or not got.size
        assert want.detach().tolist() == got.tolist()
        if op.view:
            assert got.flags.writeable or not arrays[0].flags.writeable
            if got.size:
                start = got.__array_interface__["data"][0] - arrays[0].__array_interface__["data"][0]
                assert want.storage_offset() - operands[0].storage_offset() == start // got.itemsize
        elif not op.mutates and op.name != "_unsafe_view":
            assert not np.may_share_memory(got, arrays[0])


def check_gradients(op: Op, operands: tuple[Any, ...], attributes: dict[str, Any], out: Any) -> None:
    """Each formula's gradient and its history, and the gradient of that, are torch's."""
    outs = as_tuple(out)
    assert {op.node} == {o.grad_fn.name() for o in outs}
    for used in [range(len(outs)), *([n] for n in range(len(outs)) if len(outs) > 1)]:
        gs = [torch.ones_like(o).requires_grad_() if n in used else None for n, o in enumerate(outs)]
        live = [g for g in gs if g is not None]
        for formula, name in zip(op.formulas.values(), op.formulas, strict=True):
            x = operands[formula.operand]
            if not isinstance(x, torch.Tensor) or not x.requires_grad:
                continue
            expected = torch.autograd.grad(
                [outs[n] for n in used], x, live, create_graph=True, retain_graph=True
            )[0]
            given = tuple(gs) if op.view == "multi" else gs[0]
            values = values_of(op, operands, attributes, out, given)
            actual = formula.fn(*[values[i] for i in formula.picks])
            if tuple(actual.shape) != tuple(x.shape):
                actual = actual.sum_to_size(tuple(x.shape))
            same(expected, actual)
            assert expected.stride() == actual.stride() or 0 in x.shape
            assert shape_of(expected.grad_fn) == shape_of(actual.grad_fn), name
            check_second(expected, actual, live)


def check_second(expected: Any, actual: Any, gs: list[Any]) -> None:
    direction = torch.full_like(expected, 2.0).requires_grad_()
    pairs = [
        torch.autograd.grad(t, gs, direction, create_graph=True, allow_unused=True)
        for t in (expected, actual)
    ]
    for want, got in zip(*pairs, strict=True):
        assert (want is None) == (got is None)
        if want is not None:
            same(want, got)
            assert shape_of(want.grad_fn) == shape_of(got.grad_fn)


def leaf(tensor: Any) -> Any:
    """A leaf that requires grad, in the layout of ``tensor``."""
    return tensor.detach().requires_grad_()


def ask(name: str, args: tuple[Any, ...]) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
    return OURS[name].bind(args, {}, torch.Tensor)


def check_composite(x: Any, expected: Any, actual: Any) -> None:
    for want, got in zip(as_tuple(expected), as_tuple(actual), strict=True):
        same(want, got)
        assert want.stride() == got.stride()
        assert want._is_view() == got._is_view()
        assert (want is x) == (got is x)
        assert shape_of(want.grad_fn) == shape_of(got.grad_fn)
