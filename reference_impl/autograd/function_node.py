"""The node of a custom function's call, which is also the context that forward and backward are given."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np

from reference_impl.base.device import geometry, making_on, place_in, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by, user_code, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import (
    array_of,
    hooks_of,
    node_of,
    set_grad,
    set_gradient_edge,
    set_hooks,
    view_of,
)
from reference_impl.core.graph import Node, RunningTask, accumulator_of, gradient_edge
from reference_impl.core.hooks import RemovableHandle
from reference_impl.core.inplace import bump, check_tracked, rebase
from reference_impl.core.saved import SavedVariable
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.core.views import CreationMeta


class FunctionCtx:
    """The context of a call: what forward stores and declares for backward."""

    to_save: tuple[Any, ...] | None = None
    dirty_tensors: tuple[Any, ...] | None = None
    non_differentiable: tuple[Any, ...] | None = None
    materialize_grads = True
    saved_for_forward: tuple[Any, ...] | None = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Save tensors for backward, which reads them from ``saved_tensors``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Save tensors for jvp, which reads them from ``saved_tensors``.

        Raises AssertionError for anything else."""
        for tensor in tensors:
            if tensor is not None and not isinstance(tensor, Tensor):
                raise AssertionError("save_for_forward keeps tensors; other things are attributes of ctx")
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Declare the inputs that forward wrote in place; forward must return them."""
        if by("function/dirty-is-rewritten"):
            self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Declare the outputs that have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Choose zeros (True, the default) or None for undefined gradients in backward."""
        self.materialize_grads = value


def made_beside(function: Any, given: Sequence[Any]) -> AbstractContextManager[None]:
    """Have a function that computes on arrays make tensors on the device of the first that it is given."""
    if not (STATE.devices and function._computes_on_arrays):
        return nullcontext()
    return making_on(next((place_of(x) for x in given if isinstance(x, Tensor)), None))


class FunctionNode(FunctionCtx, Node):
    """The node behind the outputs of a call, and the context of the call."""

    _forward_cls: ClassVar[Any]  # the subclass of `Function` that was called
    _in_jvp = False

    def __init__(self, args: tuple[Any, ...]) -> None:
        self._tensors = [isinstance(arg, Tensor) for arg in args]
        self.needs_input_grad = tuple(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        by("function/needs-input-grad")
        inputs = [arg for arg in args if isinstance(arg, Tensor)]
        needed = STATE.enabled and any(x.requires_grad for x in inputs)
        own = self._forward_cls.__module__.startswith("reference_impl.")  # one of PyTorch's ops
        self.recorded = needed and (by("leaf/op-result-is-no-leaf") if own else by("function/is-recorded"))
        super().__init__(tuple(gradient_edge(x) for x in inputs) if self.recorded else ())
        self._saved: list[SavedVariable | None] = []
        self._freed = False
        self._zeros: list[tuple[tuple[int, ...], np.dtype] | None] = []
        self._differentiable = 0  # of the outputs

    def __call__(self, *grads: Any) -> Any:
        """Raise TypeError: unlike other nodes, contexts cannot be called."""
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def name(self) -> str:
        name = type(self).__name__
        return name if by("function/names-its-node") else name.removesuffix("Backward")

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook`` called after the node ran, even if the node is all that is held of the call."""
        by("function/node-outlives-its-results")
        return super().register_hook(hook)

    def __repr__(self) -> str:
        return f"<torch.autograd.function.{type(self).__name__} object at {id(self):#x}>"

    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]:
        """The tensors that forward saved for backward; inside jvp those that it saved for jvp.

        Raises RuntimeError if they were freed or modified."""
        if self._in_jvp:
            return self.saved_for_forward or ()
        if self._freed:
            refuse_by("save/freed-refused")
        return tuple(None if saved is None else saved.unpack(self, or_detached=True) for saved in self._saved)

    @property
    def saved_variables(self) -> tuple[Tensor | None, ...]:
        """The deprecated name of ``saved_tensors``."""
        text = "'saved_variables' is deprecated; use 'saved_tensors'"
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return self.saved_tensors

    def release_variables(self) -> None:
        self._saved.clear()
        self._freed = True

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        given = [g if g is not None else self._undefined(number) for number, g in enumerate(grads)]
        by("function/backward-gives-the-gradients")
        with user_code(), made_beside(self._forward_cls, given):
            results = as_tuple(self._forward_cls._backward()(self, *given))
        count = len(self._tensors)
        if len(results) > count and all(result is None for result in results[count:]):
            results = results[:count] if by("function/surplus-none-is-dropped") else results
        if len(results) != count:
            refuse_by("function/gradients-count", name=self.name(), got=len(results), expected=count)
        return [*self._checked(results)]

    def _undefined(self, number: int) -> Tensor | None:
        """The gradient that backward gets for an output whose gradient is undefined."""
        metadata = self._zeros[number]
        if metadata is None or (not self.materialize_grads and by("function/undefined-may-stay-none")):
            return None
        if by("function/undefined-becomes-zeros"):
            with making_on(place_in(metadata)):
                return wrap(np.zeros(*metadata))
        return None

    def _checked(self, results: Sequence[Any]) -> list[Tensor | None]:
        """Pick the gradients of tensor inputs; refuse any other gradient."""
        kept: list[Tensor | None] = []
        for position, (result, is_tensor) in enumerate(zip(results, self._tensors, strict=False)):
            if not is_tensor:
                if result is not None:
                    refuse_by("function/no-gradient-for-others", name=self.name(), position=position + 1)
                continue
            if result is not None and not isinstance(result, Tensor):
                refuse_by("function/gradient-type", type=type(result).__name__)
                result = None
            kept.append(result)
        return kept

    def finish(self, args: tuple[Any, ...], output: Any, separate: bool) -> Any:
        """Make this node the history of forward's outputs, and save the tensors that it asked to save."""
        for position, saved in enumerate((self.to_save or ()) if self.recorded else ()):
            if saved is not None and not isinstance(saved, Tensor):
                refuse_by("function/saves-tensors", position=position, type=type(saved).__name__)
        for marked in (*(self.non_differentiable or ()), *(self.dirty_tensors or ())):
            if not isinstance(marked, Tensor):
                refuse_by("function/marks-tensors", type=type(marked).__name__)
        for dirty in self.dirty_tensors or ():
            if by("function/dirty-counts-as-written"):
                bump(dirty, told=True)
        raw = as_tuple(output)
        outputs = tuple([self._output(number, raw, args, separate) for number in range(len(raw))])
        if self._differentiable > 1:
            self._tag_several(outputs)
        if not all(any(dirty is out for out in raw) for dirty in self.dirty_tensors or ()):
            refuse_by("function/dirty-is-returned")
        if self.recorded:
            self._saved = [
                None if saved is None else SavedVariable(saved, is_output=saved.grad_fn is self)
                for saved in self.to_save or ()
            ]
        return outputs if isinstance(output, tuple) else outputs[0]

    def _output(self, number: int, raw: tuple[Any, ...], args: tuple[Any, ...], separate: bool) -> Any:
        """The ``number``-th output of the call."""
        out = raw[number]
        if not isinstance(out, Tensor):
            self.input_metadata.append(((), np.dtype(np.float64)))  # never used: no gradient arrives
            self._zeros.append(None)
            return out
        self.add_output(out)
        array = array_of(out)
        self._zeros.append(geometry(array.shape, array.dtype, place_of(out)))
        is_input = any(out is arg for arg in args)
        if STATE.grad_dtypes and is_input and by("function/input-comes-back-with-its-dtype"):
            self.input_metadata[-1] = geometry(array.shape, array.dtype, place_of(out))
        is_dirty = any(out is dirty for dirty in self.dirty_tensors or ())
        differentiable = self.recorded and array.dtype.kind in DIFFERENTIABLE
        marked = any(out is each for each in self.non_differentiable or ())
        if marked and by("function/non-differentiable"):
            differentiable = False
        self._differentiable += differentiable
        unchanged = is_input and not is_dirty and (differentiable or not out.requires_grad)
        if unchanged and separate and any(out is saved for saved in self.to_save or ()):
            refuse_by("function/saved-input-returned")
        if not differentiable:
            result = _without_gradient(out, is_input, is_dirty)
        elif is_dirty:
            result = self._rebased(number, out, is_input, several=len(raw) > 1)
        else:
            result = self._recorded(number, out, is_input)
        view = view_of(result)
        if view is not None and not (is_input and is_dirty) and by("function/views-are-tagged"):
            view.creation_meta = CreationMeta.FUNCTION
        return result

    def _rebased(self, number: int, out: Tensor, is_input: bool, several: bool) -> Tensor:
        """Make this node the history of a tensor that forward wrote in place."""
        if out.requires_grad and node_of(out) is None:  # a stale view is not regenerated for this
            refuse_by("write/leaf-refused", case="function")
        if not is_input:
            if view_of(out) is not None:
                refuse_by("function/dirty-view-is-an-input")
            warn("function/dirty-is-an-input")
        if view_of(out) is not None and several:
            refuse_by("function/dirty-view-is-alone")
        set_grad(out, None)  # gone even if the write is refused below
        accumulator = accumulator_of(out)
        if accumulator is not None:
            accumulator.variable = wrap(np.zeros(()))  # it no longer fills anybody's grad
        check_tracked(out)
        hooks = hooks_of(out)
        set_hooks(out, None)
        try:
            rebase(out, self, number)
        except Exception:
            set_hooks(out, hooks)  # they stay with the old node
            raise
        return out

    def _recorded(self, number: int, out: Tensor, is_input: bool) -> Tensor:
        """Make this node the history of a new tensor, or of a view of an input that forward returned."""
        if is_input:
            out = _view_of(out) if by("function/input-comes-back-as-view") else out.detach()
        set_gradient_edge(out, self, number)
        view = view_of(out)
        if view is not None:
            view.attr_version = out._version
        by("grad/only-leaves-are-filled")
        return out

    def _tag_several(self, outputs: tuple[Any, ...]) -> None:
        """Forbid in-place writes to the views among several outputs."""
        views = [view_of(out) for out in outputs if isinstance(out, Tensor)]
        for view in views:
            if view is not None and by("function/several-views-are-tagged"):
                view.creation_meta = CreationMeta.MULTI_OUTPUT


def _without_gradient(out: Tensor, is_input: bool, is_dirty: bool) -> Tensor:
    """An output without gradient: detached, or a view without history."""
    if not out.requires_grad:
        return _view_of(out) if is_input and not is_dirty else out
    if is_input:
        return out.detach()
    return out if view_of(out) is not None else out.detach_()


def _view_of(x: Tensor) -> Tensor:
    with no_grad():
        return x.view_as(x)


def as_tuple(values: Any) -> tuple[Any, ...]:
    """A tuple as it is, anything else in a tuple of one."""
    return values if isinstance(values, tuple) else (values,)


def saved_for_backward(node: FunctionNode) -> tuple[list[SavedVariable | None], bool]:
    """Return what forward saved for backward, and whether that was freed, without unpacking it."""
    return node._saved, node._freed


def node_named(name: str) -> Any:
    """Give the node of a function its name in PyTorch."""

    def name_it(function: Any) -> Any:
        function._backward_cls = type(name, (FunctionNode,), {"_forward_cls": function})
        return function

    return name_it
