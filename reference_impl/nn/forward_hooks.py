"""Hooks around a module's ``forward``: how they are attached and called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.not_modelled import refuse_unless_default
from reference_impl.base.rules import by
from reference_impl.core.hooks import Hooks, RemovableHandle, attach


class WithKeywords:
    """A hook that is given the keyword arguments too."""

    __slots__ = ("hook",)

    def __init__(self, hook: Callable[..., Any]) -> None:
        self.hook = hook


def need_mode(mode: Any) -> None:
    """Refuse a training mode that is no bool."""
    if not isinstance(mode, bool):
        raise ValueError("training mode is expected to be boolean")


def attach_around(
    hooks: Hooks, hook: Callable[..., Any], prepend: bool, with_kwargs: bool, **more: Any
) -> RemovableHandle:
    """Put a hook at the end of ``hooks``, or before all others."""
    refuse_unless_default("nn.Module.register_forward_hook", more, always_call=False)
    return attach(hooks, WithKeywords(hook) if with_kwargs else hook, prepend)  # type: ignore[arg-type]


def before(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Call the hooks before ``forward``; return its arguments, which they may replace."""
    for hook in list(module._forward_pre_hooks.values()):
        if type(hook) is WithKeywords:
            given = hook.hook(module, args, kwargs)
            if given is not None:
                if not (isinstance(given, tuple) and len(given) == 2):
                    raise RuntimeError(
                        f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {given}."
                    )
                args, kwargs = given
        elif (given := hook(module, args)) is not None and by("nn/forward-hooks-replace"):
            args = given if isinstance(given, tuple) else (given,)
    return args, kwargs


def after(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> Any:
    """Call the hooks after ``forward``; return its result, which they may replace."""
    for hook in list(module._forward_hooks.values()):
        if type(hook) is WithKeywords:
            replaced = hook.hook(module, args, kwargs, result)
        else:
            replaced = hook(module, args, result)
        if replaced is not None and by("nn/forward-hooks-replace"):
            result = replaced
    return result
