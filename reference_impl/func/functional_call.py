"""Calling a module with other tensors in place of its parameters and buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.nn.module import Module

Place = tuple[Module, str, str]
"""The place of a tensor: its module, the kind of what it is there, its name."""


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
    given = _joined(parameter_and_buffer_dicts)
    own = _places(module)
    replaced = given | _shared(own, given) if tie_weights else dict(given)
    if strict:
        _need_all(module, own, replaced)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _swapped(own, replaced, given):
        return module(*args, **(kwargs or {}))


def _joined(given: Any) -> dict[str, Tensor]:
    """Return the one dict of tensors that was given, or those of several together."""
    if isinstance(given, dict):
        return given
    if not isinstance(given, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(given)}"
        )
    if not all(isinstance(each, dict) for each in given):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    times = Counter(name for each in given for name in each)
    if repeated := [name for name, count in times.items() if count > 1]:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {name: x for each in given for name, x in each.items()}


def _shared(own: Mapping[str, Place], given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what is given for a tensor under each of its names; refuse two values for one."""
    names: dict[int, list[str]] = {}
    for name, (owner, kind, key) in own.items():
        names.setdefault(id(owner.__dict__[kind][key]), []).append(name)
    shared: dict[str, Tensor] = {}
    for tied in names.values():
        values = [given[name] for name in tied if name in given]
        if len(tied) > 1 and values:
            if len({id(x) for x in values}) > 1:
                raise ValueError(
                    f"functional_call got multiple values for keys {sorted(tied)}, which are tied. "
                    "Consider using tie_weights=False"
                )
            shared |= dict.fromkeys(tied, values[0])
    return shared


def _need_all(module: Module, own: Mapping[str, Place], given: Mapping[str, Tensor]) -> None:
    """Refuse names that are no parameter or buffer, and those without a value."""
    told = [
        f"{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", set(given) - set(own)), ("Missing", set(own) - set(given)))
        if names
    ]
    if told:
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t" + "\n\t".join(told))


def _places(module: Module) -> dict[str, Place]:
    """Return where each parameter and buffer stands, by each of its dotted names."""
    return {
        f"{prefix}.{name}" if prefix else name: (owner, kind, name)
        for prefix, owner in module.named_modules(remove_duplicate=False)
        for kind in ("_parameters", "_buffers")
        for name, x in owner.__dict__[kind].items()
        if x is not None
    }


@contextmanager
def _swapped(
    own: Mapping[str, Place], values: Mapping[str, Tensor], given: dict[str, Tensor]
) -> Iterator[None]:
    """Put values in their places within a block; what the module has assigned there then is ``given``'s."""
    before: list[tuple[str, Tensor]] = []
    try:
        for name in own:
            if name in values:
                before.append((name, _put(own[name], values[name])))
        yield
    finally:
        # NB: in the same order as before: a tensor that has two names within one module is not put back.
        for name, x in before:
            last = _put(own[name], x)
            if name in given:
                given[name] = last


def _put(place: Place, x: Tensor) -> Tensor:
    """Put a tensor in a place; return the one that was there."""
    owner, kind, key = place
    if not (x is None or isinstance(x, Tensor)):
        raise TypeError(f"{x} is not an instance of torch.Tensor")
    before: Tensor = owner.__dict__[kind][key]
    owner.__dict__[kind][key] = x
    return before


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
    """Return the parameters and buffers of several models, stacked by name; the parameters are leaves."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(named: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Stack the tensors of several models by their names; those that require grad become leaves."""
    stacked = {}
    for name in named[0]:
        tensors = [each[name] for each in named]
        if len({x.requires_grad for x in tensors}) > 1:
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
        whole = composite.stack(tensors)
        stacked[name] = whole.detach().requires_grad_() if tensors[0].requires_grad else whole
    return stacked
