"""Functions that are no ops refuse anything but tensors where their annotations ask for them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from reference_impl.core.tensor import Tensor

_TOLD = {"x": "input", "y": "other"}
"""PyTorch's names of parameters that are called otherwise here."""


def needing_tensors(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make a function refuse other arguments for its parameters that are annotated as tensors."""
    if not inspect.isfunction(function):
        return function
    params = list(inspect.signature(function).parameters.values())
    needed = [(at, p.name) for at, p in enumerate(params) if p.annotation == "Tensor" and p.kind is _PLAIN]
    or_none = [(at, p.name) for at, p in enumerate(params) if p.annotation == "Tensor | None"]
    if not needed and not or_none:
        return function

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        count = len(args)
        for at, own in needed:
            if at < count or own in kwargs:
                given = args[at] if at < count else kwargs[own]
                if not isinstance(given, Tensor):
                    _refuse(name, own, at, given)
        for at, own in or_none:
            given = args[at] if at < count else kwargs.get(own)
            if not (given is None or isinstance(given, Tensor)):
                _refuse(name, own, at, given)
        return function(*args, **kwargs)

    return called


_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _refuse(name: str, own: str, at: int, given: Any) -> None:
    told = _TOLD.get(own, own)
    raise TypeError(
        f"{name}(): argument '{told}' (position {at + 1}) must be Tensor, not {type(given).__name__}"
    )
