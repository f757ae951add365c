"""Bugs of everyday kinds planted in real torch: in hooks on leaves, on results and on saved tensors."""

from __future__ import annotations

from typing import Any

import torch
from planted_hooks import saving
from planting import Wrapper, around, breaks_one_of


@breaks_one_of("hook/post-accumulate-sees-the-grad", "hook/post-accumulate-returns-none")
def hooks_of_leaves_run_before_accumulation() -> None:
    def register(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        if not (x.is_leaf and x.requires_grad):
            return own(x, hook)

        def early(grad: Any) -> None:
            hook(x)

        return x.register_hook(early)

    around(torch.Tensor, "register_post_accumulate_grad_hook", register)


@breaks_one_of("hook/undefined-is-none")
def hooks_without_a_gradient_are_skipped() -> None:
    def register_hook(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        return own(x, lambda grad: None if grad is None else hook(grad))

    around(torch.Tensor, "register_hook", register_hook)


@breaks_one_of("hook/keeps-shape")
def results_of_hooks_are_broadcast() -> None:
    def register_hook(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        def fitted(grad: Any) -> Any:
            result = hook(grad)
            if grad is None or not isinstance(result, torch.Tensor) or result.dtype != grad.dtype:
                return result
            return result if result.shape == grad.shape else result.expand(grad.shape)

        return own(x, fitted)

    around(torch.Tensor, "register_hook", register_hook)


@breaks_one_of("hook/needs-requires-grad")
def hooks_on_plain_tensors_allowed() -> None:
    def register_hook(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        if x.requires_grad:
            return own(x, hook)
        return torch.utils.hooks.RemovableHandle({})

    around(torch.Tensor, "register_hook", register_hook)


@breaks_one_of("saved_hooks/innermost-alone")
def outer_saved_hooks_are_called_too() -> None:
    outer: list[Any] = []
    kind = torch.autograd.graph.saved_tensors_hooks

    def enter(own: Wrapper, block: Any) -> None:
        outer.append(block)
        own(block)

    def leave(own: Wrapper, block: Any, *error: Any) -> None:
        outer.pop()
        own(block, *error)

    def begin(own: Wrapper, block: Any, pack: Wrapper, unpack: Wrapper) -> None:
        def packed(x: Any) -> Any:
            for each in outer:
                if each is not block:
                    each.pack_hook(x)
            return pack(x)

        own(block, packed, unpack)

    around(kind, "__init__", begin)
    around(kind, "__enter__", enter)
    around(kind, "__exit__", leave)


@breaks_one_of("saved_hooks/pack-and-unpack")
def tensors_are_never_unpacked() -> None:
    saving(lambda pack, unpack: (lambda x: (pack(x), x)[1], lambda x: x))


@breaks_one_of("edge/hook-of-all")
def hooks_of_all_are_called_for_each() -> None:
    def register(own: Wrapper, tensors: Any, hook: Wrapper, *, mode: str = "all") -> Any:
        return own(tensors, (lambda gs: [hook(gs) for _ in gs]) if mode == "all" else hook, mode=mode)

    around(torch.autograd.graph, "register_multi_grad_hook", register)
