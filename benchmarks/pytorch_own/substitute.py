"""``torch`` is another module: what `import torch` and `from torch.x import y` find while tests are loaded.

A name that the other module lacks is a `Missing`: it may be imported, decorate and be inherited from, so that
one absent name costs the tests that use it and not the whole file.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

LOADING = [False]
"""True while test files are being loaded; afterwards a missing name is an error where it is used."""

TESTING = "torch.testing._internal"


class Missing:
    """Stands for a name that is not there."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """While loading: what it decorates, or (its arguments are a decorator's) another such."""
        if not LOADING[0]:
            raise NotImplementedError(f"there is no {self._name}")
        decorates = len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type))
        return args[0] if decorates else self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self._name}.{name}")

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> None:
        raise NotImplementedError(f"there is no {self._name}")

    def __exit__(self, *exc: object) -> None: ...

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        name = self._name

        class Without:
            """A base whose ``apply`` says what is missing."""

            @classmethod
            def apply(cls, *args: Any) -> Any:
                raise NotImplementedError(f"there is no {name}")

        return (Without,)


class _Module(types.ModuleType):
    """A module under torch's name, with the attributes of the module that stands in for it."""

    def __init__(self, name: str, behind: Any) -> None:
        super().__init__(name)
        self.__dict__["_behind"] = behind

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.__dict__["_behind"], name, None)
        if found is None or isinstance(found, types.ModuleType):
            found = sys.modules.get(f"{self.__name__}.{name}", found)
        if found is not None:
            return found
        if LOADING[0]:
            return Missing(f"{self.__name__}.{name}")
        raise AttributeError(f"there is no {self.__name__}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            self.__dict__[name] = value
        elif not isinstance(
            value, _Module
        ):  # a submodule is found behind, if no function of its name hides it
            setattr(self.__dict__["_behind"], name, value)


class Substitute(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``module`` and its submodules under the name of torch, and ``own`` modules before these."""

    def __init__(self, module: str, own: Mapping[str, types.ModuleType]) -> None:
        self.module = module
        self.own = own

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        ours = name == "torch" or name.startswith("torch.")
        if not ours or (self.module == "torch" and not name.startswith(TESTING)):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> types.ModuleType:
        if spec.name.startswith(TESTING):
            return _Module(spec.name, self.own.get(spec.name))
        try:
            behind = importlib.import_module(self.module + spec.name.removeprefix("torch"))
        except ModuleNotFoundError:
            behind = None
        return _Module(spec.name, behind)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing: what stands behind it has been run."""


@contextmanager
def torch_is(module: str, own: Mapping[str, types.ModuleType]) -> Iterator[Any]:
    """Make ``import torch`` give ``module``, for good, and missing names harmless for the block; gives
    torch.
    """
    if module != "torch" and "torch" in sys.modules:
        raise RuntimeError("torch has been imported already")
    sys.meta_path.insert(0, Substitute(module, own))
    LOADING[0] = True
    try:
        yield importlib.import_module("torch")
    finally:
        LOADING[0] = False
