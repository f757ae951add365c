"""The registry of steps: decorators enter each kind of step where it is defined.

``guide/swarm`` puts the entries in order and picks those that a program may use.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from conformance.generate.state.features import ALWAYS

Draw = Callable[[Any, Any], bool]
"""Draws a step, given the `GenState` and the tensor it is about (None: it picks one itself).

Returns False if nothing was drawn, because nothing live suits the step.
"""

D = TypeVar("D", bound=Draw)


class Entry(NamedTuple):
    """A kind of step: the feature that switches it on, its weight, and its needs.

    ``emits``: operations that an implementation must have, where the op table does not say. ``recipes``: the
    recipes of the vocabulary that the step draws from, of which there must be some.
    """

    draw: Draw
    feature: int
    weight: int
    emits: tuple[str, ...]
    recipes: str


ENTRIES: defaultdict[str, list[Entry]] = defaultdict(list)
"""Kinds of step by the module that defines them, in the order of their definition."""

FOLLOW_UPS: dict[str, Draw] = {}
"""Everything that can be scheduled by name."""


def step(
    weight: int, feature: int = ALWAYS, *, emits: tuple[str, ...] = (), recipes: str = ""
) -> Callable[[D], D]:
    """Enter a kind of step; programs with that feature draw it as often as its weight says."""

    def enter(draw: D) -> D:
        ENTRIES[draw.__module__].append(Entry(draw, feature, weight, emits, recipes))
        return follow_up(draw)

    return enter


def follow_up(draw: D) -> D:
    """Enter a function that other modules schedule by its name, without importing it in a circle."""
    name = draw.__name__
    if FOLLOW_UPS.setdefault(name, draw) is not draw:
        raise ValueError(f"two steps are named {name}")
    return draw
