"""Functions on dtypes that few call them on: the reference gives what torch gives, or refuses, too."""

from __future__ import annotations

from typing import Any

import pytest

import reference_impl

torch = pytest.importorskip("torch")

EXPRESSIONS = """
torch.float_power(torch.tensor([1 + 2j]), 2).dtype
torch.vander(torch.tensor([1, 2, 3], dtype=torch.uint8))
torch.vander(torch.tensor([True, False]))
torch.tensor([True, True, False]).diff()
torch.repeat_interleave(torch.tensor([2, 0, 1]))
torch.zeros(2).long().index_add(0, torch.tensor([0, 1]), torch.tensor([1, 2]), alpha=2)
torch.nn.functional.avg_pool1d(torch.tensor([[[1, 2, 4, 5, -3, -4]]]), 2)
torch.tensor([[1, 2], [3, 5]]).cov()
torch.tensor([1.0, float("nan"), float("inf")], dtype=torch.bfloat16).nan_to_num()
torch.linalg.matrix_norm(torch.ones(2, 2).half())
torch.tensor([1 + 2j, 3 - 1j]).var()
torch.tensor([1 + 2j, 3]).argmax()
torch.tensor([True, False]).argmin(0)
torch.tensor([1 + 2j, 3]).argsort()
torch.unique(torch.tensor([1 + 2j, 3]))
torch.isin(torch.tensor([True]), torch.tensor([True]))
torch.bincount(torch.tensor([True]))
torch.histc(torch.tensor([1, 2]))
torch.nextafter(torch.tensor([1]), torch.tensor([2]))
torch.gcd(torch.tensor([1.0]), torch.tensor([2.0]))
torch.signbit(torch.tensor([1j]))
torch.isposinf(torch.tensor([1j]))
torch.hypot(torch.tensor([1]), torch.tensor([2]))
torch.tensor([1]).frac()
torch.tensor([1, 2]).quantile(0.5)
torch.multinomial(torch.tensor([1, 2]), 1)
torch.repeat_interleave(torch.tensor([1.0]))
torch.add(torch.ones(1), torch.ones(1), alpha=1j)
"""


def found(namespace: Any, expression: str) -> Any:
    """The dtype and elements of a result, or that it is refused; classes differ between releases of torch."""
    try:
        result = eval(expression, {"torch": namespace})
    except (RuntimeError, TypeError):
        return "refused"
    return str(getattr(result, "dtype", "")), str(result.tolist() if hasattr(result, "tolist") else result)


@pytest.mark.parametrize("expression", EXPRESSIONS.split("\n")[1:-1])
def test_a_dtype_is_taken_or_refused_as_in_torch(expression: str) -> None:
    """The same elements of the same dtype, or neither has any."""
    assert found(torch, expression) == found(reference_impl, expression)
