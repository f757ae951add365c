"""Every view and indexing op against torch: values, strides, memory, nodes, formulas, saved sets, refusals.

Formulas and composites call methods of whatever tensor they get, so here they get torch's; no machine of ours
takes part. Brackets are tested in ``test_bracket_declarations``, arithmetic in ``test_ops_declarations``.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from op_torch import methods  # noqa: E402 -- needs torch
from view_torch import (  # noqa: E402 -- needs torch
    INTERNAL,
    M3,
    M23,
    OURS,
    I,
    as_tuple,
    ask,
    attempt,
    check_body,
    check_composite,
    check_gradients,
    fresh,
    gappy,
    leaf,
    prepared,
    stretched,
    turned,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _internal_names() -> Iterator[None]:
    with methods(INTERNAL):
        yield


SHAPES: list[tuple[int, ...]] = [
    (), (1,), (3,), (0,), (2, 3), (3, 3), (1, 3), (2, 1), (0, 3), (2, 1, 3), (1, 2, 0),
]  # fmt: skip
MAKERS = [fresh, turned, gappy, stretched]
SOURCES = [
    (make, shape)
    for make in MAKERS
    for shape in SHAPES
    if make is fresh or (shape and make is not turned) or len(shape) > 1
]
SIZES = [
    (), (1,), (6,), (-1,), (2, 3), (3, 2), (3, -1), (1, 6), (6, 1), (2, 1, 3), (2, 3, 1), (3, 1, 2), (0,),
    (0, -1), (3, 0), (1, 0, 2), (3, 3), (9,), (1, -1, 1),
]  # fmt: skip
EXPANDS = [
    (), (1,), (3,), (2, 3), (-1, 3), (2, -1, 3), (4, 2, 3), (1, 1, 3), (2, 2, 3), (0, 3), (1, 0), (-1, -1),
    (3, 2, 4, 3), (-1,),
]  # fmt: skip
DIMS = [0, 1, -1, 2, -3]
INDICES = [0, 1, -1, 2, -3]
BOUNDS = [
    (None, None, 1), (0, 1, 1), (1, None, 1), (None, -1, 1), (-2, 9, 2), (2, 1, 1), (5, 9, 1),
    (None, None, 3), (1, 1, 2),
]  # fmt: skip


def calls() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Names and arguments after the first tensor; what torch refuses of them must be refused."""
    for size in SIZES:
        yield from [("view", (size,)), ("reshape", (size,))]
    yield from [("view", (2, 3)), ("reshape", (3, -1)), ("expand", (2, 3)), ("permute", (1, 0))]
    yield from (("expand", (size,)) for size in EXPANDS)
    yield from (("transpose", dims) for dims in product(DIMS, (0, 1, -1)))
    yield from (
        ("permute", (p,)) for p in [(), (0,), (1, 0), (-1, 0), (0, 0), (2, 0, 1), (0, -1, 1), (1, 2, 0)]
    )
    yield from [
        ("t", ()),
        ("squeeze", ()),
        ("squeeze", ((0, 1),)),
        ("squeeze", ((-1,),)),
        ("squeeze", ((0, 0),)),
        ("unbind", ()),
        ("flatten", ()),
        ("flatten", (1,)),
        ("flatten", (0, -2)),
        ("flatten", (1, 0)),
        ("diagonal", ()),
        ("alias", ()),
    ]
    for dim in DIMS:
        yield from [("unsqueeze", (dim,)), ("squeeze", (dim,)), ("unbind", (dim,))]
        yield from (("select", (dim, index)) for index in INDICES)
        yield from (("narrow", (dim, *bounds)) for bounds in product((0, 1, -1, 3, -4), (0, 1, 2, -1)))
        yield from (("slice", (dim, *bounds)) for bounds in BOUNDS)
        yield from (
            ("split", (size, dim)) for size in (1, 2, 5, 0, -1, (1, 2), (0, 2), (3,), (1, 1, 1), (-1, 4))
        )
        yield from (("chunk", (count, dim)) for count in (1, 2, 3, 5, 0))
        yield from (("diagonal", (offset, dim, 0)) for offset in (0, 1, -1, 4))
        yield from (
            ("index_select", (dim, i)) for i in (I([0]), I([0, 0]), I(0), I([3]), I([-1]), I([0.0]), I([[0]]))
        )
        yield from (
            ("gather", (dim, i))
            for i in (I([[0], [0]]), I([[0, 1, 1]]), I([0, 0]), I(0), I([[3]]), I([[-1]]), I([[0.5]]))
        )
    yield from (
        ("masked_fill", (m, v))
        for m in (M3, M23, I(True), I([True, False]), I([1, 0, 1]))
        for v in (0.0, 7, 1j, I(2.0), I([1.0]))
    )
    yield from (("sum_to_size", (size,)) for size in ((), (1,), (3,), (1, 3), (2, 3), (2, 1), (4,)))


@pytest.mark.parametrize(
    ("make", "shape"), SOURCES, ids=lambda v: getattr(v, "__name__", None) or "x".join(map(str, v)) or "0d"
)
def test_calls(make: Any, shape: tuple[int, ...]) -> None:
    """Each call gives torch's result, strides, history and gradients, or is refused by the same rule."""
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


INNER = [
    ("select_backward", lambda: (fresh(3), (2, 3), 0, 1)),
    ("select_backward", lambda: (fresh(2), (2, 3), -1, -1)),
    ("slice_backward", lambda: (fresh(2, 2), (2, 3), 1, 1, 2**63 - 1, 1)),
    ("slice_backward", lambda: (fresh(1, 3), (2, 3), 0, 0, 9, 2)),
    ("slice_backward", lambda: (fresh(0, 3), (2, 3), 0, 2, 1, 1)),
    ("diagonal_backward", lambda: (fresh(2), (2, 3), 1, 0, 1)),
    ("diagonal_backward", lambda: (fresh(2, 1), (2, 2, 3), -1, 1, -1)),
    ("_unsafe_view", lambda: (fresh(2, 3), (6,))),
    ("index_add", lambda: (fresh(2, 3), 0, I([1, 1]), fresh(2, 3))),
    ("index_add", lambda: (fresh(), 0, I([0]), fresh())),
    ("index_add", lambda: (fresh(2, 3), -1, I([2]), fresh(2, 1))),
    ("scatter_add", lambda: (fresh(2, 3), 1, I([[0, 0], [1, 2]]), fresh(2, 2))),
    ("scatter_add", lambda: (fresh(3), 0, I([2]), fresh(1))),
    ("masked_select", lambda: (fresh(2, 3), M3)),
    ("masked_select", lambda: (fresh(3), M23)),
    ("masked_select", lambda: (fresh(), I(True))),
    ("masked_scatter", lambda: (fresh(2, 3), M3, fresh(5))),
    ("masked_scatter", lambda: (fresh(2, 3), M23, fresh(2, 3))),
    ("masked_scatter_backward", lambda: (fresh(2, 3), M23, (5,))),
    ("_stack", lambda: (fresh(2, 3), turned(2, 3))),
    ("_cat", lambda: (fresh(2, 3), turned(2, 1))),
]


@pytest.mark.parametrize(("name", "args"), INNER, ids=lambda v: v if isinstance(v, str) else "")
def test_inner_ops(name: str, args: Any) -> None:
    """Ops that only formulas call, and their own formulas, do what torch's inner ops do."""
    given = {"_stack": [{"dim": 0}, {"dim": -1}], "_cat": [{"dim": 1, "sizes": (3, 1)}]}.get(name, [{}])
    for attributes in given:
        operands = tuple(
            leaf(a) if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args()
        )
        out = getattr(operands[0], name)(*operands[1:], **attributes)
        op, bound, found = OURS[name].bind(operands, attributes, torch.Tensor)
        check_body(op, bound, found, out)
        if name not in ("masked_scatter_backward", "masked_select") or operands[0].ndim:
            check_gradients(op, bound, found, out)


def test_many_parts() -> None:
    """More parts than one joining op takes are joined all the same."""
    from specs.ops import cat

    parts = [fresh(2, 3) * n for n in range(20)]
    numpy = {"_stack": np.stack, "_cat": np.concatenate}
    assert torch.stack(parts, 1).tolist() == cat.stack(parts, 1).tolist()
    assert torch.cat(parts, 1).tolist() == cat.cat(parts, 1, [3] * 20).tolist()
    assert set(numpy) == {"_stack", "_cat"} <= set(OURS)


WRITES = [
    ("view", ((6,),)), ("transpose", (0, 1)), ("expand", ((4, 2, 3),)), ("select", (0, 0)),
    ("slice", (0, 0, 1, 1)), ("diagonal", ()), ("squeeze", ()), ("unsqueeze", (0,)), ("unbind", ()),
    ("split", (1,)), ("split", ((1, 1),)), ("alias", ()), ("t", ()), ("permute", ((1, 0),)),
    ("index_select", (0, I([0]))), ("gather", (0, I([[0]]))), ("masked_fill", (M23, 0.0)),
    ("masked_fill", (M23, I(2.0))), ("_index", (I([0]),)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), WRITES, ids=lambda v: v if isinstance(v, str) else "")
def test_saved_operands(name: str, args: tuple[Any, ...]) -> None:
    """A write to an operand before backward is refused exactly if a formula needs that operand."""
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
