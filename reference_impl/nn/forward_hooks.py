"""Hooks around a module's ``forward``: how they are marked and called."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.base.rules import by

Hook = Callable[..., Any]


class Flagged:
    """A hook that is given the keyword arguments too, or that is called even where ``forward`` fails."""

    __slots__ = ("always", "hook", "with_kwargs")

    def __init__(self, hook: Hook, with_kwargs: bool, always: bool) -> None:
        self.hook, self.with_kwargs, self.always = hook, with_kwargs, always

    def __call__(self, module: Any, args: Any, kwargs: Any, *result: Any) -> Any:
        return self.hook(module, args, *[kwargs] * self.with_kwargs, *result)


def flagged(hook: Hook, with_kwargs: bool, always: bool = False) -> Hook:
    """Mark a hook, if there is anything to mark."""
    return Flagged(hook, with_kwargs, always) if with_kwargs or always else hook


def need_mode(mode: Any) -> None:
    """Refuse a training mode that is no bool."""
    if not isinstance(mode, bool):
        raise ValueError("training mode is expected to be boolean")


def before(
    module: Any, hooks: Sequence[Hook], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Call the hooks before ``forward``; return its arguments, which they may replace."""
    for hook in hooks:
        if type(hook) is Flagged:
            given = hook(module, args, kwargs)
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


def after(
    module: Any, hooks: Sequence[Hook], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
) -> Any:
    """Call the hooks after ``forward``; return its result, which they may replace."""
    for at, hook in enumerate(hooks):
        try:
            replaced = _called(hook, module, args, kwargs, result)
        except Exception:
            after_failure(module, hooks[at + 1 :], args, kwargs, result)
            raise
        if replaced is not None and by("nn/forward-hooks-replace"):
            result = replaced
    return result


def after_failure(
    module: Any, hooks: Sequence[Hook], args: tuple[Any, ...], kwargs: dict[str, Any], result: Any = None
) -> None:
    """Call those hooks that are called always; that one fails is but a warning."""
    own = {id(hook) for hook in module._forward_hooks.values()}
    for hook in hooks:
        if type(hook) is Flagged and hook.always:
            try:
                # NB: only a module's own hooks are given the keyword arguments here.
                mine = id(hook) in own
                replaced = hook(module, args, kwargs, result) if mine else hook.hook(module, args, result)
                result = result if replaced is None else replaced
            except Exception as error:
                warnings.warn(
                    f"{'' if mine else 'global '}module forward hook with ``always_call=True`` raised an "
                    f"exception that was silenced as another error was raised in forward: {error}",
                    stacklevel=3,
                )


def _called(hook: Hook, module: Any, args: Any, kwargs: Any, result: Any) -> Any:
    if type(hook) is Flagged:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)
