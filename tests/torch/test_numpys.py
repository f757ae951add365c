"""Numpy's numbers and arrays beside tensors, and Python's operators that no program draws."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import reference_impl

torch = pytest.importorskip("torch")

NUMBERS = [np.float32(1.5), np.float64(2.5), np.int64(3), np.int32(2)]
ARRAYS = [np.ones(3), np.ones(3, np.float32), np.arange(3), np.arange(3) > 1]
NUMBERED = [
    "x + k", "k + x", "x * k", "k * x", "k - x", "x / k", "k / x", "x ** k", "x < k", "x == k", "k // x",
    "x // k", "x % k", "torch.full((2,), k)", "torch.tensor(k)", "torch.tensor([k, 2])",
    "torch.tensor([[k], [1.0]])", "torch.arange(k)", "x.clamp(min=k)", "x.masked_fill(x == 0, k)",
    "x.add(x, alpha=k)", "torch.where(x > 0, x, k)", "x.new_full((2,), k)", "x @ k",
]  # fmt: skip
INDEXED = [
    "x[np.array([2, 0])]", "m[np.array([0, 1]), np.array([1, 1])]", "m[:, np.array([2, 0])]",
    "m[np.array([True, False])]", "m[np.ones((2, 3), bool)]", "x[np.int64(1)]", "m[np.int64(1), 2]",
    "x[[np.int64(0), np.int64(2)]]", "x.view(np.int64(3), -1)", "m.sum(np.int64(0))",
    "torch.zeros(np.int64(2), np.int64(3))", "torch.zeros((np.int64(2), 3))",
    "torch.tensor([np.ones(2), np.zeros(2)])", "torch.tensor([np.float32(1), 2.0])", "np.sqrt(x)",
    "np.sqrt(w)", "np.mean(x.numpy())", "np.stack([x, x])", "x.new_tensor(np.float32(2))",
]  # fmt: skip
MIXED = [
    "x + a", "a / x", "x * a", "a * x", "x == a", "w * a", "a @ x", "x @ a", "w == a", "x != a", "x > a",
]  # fmt: skip
OPERATORS = [
    "h // 2", "2 // h", "7 % h", "h % 2", "h // h", "i // 2", "7 // i", "7 % i", "i << 2", "i >> 1", "b // b",
    "b << b", "h.floor_divide(h)", "torch.floor_divide(i, i)", "i // 0",
]  # fmt: skip
WRITES = [
    "b &= k",
    "b |= k",
    "b ^= k",
    "i //= 2",
    "i %= 2",
    "i <<= 1",
    "i >>= 1",
    "i &= 3",
    "h //= 2",
    "h %= 2",
]


def names(side: Any) -> dict[str, Any]:
    """The operands, made anew."""
    x = side.tensor([1.0, 2.0, 3.0])
    w = side.ones(3, requires_grad=True)
    return {
        "torch": side, "np": np, "x": x, "m": side.arange(6.0).view(2, 3), "w": w, "h": w * 3,
        "i": side.tensor([4, 5, 6]), "b": side.tensor([True, False, True]),
    }  # fmt: skip


def told(value: Any) -> Any:
    """Everything that a result is."""
    if not hasattr(value, "is_leaf"):
        return type(value).__name__, np.asarray(value).tolist()
    node = value.grad_fn.name() if value.grad_fn is not None else None
    numbers = [f"{number:.6g}" for number in value.detach().flatten().tolist()]
    return str(value.dtype), value.shape, numbers, node, value._version


def outcome(side: Any, expression: str, **more: Any) -> Any:
    """The result, or the class of the error."""
    try:
        return told(eval(expression, names(side) | more))
    except Exception as error:
        kinds = (TypeError, RuntimeError, ValueError, IndexError)
        return next((kind.__name__ for kind in kinds if isinstance(error, kind)), "other")


@pytest.fixture(autouse=True)
def quietly() -> Iterator[None]:
    """Numpy tells of a signature of torch's, and torch of slow lists."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("number", NUMBERS, ids=repr)
@pytest.mark.parametrize("expression", NUMBERED)
def test_numbers_of_numpys_count_as_pythons(expression, number):
    """An op takes them, and so do factories; a list that holds one has its dtype."""
    assert outcome(torch, expression, k=number) == outcome(reference_impl, expression, k=number)


@pytest.mark.parametrize("expression", INDEXED)
def test_arrays_stand_in_brackets(expression):
    """Positions and masks may be arrays, sizes and dimensions numpy's integers."""
    assert outcome(torch, expression) == outcome(reference_impl, expression)


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
@pytest.mark.parametrize("expression", MIXED)
def test_an_operator_with_an_array_gives_what_numpy_makes_of_it(expression, array):
    """A tensor that requires grad is refused; what numpy computes becomes a tensor."""
    assert outcome(torch, expression, a=array) == outcome(reference_impl, expression, a=array)


@pytest.mark.parametrize("expression", OPERATORS)
def test_an_operator_does_what_torch_does(expression):
    """Division without remainder has no derivative, though its result requires grad."""
    assert outcome(torch, expression) == outcome(reference_impl, expression)


@pytest.mark.parametrize("statement", WRITES)
def test_an_assignment_with_an_operator_writes_in_place(statement):
    """The name keeps its tensor, whose version counts the write."""
    found = []
    for side in (torch, reference_impl):
        space = names(side) | {"k": side.tensor([True, True, False])}
        before = dict(space)
        exec(statement, space)
        name = statement.split()[0]
        assert space[name] is before[name]
        found.append(told(space[name]))
    assert found[0] == found[1]
