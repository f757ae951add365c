"""Functions of two operands that PyTorch lets be numbers both: ``torch.add(2, 3)``."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.namespace.factories import tensor
from specs.kind import NUMBERS


def taking_numbers(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a function of two operands put the first of two numbers into a tensor."""

    @wraps(function)
    def called(*args: Any, **named: Any) -> Tensor:
        if len(args) == 2 and isinstance(args[0], NUMBERS) and isinstance(args[1], NUMBERS):
            args = tensor(args[0]), tensor(args[1])
        return function(*args, **named)

    return called
