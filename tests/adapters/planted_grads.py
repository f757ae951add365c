"""Bugs of everyday kinds planted in real torch: in what fills and reads grads, and in calls of grad()."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import torch
from planting import Wrapper, around, breaks_one_of, filled_by


def changing_grad(on_set: Wrapper | None = None, on_get: Wrapper | None = None) -> None:
    """Change what is assigned to .grad, or what is read of it; both are given the tensor, too."""
    own = torch.Tensor.grad

    def read(x: torch.Tensor) -> Any:
        grad = own.__get__(x)
        return grad if on_get is None else on_get(x, grad)

    def assign(x: torch.Tensor, grad: Any) -> None:
        own.__set__(x, grad if on_set is None else on_set(x, grad))

    torch.Tensor.grad = property(read, assign, own.__delete__)


@breaks_one_of("retain/flag", "retain/fills-grad")
def retain_grad_ignored_for_views() -> None:
    def retain_grad(own: Wrapper, x: torch.Tensor) -> None:
        if not (x.requires_grad and x._is_view()):
            own(x)

    around(torch.Tensor, "retain_grad", retain_grad)


@breaks_one_of("grad/assigned-as-is")
def assigned_grads_are_copied() -> None:
    def copied(x: torch.Tensor, grad: Any) -> Any:
        fits = isinstance(grad, torch.Tensor) and grad is not x and grad.shape == x.shape
        return grad.detach().clone() if fits and grad.dtype == x.dtype else grad

    changing_grad(on_set=copied)


@breaks_one_of("grad/assign-size")
def assigned_grads_are_broadcast() -> None:
    def fitted(x: torch.Tensor, grad: Any) -> Any:
        if isinstance(grad, torch.Tensor) and grad.dtype == x.dtype and grad.shape != x.shape:
            with suppress(RuntimeError):
                return grad.expand(x.shape)
        return grad

    changing_grad(on_set=fitted)


def silently(function: Wrapper, *args: Any) -> Any:
    """Call a function that may warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


@breaks_one_of("grad/only-leaves-are-filled")
def roots_are_filled() -> None:
    def backward(own: Wrapper, roots: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        own(roots, gradient, *args, **kwargs)
        alone = isinstance(roots, torch.Tensor) and not roots.is_leaf and not roots.retains_grad
        if alone and kwargs.get("inputs") is None and silently(torch.Tensor.grad.__get__, roots) is None:
            roots.grad = torch.ones_like(roots) if gradient is None else gradient.detach().clone()

    around(torch.autograd, "backward", backward)


@breaks_one_of("grad/copied-when-shared")
def leaves_share_their_first_grads() -> None:
    def backward(own: Wrapper, roots: Any, *args: Any, **kwargs: Any) -> None:
        fresh = [x for x in filled_by(roots) if x.grad is None]
        own(roots, *args, **kwargs)
        filled = [x for x in fresh if x.grad is not None and not x.grad.requires_grad]
        for x in filled[1:]:
            first = filled[0].grad
            if x.grad.dtype == first.dtype and torch.equal(x.grad, first):
                x.grad = first

    around(torch.autograd, "backward", backward)


@breaks_one_of("grad_call/allow-unused-gives-none")
def unused_inputs_get_zeros() -> None:
    def grad(own: Wrapper, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("allow_unused") and "materialize_grads" not in kwargs:
            kwargs["materialize_grads"] = True
        return own(outputs, inputs, *args, **kwargs)

    around(torch.autograd, "grad", grad)


@breaks_one_of("grad_call/materialize-gives-zeros")
def materialize_grads_ignored() -> None:
    def grad(own: Wrapper, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("materialize_grads") and kwargs.get("allow_unused") is not False:
            kwargs |= {"materialize_grads": False, "allow_unused": True}
        return own(outputs, inputs, *args, **kwargs)

    around(torch.autograd, "grad", grad)


@breaks_one_of("double/create-graph-records")
def grads_of_a_grad_call_are_detached() -> None:
    def grad(own: Wrapper, *args: Any, **kwargs: Any) -> Any:
        found = own(*args, **kwargs)
        return tuple(g if g is None else g.detach() for g in found)

    around(torch.autograd, "grad", grad)


@breaks_one_of("backward/several-roots")
def roots_are_walked_one_by_one() -> None:
    def backward(own: Wrapper, roots: Any, gradients: Any = None, *args: Any, **kwargs: Any) -> None:
        if type(roots) not in (list, tuple) or gradients is not None or len(roots) < 2:
            own(roots, gradients, *args, **kwargs)
        else:
            for root in roots:
                own(root, None, *args, **kwargs)

    around(torch.autograd, "backward", backward)


@breaks_one_of("retain/accumulates")
def retained_grads_accumulate_in_place() -> None:
    own = torch.Tensor.retain_grad
    retaining: list[torch.Tensor] = []

    def retain_grad(x: torch.Tensor) -> None:
        own(x)
        if x.retains_grad and not any(x is each for each in retaining):
            retaining.append(x)

    def backward(own: Wrapper, roots: Any, *args: Any, **kwargs: Any) -> None:
        before = [(x, x.grad) for x in retaining if x.grad is not None]
        try:
            own(roots, *args, **kwargs)
        finally:
            for x, grad in before:
                if x.grad is not None and x.grad is not grad and not x.grad.requires_grad:
                    with torch.no_grad():
                        grad.copy_(x.grad)
                    x.grad = grad

    torch.Tensor.retain_grad = retain_grad
    around(torch.autograd, "backward", backward)


@breaks_one_of("backward/inputs-retain-non-leaf", "retain/fills-grad")
def inputs_that_are_no_leaves_forget() -> None:
    def backward(own: Wrapper, *args: Any, **kwargs: Any) -> None:
        given = kwargs.get("inputs")
        inputs = given if isinstance(given, list | tuple) else [given]
        plain = [x for x in inputs if isinstance(x, torch.Tensor) and not x.is_leaf and not x.retains_grad]
        own(*args, **kwargs)
        for x in plain:
            x.grad = None

    around(torch.autograd, "backward", backward)


@breaks_one_of("grad/non-leaf-read-warns")
def reading_the_grad_of_a_result_is_silent() -> None:
    own = torch.Tensor.grad
    torch.Tensor.grad = property(lambda x: silently(own.__get__, x), own.__set__, own.__delete__)


@breaks_one_of("grad/copied-when-shared", "backward/leaf-root")
def a_leaf_as_root_takes_the_gradient_itself() -> None:
    def backward(own: Wrapper, roots: Any, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        takes = isinstance(roots, torch.Tensor) and roots.is_leaf and roots.grad is None
        own(roots, gradient, *args, **kwargs)
        if takes and isinstance(gradient, torch.Tensor) and gradient.dtype == roots.dtype:
            roots.grad = gradient

    around(torch.autograd, "backward", backward)
