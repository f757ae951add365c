"""Longer addresses of names: PyTorch's files, which scripts import from (``torch.nn.modules.linear``)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def give_addresses(package: str, names: Mapping[str, str], owner: Any) -> None:
    """Make a module of a package for each file, with the names that it has there; ``owner`` has them all."""
    for file, members in names.items():
        address = f"{package}.{file}"
        module = ModuleType(address, f"Names of ``{owner.__name__}`` under a longer address.")
        module.__spec__ = ModuleSpec(address, None)
        for name in members.split():
            setattr(module, name, getattr(owner, name))
        sys.modules[address] = module
        vars(sys.modules[package]).setdefault(file, module)
