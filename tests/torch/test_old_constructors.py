"""The constructors from before factories make what torch's make, and refuse the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import reference_impl

EXPRESSIONS = """
torch.Tensor(2, 3).shape
torch.Tensor([[1, 2], [3, 4]])
torch.Tensor(torch.Size([2])).shape
torch.Tensor((2, 3))
torch.Tensor(range(3))
torch.Tensor(np.ones(2))
torch.Tensor(np.int64(3)).shape
torch.Tensor([True])
torch.Tensor([torch.tensor(1.0), 2.0])
torch.Tensor(torch.tensor(2), torch.tensor(1)).shape
torch.Tensor()
torch.Tensor(0).shape
torch.Tensor(2, 3, device="cpu").shape
torch.Tensor(2, device=None).shape
torch.Tensor(data=[1.0])
torch.Tensor(size=(2,)).shape
torch.Tensor(other=x)
torch.Tensor(x).requires_grad, torch.Tensor(x).is_leaf
torch.Tensor(i)
torch.Tensor(d)
torch.Tensor(torch.tensor(3)).shape
torch.Tensor(3.5)
torch.Tensor("a")
torch.Tensor(b"ab")
torch.Tensor(True)
torch.Tensor(None)
torch.Tensor(-1)
torch.Tensor({})
torch.Tensor({1, 2})
torch.Tensor(each for each in range(3))
torch.Tensor(np.float32(3))
torch.Tensor([1 + 2j])
torch.Tensor([[1], [2, 3]])
torch.Tensor(2, 3.0)
torch.Tensor(2, [3])
torch.Tensor(2, None)
torch.Tensor(1.5, 2)
torch.Tensor(True, 2)
torch.Tensor([1], [2])
torch.Tensor([1], 2)
torch.Tensor(x, 2)
torch.Tensor(2, x)
torch.Tensor(2, size=3)
torch.Tensor(size=3)
torch.Tensor(size=[2.5])
torch.Tensor(data=3)
torch.Tensor(data=x)
torch.Tensor(other=[1])
torch.Tensor([1.0], device="cuda")
torch.Tensor(x, device="cpu")
torch.Tensor([1.0], requires_grad=True)
torch.Tensor([1.0], dtype=torch.float32)
torch.Tensor(dtype=torch.float64)
torch.FloatTensor(x)
torch.FloatTensor(i)
torch.FloatTensor([x])
torch.FloatTensor(2, requires_grad=True)
torch.DoubleTensor(d)
torch.DoubleTensor(x)
torch.LongTensor([1.5, 2])
torch.LongTensor(torch.tensor(3)).shape
torch.BoolTensor([0, 2])
torch.HalfTensor([1.5])
torch.FloatTensor.dtype, torch.FloatTensor.__name__
x.new(2).shape
x.new()
x.new([1, 2])
x.new(data=[1])
x.new([1.0], device="cpu")
x.new(x).requires_grad
x.new(d)
x.new(x, device="cpu")
x.new(3.5)
i.new([1.5])
torch.autograd.Variable([1.0])
torch.autograd.Variable(d, requires_grad=True).is_leaf
torch.nn.Parameter([1.0])
isinstance(x, torch.FloatTensor), isinstance(d, torch.FloatTensor), isinstance(3, torch.FloatTensor)
isinstance(torch.nn.Parameter(x), torch.FloatTensor)
x.type(torch.DoubleTensor).dtype
torch.set_default_tensor_type(torch.LongTensor)
torch.set_default_tensor_type(torch.float64)
torch.set_default_tensor_type(torch.DoubleTensor), torch.Tensor([1.0]).dtype
torch.set_default_tensor_type("torch.FloatTensor"), torch.Tensor([1.0]).dtype
"""


def found(side: Any, expression: str) -> str:
    """The text of an expression's result, or the built-in kind of its error."""
    names = {
        "torch": side,
        "np": np,
        "x": side.tensor([1.0, 2.0], requires_grad=True),
        "d": side.ones(2, dtype=side.float64),
        "i": side.tensor([1, 2]),
    }
    try:
        return repr(eval(expression, names))
    except Exception as error:
        return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
    finally:
        side.set_default_dtype(side.float32)


@pytest.mark.parametrize("expression", EXPRESSIONS.strip().split("\n"))
def test_old_constructors_are_torchs(expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found(torch, expression) == found(reference_impl, expression)
