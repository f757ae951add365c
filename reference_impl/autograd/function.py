"""Custom functions: ``torch.autograd.Function``, whose forward and backward users write.

The node that a call records is also the context that both are given. How such nodes are run is ``engine``'s
business, what a saved tensor is ``graph``'s.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from reference_impl.base.device import geometry, making_on, place_in, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by, warn, warning_at_once
from reference_impl.base.session import STATE
from reference_impl.core.graph import LAST, Node, RunningTask, gradient_edge
from reference_impl.core.inplace import bump, check_tracked, rebase
from reference_impl.core.saved import SavedVariable
from reference_impl.core.tensor import Tensor, accumulator_of, wrap
from reference_impl.core.views import CreationMeta
from reference_impl.forward.custom_jvp import push

__all__ = ["Function", "FunctionCtx", "InplaceFunction", "once_differentiable"]


class FunctionCtx:
    """What forward says about its call, for backward."""

    to_save: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    materialize_grads = True
    saved_for_forward: tuple[Any, ...] | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs, outputs or intermediate results; backward finds them in ``saved_tensors``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep inputs or outputs for jvp, which finds them in ``saved_tensors``."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError("save_for_forward keeps tensors; other things are attributes of ctx")
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which inputs forward has written to; they have to be returned."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which outputs have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward is given zeros (True, as it is by default) or None where no gradient arrives."""
        self.materialize_grads = value


class FunctionNode(FunctionCtx, Node):
    """The history of a custom function's outputs, and the context of the call."""

    _forward_cls: ClassVar[type[Function]]
    _pushing = False

    def __init__(self, args: tuple[Any, ...]) -> None:
        self._tensors = [isinstance(arg, Tensor) for arg in args]
        self.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        if not by("function/needs-input-grad"):
            self.needs_input_grad = (True,) * len(args)
        inputs = [arg for arg in args if isinstance(arg, Tensor)]
        self.recorded = STATE.enabled and any(x.requires_grad for x in inputs)
        if self.recorded and not by("function/is-recorded"):
            self.recorded = False
        super().__init__(tuple(gradient_edge(x) for x in inputs) if self.recorded else ())
        self._saved: list[SavedVariable | None] = []
        self._freed = False
        self._zeros: list[tuple[tuple[int, ...], np.dtype] | None] = []
        self._differentiable = 0  # of the outputs

    def __call__(self, *grads: Any) -> Any:
        """Contexts cannot be called, unlike other nodes; raises TypeError."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def name(self) -> str:
        name = type(self).__name__
        return name if by("function/names-its-node") else name.removesuffix("Backward")

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """What forward saved, if it is still there and still what it was; in jvp, what it saved for that."""
        if self._pushing:
            return self.saved_for_forward or ()
        if self._freed:
            refuse_by("save/freed-refused")
        return tuple(None if saved is None else saved.unpack(self, or_detached=True) for saved in self._saved)

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The old name of ``saved_tensors``."""
        text = "'saved_variables' is deprecated; use 'saved_tensors'"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def release_variables(self) -> None:
        self._saved.clear()
        self._freed = True

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        given = [g if g is not None else self._undefined(number) for number, g in enumerate(grads)]
        if not by("function/backward-gives-the-gradients"):
            return [given[0]] * len(self.edges)
        with warning_at_once():
            results = _tuple(_backward_of(self._forward_cls)(self, *given))
        count = len(self._tensors)
        if len(results) > count and all(result is None for result in results[count:]):
            results = results[:count] if by("function/surplus-none-is-dropped") else results
        if len(results) != count:
            refuse_by("function/gradients-count", name=self.name(), got=len(results), expected=count)
        return [*self._checked(results)]

    def _undefined(self, number: int) -> Tensor | None:
        """What backward is given for an output whose gradient is undefined."""
        kept = self._zeros[number]
        if kept is None or not (self.materialize_grads or not by("function/undefined-may-stay-none")):
            return None
        if not by("function/undefined-becomes-zeros"):
            return None
        with making_on(place_in(kept)):
            return wrap(np.zeros(*kept))

    def _checked(self, results: Sequence[Any]) -> list[Tensor | None]:
        """The gradients of the inputs that are tensors; the others must have none."""
        kept: list[Tensor | None] = []
        for position, (result, is_tensor) in enumerate(zip(results, self._tensors, strict=False)):
            if not is_tensor:
                if result is not None:
                    refuse_by("function/no-gradient-for-others", name=self.name(), position=position)
                continue
            if result is not None and not isinstance(result, Tensor):
                refuse_by("function/gradient-type", type=type(result).__name__)
                result = None
            kept.append(result)
        return kept

    # -- the end of a call -----------------------------------------------------------------------

    def finish(self, args: tuple[Any, ...], output: Any, separate: bool) -> Any:
        """Tie what forward returned to this node, and keep what it saved."""
        for position, saved in enumerate(self.to_save if self.recorded else ()):
            if saved is not None and not isinstance(saved, Tensor):
                refuse_by("function/saves-tensors", position=position, type=type(saved).__name__)
        for marked in (*self.non_differentiable, *self.dirty_tensors):
            if not isinstance(marked, Tensor):
                refuse_by("function/marks-tensors", type=type(marked).__name__)
        for dirty in self.dirty_tensors:
            if by("function/dirty-counts-as-written"):
                bump(dirty, told=True)
        raw = _tuple(output)
        made = tuple([self._output(number, raw, args, separate) for number in range(len(raw))])
        if self._differentiable > 1:
            self._tag_several(made)
        if not all(any(dirty is out for out in raw) for dirty in self.dirty_tensors):
            refuse_by("function/dirty-is-returned")
        if self.recorded:
            self._saved = [
                None if saved is None else SavedVariable(saved, is_output=saved.grad_fn is self)
                for saved in self.to_save
            ]
        return made if isinstance(output, tuple) else made[0]

    def _output(self, number: int, raw: tuple[Any, ...], args: tuple[Any, ...], separate: bool) -> Any:
        """The ``number``-th output as the caller gets it."""
        out = raw[number]
        if not isinstance(out, Tensor):
            self.metadata.append(((), np.dtype(np.float64)))  # NB: no gradient ever comes for it
            self._zeros.append(None)
            return out
        self.add_output(out)
        self._zeros.append(geometry(out._array.shape, out._array.dtype, place_of(out)))
        is_input = any(out is arg for arg in args)
        if STATE.grad_dtypes and is_input and by("function/input-comes-back-with-its-dtype"):
            self.metadata[-1] = geometry(out._array.shape, out._array.dtype, place_of(out))
        is_dirty = any(out is dirty for dirty in self.dirty_tensors)
        differentiable = self.recorded and out._array.dtype.kind in DIFFERENTIABLE
        if any(out is marked for marked in self.non_differentiable) and by("function/non-differentiable"):
            differentiable = False
        self._differentiable += differentiable
        as_it_came = is_input and not is_dirty and (differentiable or not out.requires_grad)
        if as_it_came and separate and any(out is saved for saved in self.to_save):
            refuse_by("function/saved-input-returned")
        made = self._tied(number, out, is_input, is_dirty, differentiable, several=len(raw) > 1)
        if made._view is not None and not (is_input and is_dirty) and by("function/views-are-tagged"):
            made._view.creation_meta = CreationMeta.FUNCTION
        return made

    def _tied(
        self, number: int, out: Tensor, is_input: bool, is_dirty: bool, differentiable: bool, several: bool
    ) -> Tensor:
        if not differentiable:
            return _without_gradient(out, is_input, is_dirty)
        if is_dirty:
            if out.requires_grad and out._node is None:  # NB: a stale view is not looked at
                refuse_by("write/leaf-refused")
            if not is_input:
                warn("function/dirty-is-an-input")
            if out._view is not None and several:
                refuse_by("function/dirty-view-is-alone")
            out._grad = None  # NB: gone even if the write is refused now
            accumulator = accumulator_of(out)
            if accumulator is not None:
                accumulator.variable = wrap(np.zeros(()))  # it fills nobody's grad any more
            check_tracked(out)
            hooks, out._hooks = out._hooks, None
            try:
                rebase(out, self, number)
            except Exception:
                out._hooks = hooks  # which stays with the node that it was
                raise
            return out
        if is_input:
            out = _view_of(out) if by("function/input-comes-back-as-view") else out.detach()
        out._node, out._output_nr = self, number
        if out._view is not None:
            out._view.attr_version = out._version_counter[0]
        return out

    def _tag_several(self, made: tuple[Any, ...]) -> None:
        """Of several outputs, those that are views cannot be written to."""
        for out in made:
            if isinstance(out, Tensor) and out._view is not None and by("function/several-views-are-tagged"):
                out._view.creation_meta = CreationMeta.MULTI_OUTPUT


def _without_gradient(out: Tensor, is_input: bool, is_dirty: bool) -> Tensor:
    """An output that no gradient goes back from."""
    if not out.requires_grad:
        return _view_of(out) if is_input and not is_dirty else out
    if is_input:
        return out.detach()
    return out if out._view is not None else out.detach_()


def _view_of(x: Tensor) -> Tensor:
    with no_grad():
        return x.view_as(x)


def _tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def _backward_of(function: type[Function]) -> Callable[..., Any]:
    """The function's backward, which may also be called vjp."""
    has_backward, has_vjp = (getattr(function, name) is not Function.backward for name in ("backward", "vjp"))
    if has_backward and has_vjp:
        refuse_by("function/backward-or-vjp")
    if not has_backward and not has_vjp:
        refuse_by("function/needs-a-backward")
    return function.backward if has_backward else function.vjp


class Function:
    """An op of the user's own: a subclass gives ``forward(ctx, ...)`` and ``backward(ctx, ...)``, and is
    called by ``apply``.

    With a ``setup_context(ctx, inputs, output)`` besides, forward gets no context.
    """

    _backward_cls: ClassVar[type[FunctionNode]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._backward_cls = type(f"{cls.__name__}Backward", (FunctionNode,), {"_forward_cls": cls})

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        text = f"{type(self)} should not be instantiated: a custom function is called by its apply"
        warnings.warn(text, DeprecationWarning, stacklevel=2)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Functions are called by ``apply``; raises RuntimeError."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated: call its apply"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; to be overridden."""
        refuse_by("function/needs-a-forward")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Say on ``ctx`` what backward needs, where forward has no context."""

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradients of the inputs, None for what is no tensor; to be overridden."""

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangents of the outputs, None for what has none; to be overridden."""
        # NB: as PyTorch's does; it is there to be overridden.
        raise NotImplementedError(
            "You must implement the jvp function for custom functions that forward mode goes through"
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the function and record it as one node."""
        if STATE.level is not None:
            with STATE.level.pause():
                node, args, raw, made = cls._call(args, kwargs)
            push(STATE.level, node, args, raw, made)
        else:
            node, _, _, made = cls._call(args, kwargs)
        # What leads back to an output would keep both until the collector comes.
        node.to_save = node.dirty_tensors = node.non_differentiable = ()
        return made

    @classmethod
    def _call(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[FunctionNode, Any, Any, Any]:
        """The node, the arguments as forward got them, what it returned, and what the caller gets."""
        separate = cls.setup_context is not Function.setup_context
        if separate:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        node = cls._backward_cls(args)
        with no_grad() if by("function/forward-records-nothing") else _as_it_is():
            output = cls.forward(*args, **kwargs) if separate else cls.forward(node, *args, **kwargs)
            if separate:
                cls.setup_context(node, args, output)
        try:
            return node, args, output, node.finish(args, output, separate)
        except Exception:
            node.to_save = node.dirty_tensors = node.non_differentiable = ()
            raise


class InplaceFunction(Function):
    """A function that is told whether to write into its argument: an old base class, kept by PyTorch."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _as_it_is:
    """Leaves the mode alone."""

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class Error(Node):
    """The history of gradients that must not be differentiated again."""

    __slots__ = ()

    def name(self) -> str:
        return "torch::autograd::Error"

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        refuse_by("function/once-differentiable")
        return [None] * len(self.edges)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """A backward that records nothing, and whose gradients say so when they are differentiated."""

    @functools.wraps(backward)
    def once(ctx: FunctionNode, *grads: Any) -> Any:
        with no_grad():
            results = backward(ctx, *grads)
        if not STATE.enabled or not any(isinstance(g, Tensor) and g.requires_grad for g in grads):
            return results
        leaves = [None if g is None else g.detach().requires_grad_() for g in _tuple(results)]
        edges = tuple(gradient_edge(leaf) for leaf in leaves if leaf is not None)
        node = Error(edges, LAST if by("function/once-differentiable-fails-first") else None)
        return tuple(None if leaf is None else _made_by(node, leaf.detach()) for leaf in leaves)

    return once


def _made_by(node: Node, tensor: Tensor) -> Tensor:
    tensor._node, tensor._output_nr = node, node.add_output(tensor)
    return tensor
