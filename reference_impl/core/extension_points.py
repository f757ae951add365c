"""Extension points: functions through which the core asks about what its plain account leaves out.

Each function here is the core's own answer. `fidelity` puts another in its place with `fill`, to imitate
the rarer conduct of PyTorch. Call them through the module (``extension_points.on_failure(...)``); never
import one by name, which would miss the replacement. `core_alone` undoes the replacements for a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

# -- backward --------------------------------------------------------------------------------------


def on_hook_call() -> None:
    """Note that the running node calls a hook."""


def on_failure(task: Any) -> None:
    """Note that a backward raised; may raise `Unspecified` instead."""


# -- tensors ---------------------------------------------------------------------------------------


def on_read(tensor: Any) -> None:
    """Note that Python is about to read a tensor's elements; may refuse."""


def on_numpy(tensor: Any) -> None:
    """Note that numpy is about to share a tensor's memory; may refuse."""


# -- the rest is machinery -------------------------------------------------------------------------

_filled: dict[str, Callable[..., Any]] = {}


def fill(function: F) -> F:
    """Put ``function`` in place of the extension point of its name."""
    name = function.__name__
    if name not in _DEFAULTS:
        raise TypeError(f"the core has no extension point {name!r}")
    _filled[name] = globals()[name] = function
    return function


@contextmanager
def core_alone() -> Iterator[None]:
    """Run the block on the core alone: every extension point at its default."""
    globals().update(_DEFAULTS)
    try:
        yield
    finally:
        globals().update(_filled)


_DEFAULTS = {
    name: value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and name not in ("fill", "core_alone")
}
