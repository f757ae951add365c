"""Custom functions: ``torch.autograd.Function``, whose forward and backward users write.

The node of a call and its context are in `function_node`.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar

from reference_impl.autograd.function_node import (
    FunctionCtx,
    FunctionNode,
    as_tuple,
    made_beside,
    saved_for_backward,
)
from reference_impl.autograd.vmap_rule import call_by_rule, is_innermost, map_over
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.transforms import mappings
from reference_impl.core.access import make_output_of
from reference_impl.core.graph import LAST, Node, RunningTask, gradient_edge
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import levels_of, marked
from reference_impl.forward.custom_jvp import propagate

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


_PLACED = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Function:
    """A custom op: subclasses define ``forward(ctx, ...)`` and ``backward(ctx, ...)``; ``apply`` calls it.

    If a subclass defines ``setup_context(ctx, inputs, output)`` too, forward gets no context.
    """

    _backward_cls: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._backward_cls = type(f"{cls.__name__}Backward", (FunctionNode,), {"_forward_cls": cls})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        text = f"{type(self)} should not be instantiated: a custom function is called by its apply"
        warnings.warn(text, DeprecationWarning, stacklevel=2)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: functions are called by ``apply``."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated: call its apply"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs. Subclasses define it."""
        refuse_by("function/needs-a-forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Store on ``ctx`` what backward needs. Optional."""

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute the gradients of the inputs, None for other arguments. Subclasses define it."""

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the tangents of the outputs, None for those without. Subclasses define it.

        The default raises NotImplementedError, as PyTorch's does.
        """
        refuse_by("forward/function-needs-a-jvp")

    _computes_on_arrays: ClassVar[bool] = False
    """True of functions of PyTorch's own whose results do not say where they are."""
    generate_vmap_rule: ClassVar[bool] = False

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Compute the outputs for many inputs at once. NB: what counts is that a subclass defines it."""
        raise NotImplementedError

    @classmethod
    def _backward(cls) -> Callable[..., Any]:
        """The function's backward, which may also be called ``vjp``."""
        has_backward = cls.backward is not Function.backward
        has_vjp = cls.vjp is not Function.backward
        if has_backward and has_vjp:
            refuse_by("function/backward-or-vjp")
        if not has_backward and not has_vjp:
            refuse_by("function/needs-a-backward")
        return cls.backward if has_backward else cls.vjp

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function and record it as one node."""
        if STATE.transforms and cls.vmap is not Function.vmap:
            bound = cls._bound(args, kwargs)
            level = map_over(bound)
            if level is not None and is_innermost(level) and not cls.generate_vmap_rule:
                cls._check_transforms(cls.setup_context is not Function.setup_context, bound)
                return call_by_rule(cls, level, bound)
        if STATE.level is not None:
            with STATE.level.pause():
                node, args, raw, outputs = cls._call(args, kwargs)
            is_own = cls.jvp is Function.jvp and cls.__module__.startswith("reference_impl.")
            propagate(STATE.level, node, args, raw, outputs, is_own)
        else:
            node, _, _, outputs = cls._call(args, kwargs)
        # A reference from the node to an output would be a cycle.
        node.to_save = node.dirty_tensors = node.non_differentiable = None
        if not cls._computes_on_arrays and cls.vmap is Function.vmap:
            return outputs
        # NB: by its own rule a result may also be the same for all elements, which is not asked.
        levels = levels_of(*args, outputs)
        for saved in saved_for_backward(node)[0]:
            if saved is not None and saved.is_output:
                marked(saved.tensor, levels)
        return marked(outputs, levels)

    @classmethod
    def _check_transforms(cls, separate: bool, args: tuple[Any, ...]) -> None:
        """Refuse a function that the transforms which run cannot take apart."""
        if cls.__module__.startswith("reference_impl."):
            return  # a function of PyTorch's own
        if not separate:
            refuse_by("functional/transforms-need-setup-context")
        own_rule = cls.vmap is not Function.vmap
        if mappings() and cls.generate_vmap_rule and own_rule:
            raise RuntimeError(
                f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an "
                "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden "
                "vmap staticmethod to avoid ambiguity. For more details, please see "
                "https://pytorch.org/docs/main/notes/extending.func.html"
            )
        if mappings() and not cls.generate_vmap_rule and not own_rule:
            refuse_by("functional/vmap-needs-a-rule", name=cls.__name__)
        forward = any(each.forward for each in STATE.transforms)
        if forward and any(_requires_grad(x) for x in args) and cls.jvp is Function.jvp:
            refuse_by("forward/function-needs-a-jvp")

    @classmethod
    def _bound(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments with the defaults of those that are left out, where the rule can be asked."""
        separate = cls.setup_context is not Function.setup_context
        return _with_defaults(cls.forward, args, kwargs).args if separate else args

    @classmethod
    def _computed(cls, args: tuple[Any, ...]) -> Any:
        """The outputs of forward; where the arguments stand for many, by the function's own rule."""
        if STATE.transforms and cls.vmap is not Function.vmap and not cls.generate_vmap_rule:
            level = map_over(args)
            if level is not None:
                return call_by_rule(cls, level, args)
        return cls.forward(*args)

    @classmethod
    def _call(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[FunctionNode, Any, Any, Any]:
        """Return the node, the arguments as forward got them, its raw outputs, and those of the call."""
        separate = cls.setup_context is not Function.setup_context
        if kwargs and not by("function/keywords-have-a-place"):
            raise TypeError("apply() takes no keyword arguments")
        if separate:
            bound = _with_defaults(cls.forward, args, kwargs)
            args, kwargs = bound.args, bound.kwargs
            if kwargs and not by("function/keywords-have-a-place"):
                kwargs = {}
        if STATE.transforms:
            cls._check_transforms(separate, args)
        if kwargs:
            args = _in_their_places(cls.forward, args, kwargs)
        node = cls._backward_cls(args)
        recording = no_grad() if by("function/forward-records-nothing") else nullcontext()
        with recording, made_beside(cls, args):
            output = cls._computed(args) if separate else cls.forward(node, *args)
            if separate:
                cls.setup_context(node, args, output)
        try:
            return node, args, output, node.finish(args, output, separate)
        except Exception:
            node.to_save = node.dirty_tensors = node.non_differentiable = None
            raise


# So that `apply` of the base itself says that there is no forward.
Function._backward_cls = type("FunctionBackward", (FunctionNode,), {"_forward_cls": Function})


def _with_defaults(forward: Callable[..., Any], args: Any, kwargs: Any) -> inspect.BoundArguments:
    bound = inspect.signature(forward).bind(*args, **kwargs)
    bound.apply_defaults()
    return bound


def _in_their_places(
    forward: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, ...]:
    """The arguments with those that were given by name in the places that forward has for them: each counts
    as an input.

    Raises TypeError for a name without a place, and for a place before it that nothing is given for.
    """
    places = [p.name for p in inspect.signature(forward).parameters.values() if p.kind in _PLACED][1:]
    for name in named:
        if name not in places:
            raise TypeError(f"forward() got an unexpected keyword argument {name!r}")
        if name in places[: len(args)]:
            raise TypeError(f"forward() got multiple values for argument {name!r}")
    last = max(map(places.index, named))
    for at, name in enumerate(places[len(args) : last], len(args)):
        if name not in named:
            raise TypeError(f"forward() missing required argument: {name!r} (position {at})")
    return (*args, *(named[name] for name in places[len(args) : last + 1]))


def _requires_grad(x: Any) -> bool:
    return isinstance(x, Tensor) and x.requires_grad


class InplaceFunction(Function):
    """A base class from before ``mark_dirty`` that stores ``inplace``; PyTorch keeps it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class Error(Node):
    """The node of gradients that cannot be differentiated again."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Error"

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        refuse_by("function/once-differentiable")
        return [None] * len(self.edges)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that is not recorded; differentiating its gradients raises RuntimeError."""

    @functools.wraps(backward)
    def once(ctx: FunctionNode, *grads: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grads)
        if not STATE.enabled or not any(map(_requires_grad, grads)):
            return results
        leaves = [None if g is None else g.detach().requires_grad_() for g in as_tuple(results)]
        edges = tuple(gradient_edge(leaf) for leaf in leaves if leaf is not None)
        node = Error(edges, LAST if by("function/once-differentiable-fails-first") else None)
        outputs = [None if leaf is None else leaf.detach() for leaf in leaves]
        for out in outputs:
            if out is not None:
                make_output_of(out, node)
        return tuple(outputs)

    return once
