"""Programs as a public Hypothesis strategy, and any program as a strategy of its own.

`programs` drives the guided generator by Hypothesis, whose shrinker, database and replay come along. A
program from elsewhere (a campaign, an issue) enters Hypothesis as an `@example`, or through `parts_of`,
where it is shrunk, stored and replayed like any other. The only module of the package that imports
Hypothesis; what is drawn is ``guide``'s.
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
    range_of,
)
from conformance.generate.state.choices import Choices, words
from conformance.generate.state.oracle import RunnerOracle
from conformance.program import Program, Step

T = TypeVar("T")

_KEEP = st.sampled_from((False, *[True] * 63))
"""Whether a step stays; mostly yes, and simplest without it."""


_BLOCK = st.binary(min_size=16, max_size=16)
_COIN = st.booleans()


class Hypothesis(Choices):
    """Choices read off blocks of bytes that Hypothesis draws, as many as are asked for; zeros are the
    simplest.

    NB: blocks, and not a draw for each choice, because Hypothesis mutates by copying between draws of one
    kind: copied among unlike choices, small numbers made a quarter of the programs alike and most of them
    short. It is faster, too.
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
    """Programs with what is drawn along with them (see `Drawn`), beside the adapter ``oracle``.

    ``capabilities`` narrow what is drawn (the oracle's own by default); ``density`` fixes how densely it is
    observed.
    """
    choices = Hypothesis(draw)
    density = density or choices.pick(DENSITY)
    with Runner(oracle, density) as runner:
        guide = Guide(choices, RunnerOracle(runner), range_of(capabilities or oracle.capabilities))
        turn = _turn(guide)
        while len(runner.steps) < LEAST_STEPS or (len(runner.steps) < LENGTHS[-1] and _go_on(draw)):
            draw(turn)
        guide.state.draw_from(choices)
        guide.end()
        guide.state.close()
        trace = runner.finish()
    return Drawn(trace.program, density, ROUNDING if guide.state.rounding else EXACT, trace)


def programs(oracle: Any, capabilities: Any = None) -> st.SearchStrategy[Program]:
    """Programs as plain values, drawn beside the adapter ``oracle`` within ``capabilities`` (its own by
    default).
    """
    return drawn(oracle, capabilities).map(lambda one: one.program)


@st.composite
def parts_of(draw: st.DrawFn, program: Program) -> Program:
    """A program with any of its steps left out, the whole of it most likely: a failure's way into
    Hypothesis.
    """
    steps: list[Step] = [step for step in program.steps if draw(_KEEP)]
    return Program(tuple(steps))


def shrink(program: Program, fails: Callable[[Program], bool], *, key: str, **options: Any) -> Program:
    """Hypothesis's smallest part of ``program`` that still fails; stored under ``key`` in the settings'
    database.

    Raises `hypothesis.errors.NoSuchExample` if not even the whole program fails. ``options`` are Hypothesis
    settings.
    """
    return find(parts_of(program), fails, settings=settings(**options), database_key=key.encode())
