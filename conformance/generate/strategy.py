"""Programs as a public Hypothesis strategy, and any program as a strategy of its own.

`programs` drives the guided generator from Hypothesis, with its shrinker, database and replay. A program
from elsewhere (a campaign, an issue) enters Hypothesis as an `@example`, or through `parts_of`, where it is
shrunk, stored and replayed like any other. Programs are drawn by ``guide``. How Hypothesis's random choices
become those of the PRNG lives in ``backend``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from hypothesis import find, settings
from hypothesis import strategies as st

from conformance import hypothesis_plugin
from conformance.generate.guide.guide import Drawn
from conformance.generate.guide.guide import draw as draw_from
from conformance.generate.state.choices import BLOCK, Choices
from conformance.program import Program, Step

hypothesis_plugin.register()

T = TypeVar("T")

_KEEP = st.sampled_from((False, *[True] * 63))
"""True if a step stays: mostly; simplest without it."""


_BLOCK = st.binary(min_size=BLOCK, max_size=BLOCK)


class Hypothesis(Choices):
    """Choices from blocks of bytes that Hypothesis draws on demand; zeros are the simplest.

    They are blocks, not one draw for each choice, because Hypothesis mutates by copying between draws of one
    kind. Small numbers copied between unlike choices made a quarter of the programs alike and most of them
    short. Blocks are faster, too.
    """

    __slots__ = ("_draw",)

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(lambda: draw(_BLOCK))
        self._draw = draw

    def span(self, part: Callable[[], T]) -> T:
        return self._draw(_span(self, part))


@st.composite
def _span(draw: st.DrawFn, choices: Hypothesis, part: Callable[[], T]) -> T:
    """A part of a program as a span of Hypothesis's, which its shrinker can drop."""
    return choices.span_of(lambda: draw(_BLOCK), part)


@st.composite
def drawn(draw: st.DrawFn, oracle: Any, capabilities: Any = None, density: str | None = None) -> Drawn:
    """Draw programs with their density and tier (see `Drawn`), beside the adapter ``oracle``.

    ``capabilities`` narrow the programs (by default the oracle's own); ``density`` fixes how densely they are
    observed.
    """
    return draw_from(Hypothesis(draw), oracle, capabilities, density)


def programs(oracle: Any, capabilities: Any = None) -> st.SearchStrategy[Program]:
    """Draw programs beside the adapter ``oracle``, within ``capabilities`` (by default its own)."""
    return drawn(oracle, capabilities).map(lambda one: one.program)


@st.composite
def parts_of(draw: st.DrawFn, program: Program) -> Program:
    """Draw a program with any of its steps left out, mostly none: a failure's way into Hypothesis."""
    steps: list[Step] = [step for step in program.steps if draw(_KEEP)]
    return Program(tuple(steps))


def shrink(program: Program, fails: Callable[[Program], bool], *, key: str, **options: Any) -> Program:
    """Find the smallest part of ``program`` that still fails, and store it under ``key`` in the database.

    Raises `hypothesis.errors.NoSuchExample` if not even the whole program fails. ``options`` are Hypothesis
    settings.
    """
    return find(parts_of(program), fails, settings=settings(**options), database_key=key.encode())
