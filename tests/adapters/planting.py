"""Planting bugs in real torch: each is patched in, and registered with the rule that it breaks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import torch

from conformance.adapters.torch import Torch

BUGS: dict[str, tuple[str, Callable[[], None]]] = {}
"""The rule that each bug breaks, and the function that patches it into torch."""

MORE: dict[str, tuple[tuple[str, ...], Callable[[], None]]] = {}
"""Bugs of everyday kinds, each with the rules of which it breaks one or more, likelier ones first."""

Wrapper = Callable[..., Any]

WRITES = ("mul_", "add_", "sub_", "div_", "neg_", "zero_", "fill_", "copy_", "abs_", "square_")
"""The in-place ops that bugs about writes are planted in."""


def breaks(rule: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a bug by the name of its function."""

    def register(plant: Callable[[], None]) -> Callable[[], None]:
        BUGS[plant.__name__] = rule, plant
        return plant

    return register


def breaks_one_of(*rules: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a bug that is no exact absence of a rule, by the name of its function."""

    def register(plant: Callable[[], None]) -> Callable[[], None]:
        MORE[plant.__name__] = rules, plant
        return plant

    return register


def around(owner: Any, name: str, wrapper: Wrapper) -> None:
    """Replace a function by one that is given it, and its arguments."""
    own = getattr(owner, name)
    setattr(owner, name, functools.wraps(own)(lambda *args, **kwargs: wrapper(own, *args, **kwargs)))


class Adapters:
    """The adapters of planted bugs, as attributes; each bug is patched in as its adapter is asked for."""

    def __init__(self, plants: Mapping[str, Callable[[], None]]) -> None:
        self._plants = plants

    def __getattr__(self, name: str) -> Torch:
        if name.startswith("_") or name not in self._plants:
            raise AttributeError(name)
        self._plants[name]()
        adapter = Torch(torch, "cpu", "devices were not asked for")
        adapter.name = name
        setattr(self, name, adapter)
        return adapter


def filled_by(roots: Any) -> list[torch.Tensor]:
    """The leaves that a backward from the roots fills, as far as it can be told."""
    try:
        roots = [roots] if isinstance(roots, torch.Tensor) else list(roots)
        stack = [torch.autograd.graph.get_gradient_edge(x).node for x in roots]
    except Exception:
        return []
    met = set()
    while stack:
        node = stack.pop()
        if node not in met:
            met.add(node)
            stack += [following for following, _ in node.next_functions if following is not None]
    return [node.variable for node in met if hasattr(node, "variable")]
