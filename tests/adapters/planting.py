"""Planting bugs in real torch: each is patched in, and registered with the rule that it breaks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

BUGS: dict[str, tuple[str, Callable[[], None]]] = {}
"""The rule that each bug breaks, and the function that patches it into torch."""

Wrapper = Callable[..., Any]

WRITES = ("mul_", "add_", "sub_", "div_", "neg_", "zero_", "fill_", "copy_", "abs_", "square_")
"""The in-place ops that bugs about writes are planted in."""


def breaks(rule: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a bug by the name of its function."""

    def register(plant: Callable[[], None]) -> Callable[[], None]:
        BUGS[plant.__name__] = rule, plant
        return plant

    return register


def around(owner: Any, name: str, wrapper: Wrapper) -> None:
    """Replace a function by one that is given it, and its arguments."""
    own = getattr(owner, name)
    setattr(owner, name, functools.wraps(own)(lambda *args, **kwargs: wrapper(own, *args, **kwargs)))


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
