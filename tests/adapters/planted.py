"""Real torch with one bug each: ``planted:having.NAME`` for a name of BUGS, graded against the reference.

A bug is patched into torch in the process that its adapter lives in.
"""

from __future__ import annotations

from typing import Any

import planted_calls  # noqa: F401 - registers bugs of its own
import planted_hooks  # noqa: F401 - as that does
import torch
from planting import BUGS, WRITES, Adapters, Wrapper, around, breaks, filled_by


@breaks("version/shared-by-detach")
def detach_with_a_counter_of_its_own() -> None:
    around(torch.Tensor, "detach", lambda own, x: x.data)


@breaks("retain/leaf-is-noop")
def retain_grad_on_a_leaf_refused() -> None:
    def retain_grad(own: Wrapper, x: torch.Tensor) -> None:
        if x.is_leaf:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        own(x)

    around(torch.Tensor, "retain_grad", retain_grad)


@breaks("grad/stolen-when-alone")
def first_grad_copied() -> None:
    def backward(own: Wrapper, roots: Any, *args: Any, **kwargs: Any) -> None:
        fresh = [x for x in filled_by(roots) if x.grad is None]
        try:
            own(roots, *args, **kwargs)
        finally:
            for x in fresh:
                if x.grad is not None and not x.grad.requires_grad:
                    x.grad = x.grad.clone()

    around(torch.autograd, "backward", backward)


@breaks("version/set-data-keeps")
def assigning_data_counts_as_a_write() -> None:
    own = torch.Tensor.data

    def assign(x: torch.Tensor, value: torch.Tensor) -> None:
        own.__set__(x, value)
        torch.autograd.graph.increment_version(x)

    torch.Tensor.data = property(lambda x: own.__get__(x), assign)


@breaks("backward/retain-graph-keeps")
def retain_graph_ignored() -> None:
    def backward(
        own: Wrapper, roots: Any, gradients: Any = None, retain: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        kwargs.pop("retain_graph", None)
        own(roots, gradients, None, *args, **kwargs)

    around(torch.autograd, "backward", backward)


@breaks("grad/accumulates")
def grad_overwritten() -> None:
    def backward(own: Wrapper, roots: Any, *args: Any, **kwargs: Any) -> None:
        filled = filled_by(roots) if kwargs.get("inputs") is None else []
        before = [(x, x.grad) for x in filled if x.grad is not None]
        for x, _ in before:
            x.grad = None
        try:
            own(roots, *args, **kwargs)
        finally:
            for x, grad in before:
                x.grad = grad if x.grad is None else x.grad

    around(torch.autograd, "backward", backward)


@breaks("mode/restored-at-exit")
def no_grad_leaks() -> None:
    torch.no_grad.__exit__ = lambda self, *error: None  # type: ignore[method-assign]


@breaks("detach/view-refused")
def detach_of_views_in_place_allowed() -> None:
    around(torch.Tensor, "detach_", lambda own, x: x if x._is_view() else own(x))


@breaks("hook/result-replaces")
def results_of_hooks_ignored() -> None:
    def register_hook(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        def ignored(grad: Any) -> Any:
            result = hook(grad)
            fits = grad is not None and getattr(result, "shape", None) == grad.shape
            return None if fits and result.dtype == grad.dtype else result

        return own(x, ignored)

    around(torch.Tensor, "register_hook", register_hook)


@breaks("hook/once-for-each-gradient")
def hooks_called_twice() -> None:
    def register_hook(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        def twice(grad: Any) -> Any:
            hook(grad)
            return hook(grad)

        return own(x, twice)

    around(torch.Tensor, "register_hook", register_hook)


@breaks("nn/zero-grad-forgets")
def zero_grad_does_nothing() -> None:
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        around(owner, "zero_grad", lambda own, *args, **kwargs: None)


@breaks("requires_grad/non-leaf-cannot-drop")
def flag_of_a_non_leaf_dropped() -> None:
    def requires_grad_(own: Wrapper, x: torch.Tensor, flag: Any = True) -> torch.Tensor:
        return x if flag is False and not x.is_leaf else own(x, flag)

    around(torch.Tensor, "requires_grad_", requires_grad_)
    own = torch.Tensor.requires_grad

    def assign(x: torch.Tensor, flag: Any) -> None:
        if flag is not False or x.is_leaf:
            own.__set__(x, flag)

    torch.Tensor.requires_grad = property(lambda x: own.__get__(x), assign)


def tagless(view: torch.Tensor) -> bool:
    """Tell whether a view may be written to."""
    return torch._C._autograd._get_creation_meta(view) == torch._C._autograd.CreationMeta.DEFAULT


@breaks("write/rewrites-the-base")
def writes_to_views_do_not_rebase() -> None:
    def write(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if x._is_view() and torch.is_grad_enabled() and not x.is_leaf and not x._base.is_leaf and tagless(x):
            own(x.detach(), *args, **kwargs)
            return x
        return own(x, *args, **kwargs)

    for name in WRITES:
        around(torch.Tensor, name, write)


@breaks("nn/zero-grad-fills-in-place")
def zero_grad_fills_nothing() -> None:
    def zero_grad(own: Wrapper, x: Any, set_to_none: bool = True) -> None:
        if set_to_none:
            own(x)

    around(torch.optim.Optimizer, "zero_grad", zero_grad)
    around(torch.nn.Module, "zero_grad", zero_grad)


@breaks("double/create-graph-records")
def create_graph_ignored() -> None:
    def backward(own: Wrapper, *args: Any, **kwargs: Any) -> Any:
        return own(*args[:3], **kwargs | {"create_graph": False})

    def grad(own: Wrapper, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return own(outputs, inputs, *args[:2], **kwargs | {"create_graph": False})

    around(torch.autograd, "backward", backward)
    around(torch.autograd, "grad", grad)


@breaks("detach/shares-storage")
def detach_copies() -> None:
    around(torch.Tensor, "detach", lambda own, x: own(x).clone())


@breaks("nn/zero-grad-forgets")
def zero_grad_fills_instead_of_forgetting() -> None:
    for owner in (torch.optim.Optimizer, torch.nn.Module):
        around(owner, "zero_grad", lambda own, x, *args, **kwargs: own(x, set_to_none=False))


@breaks("grad_call/leaves-grad-alone")
def grad_call_fills_grads() -> None:
    def grad(own: Wrapper, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        found = own(outputs, inputs, *args, **kwargs)
        for x, g in zip([inputs] if isinstance(inputs, torch.Tensor) else inputs, found, strict=True):
            if g is not None and x.is_leaf and x.grad is None:
                x.grad = g.detach()
        return found

    around(torch.autograd, "grad", grad)


@breaks("mode/enable-grad-inside")
def enable_grad_does_nothing() -> None:
    def enter(self: torch.enable_grad) -> None:
        self.prev = torch.is_grad_enabled()

    torch.enable_grad.__enter__ = enter  # type: ignore[method-assign]


@breaks("backward/inputs-only")
def inputs_ignored() -> None:
    def backward(own: Wrapper, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("inputs"):
            kwargs["inputs"] = None
        own(*args, **kwargs)

    around(torch.autograd, "backward", backward)


@breaks("hook/removed-is-gone")
def removed_hooks_stay() -> None:
    torch.utils.hooks.RemovableHandle.remove = lambda self: None  # type: ignore[method-assign]


@breaks("version/write-bumps")
def writes_not_counted() -> None:
    def write(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        with torch.autograd._unsafe_preserve_version_counter(x):
            return own(x, *args, **kwargs)

    for name in WRITES:
        around(torch.Tensor, name, write)


@breaks("write/leaf-refused")
def writes_to_leaves_allowed() -> None:
    def write(own: Wrapper, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if x.is_leaf and x.requires_grad and torch.is_grad_enabled() and not x._is_view():
            with torch.no_grad():
                own(x, *args, **kwargs)
            return x
        return own(x, *args, **kwargs)

    for name in WRITES:
        around(torch.Tensor, name, write)


@breaks("backward/failure-leaves-what-was-done")
def failed_backward_forgets() -> None:
    def backward(own: Wrapper, roots: Any, *args: Any, **kwargs: Any) -> None:
        before = [(x, x.grad) for x in filled_by(roots)]
        try:
            own(roots, *args, **kwargs)
        except Exception:
            for x, grad in before:
                x.grad = grad
            raise

    around(torch.autograd, "backward", backward)


@breaks("optim/leaves-grads-alone")
def step_forgets_grads() -> None:
    def step(own: Wrapper, optimizer: Any, closure: Any = None) -> Any:
        result = own(optimizer, closure)
        for group in optimizer.param_groups:
            for x in group["params"]:
                x.grad = None
        return result

    around(torch.optim.SGD, "step", step)


@breaks("hook/in-order-of-registration")
def hooks_in_reverse() -> None:
    def register_hook(own: Wrapper, x: torch.Tensor, hook: Wrapper) -> Any:
        handle = own(x, hook)
        hooks = x._backward_hooks
        if hooks is not None:
            *first, last = hooks.items()
            hooks.clear()
            hooks.update([last, *first])
        return handle

    around(torch.Tensor, "register_hook", register_hook)


having = Adapters({name: plant for name, (_, plant) in BUGS.items()})
