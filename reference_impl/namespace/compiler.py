"""``torch.compile`` and ``torch.compiler``, as with ``TORCHDYNAMO_DISABLE=1``: all runs as it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.session import STATE
from reference_impl.namespace.missing import loading


def compile(model: Any = None, **settings: Any) -> Any:
    """Return the function or module itself; without one, a decorator that does so."""
    STATE.compiles = True
    if model is not None and not callable(model):
        raise TypeError(f"torch.compile takes a function or a module, not {type(model).__name__}")
    return (lambda function: function) if model is None else model


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, **settings: Any) -> Any:
    """Return the function itself; without one, a decorator that does so."""
    return (lambda function: function) if fn is None else fn


def is_compiling() -> bool:
    """Return False: nothing is compiled."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def reset() -> None:
    """Do nothing: no compiled code is kept."""


cudagraph_mark_step_begin = reset
__getattr__ = loading(__name__)
