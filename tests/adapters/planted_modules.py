"""Bugs of everyday kinds planted in real torch: in modes, modules, parameters and optimizers."""

from __future__ import annotations

from typing import Any

import torch
from planting import Wrapper, around, breaks_one_of


@breaks_one_of("mode/restored-after-an-error")
def modes_stay_after_an_error() -> None:
    for manager in (torch.no_grad, torch.enable_grad, torch.set_grad_enabled):

        def leave(own: Wrapper, block: Any, kind: Any, *error: Any) -> None:
            if kind is None:
                own(block, kind, *error)

        around(manager, "__exit__", leave)


@breaks_one_of("mode/set-grad-enabled-acts-at-once")
def set_grad_enabled_waits_for_its_block() -> None:
    class SetGradEnabled(torch.set_grad_enabled):
        def __init__(self, mode: bool) -> None:
            super().__init__(mode)
            torch._C._set_grad_enabled(self.prev)

        def __enter__(self) -> None:
            torch._C._set_grad_enabled(self.mode)

    SetGradEnabled.__name__ = "set_grad_enabled"
    torch.set_grad_enabled = SetGradEnabled


@breaks_one_of("mode/decorator")
def decorators_do_nothing() -> None:
    for manager in (torch.no_grad, torch.enable_grad):
        manager.__call__ = lambda self, function: function


@breaks_one_of("mode/creation-unaffected")
def factories_obey_no_grad() -> None:
    import torch._decomp.decompositions_for_jvp  # forward mode compiles it, with the factories of PyTorch

    def made(own: Wrapper, *args: Any, requires_grad: bool = False, **kwargs: Any) -> torch.Tensor:
        return own(*args, requires_grad=requires_grad and torch.is_grad_enabled(), **kwargs)

    for name in ("tensor", "ones", "zeros", "full"):
        around(torch, name, made)


@breaks_one_of("mode/flag-setting-unaffected")
def flags_obey_no_grad() -> None:
    def requires_grad_(own: Wrapper, x: torch.Tensor, flag: Any = True) -> torch.Tensor:
        return own(x, flag) if torch.is_grad_enabled() or flag is not True else x

    around(torch.Tensor, "requires_grad_", requires_grad_)


@breaks_one_of("nn/parameter-shares")
def parameters_are_copies() -> None:
    def new(own: Wrapper, cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        return own(cls, data.detach().clone() if isinstance(data, torch.Tensor) else data, requires_grad)

    around(torch.nn.Parameter, "__new__", new)
    torch.nn.Parameter.__new__ = staticmethod(torch.nn.Parameter.__new__)


@breaks_one_of("nn/zero-grad-fills-in-place")
def zero_grad_always_forgets() -> None:
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        around(owner, "zero_grad", lambda own, x, *args, **kwargs: own(x, set_to_none=True))


@breaks_one_of("nn/zero-grad-fills-in-place")
def zero_grad_makes_new_zeros() -> None:
    def zero_grad(own: Wrapper, x: Any, set_to_none: bool = True) -> None:
        if set_to_none:
            return own(x)
        groups = getattr(x, "param_groups", None)
        for p in [p for g in groups for p in g["params"]] if groups else x.parameters():
            if p.grad is not None:
                p.grad = torch.zeros_like(p.grad)

    for owner in (torch.optim.Optimizer, torch.nn.Module):
        around(owner, "zero_grad", zero_grad)


@breaks_one_of("optim/step-is-a-write")
def steps_are_not_counted() -> None:
    def step(own: Wrapper, optimizer: Any, closure: Any = None) -> Any:
        kept = [x for group in optimizer.param_groups for x in group["params"]]
        with torch.autograd._unsafe_preserve_version_counter(tuple(kept)):
            return own(optimizer, closure)

    around(torch.optim.SGD, "step", step)


@breaks_one_of("optim/skips-what-has-no-grad")
def missing_grads_are_zeros() -> None:
    def step(own: Wrapper, optimizer: Any, closure: Any = None) -> Any:
        bare = [x for group in optimizer.param_groups for x in group["params"] if x.grad is None]
        for x in bare:
            x.grad = torch.zeros_like(x)
        try:
            return own(optimizer, closure)
        finally:
            for x in bare:
                x.grad = None

    around(torch.optim.SGD, "step", step)


@breaks_one_of("optim/momentum-is-its-own")
def momentum_is_the_grad() -> None:
    def step(own: Wrapper, optimizer: Any, closure: Any = None) -> Any:
        result = own(optimizer, closure)
        for group in optimizer.param_groups:
            for x in group["params"]:
                state = optimizer.state.get(x, {})
                if x.grad is not None and isinstance(state.get("momentum_buffer"), torch.Tensor):
                    x.grad = state["momentum_buffer"]
        return result

    around(torch.optim.SGD, "step", step)


@breaks_one_of("nn/state-is-detached")
def state_is_not_detached() -> None:
    around(
        torch.nn.Module,
        "state_dict",
        lambda own, module, *args, **kwargs: own(module, *args, **kwargs | {"keep_vars": True}),
    )


@breaks_one_of("inference/makes-inference-tensors")
def inference_mode_is_no_grad() -> None:
    torch.inference_mode = lambda mode=True: torch.no_grad() if mode else torch.enable_grad()
