"""Functions that are no ops refuse arguments that are not what their annotations ask for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from reference_impl.core.tensor import Tensor

_TOLD = {"x": "input", "y": "other"}
"""PyTorch's names of parameters that are called otherwise here."""


def needing_tensors(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Make a function refuse what is no tensor, flag or whole number where it asks for one."""
    if not inspect.isfunction(function):
        return function
    params = list(inspect.signature(function).parameters.values())
    needed = [(at, p.name) for at, p in enumerate(params) if p.annotation == "Tensor" and p.kind is _PLAIN]
    or_none = [(at, p.name) for at, p in enumerate(params) if p.annotation == "Tensor | None"]
    checks = [
        (at, p.name, p.annotation, _SCALARS[p.annotation])
        for at, p in enumerate(params)
        if p.annotation in _SCALARS
    ]
    if not needed and not or_none and not checks:
        return function

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        count = len(args)
        for at, own in needed:
            if at < count or own in kwargs:
                given = args[at] if at < count else kwargs[own]
                if not isinstance(given, Tensor):
                    _refuse(name, own, at, given)
        for at, own in or_none:
            given = args[at] if at < count else kwargs.get(own)
            if not (given is None or isinstance(given, Tensor)):
                _refuse(name, own, at, given)
        for at, own, kind, is_none in checks:
            if at < count or own in kwargs:
                given = args[at] if at < count else kwargs[own]
                if is_none(given):
                    _refuse(name, own, at, given, kind)
        return function(*args, **kwargs)

    return called


def _is_no_flag(given: Any) -> bool:
    return not isinstance(given, (bool, np.bool_))


def _is_no_int(given: Any) -> bool:
    return isinstance(given, (bool, float, str, list, tuple))


_SCALARS = {"bool": _is_no_flag, "int": _is_no_int}
"""Tests of values that are not of the type annotated; tensors and numpy's numbers may be whole numbers."""


_PLAIN = inspect.Parameter.POSITIONAL_OR_KEYWORD


def _refuse(name: str, own: str, at: int, given: Any, kind: str = "Tensor") -> None:
    told = _TOLD.get(own, own)
    raise TypeError(
        f"{name}(): argument '{told}' (position {at + 1}) must be {kind}, not {type(given).__name__}"
    )


def tell_of_tensors(functions: dict[str, Any], package: str, prefix: str = "") -> None:
    """Have the functions among a module's global names say, when they fail, which argument is no tensor.

    To check that beforehand would cost each call.
    """
    for name, function in list(functions.items()):
        ours = inspect.isfunction(function) and function.__module__.startswith(package)
        told = prefix + name
        if ours and name[0] != "_" and told not in _FAILING_OTHERWISE and function not in _TELLING:
            functions[name] = _telling(function, told, functions["__name__"])


def _telling(function: Callable[..., Any], name: str, module: str) -> Callable[..., Any]:
    params = list(inspect.signature(function).parameters.values())
    short = function.__name__ == "<lambda>"  # of tensors; it cannot be annotated
    needed = [
        (at, p.name)
        for at, p in enumerate(params)
        if (p.annotation == "Tensor" or (short and not at)) and p.kind is _PLAIN
    ]
    several = any(p.annotation == "Tensor" and p.kind is p.VAR_POSITIONAL for p in params)
    if not needed and not several:
        return function

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except AttributeError:
            for at, given in enumerate(args) if several else ():
                if not isinstance(given, Tensor):
                    raise TypeError(
                        f"expected Tensor as element {at} in argument 0, but got {type(given).__name__}"
                    ) from None
            for at, own in needed:
                given = args[at] if at < len(args) else kwargs.get(own, _ABSENT)
                if given is not _ABSENT and not isinstance(given, Tensor):
                    _refuse(name, own, at, given)
            raise

    called.__module__ = module  # where pickle looks it up
    _TELLING.add(called)
    return called


_ABSENT = object()
_TELLING: set[Callable[..., Any]] = set()
_FAILING_OTHERWISE = frozenset({
    "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool2d", "adaptive_max_pool3d", "affine_grid",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "dropout1d", "dropout2d", "dropout3d",
    "embedding_bag", "glu", "group_norm", "huber_loss", "instance_norm", "interpolate", "l1_loss",
    "local_response_norm", "log_softmax", "mse_loss", "norm", "normalize", "sigmoid", "smooth_l1_loss",
    "softmax", "softmin", "softsign", "split", "stft", "tanh", "tanhshrink", "tensordot", "unravel_index",
    "upsample", "upsample_bilinear", "upsample_nearest",
})  # fmt: skip
"""Functions that PyTorch has in Python: they fail at the attribute that they ask for."""
