"""The programs of a chunk, from each source of choices. How one is drawn lives in ``generate``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.mutating import searched
from conformance.generate.state.choices import Prng

Take = Callable[[int, Drawn], None]
"""Called with each program's number and what was drawn."""


def programs_from(
    source: str, seed: int, first: int, count: int, capabilities: Capabilities, take: Take
) -> None:
    """Draw ``count`` programs, numbered from ``first``, beside the reference, within ``capabilities``."""
    draws = {"prng": _prng, "hypothesis": _hypothesis, "mutating": _mutating}[source]
    draws(seed, first, count, capabilities, take)


def _prng(seed: int, first: int, count: int, capabilities: Capabilities, take: Take) -> None:
    oracle = adapters.load("reference")
    for number in range(first, first + count):
        take(number, draw(Prng(seed, number), oracle, capabilities))


def _hypothesis(seed: int, first: int, count: int, capabilities: Capabilities, take: Take) -> None:
    """A Hypothesis run of its own for the chunk, which draws the programs of the PRNG; nothing is stored,
    nothing is timed, so that a seed says it all.
    """
    from hypothesis import HealthCheck, Phase, given, settings

    from conformance.generate.backend import drawing
    from conformance.generate.strategy import drawn
    from conformance.hypothesis_plugin import BACKEND

    with drawing(seed, first) as numbers:

        @settings(
            backend=BACKEND,
            max_examples=count + 1,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(drawn(adapters.load("reference"), capabilities))
        def each(program: Any) -> None:
            if numbers.at_hand is not None:  # NB: Hypothesis's first example is the simplest: no program's
                take(numbers.at_hand, program)

        each()
        assert numbers.next == first + count, "Hypothesis skipped a program"


def _mutating(seed: int, first: int, count: int, capabilities: Capabilities, take: Take) -> None:
    """A search of its own for the chunk, so that a program depends on nothing that other chunks found."""
    for number, drawn in searched(adapters.load("reference"), capabilities, seed, first, count):
        take(number, drawn)


def firings(rule: str, programs: int) -> tuple[int, int]:
    """Return in how many steps of so many drawn programs (PRNG, seed 0) the rule fires, and in how many
    programs.
    """
    steps = reached = 0

    def take(number: int, drawn: Drawn) -> None:
        nonlocal steps, reached
        assert drawn.trace is not None
        here = sum(rule in seen.fired for seen in drawn.trace.observations)
        steps += here
        reached += here > 0

    programs_from("prng", 0, 0, programs, adapters.capabilities(adapters.load("reference")), take)
    return steps, reached


def ever_fired(programs: int) -> frozenset[str]:
    """Return the rules that fire, refuse or warn in so many drawn programs (PRNG, seed 0), on the CPU."""
    found: set[str] = set()

    def take(number: int, drawn: Drawn) -> None:
        assert drawn.trace is not None
        for seen in drawn.trace.observations:
            found.update(seen.fired, seen.warnings or ())

    programs_from("prng", 0, 0, programs, adapters.capabilities(adapters.load("reference")), take)
    return frozenset(found)
