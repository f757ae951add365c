"""Hooks that optimizers call around each step, and around saving and loading."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any


def hooked(step: Callable[..., Any]) -> Callable[..., Any]:
    """Make the ``step`` of a class of optimizers that calls their hooks."""

    @wraps(step)
    def around(*args: Any, **kwargs: Any) -> Any:
        own = args[0]
        for hook in tuple(own._optimizer_step_pre_hooks.values()):
            changed = hook(own, args, kwargs)
            if changed is not None:
                if not (isinstance(changed, tuple) and len(changed) == 2):
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                args, kwargs = changed
        out = step(*args, **kwargs)
        for hook in tuple(own._optimizer_step_post_hooks.values()):
            hook(own, args, kwargs)
        return out

    around.hooked = True  # type: ignore[attr-defined]  # so that a class gets it once
    return around


def called_on(hooks: dict[int, Callable[..., Any]], optimizer: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Have hooks look at a state, of which each may return another."""
    for hook in hooks.values():
        changed = hook(optimizer, state)
        state = state if changed is None else changed
    return state
