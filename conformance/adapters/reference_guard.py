"""Calls that the reference refuses looked at again: torch may refuse their arguments in words of its own.

The guards are put in place in a process of its own; a call that succeeds pays for no check.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import reference_impl
from conformance.adapters.reference_state import TENSOR
from reference_impl.base.not_modelled import NotModelled
from specs.errors import refusal

Refuses = Callable[[str, Sequence[str], Sequence[Any], Mapping[str, Any]], str | None]
"""Called with a function's name, its signatures and the arguments; tells why torch refuses them, or None."""


def guard(signatures: Mapping[str, Any], refuses: Refuses) -> None:
    """Guard the functions and methods that torch parses in C; ``signatures`` as they are on file."""
    for place, name in signatures["places"].items():
        path, _, last = place.rpartition(".")
        space: Any = reference_impl
        for part in filter(None, path.split(".")):
            space = getattr(space, part, None)
        function = vars(space).get(last) if space is not None else None
        if callable(function) and not isinstance(function, type):
            setattr(space, last, _guarded(name, signatures["functions"][name], function, refuses, False))
    for place, (name, taken) in DELEGATING.items():
        last = place.rpartition(".")[2]
        function = getattr(reference_impl.nn.functional, last)
        texts = signatures["functions"][name]
        setattr(reference_impl.nn.functional, last, _delegating(name, texts, taken, function, refuses))
    for name, texts in signatures["methods"].items():
        method = vars(TENSOR).get(name)
        if callable(method):
            setattr(TENSOR, name, _guarded(name, texts, method, refuses, True))
    for name in signatures["without_arguments"]:
        method = vars(TENSOR).get(name)
        if isinstance(method, types.FunctionType):
            setattr(TENSOR, name, _taking_nothing(name, method))


def _guarded(
    name: str, texts: Sequence[str], function: Callable[..., Any], refuses: Refuses, method: bool
) -> Callable[..., Any]:
    @functools.wraps(function)
    def guarded(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except NotModelled:
            raise
        except Exception:
            said = refuses(name, texts, args[1:] if method else args, keywords)
            if said is None:
                raise
        raise refusal("op/arguments", name=name, case="said", said=said)

    return guarded


DELEGATING = {
    "nn.functional.cross_entropy": ("cross_entropy_loss", ("input", "target")),
    "nn.functional.dropout": ("dropout", ("input", "p", "training")),
    "nn.functional.elu": ("elu", ("input",)),
    "nn.functional.embedding": ("embedding", ("weight", "input")),
    "nn.functional.kl_div": ("kl_div", ("input", "target")),
    "nn.functional.leaky_relu": ("leaky_relu", ("input",)),
    "nn.functional.max_pool2d": ("max_pool2d", ("input", "kernel_size")),
    "nn.functional.relu": ("relu", ("input",)),
    "nn.functional.silu": ("silu", ("input",)),
}
"""Functions that torch writes in Python and that hand these arguments on to a function in C."""


def _delegating(
    name: str, texts: Sequence[str], taken: Sequence[str], function: Callable[..., Any], refuses: Refuses
) -> Callable[..., Any]:
    signature = inspect.signature(function)

    @functools.wraps(function)
    def guarded(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except (TypeError, AttributeError) as error:
            try:
                bound = signature.bind(*args, **keywords)
            except TypeError:
                raise error from None
            bound.apply_defaults()
            said = refuses(name, texts, [bound.arguments[n] for n in taken if n in bound.arguments], {})
            if said is None:
                raise
        raise refusal("op/arguments", name=name, case="said", said=said)

    return guarded


def _taking_nothing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **keywords: Any) -> Any:
        if args:
            said = f"TensorBase.{name}() takes no arguments ({len(args)} given)"
            raise refusal("op/arguments", name=name, case="said", said=said)
        if keywords:
            said = f"TensorBase.{name}() takes no keyword arguments"
            raise refusal("op/arguments", name=name, case="said", said=said)
        return method(self)

    return guarded
