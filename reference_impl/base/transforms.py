"""The transforms of functions that run now, and what they forbid meanwhile: `torch.func` and `vmap`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from reference_impl.base.rules import refuse_by
from reference_impl.base.session import STATE

RANDOMNESS = ("error", "different", "same")


@dataclass(eq=False, slots=True)
class Transformation:
    """A call of a transformed function; ``forward`` says whether it is differentiated in forward mode."""

    forward: bool = False


@dataclass(eq=False, slots=True)
class Mapping(Transformation):
    """A map over ``size`` elements, and what it says of random numbers."""

    size: int = 0
    randomness: str = "error"
    begun: dict[Any, Any] = field(default_factory=dict)
    """The generators that the function has drawn from, each with its state before the first draw."""
    at: int = 0
    """The element that the function is called for now."""
    elements: list[tuple[Any, Any, int]] = field(default_factory=list)
    """The tensors that it was given for that, each with the one that it is a part of, and its dimension."""
    asked: int = 0
    """The number of custom functions with a rule of their own that this call came to."""
    ruled: list[Any] = field(default_factory=list)
    """The results of those rules, for all elements."""
    sought: int | None = None
    """The number of the rule that a call is to come to, of which no more is wanted."""
    probe: Callable[[int, int], Any] = lambda at, number: None
    """Calls the function for an element without a trace, as far as a rule."""


@contextmanager
def transforming(transform: Transformation) -> Iterator[Transformation]:
    """Say that a transformed function runs in the block."""
    STATE.transforms.append(transform)
    try:
        yield transform
    finally:
        STATE.transforms.remove(transform)


def mappings() -> list[Mapping]:
    """Return the maps that run now, innermost last."""
    return [each for each in STATE.transforms if isinstance(each, Mapping)]


def check_draw(generator: Any) -> None:
    """Refuse to draw random numbers within a map that was not told how; note the state before the first."""
    for level in mappings():
        if level.randomness == "error":
            refuse_by("functional/vmap-randomness-is-chosen")
        if generator not in level.begun:
            level.begun[generator] = generator.bit_generator.state
