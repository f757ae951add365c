"""Containers of modules: sequences, lists, dicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

from reference_impl.nn.module import Module
from reference_impl.nn.parameter_containers import pairs_of, position


class _Modules(Module):
    """Registered modules in order."""

    def append(self, module: Module) -> Self:
        """Append a module."""
        self.add_module(str(len(self)), module)
        return self

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __getitem__(self, at: Any) -> Any:
        modules = list(self._modules.values())
        if isinstance(at, slice):
            return self._of(dict(list(self._modules.items())[at]))
        return modules[position(at, len(modules))]

    def __setitem__(self, at: int, module: Module) -> None:
        names = list(self._modules)
        self.add_module(names[position(at, len(names))], module)

    def __delitem__(self, at: Any) -> None:
        kept = list(self._modules.values())
        del kept[at if isinstance(at, slice) else position(at, len(kept))]
        self._put(kept)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _insert(self, index: int, module: Module) -> None:
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._put(modules)

    def pop(self, key: Any) -> Module:
        """Remove a module and return it."""
        module: Module = self[key]
        del self[key]
        return module

    def extend(self, modules: Iterable[Module]) -> Self:
        """Append all of ``modules``."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> Any:
        return type(self)._of({str(at): module for at, module in enumerate([*self, *other])})

    def _put(self, modules: Iterable[Module]) -> None:
        self._modules.clear()
        for module in modules:
            self.append(module)

    @classmethod
    def _of(cls, modules: dict[str, Module]) -> Any:
        raise NotImplementedError


class Sequential(_Modules):
    """Modules called in order, each with the previous result."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        named = (
            modules[0].items() if len(modules) == 1 and isinstance(modules[0], dict) else enumerate(modules)
        )
        for name, module in named:
            self.add_module(str(name), module)

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before the one at ``index``; return the container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        at = index % len(self) if index < 0 else index
        for later in range(len(self), at, -1):  # NB: so modules with other names than numbers are refused
            self._modules[str(later)] = self._modules[str(later - 1)]
        self._modules[str(at)] = module
        return self

    def __iadd__(self, other: Any) -> Self:
        return self.extend(_need_sequential(other))

    def __add__(self, other: Any) -> Any:
        return super().__add__(_need_sequential(other))

    def __mul__(self, times: int) -> Any:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")
        return self._of({str(at): module for at, module in enumerate([*self] * times)})

    __rmul__ = __mul__

    def __imul__(self, times: int) -> Self:
        self._put([*(self * times)])
        return self

    def forward(self, input: Any) -> Any:
        for module in self._modules.values():
            input = module(input)
        return input

    @classmethod
    def _of(cls, modules: dict[str, Module]) -> Any:
        return cls(modules)


def _need_sequential(other: Any) -> Sequential:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )
    return other


class ModuleList(_Modules):
    """A list of registered modules."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.extend(modules)

    def insert(self, index: int, module: Module) -> None:
        """Insert a module before the one at ``index``."""
        self._insert(index, module)

    def __repr__(self) -> str:
        """Show modules that look alike and follow one another once, with their number."""
        runs: list[tuple[int, int, str]] = []
        for at, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], at, text)
            else:
                runs.append((at, at, text))
        if not runs:
            return f"{self._get_name()}()"
        shown = [f"({a}): {t}" if a == b else f"({a}-{b}): {b - a + 1} x {t}" for a, b, t in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(line.replace("\n", "\n  ") for line in shown) + "\n)"

    @classmethod
    def _of(cls, modules: dict[str, Module]) -> Any:
        return cls(modules.values())


class ModuleDict(Module):
    """A dict of registered modules."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def update(self, modules: Any) -> None:
        """Add the modules of a mapping, or of pairs of names and modules."""
        for name, module in pairs_of("ModuleDict", modules):
            self.add_module(name, module)

    def pop(self, key: str) -> Module:
        """Remove a module and return it."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Names and modules."""
        return self._modules.items()
