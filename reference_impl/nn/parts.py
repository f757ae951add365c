"""Parts of a module by their dotted names."""

from __future__ import annotations

from typing import Any

from reference_impl.core.tensor import Tensor
from reference_impl.nn.parameter import Parameter


class Parts:
    """A module whose parts can be asked for; `reference_impl.nn.Module` is one."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]

    def get_submodule(self, target: str) -> Any:
        """Find a module by its dotted name; raises AttributeError if there is none."""
        found = self
        for name in target.split(".") if target else ():
            found = _attribute(found, name)
            if not isinstance(found, Parts):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return found

    def get_parameter(self, target: str) -> Parameter:
        """Find a parameter by its dotted name; raises AttributeError if there is none."""
        owner, name = self._place(target)
        found = _attribute(owner, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """Find a buffer by its dotted name; raises AttributeError if there is none."""
        owner, name = self._place(target)
        found: Tensor = _attribute(owner, name)
        if name not in owner._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put a module in the place of a dotted name; with ``strict`` one has to be there."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Parts):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        owner, name = self._place(target)
        if (strict or hasattr(owner, name)) and not isinstance(_attribute(owner, name), Parts):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(owner, name, module)

    def _place(self, target: str) -> tuple[Any, str]:
        """Return the module that owns what a dotted name names, and the name that this has there."""
        path, _, name = target.rpartition(".")
        return self.get_submodule(path), name


def _attribute(owner: Any, name: str) -> Any:
    if not hasattr(owner, name):
        raise AttributeError(f"{type(owner).__name__} has no attribute `{name}`")
    return getattr(owner, name)
