"""``torch.jit``, as with ``PYTORCH_JIT=0``: functions and modules run as they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.session import STATE
from reference_impl.namespace.missing import loading


def script(obj: Any, *settings: Any, **more: Any) -> Any:
    """Return the function, class or module itself."""
    STATE.compiles = True
    return _unsaved(obj)


def trace(func: Any, example_inputs: Any = None, *settings: Any, **more: Any) -> Any:
    """Return the function or module itself; the inputs are not looked at."""
    STATE.compiles = True
    return _unsaved(func)


def trace_module(mod: Any, inputs: Any = None, *settings: Any, **more: Any) -> Any:
    """Return the module itself."""
    return trace(mod)


def _unsaved(given: Any) -> Any:
    """Have a module or function say that what PyTorch would save of it is not there."""

    def save(*args: Any, **named: Any) -> None:
        raise NotModelled("torch.jit.ScriptModule.save")

    if hasattr(given, "__dict__") and not isinstance(given, type) and not hasattr(given, "save"):
        given.__dict__["save"] = save
    return given


def ignore(drop: Any = False, **more: Any) -> Any:
    """Return the function itself, or a decorator that does so."""
    return drop if callable(drop) else lambda function: function


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function itself."""
    return fn


export = script_method = script_if_tracing = unused


def annotate(the_type: Any, the_value: Any) -> Any:
    """Return the value: types are not looked at."""
    return the_value


def is_scripting() -> bool:
    """Return False: nothing is scripted."""
    return False


is_tracing = is_scripting
__getattr__ = loading(__name__)
