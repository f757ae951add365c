"""``x[...]`` and ``x[...] = value`` against torch: what they are taken apart into, and indexing by tensors.

The composites run on torch's own tensors, the numpy bodies on their arrays; no machine of ours takes part.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from specs.layout import put_in_order

torch = pytest.importorskip("torch")

from op_torch import methods  # noqa: E402 -- needs torch
from together import together  # noqa: E402
from view_torch import (  # noqa: E402 -- needs torch
    INTERNAL,
    M3,
    M23,
    OURS,
    I,
    attempt,
    check_body,
    check_composite,
    check_gradients,
    fresh,
    leaf,
    prepared,
    shape_of,
)  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _internal_names() -> Iterator[None]:
    with methods(INTERNAL):
        yield


BRACKETS: list[Any] = [
    0, -1, 2, Ellipsis, None, (), slice(None), slice(0, 1), slice(1, None), slice(None, -1), slice(None, 9),
    slice(None, None, 2), slice(2, 1), slice(None, None, -1), (0, 0), (0, 1), (-1, slice(1, None)),
    (slice(None), 0), (slice(None), slice(None)), (slice(None), slice(0, 2)), (None, 0), (0, None),
    (slice(None), None), (Ellipsis, 0), (0, Ellipsis), (Ellipsis, None), (Ellipsis, slice(0, 1)),
    (None, None), (0, 0, 0), (0, 0, 0, 0), (Ellipsis, slice(None)), I(0), I(-1), I(5), (I(0), 1), [0, 0],
    [0, -1], [], [True, False], I([1, 0]), I([[0, 1], [1, 0]]), I([5]), I([0.5]), M3, M23, I([True, False]),
    I(True), I(False), True, False, (True, 0), (0, True), (0, I([0, 1])), (I([0, 1]), 0),
    (slice(None), I([0, 2])), (slice(None), M3), (I([0, 1]), I([0, 1])), (I([0, 1]), I([0, 1, 2])),
    (I([[0], [1]]), I([0, 2])), (I([0, 1]), slice(None), I([0, 2])), (I([0, 1]), None, I([0, 1])),
    (None, I([0, 1])), (I([True, False]), 0), (Ellipsis, I([0])), (I([0]), Ellipsis, 0), ([0, 1], [1, 2]),
    (M23, 0), (0, M3), 1.5,
]  # fmt: skip
VALUES = [
    5, 0.5, True, I(2.0), I([3.0]), I([1.0, 2.0, 3.0]), I([[[4.0, 5.0, 6.0]]]), I([1.0, 2.0]),
    I(2.0, dtype=torch.float64), 1j, "a",
]  # fmt: skip


def _by_tensors(index: Any) -> bool:
    return any(isinstance(i, (list, torch.Tensor)) for i in (index if isinstance(index, tuple) else (index,)))


@together("shape, index", product([(), (2, 3), (3,), (2, 3, 3)], BRACKETS), by=lambda row: repr(row[0]))
def test_reading_brackets(shape: tuple[int, ...], index: Any) -> None:
    """Brackets are taken apart into the views and ops that torch makes of them."""
    x = leaf(fresh(*shape))
    expected, refused = attempt(lambda: x[index])
    actual, rule = attempt(lambda: OURS["getitem"].ops[0].body(x, index))
    assert refused == rule
    if refused is None:
        check_composite(x, expected, actual)


class Caught:
    """A torch tensor whose indexing by tensors runs our numpy body, and is noted."""

    requires_grad = False

    def __init__(self, tensor: Any, seen: list[Any]) -> None:
        self.tensor, self.seen = tensor, seen
        self.ndim, self.shape, self.dtype = tensor.ndim, tensor.shape, tensor.dtype

    def __getattr__(self, name: str) -> Any:
        if name != "_index":
            return lambda *args: Caught(getattr(self.tensor, name)(*args), self.seen)
        return self.index

    def index(self, *args: Any, **given: Any) -> Any:
        self.seen.append((self.tensor, args, given))
        op, operands, attributes = OURS["_index"].bind((self.tensor, *args), given, torch.Tensor)
        return op.compute(prepared(op, operands), attributes)


@together(
    "shape, index",
    product([(2, 3), (3,), (2, 3, 3)], filter(_by_tensors, BRACKETS)),
    by=lambda row: repr(row[0]),
)
def test_indexing_by_tensors(shape: tuple[int, ...], index: Any) -> None:
    """The numpy body reads what torch reads, gives its gradients, and is refused by the same rules."""
    x = leaf(fresh(*shape))
    expected, refused = attempt(lambda: x[index])
    seen: list[Any] = []
    actual, rule = attempt(lambda: OURS["getitem"].ops[0].body(Caught(x, seen), index))
    assert refused == rule
    if refused is None and seen:
        assert expected.tolist() == actual.tolist()
        assert expected.stride() == tuple(s // actual.itemsize for s in actual.strides) or not actual.size
        source, args, given = seen[0]
        source = leaf(source)
        op, operands, attributes = OURS["_index"].bind((source, *args), given, torch.Tensor)
        check_gradients(op, operands, attributes, source._index(*args, **given))


@together("value, index", product(VALUES, BRACKETS), by=lambda row: repr(row[0]))
def test_writing_brackets(index: Any, value: Any) -> None:
    """An assignment writes, records and counts what torch's does, or is refused by the same rule."""
    results = []
    for write in (
        lambda x, v: x.__setitem__(index, v),
        lambda x, v: OURS["setitem"].ops[0].body(x, index, v),
    ):
        start = leaf(fresh(2, 3))
        x = start * 1
        given = leaf(value) if isinstance(value, torch.Tensor) else value
        _, refused = attempt(lambda write=write, x=x, given=given: write(x, given))
        results.append((refused, x.tolist(), x._version, shape_of(x.grad_fn)))
    assert results[0] == results[1]


PUTS = [
    ((I([0]),), (0,)), ((I([1, 0]),), (0,)), ((I([0, 2]),), (1,)), ((M3,), (1,)), ((M23,), (0,)),
    ((I([0, 1]), I([0, 2])), (0, 1)), (([0, 1],), (0,)),
]  # fmt: skip


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize(("indices", "places"), PUTS)
def test_index_put(indices: Any, places: Any, accumulate: bool) -> None:
    """Putting values where index tensors point, and its gradients, are torch's."""
    x = leaf(fresh(2, 3))
    for size in (
        (),
        tuple(x._index(*indices, places=places).shape),
        tuple(x._index(*indices, places=places).shape)[-1:],
    ):
        value = leaf(torch.full(size, 9.0))
        for name in ("_index_put", "_index_put_impl_"):
            written = x if name == "_index_put" else x * 1
            given = {"places": places, "accumulate": accumulate}
            op, operands, attributes = OURS[name].bind((x, value, *indices), given, torch.Tensor)
            check_body(op, operands, attributes, getattr(written, name)(value, *indices, **given).detach())
            if name == "_index_put":
                check_gradients(op, operands, attributes, written._index_put(value, *indices, **given))


def _spread(x: Any, *shape: int) -> Any:
    """``x`` expanded, to be written to."""
    if isinstance(x, torch.Tensor):
        return x.expand(shape)
    return np.lib.stride_tricks.as_strided(x, shape, np.broadcast_to(x, shape).strides)


WINDOWS: tuple[Any, ...] = (
    lambda x: x[::2], lambda x: x[:3], lambda x: x[1::2], lambda x: x.reshape(2, 3)[:, ::2],
    lambda x: x.reshape(3, 2).T, lambda x: x.reshape(3, 2)[:2], lambda x: x.reshape(2, 3)[:, :1],
    lambda x: _spread(x[:2].reshape(2, 1), 2, 3), lambda x: _spread(x[:3], 2, 3),
    lambda x: _spread(x[:1], 2, 3),
)  # fmt: skip
POSITIONS: tuple[Any, ...] = (
    ([0, -1],), ([1, 0, 1],), ([[0, 1], [1, 0]],), ([1, 0], slice(None)), (slice(None), [-1, 0]),
    ([True, False],), ([0, 1], [1, 0]),
)  # fmt: skip


@pytest.mark.filterwarnings("ignore:Use of index_put_ on expanded:UserWarning")
@pytest.mark.parametrize("positions", POSITIONS, ids=str)
def test_positions_are_written_one_by_one(positions: Any) -> None:
    """A value that shares memory with what is written is read as it is by then, in torch's order."""
    for target, source in product(WINDOWS, repeat=2):
        real, ours = torch.arange(6.0), np.arange(6.0, dtype="float32")
        x, value = target(ours), source(ours)
        key = tuple([np.array(item) if isinstance(item, list) else item for item in positions])
        try:
            target(real)[positions] = source(real)
        except (RuntimeError, IndexError):  # they do not fit, or torch can tell that they overlap
            continue
        out = x.copy()
        put_in_order(out, x, key, value)
        x[...] = out
        assert real.tolist() == ours.tolist()
