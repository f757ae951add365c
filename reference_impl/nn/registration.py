"""Refusals of modules: names and values to register, arguments."""

from __future__ import annotations

from typing import Any

from reference_impl.base.not_modelled import NotModelled
from reference_impl.core.tensor import Tensor
from reference_impl.nn.parameter import Buffer


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


def need_no_arguments(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse arguments to the initialiser of all modules, which takes none."""
    called = f"{type(module).__name__}.__init__()"
    if kwargs:
        raise TypeError(f"{called} got an unexpected keyword argument '{next(iter(kwargs))}'")
    if args:
        raise TypeError(f"{called} takes 1 positional argument but {len(args) + 1} were given")


def refuse_as_property(module: Any, name: str) -> None:
    """Ask a property again that raised an AttributeError, for it may have said what is not modelled."""
    try:
        object.__getattribute__(module, name)
    except NotModelled:
        raise
    except AttributeError:
        return
