"""More bugs planted in real torch: in calls of the engine, custom functions and what they keep."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import torch
from planting import Wrapper, around, breaks, filled_by


@breaks("function/dirty-is-rewritten")
def mark_dirty_ignored() -> None:
    around(torch.autograd.function.FunctionCtx, "mark_dirty", lambda own, ctx, *tensors: None)


@breaks("detach/needs-no-grad")
def detach_keeps_the_flag() -> None:
    def detach(own: Wrapper, x: torch.Tensor) -> torch.Tensor:
        return own(x).requires_grad_() if x.requires_grad else own(x)

    around(torch.Tensor, "detach", detach)


@breaks("backward/frees-saved")
def graphs_are_never_freed() -> None:
    def backward(
        own: Wrapper, roots: Any, gradients: Any = None, retain: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        kwargs.pop("retain_graph", None)
        own(roots, gradients, True, *args, **kwargs)

    def grad(
        own: Wrapper,
        outputs: Any,
        inputs: Any,
        given: Any = None,
        retain: Any = None,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        kwargs.pop("retain_graph", None)
        return own(outputs, inputs, kwargs.pop("grad_outputs", given), True, *args, **kwargs)

    around(torch.autograd, "backward", backward)
    around(torch.autograd, "grad", grad)


@breaks("grad/accumulates-in-place")
def grads_accumulate_out_of_place() -> None:
    def backward(own: Wrapper, roots: Any, *args: Any, **kwargs: Any) -> None:
        before = [(x, x.grad, x.grad.clone()) for x in filled_by(roots) if x.grad is not None]
        try:
            own(roots, *args, **kwargs)
        finally:
            for x, grad, old in before:
                if x.grad is grad and not grad.requires_grad and not torch.equal(grad, old):
                    x.grad = grad.clone()
                    grad.data.copy_(old)

    around(torch.autograd, "backward", backward)


@breaks("grad_call/unused-refused")
def unused_inputs_allowed() -> None:
    def grad(own: Wrapper, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("allow_unused") is None:
            kwargs["allow_unused"] = True
        return own(*args, **kwargs)

    around(torch.autograd, "grad", grad)


@breaks("backward/gradient-shape")
def gradients_are_broadcast() -> None:
    def backward(own: Wrapper, root: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        if isinstance(root, torch.Tensor) and isinstance(gradient, torch.Tensor):
            with suppress(RuntimeError):  # where it does not fit, it is refused, as it should be
                gradient = gradient.expand(root.shape)
        own(root, gradient, *args, **kwargs)

    around(torch.autograd, "backward", backward)


@breaks("backward/implicit-needs-scalar")
def gradients_are_ones_by_default() -> None:
    def backward(own: Wrapper, root: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        alone = isinstance(root, torch.Tensor) and root.requires_grad and not root.is_complex()
        if alone and gradient is None and root.numel() != 1:
            gradient = torch.ones_like(root, requires_grad=False)
        own(root, gradient, *args, **kwargs)

    around(torch.autograd, "backward", backward)


@breaks("backward/retain-follows-create-graph")
def graphs_are_freed_under_create_graph() -> None:
    def backward(
        own: Wrapper, roots: Any, gradients: Any = None, retain: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        own(roots, gradients, bool(kwargs.pop("retain_graph", retain)), *args, **kwargs)

    around(torch.autograd, "backward", backward)


@breaks("view/reshape-copies-when-it-must")
def reshape_always_copies() -> None:
    def reshape(own: Wrapper, x: torch.Tensor, *shape: Any, **kwargs: Any) -> torch.Tensor:
        made = own(x, *shape, **kwargs)
        if made is x or made.data_ptr() != x.data_ptr() or not x.numel():
            return made
        return torch.ops.aten._unsafe_view(x.clone(memory_format=torch.contiguous_format), made.shape)

    around(torch.Tensor, "reshape", reshape)


@breaks("function/once-differentiable")
def functions_may_be_differentiated_twice() -> None:
    torch.autograd.function.once_differentiable = lambda backward: backward
