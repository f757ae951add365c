"""Every declared view and indexing op against torch: values, strides, memory, node names, formulas, saved sets, refusals.

Formulas and composites call methods of whatever tensor they get, so here they get torch's; no machine of ours takes
part. The arithmetic families are tested in ``test_ops_declarations``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest

from specs.op import Op, Overloads
from specs.refusal import Refusal
from specs.rule import classify

torch = pytest.importorskip("torch")
aten = torch.ops.aten
I = torch.tensor  # noqa: E741 -- the index tensors below are read as indices

FAMILIES = ("views", "parts", "join", "index", "brackets")


def _ours() -> dict[str, Overloads]:
    found: dict[str, list[Op]] = {}
    for family in FAMILIES:
        for value in vars(import_module(f"specs.ops.{family}")).values():
            for form in (value, value.in_place) if isinstance(value, Op) else ():
                if form is not None and form not in found.setdefault(form.name, []):
                    found[form.name].append(form)
    return {name: Overloads(name, ops) for name, ops in found.items()}


OURS = _ours()


# -- torch's tensors under our internal names ------------------------------------------------------------------------
def _slots(indices: tuple[Any, ...], places: tuple[int, ...]) -> list[Any]:
    """torch's list of optional index tensors."""
    given = dict(zip(places, indices, strict=True))
    slots = [given.get(place) for place in range(max(places) + 1)]
    return [torch.tensor(s, dtype=None if s else torch.int64) if isinstance(s, list) else s for s in slots]


def _method(function: Any) -> Callable[..., Any]:
    """torch's op packets are no functions, and do not bind to the tensor they are called on."""
    return lambda *args, **given: function(*args, **given)


def _impl_(x: Any, value: Any, *i: Any, places: Any, accumulate: bool = False) -> Any:
    return aten._index_put_impl_(x, _slots(i, places), value, accumulate, True)


INTERNAL: dict[str, Callable[..., Any]] = {
    "alias": _method(aten.alias),
    "slice": _method(aten.slice),
    "select_backward": _method(aten.select_backward),
    "slice_backward": _method(aten.slice_backward),
    "diagonal_backward": _method(aten.diagonal_backward),
    "masked_scatter_backward": _method(aten.masked_scatter_backward),
    "clone_contiguous": lambda x: x.clone(memory_format=torch.contiguous_format),
    "_unsafe_view": _method(aten._unsafe_view),
    "_reshape_alias": lambda x, *, size, stride: aten._reshape_alias(x, size, stride),
    "_stack": lambda *parts, dim: torch.stack(parts, dim),
    "_cat": lambda *parts, dim, sizes: torch.cat(parts, dim),
    "_index": lambda x, *i, places: aten.index(x, _slots(i, places)),
    "_index_put": lambda x, v, *i, places, accumulate=False: aten.index_put(x, _slots(i, places), v, accumulate),
    "_index_put_": lambda x, v, *i, places, accumulate=False: aten.index_put_(x, _slots(i, places), v, accumulate),
    "_index_put_impl_": _impl_,
    "getitem": lambda x, index: x[index],
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def internal_names() -> Iterator[None]:
    """Give torch's tensors the methods that formulas and composites expect of ours, as long as this module runs."""
    for name, function in INTERNAL.items():
        setattr(torch.Tensor, name, function)
    yield
    for name in INTERNAL:
        delattr(torch.Tensor, name)


# -- operands --------------------------------------------------------------------------------------------------------
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


SHAPES: list[tuple[int, ...]] = [(), (1,), (3,), (0,), (2, 3), (3, 3), (1, 3), (2, 1), (0, 3), (2, 1, 3), (1, 2, 0)]
MAKERS = [fresh, turned, gappy, stretched]
SOURCES = [(make, shape) for make in MAKERS for shape in SHAPES if make is fresh or (shape and make is not turned) or len(shape) > 1]
SIZES = [(), (1,), (6,), (-1,), (2, 3), (3, 2), (3, -1), (1, 6), (6, 1), (2, 1, 3), (2, 3, 1), (3, 1, 2), (0,), (0, -1), (3, 0), (1, 0, 2), (3, 3), (9,), (1, -1, 1)]
EXPANDS = [(), (1,), (3,), (2, 3), (-1, 3), (2, -1, 3), (4, 2, 3), (1, 1, 3), (2, 2, 3), (0, 3), (1, 0), (-1, -1), (3, 2, 4, 3), (-1,)]
DIMS = [0, 1, -1, 2, -3]
INDICES = [0, 1, -1, 2, -3]
BOUNDS = [(None, None, 1), (0, 1, 1), (1, None, 1), (None, -1, 1), (-2, 9, 2), (2, 1, 1), (5, 9, 1), (None, None, 3), (1, 1, 2)]
M3, M23 = I([True, False, True]), I([[True, False, True], [False, True, True]])
# fmt: skip


def calls() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names and arguments after the first tensor, for every source; those that torch refuses must be refused."""
    for size in SIZES:
        yield from [("view", (size,)), ("reshape", (size,))]
    yield from [("view", (2, 3)), ("reshape", (3, -1)), ("expand", (2, 3)), ("permute", (1, 0))]
    yield from (("expand", (size,)) for size in EXPANDS)
    yield from (("transpose", dims) for dims in product(DIMS, (0, 1, -1)))
    yield from (("permute", (p,)) for p in [(), (0,), (1, 0), (-1, 0), (0, 0), (2, 0, 1), (0, -1, 1), (1, 2, 0)])
    yield from [("t", ()), ("squeeze", ()), ("squeeze", ((0, 1),)), ("squeeze", ((-1,),)), ("squeeze", ((0, 0),)), ("unbind", ()), ("flatten", ()), ("flatten", (1,)), ("flatten", (0, -2)), ("flatten", (1, 0)), ("diagonal", ()), ("alias", ())]
    for dim in DIMS:
        yield from [("unsqueeze", (dim,)), ("squeeze", (dim,)), ("unbind", (dim,))]
        yield from (("select", (dim, index)) for index in INDICES)
        yield from (("narrow", (dim, *bounds)) for bounds in product((0, 1, -1, 3, -4), (0, 1, 2, -1)))
        yield from (("slice", (dim, *bounds)) for bounds in BOUNDS)
        yield from (("split", (size, dim)) for size in (1, 2, 5, 0, -1, (1, 2), (0, 2), (3,), (1, 1, 1), (-1, 4)))
        yield from (("chunk", (count, dim)) for count in (1, 2, 3, 5, 0))
        yield from (("diagonal", (offset, dim, 0)) for offset in (0, 1, -1, 4))
        yield from (("index_select", (dim, i)) for i in (I([0]), I([0, 0]), I(0), I([3]), I([-1]), I([0.0]), I([[0]])))
        yield from (("gather", (dim, i)) for i in (I([[0], [0]]), I([[0, 1, 1]]), I([0, 0]), I(0), I([[3]]), I([[-1]]), I([[0.5]])))
    yield from (("masked_fill", (m, v)) for m in (M3, M23, I(True), I([True, False]), I([1, 0, 1])) for v in (0.0, 7, 1j, I(2.0), I([1.0])))
    yield from (("sum_to_size", (size,)) for size in ((), (1,), (3,), (1, 3), (2, 3), (2, 1), (4,)))


BRACKETS: list[Any] = [
    0, -1, 2, Ellipsis, None, (), slice(None), slice(0, 1), slice(1, None), slice(None, -1), slice(None, 9), slice(None, None, 2), slice(2, 1), slice(None, None, -1),
    (0, 0), (0, 1), (-1, slice(1, None)), (slice(None), 0), (slice(None), slice(None)), (slice(None), slice(0, 2)), (None, 0), (0, None), (slice(None), None), (Ellipsis, 0), (0, Ellipsis), (Ellipsis, None), (Ellipsis, slice(0, 1)), (None, None), (0, 0, 0), (0, 0, 0, 0), (Ellipsis, slice(None)),
    I(0), I(-1), I(5), (I(0), 1), [0, 0], [0, -1], [], [True, False], I([1, 0]), I([[0, 1], [1, 0]]), I([5]), I([0.5]), M3, M23, I([True, False]), I(True), I(False), True, False, (True, 0), (0, True),
    (0, I([0, 1])), (I([0, 1]), 0), (slice(None), I([0, 2])), (slice(None), M3), (I([0, 1]), I([0, 1])), (I([0, 1]), I([0, 1, 2])), (I([[0], [1]]), I([0, 2])), (I([0, 1]), slice(None), I([0, 2])), (I([0, 1]), None, I([0, 1])), (None, I([0, 1])), (I([True, False]), 0), (Ellipsis, I([0])), (I([0]), Ellipsis, 0), ([0, 1], [1, 2]), (M23, 0), (0, M3), 1.5,
]  # fmt: skip
VALUES = [5, 0.5, True, I(2.0), I([3.0]), I([1.0, 2.0, 3.0]), I([[[4.0, 5.0, 6.0]]]), I([1.0, 2.0]), I(2.0, dtype=torch.float64), 1j, "a"]


# -- running ---------------------------------------------------------------------------------------------------------
def shape_of(f: Any) -> str:
    """A history as text: names and edges down to the leaves."""
    if f is None:
        return "-"
    if f.name().endswith("AccumulateGrad"):
        return f"leaf{tuple(f.variable.shape)}"
    return f"{f.name()}({', '.join(shape_of(g) + (f'#{nr}' if nr else '') for g, nr in f.next_functions)})"


def attempt(function: Callable[[], Any]) -> tuple[Any, str | None]:
    """What a call gives, or the rule it is refused by."""
    try:
        return function(), None
    except Refusal as refused:
        return None, refused.rule
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        rule = classify(type(error).__name__, str(error))
        assert rule is not None, f"no rule words {type(error).__name__}: {error}"
        return None, rule


def as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def prepared(op: Op, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(o.detach().numpy() if isinstance(o, torch.Tensor) else o for o in operands)


def values_of(op: Op, operands: tuple[Any, ...], attributes: dict[str, Any], out: Any, g: Any) -> list[Any]:
    """What a node would have kept, in the order of the op's slots."""
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
            expected = torch.autograd.grad([outs[n] for n in used], x, live, create_graph=True, retain_graph=True)[0]
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
    pairs = [torch.autograd.grad(t, gs, direction, create_graph=True, allow_unused=True) for t in (expected, actual)]
    for want, got in zip(*pairs, strict=True):
        assert (want is None) == (got is None)
        if want is not None:
            same(want, got)
            assert shape_of(want.grad_fn) == shape_of(got.grad_fn)


def leaf(tensor: Any) -> Any:
    """That layout, as a leaf that requires grad."""
    return tensor.detach().requires_grad_()


def ask(name: str, args: tuple[Any, ...]) -> tuple[Op, tuple[Any, ...], dict[str, Any]]:
    return OURS[name].bind(args, {}, torch.Tensor)


@pytest.mark.parametrize(("make", "shape"), SOURCES, ids=lambda v: getattr(v, "__name__", None) or "x".join(map(str, v)) or "0d")
def test_calls(make: Any, shape: tuple[int, ...]) -> None:
    """Each call gives torch's result with torch's strides, history and gradients, or is refused by the same rule."""
    done = 0
    for name, args in calls():
        x = leaf(make(*shape))
        expected, refused = attempt(lambda x=x, name=name, args=args: getattr(x, name)(*args))
        op, operands, attributes = ask(name, (x, *args))
        label = f"{name}{args} of {shape} {x.stride()}"
        if refused is not None or op.composite:
            run = op.body if op.composite else lambda *a, op=op, **k: op.compute(prepared(op, a), k)
            actual, rule = attempt(lambda run=run, o=operands, a=attributes: run(*o, **a))
            assert refused == rule, label
            if refused is None:
                check_composite(x, expected, actual)
            continue
        try:
            check_body(op, operands, attributes, expected)
            if expected if isinstance(expected, tuple) else True:
                check_gradients(op, operands, attributes, expected)
        except Exception as error:
            error.add_note(label)
            raise
        done += 1
    assert done > 40


def check_composite(x: Any, expected: Any, actual: Any) -> None:
    for want, got in zip(as_tuple(expected), as_tuple(actual), strict=True):
        same(want, got)
        assert want.stride() == got.stride()
        assert want._is_view() == got._is_view()
        assert (want is x) == (got is x)
        assert shape_of(want.grad_fn) == shape_of(got.grad_fn)


@pytest.mark.parametrize("index", BRACKETS, ids=repr)
@pytest.mark.parametrize("shape", [(), (2, 3), (3,), (2, 3, 3)], ids=repr)
def test_reading_brackets(shape: tuple[int, ...], index: Any) -> None:
    """Brackets are taken apart into the views and ops that torch makes of them."""
    body = OURS["getitem"].ops[0].body
    x = leaf(fresh(*shape))
    expected, refused = attempt(lambda: x[index])
    actual, rule = attempt(lambda: body(x, index))
    if isinstance(refused, str):
        assert refused == rule or (rule is None and _by_tensors(index)) or _ours_refuses(x, index) == refused
        return
    assert rule is None
    check_composite(x, expected, actual)


def _by_tensors(index: Any) -> bool:
    return any(isinstance(i, (list, torch.Tensor)) for i in (index if isinstance(index, tuple) else (index,)))


def _ours_refuses(x: Any, index: Any) -> str | None:
    return attempt(lambda: OURS["getitem"].ops[0].body(Watched(x), index))[1]


class Watched:
    """A torch tensor whose indexing by tensors runs our numpy body."""

    requires_grad = False

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.ndim, self.shape, self.dtype = tensor, tensor.ndim, tensor.shape, tensor.dtype

    def __getattr__(self, name: str) -> Any:
        if name not in ("_index", "_index_put_"):
            return lambda *args: Watched(getattr(self.tensor, name)(*args))
        return lambda *args, **given: numpy_body(name, (self.tensor, *args), given)


def numpy_body(name: str, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    op, operands, attributes = OURS[name].bind(args, given, torch.Tensor)
    arrays = prepared(op, operands)
    return op.compute(arrays, attributes)


@pytest.mark.parametrize("index", [i for i in BRACKETS if _by_tensors(i)], ids=repr)
@pytest.mark.parametrize("shape", [(2, 3), (3,), (2, 3, 3)], ids=repr)
def test_indexing_by_tensors(shape: tuple[int, ...], index: Any) -> None:
    """The numpy body reads what torch reads, gives its gradients, and is refused by the same rules."""
    x = leaf(fresh(*shape))
    expected, refused = attempt(lambda: x[index])
    seen: list[Any] = []

    class Caught(Watched):
        def __getattr__(self, name: str) -> Any:
            if name != "_index":
                return lambda *args: Caught(getattr(self.tensor, name)(*args))
            return lambda *args, **given: seen.append((self.tensor, args, given)) or numpy_body(name, (self.tensor, *args), given)

    actual, rule = attempt(lambda: OURS["getitem"].ops[0].body(Caught(x), index))
    assert refused == rule
    if refused is None and seen:
        assert expected.tolist() == actual.tolist()
        assert expected.stride() == tuple(s // actual.itemsize for s in actual.strides) or not actual.size
        source, args, given = seen[0]
        source = leaf(source)
        op, operands, attributes = OURS["_index"].bind((source, *args), given, torch.Tensor)
        check_gradients(op, operands, attributes, source._index(*args, **given))


@pytest.mark.parametrize("index", BRACKETS, ids=repr)
@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_writing_brackets(index: Any, value: Any) -> None:
    """An assignment writes, records and counts what torch's does, or is refused by the same rule."""
    results = []
    for write in (lambda x, v: x.__setitem__(index, v), lambda x, v: OURS["setitem"].ops[0].body(x, index, v)):
        start = leaf(fresh(2, 3))
        x = start * 1
        given = leaf(value) if isinstance(value, torch.Tensor) else value
        _, refused = attempt(lambda write=write, x=x, given=given: write(x, given))
        results.append((refused, x.tolist(), x._version, shape_of(x.grad_fn)))
    if results[0] != results[1]:
        assert results[0][0] == _numpy_refuses(index, value)
    else:
        assert results[0] == results[1]


def _numpy_refuses(index: Any, value: Any) -> str | None:
    return attempt(lambda: OURS["setitem"].ops[0].body(Watched(fresh(2, 3)), index, value))[1]


PUTS = [((I([0]),), (0,)), ((I([1, 0]),), (0,)), ((I([0, 2]),), (1,)), ((M3,), (1,)), ((M23,), (0,)), ((I([0, 1]), I([0, 2])), (0, 1)), (([0, 1],), (0,))]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(("indices", "places"), PUTS)
def test_index_put(indices: Any, places: Any, accumulate: bool) -> None:
    """Putting values where index tensors point, and its gradients, are torch's."""
    x = leaf(fresh(2, 3))
    for size in ((), tuple(x._index(*indices, places=places).shape), tuple(x._index(*indices, places=places).shape)[-1:]):
        value = leaf(torch.full(size, 9.0))
        for name in ("_index_put", "_index_put_impl_"):
            written = x if name == "_index_put" else x * 1
            given = dict(places=places, accumulate=accumulate)
            op, operands, attributes = OURS[name].bind((x, value, *indices), given, torch.Tensor)
            check_body(op, operands, attributes, getattr(written, name)(value, *indices, **given).detach())
            if name == "_index_put":
                check_gradients(op, operands, attributes, written._index_put(value, *indices, **given))


INNER = [
    ("select_backward", lambda: (fresh(3), (2, 3), 0, 1)), ("select_backward", lambda: (fresh(2), (2, 3), -1, -1)),
    ("slice_backward", lambda: (fresh(2, 2), (2, 3), 1, 1, 2**63 - 1, 1)), ("slice_backward", lambda: (fresh(1, 3), (2, 3), 0, 0, 9, 2)),
    ("slice_backward", lambda: (fresh(0, 3), (2, 3), 0, 2, 1, 1)),
    ("diagonal_backward", lambda: (fresh(2), (2, 3), 1, 0, 1)), ("diagonal_backward", lambda: (fresh(2, 1), (2, 2, 3), -1, 1, -1)),
    ("_unsafe_view", lambda: (fresh(2, 3), (6,))), ("index_add", lambda: (fresh(2, 3), 0, I([1, 1]), fresh(2, 3))),
    ("index_add", lambda: (fresh(), 0, I([0]), fresh())), ("index_add", lambda: (fresh(2, 3), -1, I([2]), fresh(2, 1))),
    ("scatter_add", lambda: (fresh(2, 3), 1, I([[0, 0], [1, 2]]), fresh(2, 2))), ("scatter_add", lambda: (fresh(3), 0, I([2]), fresh(1))),
    ("masked_select", lambda: (fresh(2, 3), M3)), ("masked_select", lambda: (fresh(3), M23)), ("masked_select", lambda: (fresh(), I(True))),
    ("masked_scatter", lambda: (fresh(2, 3), M3, fresh(5))), ("masked_scatter", lambda: (fresh(2, 3), M23, fresh(2, 3))),
    ("masked_scatter_backward", lambda: (fresh(2, 3), M23, (5,))),
    ("_stack", lambda: (fresh(2, 3), turned(2, 3))), ("_cat", lambda: (fresh(2, 3), turned(2, 1))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), INNER, ids=lambda v: v if isinstance(v, str) else "")
def test_inner_ops(name: str, args: Any) -> None:
    """What only formulas call does what torch's own inner op does, and so do its formulas."""
    given = {"_stack": [{"dim": 0}, {"dim": -1}], "_cat": [{"dim": 1, "sizes": (3, 1)}]}.get(name, [{}])
    for attributes in given:
        operands = tuple(leaf(a) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args())
        out = getattr(operands[0], name)(*operands[1:], **attributes)
        op, bound, found = OURS[name].bind(operands, attributes, torch.Tensor)
        check_body(op, bound, found, out)
        if name not in ("masked_scatter_backward", "masked_select") or operands[0].ndim:
            check_gradients(op, bound, found, out)


def test_many_parts() -> None:
    """More parts than one joining op takes are joined all the same."""
    from specs.ops import join

    parts = [fresh(2, 3) * n for n in range(20)]
    numpy = {"_stack": np.stack, "_cat": np.concatenate}
    assert torch.stack(parts, 1).tolist() == join.stack(parts, 1).tolist()
    assert torch.cat(parts, 1).tolist() == join.cat(parts, 1, [3] * 20).tolist()
    assert set(numpy) == {"_stack", "_cat"} <= set(OURS)


WRITES = [
    ("view", ((6,),)), ("transpose", (0, 1)), ("expand", ((4, 2, 3),)), ("select", (0, 0)), ("slice", (0, 0, 1, 1)), ("diagonal", ()),
    ("squeeze", ()), ("unsqueeze", (0,)), ("unbind", ()), ("split", (1,)), ("split", ((1, 1),)), ("alias", ()), ("t", ()), ("permute", ((1, 0),)),
    ("index_select", (0, I([0]))), ("gather", (0, I([[0]]))), ("masked_fill", (M23, 0.0)), ("masked_fill", (M23, I(2.0))), ("_index", (I([0]),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), WRITES, ids=lambda v: v if isinstance(v, str) else "")
def test_saved_operands(name: str, args: tuple[Any, ...]) -> None:
    """A write to an operand between forward and backward is refused exactly if a formula needs that operand."""
    given = {"places": (0,)} if name == "_index" else {}
    count = 1 + sum(isinstance(a, torch.Tensor) for a in args)
    for nth in range(count):
        x = leaf(fresh(2, 3)) * 1
        fed = tuple(a.clone() if isinstance(a, torch.Tensor) else a for a in args)
        tensors = [x, *(a for a in fed if isinstance(a, torch.Tensor))]
        out = as_tuple(getattr(x, name)(*fed, **given))[0]
        total = out.sum()
        with torch.no_grad():
            tensors[nth].copy_(tensors[nth])
        _, refused = attempt(lambda total=total: torch.autograd.backward(total))
        op, operands, _ = OURS[name].bind((x, *fed), given, torch.Tensor)
        which = next(n for n, o in enumerate(operands) if o is tensors[nth])
        assert op.saves(op.names[which], ["x"]) == (refused == "save/modified-refused")
        assert refused in (None, "save/modified-refused")
