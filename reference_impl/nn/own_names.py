"""Functions that classes share: under the name of each class, which Python's errors tell, and as they are in
force.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from reference_impl.nn import functional


def in_force(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what `functional` holds by the name of a function now: autocast puts others in their places."""
    found: Callable[..., Any] = getattr(functional, function.__name__, function)
    return found


def under_own_name(made: Any, name: str) -> None:
    """Give a class a copy of a function that it inherits, as if it had defined it."""
    shared = getattr(made, name)
    own = FunctionType(
        shared.__code__, shared.__globals__, shared.__name__, shared.__defaults__, shared.__closure__
    )
    own.__kwdefaults__, own.__doc__ = shared.__kwdefaults__, shared.__doc__
    own.__annotations__, own.__module__ = shared.__annotations__, shared.__module__
    own.__qualname__ = f"{made.__name__}.{name}"
    setattr(made, name, own)
