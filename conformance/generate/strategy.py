"""Programs as a public Hypothesis strategy, and any program as a strategy of its own.

`programs` drives the guided generator from Hypothesis, with its shrinker, database and replay. A program
from elsewhere (a campaign, an issue) enters Hypothesis as an `@example`, or through `parts_of`, where it is
shrunk, stored and replayed like any other. No other module of the package imports Hypothesis. Programs are
drawn by ``guide``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, repeat
from typing import Any, TypeVar

from hypothesis import find, settings
from hypothesis import strategies as st

from conformance.execution.run import Runner
from conformance.generate.guide.guide import (
    DENSITY,
    EXACT,
    LEAST_STEPS,
    LENGTHS,
    ROUNDING,
    Drawn,
    Guide,
    oracle_within,
    pruned,
    range_of,
)
from conformance.generate.state.choices import Choices, words
from conformance.program import Program, Step

T = TypeVar("T")

_KEEP = st.sampled_from((False, *[True] * 63))
"""True if a step stays: mostly; simplest without it."""


_BLOCK = st.binary(min_size=16, max_size=16)
_COIN = st.booleans()


class Hypothesis(Choices):
    """Choices from blocks of bytes that Hypothesis draws on demand; zeros are the simplest.

    They are blocks, not one draw for each choice, because Hypothesis mutates by copying between draws of one
    kind. Small numbers copied between unlike choices made a quarter of the programs alike and most of them
    short. Blocks are faster, too.
    """

    __slots__ = ()

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__(chain.from_iterable(words(draw(_BLOCK)) for _ in repeat(None)).__next__)


@st.composite
def _turn(draw: st.DrawFn, guide: Guide) -> bool:
    """One turn of the guide, as a span of its own that the shrinker can drop."""
    guide.state.draw_from(Hypothesis(draw))
    return guide.turn()


def _go_on(draw: st.DrawFn) -> bool:
    """True fifteen times out of sixteen, simplest when False."""
    return draw(_COIN) or draw(_COIN) or draw(_COIN) or draw(_COIN)


@st.composite
def drawn(draw: st.DrawFn, oracle: Any, capabilities: Any = None, density: str | None = None) -> Drawn:
    """Draw programs with their density and tier (see `Drawn`), beside the adapter ``oracle``.

    ``capabilities`` narrow the programs (by default the oracle's own); ``density`` fixes how densely they are
    observed.
    """
    choices, limits = Hypothesis(draw), capabilities or oracle.capabilities
    density = density or choices.pick(DENSITY)
    with Runner(oracle, density) as runner:
        within = oracle_within(limits, runner)
        guide = Guide(choices, within, range_of(limits))
        turn = _turn(guide)
        while not guide.spent and (
            len(runner.steps) < LEAST_STEPS or (len(runner.steps) < LENGTHS[-1] and _go_on(draw))
        ):
            draw(turn)
        guide.state.draw_from(choices)
        guide.end()
        guide.state.close()
        trace = runner.finish()
    trace = pruned(trace, within, oracle, limits)
    return Drawn(trace.program, density, ROUNDING if guide.state.rounding else EXACT, trace)


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
