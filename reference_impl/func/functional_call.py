"""Calling a module with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.nn.module import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call a module with tensors by name instead of its own, which stay as they are.

    Names that share a parameter share what replaces it, unless ``tie_weights`` is False.
    """
    given = parameter_and_buffer_dicts
    if isinstance(given, (tuple, list)):
        names = [name for each in given for name in each]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(
                f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
            )
        given = {name: x for each in given for name, x in each.items()}
    own = _places(module)
    if strict and set(given) != set(own):
        missing, unexpected = sorted(set(own) - set(given)), sorted(set(given) - set(own))
        raise RuntimeError(f"Unexpected key(s): {unexpected}; missing key(s): {missing}")
    replaced = dict(given)
    if tie_weights:
        for name, (owner, kind, key) in own.items():
            mine = owner.__dict__[kind][key]
            tied = [n for n, (o, k, x) in own.items() if n in given and o.__dict__[k][x] is mine]
            if name not in given and tied:
                replaced[name] = given[tied[0]]
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(own, replaced):
        return module(*args, **(kwargs or {}))


def _places(module: Module) -> dict[str, tuple[Module, str, str]]:
    """Return where each parameter and buffer stands, by its dotted name."""
    return {
        f"{prefix}.{name}" if prefix else name: (owner, kind, name)
        for prefix, owner in module.named_modules()
        for kind in ("_parameters", "_buffers")
        for name, x in owner.__dict__[kind].items()
        if x is not None
    }


@contextmanager
def _swapped(own: Mapping[str, tuple[Module, str, str]], given: Mapping[str, Tensor]) -> Iterator[None]:
    before = {name: owner.__dict__[kind][key] for name, (owner, kind, key) in own.items() if name in given}
    try:
        for name in before:
            owner, kind, key = own[name]
            owner.__dict__[kind][key] = given[name]
        yield
    finally:
        for name, x in before.items():
            owner, kind, key = own[name]
            owner.__dict__[kind][key] = x


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and buffers of several models, stacked by name; the parameters are leaves."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    stacked = {
        name: composite.stack([each[name] for each in parameters]).detach().requires_grad_(x.requires_grad)
        for name, x in parameters[0].items()
    }
    return stacked, {name: composite.stack([each[name] for each in buffers]) for name in buffers[0]}
