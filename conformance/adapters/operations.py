"""The functions behind the operations of a torch-shaped namespace: of tensors, modules and other things."""

from __future__ import annotations

import copy
import functools
import operator
from collections.abc import Callable
from typing import Any

from conformance.program import COPY, OF_MODULES, OF_OTHERS
from specs.callbacks import MODULES, class_of, custom_function, module_class

_ITERATORS = frozenset(["parameters", "buffers"])
"""Methods whose result is taken apart as a tuple is."""


def function_of(op: str, namespace: Any) -> Callable[..., Any] | None:
    """The function of an operation as steps spell it, or None where the namespace has none."""
    try:
        return _found(op, namespace)
    except AttributeError:
        return None


def _found(op: str, namespace: Any) -> Any:
    if op.startswith("torch."):
        return functools.reduce(getattr, op.split(".")[1:], namespace)
    if op in MODULES:
        return module_class(op, namespace)
    if op.startswith("."):
        return _attribute(op, namespace)
    name = class_of(op)
    if name is not None:
        return custom_function(name, namespace).apply
    if op == COPY:
        return copy.deepcopy
    if op in OF_OTHERS:
        return _method_of_others(op)
    method = getattr(namespace.Tensor, op)
    if op == "__getitem__":
        return operator.getitem  # of state dicts too
    return _operator(method) if op.startswith("__") else method


def _attribute(op: str, namespace: Any) -> Callable[..., Any]:
    """Read or assign an attribute, which a tensor has if neither a node nor a module does."""
    if not (op.startswith("._saved_") or op in OF_MODULES):
        getattr(namespace.Tensor, op.strip(".="))
    if op.endswith("="):
        attribute = op[1:-1]
        return lambda x, value: setattr(x, attribute, value)
    return operator.attrgetter(op[1:])


def _method_of_others(op: str) -> Callable[..., Any]:
    """A method of whatever has it: an optimizer, a node, a handle, a module, a tensor."""

    def call(owner: Any, *args: Any, **kwargs: Any) -> Any:
        method = getattr(owner, op, None)
        if method is None:
            raise NotImplementedError(f"{type(owner).__name__} has no {op}")
        result = method(*args, **kwargs)
        return tuple(result) if op in _ITERATORS else result

    return call


def _operator(method: Callable[..., Any]) -> Callable[..., Any]:
    """A dunder called as the operator calls it: what it does not implement is Python's TypeError."""

    def call(*args: Any) -> Any:
        result = method(*args)
        if result is NotImplemented:
            raise TypeError("unsupported operand type(s)")
        return result

    return call
