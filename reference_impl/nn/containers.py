"""Containers of modules and parameters: sequences, lists, dicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from reference_impl.nn.module import Module
from reference_impl.nn.parameter import Parameter


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


class Sequential(_Modules):
    """Modules called in order, each with the previous result."""

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        named = (
            modules[0].items() if len(modules) == 1 and isinstance(modules[0], dict) else enumerate(modules)
        )
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, x: Any) -> Any:
        for module in self._modules.values():
            x = module(x)
        return x

    def __getitem__(self, at: Any) -> Any:
        modules = list(self._modules.values())
        return Sequential(*modules[at]) if isinstance(at, slice) else modules[at]


class ModuleList(_Modules):
    """A list of registered modules."""

    def __init__(self, modules: Iterable[Module] = ()) -> None:
        super().__init__()
        self.extend(modules)

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

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Append all of ``modules``."""
        for module in modules:
            self.append(module)
        return self

    def __getitem__(self, at: Any) -> Any:
        modules = list(self._modules.values())
        return ModuleList(modules[at]) if isinstance(at, slice) else modules[at]


class ModuleDict(Module):
    """A dict of registered modules."""

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        for name, module in (modules or {}).items():
            self.add_module(name, module)

    def __getitem__(self, name: str) -> Module:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

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
        return "ParameterList(\n  " + "\n  ".join(_shown(self._parameters.items(), False)) + "\n)"

    def __init__(self, values: Iterable[Any] = ()) -> None:
        super().__init__()
        for value in values:
            self.append(value)

    def append(self, value: Any) -> ParameterList:
        """Append a parameter; a tensor becomes one."""
        self.register_parameter(str(len(self)), value if isinstance(value, Parameter) else Parameter(value))
        return self

    def __getitem__(self, at: int) -> Parameter:
        return list(self._parameters.values())[at]

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self._parameters.values())


class ParameterDict(Module):
    """A dict of registered parameters."""

    def __repr__(self) -> str:
        return "ParameterDict(" + "\n".join(_shown(self._parameters.items(), True)) + ")"

    def __init__(self, values: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        for name, value in (values or {}).items():
            self[name] = value

    def __getitem__(self, name: str) -> Parameter:
        return self._parameters[name]

    def __setitem__(self, name: str, value: Any) -> None:
        self.register_parameter(name, value if isinstance(value, Parameter) else Parameter(value))

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)
