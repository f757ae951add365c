"""Bugs of everyday kinds planted in real torch: in custom functions and what they keep."""

from __future__ import annotations

from typing import Any

import torch
from planting import Wrapper, around, breaks_one_of
from torch.autograd.function import FunctionCtx


def applying(change: Wrapper) -> None:
    """Change custom functions before they are applied: ``change`` is given the class and its arguments."""
    own = torch.autograd.Function.__dict__["apply"].__func__

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return own(change(cls, args), *args, **kwargs)

    torch.autograd.Function.apply = classmethod(apply)  # type: ignore[method-assign]


_CHANGED: dict[Any, Any] = {}


def with_backward(backward: Wrapper) -> None:
    """Replace the backward of custom functions: by one that is given it, the context and the gradients."""

    def change(cls: Any, args: Any) -> Any:
        if "backward" not in cls.__dict__:
            return cls
        own = cls.backward
        if getattr(own, "planted", False):
            return cls

        def changed(ctx: Any, *grads: Any) -> Any:
            return backward(own, ctx, *grads)

        changed.planted = True  # type: ignore[attr-defined]
        cls.backward = staticmethod(changed)
        return cls

    applying(change)


@breaks_one_of("function/undefined-may-stay-none")
def set_materialize_grads_ignored() -> None:
    around(FunctionCtx, "set_materialize_grads", lambda own, ctx, value: None)


@breaks_one_of("function/non-differentiable")
def mark_non_differentiable_ignored() -> None:
    around(FunctionCtx, "mark_non_differentiable", lambda own, ctx, *args: None)


@breaks_one_of("save/modified-refused")
def functions_save_copies() -> None:
    def save(own: Wrapper, ctx: Any, *tensors: Any) -> None:
        with torch.enable_grad():
            own(ctx, *(x.clone() if isinstance(x, torch.Tensor) else x for x in tensors))

    around(FunctionCtx, "save_for_backward", save)


@breaks_one_of("function/gradients-count")
def surplus_gradients_are_dropped() -> None:
    def backward(own: Wrapper, ctx: Any, *grads: Any) -> Any:
        found = own(ctx, *grads)
        return found[: len(ctx.needs_input_grad)] if isinstance(found, tuple) else found

    with_backward(backward)


@breaks_one_of("function/no-gradient-for-others")
def gradients_for_numbers_are_dropped() -> None:
    def backward(own: Wrapper, ctx: Any, *grads: Any) -> Any:
        found = own(ctx, *grads)
        if not isinstance(found, tuple) or len(found) != len(ctx.needs_input_grad):
            return found
        return tuple(g if needs else None for g, needs in zip(found, ctx.needs_input_grad, strict=True))

    with_backward(backward)


@breaks_one_of("function/once-differentiable")
def once_differentiable_ignored() -> None:
    torch.autograd.function.once_differentiable = lambda function: function


@breaks_one_of("function/backward-gives-the-gradients")
def results_of_backward_are_negated() -> None:
    def backward(own: Wrapper, ctx: Any, *grads: Any) -> Any:
        found = own(ctx, *grads)
        if isinstance(found, tuple):
            return tuple(-g if isinstance(g, torch.Tensor) else g for g in found)
        return -found if isinstance(found, torch.Tensor) else found

    with_backward(backward)
