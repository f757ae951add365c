"""``var`` and ``std``, alone and with the mean, take the arguments that torch's take, and no others."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

import reference_impl

ARGUMENTS = """
m
m, 0
m, -1
m, 2
m, (0, 0)
m, ()
m, []
m, [0, -1], False
m, 0, True, True
m, None, True, False
m, False
m, True, False
m, 0, 1.5
m, 0, None
m, "a"
m, unbiased=False
m, unbiased=0
m, dim=0, unbiased=True
m, 0, unbiased=False, keepdim=True
m, unbiased=False, keepdim=True
m, 0, keepdim=1
m, 0, correction=1, unbiased=True
m, 0, False, correction=1
m, correction=None
m, correction=0.5
m, correction=5
m, axis=0, keepdims=True
m[:0], 0
m[:0]
m * (1 + 1j)
m.long()
input=m
m, 0, dim=0
torch.tensor(3.0)
torch.tensor(3.0), 0
torch.tensor(3.0), 1
"""


def found(side: Any, name: str, arguments: str) -> Any:
    """The shapes and elements of what a call gives, or the built-in kind of its error."""
    m = side.tensor([[1.0, 2.0], [3.0, 5.0]])
    try:
        results = eval(f"torch.{name}({arguments})", {"torch": side, "m": m})
    except Exception as error:
        return next(
            kind.__name__ for kind in type(error).__mro__ if kind in (TypeError, RuntimeError, IndexError)
        )
    results = results if isinstance(results, tuple) else (results,)
    return [(tuple(each.shape), repr(each.tolist())) for each in results]


@pytest.mark.parametrize("arguments", ARGUMENTS.strip().split("\n"))
@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_arguments_are_torchs(name: str, arguments: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found(torch, name, arguments) == found(reference_impl, name, arguments)
