"""Containers of modules and parameters: sequences, lists, dicts."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter


def _index(at: Any, size: int) -> int:
    """Return a position counted from the front; refuse one out of range."""
    at = operator.index(at)
    if not -size <= at < size:
        raise IndexError(f"index {at} is out of range")
    return at % size


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
        return modules[_index(at, len(modules))]

    def __setitem__(self, at: int, module: Module) -> None:
        names = list(self._modules)
        self.add_module(names[_index(at, len(names))], module)

    def __delitem__(self, at: Any) -> None:
        kept = list(self._modules.values())
        del kept[at]
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
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        self._insert(index, module)
        return self

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return super().__add__(other)

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

    def forward(self, x: Any) -> Any:
        for module in self._modules.values():
            x = module(x)
        return x

    @classmethod
    def _of(cls, modules: dict[str, Module]) -> Any:
        return cls(modules)


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
            return "ModuleList()"
        shown = [f"({a}): {t}" if a == b else f"({a}-{b}): {b - a + 1} x {t}" for a, b, t in runs]
        return "ModuleList(\n  " + "\n  ".join(line.replace("\n", "\n  ") for line in shown) + "\n)"

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
        for name, module in modules.items() if hasattr(modules, "items") else modules:
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


_OLD = {"float32": "FloatTensor", "float64": "DoubleTensor", "float16": "HalfTensor"}


def _shown(named: Iterable[tuple[str, Any]], old: bool) -> list[str]:
    """A line for each parameter, with its dtype or the old name of its type."""
    lines = []
    for name, x in named:
        kind = f"torch.{_OLD.get(x.dtype.name, 'Tensor')}" if old else repr(x.dtype)
        lines.append(f"  ({name}): Parameter containing: [{kind} of size {'x'.join(map(str, x.shape))}]")
    return lines


class ParameterList(Module):
    """A list of registered parameters."""

    def __repr__(self) -> str:
        lines = _shown(self._parameters.items(), False)
        return "ParameterList(\n  " + "\n  ".join(lines) + "\n)" if lines else "ParameterList()"

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        for value in values:
            self.append(value)

    def append(self, value: Any) -> ParameterList:
        """Append a parameter; a tensor becomes one."""
        self.register_parameter(str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def __getitem__(self, at: int) -> Parameter:
        return list(self._parameters.values())[_index(at, len(self))]

    def __setitem__(self, at: int, value: Any) -> None:
        at = _index(at, len(self))
        self.register_parameter(str(at), value if isinstance(value, Parameter) else Parameter(value))

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Append all of ``values``."""
        for value in values:
            self.append(value)
        return self

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())


class ParameterDict(Module):
    """A dict of registered parameters."""

    def __repr__(self) -> str:
        return "ParameterDict(" + "\n".join(_shown(self._parameters.items(), True)) + ")"

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __delitem__(self, name: str) -> None:
        del self._parameters[name]

    def __getitem__(self, name: str) -> Parameter:
        if name not in self._parameters:
            raise AttributeError(f"'ParameterDict' object has no attribute '{name}'")
        return self._parameters[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value))

    def __contains__(self, name: str) -> bool:
        return name in self._parameters

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._parameters.keys()

    def values(self) -> Iterable[Parameter]:
        """The parameters."""
        return self._parameters.values()

    def items(self) -> Iterable[tuple[str, Parameter]]:
        """Names and parameters."""
        return self._parameters.items()

    def update(self, parameters: Any) -> None:
        """Add the parameters of a mapping, those of a plain one by their names' order, or of pairs."""
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = parameters.items()
        else:
            pairs = sorted(parameters.items()) if isinstance(parameters, Mapping) else parameters
        for name, value in pairs:
            self[name] = value

    def get(self, key: str, default: Any = None) -> Any:
        """Return a parameter by its name, or the default."""
        return self._parameters.get(key, default)

    def pop(self, key: str) -> Parameter:
        """Remove a parameter and return it."""
        value = self[key]
        del self[key]
        return value

    def clear(self) -> None:
        """Remove all parameters."""
        self._parameters.clear()
