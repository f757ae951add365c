"""The reference computes inf and nan without a word, as torch does: numpy's warnings do not reach users."""

from __future__ import annotations

import numpy as np
import pytest

import reference_impl as torch

F = torch.nn.functional
OUT_OF_RANGE = [
    "torch.tensor(1e300)",
    "torch.tensor([0.0, 1.0]) / 0",
    "torch.tensor([-1.0]).log()",
    "torch.tensor([1e30]).mul_(1e30)",
    "torch.tensor([1e30]).half()",
    "torch.tensor([float('nan')]).long()",
    "torch.tensor([1e30]) @ torch.tensor([1e30])",
    "torch.tensor([]).mean()",
    "torch.tensor([]).std()",
    "F.softmax(torch.tensor([-float('inf')]), 0)",
    "F.layer_norm(torch.ones(2, 0), (0,))",
    "F.batch_norm(torch.ones(0, 3), None, None, training=True)",
    "[torch.tensor(0.0, requires_grad=True).sqrt().backward()]",
    "[sum(x * 3e38 for _ in range(3)).backward() for x in [torch.tensor(1.0, requires_grad=True)]]",
]


@pytest.mark.parametrize("call", OUT_OF_RANGE)
def test_numbers_out_of_range_are_no_warning(call):
    """Results that are inf or nan come without a warning; here each warning is an error."""
    assert eval(call) is not None


def test_numpy_warns_where_it_did():
    """Between calls, numpy warns its users as they chose."""
    torch.tensor([1.0]) / 0
    assert np.geterr()["divide"] == "warn"
