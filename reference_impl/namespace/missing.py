"""Names that are not bound: modules loaded when asked for, and PyTorch's names that are not modelled.

The list of PyTorch's names is data, ``specs/torch_names.json``, made by ``python -m benchmarks.torch_names``.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import specs
from reference_impl.base.not_modelled import NoSuchName, NotModelled

ROOT = "reference_impl"
_INSIDE = "namespace."
_IMPORT = re.compile(rf"cannot import name '(\w+)' from '(?:{ROOT}|torch)([\w.]*)'")


@cache
def torch_names() -> dict[str, frozenset[str]]:
    """PyTorch's public names by module and class: ``nn``, ``Tensor``; the root is the empty name."""
    return {place: frozenset(names) for place, names in _listed()["names"].items()}


@cache
def _listed() -> dict[str, Any]:
    path = Path(specs.__file__).with_name("torch_names.json")
    listed: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return listed


def name_as_pytorch() -> None:
    """Give loaded classes the addresses that they have in PyTorch, if the reference stands in for it."""
    if sys.modules.get("torch") is not sys.modules[ROOT]:
        return
    for address, home in _listed()["homes"].items():
        place, _, name = address.rpartition(".")
        module = sys.modules.get(".".join(filter(None, (ROOT, place))))
        found = vars(module).get(name) if module is not None else None
        if isinstance(found, type) and found.__module__.partition(".")[0] == ROOT:
            found.__module__ = home


def refuse_name(place: str, name: str, owner: Any) -> None:
    """Raise `NoSuchName` for a name that PyTorch has at ``place``."""
    if not name.startswith("__") and name in torch_names().get(place, ()):
        raise NoSuchName(".".join(filter(None, ("torch", place, name))), owner)


def loading(module: str, *parts: str) -> Callable[[str], Any]:
    """Make the ``__getattr__`` of a module, which loads ``parts`` when they are asked for."""
    place = module.removeprefix(ROOT).removeprefix(".").removeprefix(_INSIDE)

    def missing(name: str) -> Any:
        if name in parts:
            part = import_module(f"{module}.{name}")
            name_as_pytorch()
            return part
        refuse_name(place, name, import_module(module))
        raise AttributeError(
            f"module {module!r} has no attribute {name!r}", name=name, obj=import_module(module)
        )

    return missing


def missing_of_class(place: str) -> Callable[[Any, str], Any]:
    """Make the ``__getattr__`` of a class that PyTorch has at ``place``."""

    def missing(self: Any, name: str) -> Any:
        refuse_name(place, name, self)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    return missing


class Missing:
    """A name that PyTorch has at ``place``, a class, and that the class lacks here."""

    def __init__(self, place: str, name: str) -> None:
        self.place, self.name = place, name

    def __get__(self, owner: Any, kind: type) -> Any:
        if owner is not None:
            refuse_name(self.place, self.name, owner)
        raise AttributeError(
            f"type object {kind.__name__!r} has no attribute {self.name!r}", name=self.name, obj=kind
        )


def bind_missing(kind: type, place: str) -> None:
    """Have a class refuse the names that it lacks of those that PyTorch has at ``place``.

    NB: with a ``__getattr__`` Python would take several times as long to read its attributes, all of them.
    """
    for name in torch_names()[place]:
        if not hasattr(kind, name):
            setattr(kind, name, Missing(place, name))


def name_not_modelled(error: BaseException) -> str | None:
    """Return what of PyTorch's an exception says is missing here, by its name in PyTorch."""
    if isinstance(error, NotModelled):
        return error.what
    if isinstance(error, ImportError):
        found = _IMPORT.match(str(error))
        if found:
            name, place = found[1], found[2].removeprefix(".")
            known = name in torch_names().get(place, ())
            return ".".join(filter(None, ("torch", place, name))) if known else None
        name = (error.name or "").replace(ROOT, "torch")
        if name == "torch" or name.startswith("torch."):
            return name
    return None
