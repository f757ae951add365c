"""Parameters: leaves that modules register, and that require grad by default."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reference_impl.base.grad_dtype import attributes_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import (
    array_of,
    ask_for_grad,
    become,
    flag_of,
    is_inference,
    set_gradient_edge,
)
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.zero_tensor import ZeroTensor
from reference_impl.namespace.attributes import METHODS
from reference_impl.namespace.factories import empty
from reference_impl.namespace.serialization import warn_of_hooks

_repr = METHODS["__repr__"]


class Parameter(Tensor):
    """A leaf on another tensor's memory that modules register on assignment.

    Raises AttributeError if ``data`` is no tensor."""

    __slots__ = ()
    _fills_itself = True

    def __init__(self, data: Any = None, requires_grad: bool = True) -> None:
        if data is None:
            data = empty(0)
        if not isinstance(data, Tensor):
            raise AttributeError(f"'{type(data).__name__}' object has no attribute 'detach'")
        alias = data.detach() if by("nn/parameter-shares") else wrap(array_of(data).copy())
        become(self, alias)
        if isinstance(data, ZeroTensor):
            self.__class__ = ZeroTensorParameter
        if not by("nn/parameter-cuts"):
            set_gradient_edge(self, data.grad_fn, data.output_nr)
        if requires_grad and is_inference(self) and not STATE.inference:
            refuse_by("inference/flag-outside-refused")  # before the dtype is checked
        if not requires_grad or by("nn/parameter-requires-grad"):
            ask_for_grad(self, requires_grad, "parameter")

    @property
    def data(self) -> Tensor:
        """The same elements without history, as a plain tensor."""
        return Tensor.data.fget(self)  # type: ignore[attr-defined]  # a property's getter

    @data.setter
    def data(self, new: Tensor) -> None:
        own = type(self)
        Tensor.data.fset(self, new)  # type: ignore[attr-defined]  # a property's setter
        if own in (Parameter, ZeroTensorParameter):
            own = ZeroTensorParameter if isinstance(new, ZeroTensor) else Parameter
        self.__class__ = own

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            # As in PyTorch, the copy of a parameter has no grad; that of a plain leaf has one.
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        warn_of_hooks(self)
        return _rebuilt, (type(self), self.data, flag_of(self)), attributes_of(self) or None

    def __repr__(self) -> str:
        return "Parameter containing:\n" + _repr(self)


class _Buffers(type):
    """Calls a tensor a buffer that was made as one."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)


class Buffer(metaclass=_Buffers):
    """A tensor that modules register on assignment and that is not trained."""

    persistent: bool

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        made: Any = empty(0) if data is None else ask_for_grad(data.detach(), data.requires_grad)
        made.persistent, made._is_buffer = persistent, True
        return made


class ZeroTensorParameter(Parameter, ZeroTensor):
    """A parameter made of a ZeroTensor."""

    __slots__ = ()


def _rebuilt(cls: type[Parameter], data: Tensor, requires_grad: bool) -> Parameter:
    return cls(data, requires_grad)


def unshaped(x: Any) -> bool:
    """Tell whether a parameter has no elements yet."""
    return hasattr(type(x), "materialize")


def detached(x: Tensor) -> Tensor:
    """Return a tensor for a state: without history, or itself if it has no elements yet."""
    return x if unshaped(x) else x.detach()


def clear_grads(parameters: Iterable[Tensor], set_to_none: bool) -> None:
    """Clear gradients, or detach them and fill them with zeros."""
    for parameter in parameters:
        if parameter.grad is None:  # read of every parameter: a non-leaf warns
            continue
        if set_to_none:
            if by("nn/zero-grad-forgets"):
                parameter.grad = None
        elif by("nn/zero-grad-fills-in-place"):
            if parameter.grad.grad_fn is not None:
                parameter.grad.detach_()
            else:
                parameter.grad.requires_grad_(False)
            parameter.grad.zero_()
