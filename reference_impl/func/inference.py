"""Transforms in inference mode, which they leave, and of inference tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from reference_impl.base.modes import inference_mode
from reference_impl.base.session import STATE
from reference_impl.func.trees import flat, like


def out_of_inference(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a transform leave inference mode, but not change the grad mode."""

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not STATE.inference:
            return function(*args, **kwargs)
        enabled = STATE.enabled
        with inference_mode(False):
            STATE.enabled = enabled
            return function(*args, **kwargs)

    return called


def normal(tree: Any) -> Any:
    """Return an argument with tensors that can be saved for its inference tensors."""
    found = flat(tree)
    return like(tree, [x.clone() for x in found]) if any(x.is_inference() for x in found) else tree
