"""Refusals of modules: names and values to register, dtypes to be cast to, states to load."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Any

from reference_impl.base.dtypes import dtype
from reference_impl.base.modes import no_grad
from reference_impl.base.not_modelled import NotModelled
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.nn.parameter import Buffer, unshaped


def type_name(value: Any) -> str:
    """Return the type of a value as PyTorch names it: a tensor by its dtype."""
    return value.type() if isinstance(value, Tensor) else type(value).__name__


def need_name(module: Any, kind: str, name: str) -> None:
    """Refuse a name under which nothing of that kind can be registered."""
    if kind != "module" and "_parameters" not in module.__dict__:
        raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
    if not isinstance(name, str):
        raise TypeError(f"{kind} name should be a string. Got {type(name).__name__}")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."' + (f", got: {name}" if kind == "module" else ""))
    if not name:
        raise KeyError(f'{kind} name can\'t be empty string ""')
    own = {"parameter": "_parameters", "buffer": "_buffers", "module": "_modules"}
    others = (module.__dict__, *(module.__dict__[each] for held, each in own.items() if held != kind))
    known = callable(getattr(type(module), name, None)) or any(name in each for each in others)
    if known and name not in module.__dict__[own[kind]]:
        raise KeyError(f"attribute '{name}' already exists")


def note_buffer(module: Any, name: str, value: Any) -> None:
    """Refuse what is no tensor in a buffer's place; note of a new buffer if it belongs to the state."""
    if isinstance(value, Buffer):
        transient = module._non_persistent_buffers_set
        (transient.discard if value.persistent else transient.add)(name)
    elif not (value is None or isinstance(value, Tensor)):
        raise TypeError(
            f"cannot assign '{type_name(value)}' as buffer '{name}' "
            "(torch.nn.Buffer, torch.Tensor or None expected)"
        )


def need_float(*wanted: Any) -> None:
    """Refuse dtypes that parameters cannot have."""
    for asked in wanted:
        if isinstance(asked, dtype) and not (asked.is_floating_point or asked.is_complex):
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={asked}"
            )


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    """The names that are missing, and those that are unknown."""

    __slots__ = ()

    def __repr__(self) -> str:
        return super().__repr__() if any(self) else "<All keys matched successfully>"

    __str__ = __repr__


def copied_in(
    own: Mapping[str, Tensor],
    state: Mapping[str, Tensor],
    strict: bool,
    module: str,
    put: Callable[[str, Tensor, Tensor], None] | None = None,
) -> _IncompatibleKeys:
    """Copy values in by name, or ``put`` them in; return the names that are missing and that are unknown.

    With ``strict`` these are refused, and what does not fit always is.
    """
    missing = [name for name in own if name not in state]
    unexpected = [name for name in state if name not in own]
    wrong = [f"Missing key(s) in state_dict: {_quoted(missing)}. "] * bool(missing and strict)
    wrong = [f"Unexpected key(s) in state_dict: {_quoted(unexpected)}. "] * bool(
        unexpected and strict
    ) + wrong
    with no_grad() if by("nn/state-is-copied-in") else nullcontext():
        for name, x in own.items():
            wrong += _copied(name, x, state[name], put) if name in state else []
    if wrong:
        why = "".join(f"\n\t{each}" for each in wrong)
        refuse_by("nn/state-that-does-not-fit-refused", module=module, why=why)
    return _IncompatibleKeys(missing, unexpected)


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _copied(name: str, x: Any, given: Any, put: Callable[..., None] | None) -> list[str]:
    """Copy a value into a parameter or buffer, or hand it to a module; return what is wrong, if anything."""
    if not isinstance(x, Tensor):
        x.set_extra_state(given)
        return []
    if not isinstance(given, Tensor):
        return [
            f'While copying the parameter named "{name}", expected torch.Tensor or Tensor-like object from '
            f"checkpoint but received {type(given)}"
        ]
    if unshaped(x) and not unshaped(given):
        x.materialize(given.shape)
    if unshaped(given):
        return []
    if given.shape == (1,) and not x.ndim:
        given = given.select(0, 0)  # numbers were saved so before they had no dimensions
    if given.shape != x.shape:
        return [
            f"size mismatch for {name}: copying a param with shape {given.shape} from checkpoint, "
            "the shape in "
            f"current model is {x.shape}."
        ]
    try:
        put(name, x, given) if put else x.copy_(given)
    except RuntimeError as error:
        return [
            f'While copying the parameter named "{name}", whose dimensions in the model are '
            f"{x.size()} and whose "
            f"dimensions in the checkpoint are {given.size()}, an exception occurred : {error.args}."
        ]
    return []


def refuse_as_property(module: Any, name: str) -> None:
    """Ask a property again that raised an AttributeError, for it may have said what is not modelled."""
    try:
        object.__getattribute__(module, name)
    except NotModelled:
        raise
    except AttributeError:
        return
