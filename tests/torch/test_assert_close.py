"""``torch.testing.assert_close`` tells what differs, and is told what to look at, as torch's is."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import reference_impl

CALLS = [
    "x, x.clone()",
    "x, x + 1e-7",
    "x, x + 1",
    "x, x[:1]",
    "x, x.double()",
    "x, x.double(), check_dtype=False",
    "x, x.t().contiguous().t()",
    "x, x.t().contiguous().t(), check_stride=True",
    "x, x + 1, rtol=0, atol=2",
    "x, x + 1, msg='told'",
    "x, x[:1], msg=lambda text: 'told: ' + text",
    "[x, x], [x, x + 1]",
    "[x], [x, x]",
    "{'a': x}, {'a': x[:1]}",
    "1.0, 1.0",
    "x, x, check_dtpye=False",
]


def _told(side: Any, arguments: str) -> str:
    """Return the kind of error and the first line of what it says, and where; nothing if there is none."""
    x = side.tensor([[1.0, 2.0], [3.0, 5.0]])
    try:
        eval(f"close({arguments})", {"close": side.testing.assert_close, "x": x})
    except AssertionError as error:
        lines = str(error).split("\n")
        return f"{lines[0]} {lines[-1] if 'item' in lines[-1] else ''}"
    except TypeError:
        return "TypeError"
    return ""


@pytest.mark.parametrize("arguments", CALLS)
def test_differences_are_told_as_by_torch(arguments: str) -> None:
    assert _told(reference_impl, arguments) == _told(torch, arguments)
