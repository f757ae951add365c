"""Functions that are no ops: where their results are, and for how many these stand."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

from reference_impl.base.device import making_on, place_of
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import marking

NUMPY = {"axis": "dim", "keepdims": "keepdim"}
"""The parameters that numpy's users call by other names."""


def names_of(function: Callable[..., Any]) -> dict[str, str]:
    """The parameters of a function by the names that callers may use: numpy's, and PyTorch's for operands."""
    if "y" in signature(function).parameters:
        return NUMPY | {"other": "y"}
    return NUMPY


def like_its_operands(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function whose new memory is on the device of its first tensor; it takes numpy's keywords.

    Within a map its result stands for many if a tensor among its arguments does.
    """
    within_a_map = marking(function)
    own = names_of(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            kwargs = {own.get(name, name): value for name, value in kwargs.items()}
            if "input" in kwargs and not args:
                args = (kwargs.pop("input"),)
        run = within_a_map if STATE.transforms else function
        if not STATE.devices:
            return run(*args, **kwargs)
        with making_on(next((place_of(x) for x in args if isinstance(x, Tensor)), None)):
            return run(*args, **kwargs)

    return called


def naming_input(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be given its first operand as ``input``."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if "input" in kwargs and not args:
            args = (kwargs.pop("input"),)
        return function(*args, **kwargs)

    return called
