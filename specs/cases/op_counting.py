"""Functions that tell, count, sort and search: what they return has no history."""

import warnings

import torch

from specs.case import refused
from specs.cases._measures import error_kinds, graded, ramp


def comparisons_tell_what_is_near():
    """Within tolerances, by shape and dtype, with NaN or without. Rule: op/derivatives-beyond-programs."""
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    x = torch.tensor([1.0, 2.0, float("nan")], requires_grad=True)
    y = torch.tensor([1.0 + 1e-6, 2.1, float("nan")])
    near = torch.isclose(x, y)
    assert near.requires_grad is False and near.is_leaf is True and near.dtype is torch.bool
    assert near.tolist() == [True, False, False]
    assert torch.isclose(x, y, rtol=0.1).tolist() == [True, True, False]
    assert torch.isclose(x, y, 0.0, 0.11, equal_nan=True).tolist() == [True, True, True]
    assert torch.isclose(y, x, rtol=0.0, atol=0.0).tolist() == [False, False, False]
    assert [
        torch.allclose(x, y),
        torch.allclose(x, y, 0.1),
        torch.allclose(x, y, atol=0.2, equal_nan=True),
    ] == [False, False, True]
    assert [torch.allclose(x[:1], y[:1]), torch.equal(x[:1], y[:1]), torch.equal(x[:1], x[:1].clone())] == [
        True,
        False,
        True,
    ]
    assert [torch.equal(x, x[:2]), torch.equal(x, x), x.isfinite().tolist(), x.isnan().tolist()] == [
        False,
        False,
        [True, True, False],
        [False, False, True],
    ]
    assert [
        x.isinf().tolist(),
        (x / 0).isposinf().tolist(),
        (-x / 0).isneginf().tolist(),
        x.isreal().tolist(),
    ] == [[False, False, False], [True, True, False], [True, True, False], [True, True, True]]
    assert [
        x.signbit().tolist(),
        (-x).signbit().tolist(),
        x.gt(1).tolist(),
        x.ge(y).tolist(),
        x.ne(y).tolist(),
    ] == [
        [False, False, False],
        [True, True, True],
        [False, True, False],
        [False, False, False],
        [True, True, True],
    ]
    assert [torch.is_tensor(x), torch.is_tensor([x]), torch.is_nonzero(x[0]), torch.is_nonzero(x[0] - 1)] == [
        True,
        False,
        True,
        False,
    ]
    assert [torch.is_floating_point(x), torch.is_complex(x), x.is_same_size(y[:2])] == [True, False, False]
    assert [2.0 in x, 5 in x, x[:1] in y, torch.numel(x)] == [True, False, False, 3]
    calls = [lambda: torch.isclose(x, y.double()), lambda: torch.allclose(x, y.int()), lambda: "a" in x]
    assert error_kinds(calls) == "ooo"
    assert [
        torch.promote_types(torch.int32, torch.uint8) is torch.int32,
        torch.promote_types(torch.int64, torch.float16) is torch.float16,
    ] == [True, True]
    assert [
        torch.can_cast(torch.float32, torch.int64),
        torch.can_cast(torch.int64, torch.float16),
        torch.can_cast(torch.float64, torch.complex64),
    ] == [False, True, True]
    assert [
        torch.result_type(x, 1j) is torch.complex64,
        torch.result_type(torch.tensor(1), 1.5) is torch.float32,
        torch.result_type(torch.tensor(1.0), torch.tensor([1])) is torch.float32,
    ] == [True, True, True]


def places_are_found():
    """Of elements that are not zero, of extremes, and of where others belong.

    Rule: op/derivatives-beyond-programs.
    """
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    x = torch.tensor([[3.0, 0.0, 5.0], [0.0, 7.0, 5.0]], requires_grad=True)
    at = x.argmax()
    assert at.requires_grad is False and at.dtype is torch.int64
    assert [
        at.item(),
        x.argmin().item(),
        x.argmax(1).tolist(),
        x.argmin(0).tolist(),
        x.argmax(-1, True).tolist(),
    ] == [4, 1, [2, 1], [1, 0, 0], [[2], [1]]]
    assert [tuple(x.argmax(0, keepdim=True).shape), x[0, 0].argmax().item(), x[0, 0].argmin(0).item()] == [
        (1, 3),
        0,
        0,
    ]
    assert (
        error_kinds(
            [
                lambda: torch.empty(0).argmax(),
                lambda: torch.empty(2, 0).argmin(1),
                lambda: torch.empty(2, 0).argmax(0).shape,
            ]
        )
        == "II-"
    )
    assert [
        x.nonzero().tolist(),
        [i.tolist() for i in x.nonzero(as_tuple=True)],
        tuple(x[0, 0].nonzero().shape),
    ] == [[[0, 0], [0, 2], [1, 1], [1, 2]], [[0, 0, 1, 1], [0, 2, 1, 2]], (1, 0)]
    assert [
        [i.tolist() for i in torch.where(x > 4)],
        x.count_nonzero().item(),
        x.count_nonzero(0).tolist(),
        x.count_nonzero((0, 1)).item(),
    ] == [[[0, 1, 1], [2, 1, 2]], 4, [1, 1, 2], 4]
    assert [
        x.argsort().tolist(),
        x.argsort(0, True).tolist(),
        x.argsort(dim=1, descending=True, stable=True).tolist(),
    ] == [[[1, 0, 2], [0, 2, 1]], [[0, 1, 0], [1, 0, 1]], [[2, 0, 1], [1, 2, 0]]]
    assert [x.bool().any().item(), x.bool().all(1).tolist(), x.any(0, True).tolist(), x.all().item()] == [
        True,
        [False, False],
        [[True, True, True]],
        False,
    ]
    s = torch.tensor([1.0, 3.0, 3.0, 6.0])
    v = torch.tensor([[3.0, 0.5], [7.0, 6.0]])
    assert [
        torch.searchsorted(s, v).tolist(),
        torch.searchsorted(s, v, right=True).tolist(),
        torch.searchsorted(s, v, side="right").tolist(),
    ] == [[[1, 0], [4, 3]], [[3, 0], [4, 4]], [[3, 0], [4, 4]]]
    assert [
        torch.searchsorted(s, 3.5).item(),
        torch.searchsorted(s, v, out_int32=True).dtype is torch.int32,
    ] == [3, True]
    assert [
        torch.searchsorted(s.flip(0), v, sorter=torch.tensor([3, 2, 1, 0])).tolist(),
        torch.searchsorted(s.expand(2, 4), v).tolist(),
    ] == [[[1, 0], [4, 3]], [[1, 0], [4, 3]]]
    assert [
        torch.bucketize(v, s).tolist(),
        torch.bucketize(v, s, right=True).tolist(),
        torch.bucketize(3.0, s).item(),
    ] == [[[1, 0], [4, 3]], [[3, 0], [4, 4]], 1]
    assert [torch.bucketize(v, s, out_int32=True).dtype is torch.int32] == [True]
    assert error_kinds([lambda: torch.searchsorted(s.expand(3, 4), v)]) == "o"
    assert [torch.isin(v, s).tolist(), torch.isin(3.0, s).item(), torch.isin(v, 7.0).tolist()] == [
        [[True, False], [False, True]],
        True,
        [[False, False], [True, False]],
    ]
    assert [
        torch.tril_indices(2, 3).tolist(),
        torch.triu_indices(3, 2, offset=-1).tolist(),
        torch.tril_indices(3, 3, -1).tolist(),
    ] == [[[0, 1, 1], [0, 0, 1]], [[0, 0, 1, 1, 2], [0, 1, 0, 1, 1]], [[1, 2, 2], [0, 0, 1]]]
    assert [
        torch.unravel_index(torch.tensor([5, 2]), (2, 3))[0].tolist(),
        torch.unravel_index(torch.tensor(5), (2, 3))[1].item(),
    ] == [[1, 0], 2]
    assert (
        error_kinds(
            [
                lambda: torch.unravel_index(torch.tensor([6]), (2, 3)),
                lambda: torch.unravel_index(torch.tensor([3]), 4),
            ]
        )
        == "--"
    )


def elements_are_counted():
    """Each once, in runs, by number and by range. Rule: op/derivatives-beyond-programs."""
    t = ramp(2)
    assert graded(t.softmax(0), t) == [(2,), 1.9933, 0.0066]
    x = torch.tensor([2, 1, 2, 2, 5, 1])
    counts = torch.bincount(x)
    assert counts.requires_grad is False and (x > 1).requires_grad is False
    assert [
        counts.tolist(),
        torch.bincount(x, minlength=8).tolist(),
        torch.bincount(x, torch.ones(6) / 2).tolist(),
    ] == [[0, 2, 3, 0, 0, 1], [0, 2, 3, 0, 0, 1, 0, 0], [0.0, 1.0, 1.5, 0.0, 0.0, 0.5]]
    assert [
        torch.bincount(x, torch.ones(6)).dtype is torch.float32,
        torch.bincount(x, x).dtype is torch.float64,
    ] == [True, True]
    assert [
        x.unique().tolist(),
        torch.unique(x, return_counts=True)[1].tolist(),
        torch.unique(x, return_inverse=True)[1].tolist(),
    ] == [[1, 2, 5], [2, 3, 1], [1, 0, 1, 1, 2, 0]]
    assert [
        [t.tolist() for t in torch.unique(x, True, True, True)],
        torch.unique(x.reshape(3, 2)[[0, 0, 1]], dim=0).tolist(),
    ] == [[[1, 2, 5], [1, 0, 1, 1, 2, 0], [2, 3, 1]], [[2, 1], [2, 2]]]
    assert [
        torch.unique(x.reshape(2, 3), return_inverse=True)[1].tolist(),
        torch.unique(x.reshape(2, 3), dim=1, return_counts=True)[1].tolist(),
    ] == [[[1, 0, 1], [1, 2, 0]], [1, 1, 1]]
    assert [
        [t.tolist() for t in torch.unique_consecutive(x, True, True)],
        torch.unique_consecutive(x.reshape(3, 2)[[0, 0, 1]], dim=0).tolist(),
    ] == [[[2, 1, 2, 5, 1], [0, 1, 2, 2, 3, 4], [1, 1, 2, 1, 1]], [[2, 1], [2, 2]]]
    assert [
        torch.unique_consecutive(x.reshape(2, 3), return_inverse=True)[1].tolist(),
        torch.unique_consecutive(x[:0]).tolist(),
    ] == [[[0, 1, 2], [2, 3, 4]], []]
    assert [torch.histc(x.float(), 3).tolist(), torch.histc(x.float(), bins=2, min=0, max=4).tolist()] == [
        [5.0, 0.0, 1.0],
        [2.0, 3.0],
    ]
    assert [torch.bitwise_and(x, 3).tolist(), (x | 4).tolist(), (x ^ x.flip(0)).tolist(), (~x).tolist()] == [
        [2, 1, 2, 2, 1, 1],
        [6, 5, 6, 6, 5, 5],
        [3, 4, 0, 0, 4, 3],
        [-3, -2, -3, -3, -6, -2],
    ]
    assert [(x % 2).tolist(), x.bitwise_not().tolist()] == [[0, 1, 0, 0, 1, 1], [-3, -2, -3, -3, -6, -2]]
    assert [
        torch.logical_xor(x > 1, x > 2).tolist(),
        (x > 1).logical_and(x < 5).tolist(),
        (x > 1).logical_or(x < 2).tolist(),
    ] == [
        [True, False, True, True, False, False],
        [True, False, True, True, False, False],
        [True, True, True, True, True, True],
    ]
    assert [
        torch.floor_divide(x, 2).tolist(),
        (x // torch.tensor(-2)).tolist(),
        (7 // x).tolist(),
        (7.5 // x.double()).tolist(),
    ] == [[1, 0, 1, 1, 2, 0], [-1, -1, -1, -1, -3, -1], [3, 7, 3, 3, 1, 7], [3.0, 7.0, 3.0, 3.0, 1.0, 7.0]]
    assert (
        error_kinds(
            [
                lambda: ~x.float(),
                lambda: x.float() & 1,
                lambda: x & torch.tensor([1, 2]),
                lambda: x.double() | x,
            ]
        )
        == "TNoN"
    )
    assert [
        tuple(torch.broadcast_shapes((3, 1), (2,), 1)),
        error_kinds([lambda: torch.broadcast_shapes((3,), (2,))]),
    ] == [(3, 2), "o"]
    assert [
        x.element_size(),
        x.double().nbytes,
        x.get_device(),
        x.itemsize,
        x.int().untyped_storage().nbytes(),
    ] == [8, 48, -1, 8, 24]


def small_integers_are_counted_in_int64():
    """Unless a dtype is asked for: then sums wrap around in it, and a write in place keeps its own.

    Rule: op/derivatives-beyond-programs.
    """
    u = torch.tensor([200, 100], dtype=torch.uint8)
    counted = [u.sum(), u.prod(), u.sum(0), u.cumsum(0), u.cumprod(0), u.nansum(), u.bool().sum()]
    assert [x.tolist() for x in counted] == [300, 20000, 300, [200, 300], [200, 20000], 300, 2]
    assert {x.dtype for x in counted} == {torch.int64}
    asked = [u.sum(dtype=torch.uint8), u.prod(dtype=torch.int16), u.cumsum(0, dtype=torch.uint8)]
    assert [x.tolist() for x in asked] == [44, 20000, [200, 44]]
    assert [x.dtype for x in asked] == [torch.uint8, torch.int16, torch.uint8]
    assert u.cumsum_(0).tolist() == [200, 44] and u.dtype == torch.uint8
    x = torch.tensor([2.0], requires_grad=True)
    x.sum(dtype=torch.float64).backward()
    assert x.grad.dtype == torch.float32


def two_numbers_promote_as_equals():
    """Of two tensors without dimensions the wider one counts; beside elements neither does.

    Rules: write/result-dtype, op/derivatives-beyond-programs.
    """
    x = torch.tensor(1.5, requires_grad=True)
    y = torch.tensor(2.5, dtype=torch.float64, requires_grad=True)
    for_each = (torch.add, torch.sub, torch.mul, torch.div, torch.maximum, torch.pow)
    assert {f(x, y).dtype for f in for_each} == {f(y, x).dtype for f in for_each} == {torch.float64}
    assert {f(x.view(1), y).dtype for f in for_each} == {torch.float32}
    assert {f(y.view(1), x).dtype for f in for_each} == {torch.float64}
    (x * y).backward()
    assert x.grad.dtype == torch.float32 and y.grad.dtype == torch.float64 and x.grad.item() == 2.5
    assert (x.detach() * torch.tensor([True, False]).numpy()).tolist() == [1.5, 0.0]
    assert (x.detach() + torch.tensor([True]).numpy()).dtype == torch.float32
    with refused("write/result-dtype"):
        torch.tensor([1]).add_(y.detach())
    bools = torch.tensor([True, False]).numpy()
    p = torch.tensor([1.0, 2.0])
    assert (p * bools).tolist() == [1.0, 0.0] and (p == bools).tolist() == [True, False]
    assert (p @ bools).item() == 1.0 and (p - bools).tolist() == [0.0, 2.0] and (p != bools) is True
    with warnings.catch_warnings(record=True, action="always") as told:
        torch.zeros(0).copy_(torch.zeros(0, dtype=torch.complex64))
    assert told == []
