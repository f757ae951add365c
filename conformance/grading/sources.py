"""The programs of a chunk, from either source of choices. How one is drawn lives in ``generate``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.state.choices import Prng

Take = Callable[[int, Drawn], None]
"""Called with each program's number and what was drawn."""


def programs_from(
    source: str, seed: int, first: int, count: int, capabilities: Capabilities, take: Take
) -> None:
    """Draw ``count`` programs, numbered from ``first``, beside the reference, within ``capabilities``."""
    draws = {"prng": _prng, "hypothesis": _hypothesis}[source]
    draws(seed, first, count, capabilities, take)


def _prng(seed: int, first: int, count: int, capabilities: Capabilities, take: Take) -> None:
    oracle, choices = adapters.load("reference"), Prng()
    for number in range(first, first + count):
        take(number, draw(choices.restart(seed, number), oracle, capabilities))


def _hypothesis(seed: int, first: int, count: int, capabilities: Capabilities, take: Take) -> None:
    """A Hypothesis run of its own for the chunk; nothing is stored, nothing is timed, so that a seed says it
    all.
    """
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded

    from conformance.generate.strategy import drawn

    import_all()
    number = first

    @seeded((seed << 32) + first)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn(adapters.load("reference"), capabilities))
    def each(program: Any) -> None:
        nonlocal number
        take(number, program)
        number += 1

    each()


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


def our_modules() -> tuple[str, ...]:
    """The project's modules by name, but for those that are never imported where programs are drawn: cases,
    which are PyTorch text, and the adapters of other libraries.
    """
    packages = [importlib.import_module(name) for name in ("specs", "reference_impl", "conformance")]
    found = (m.name for p in packages for m in pkgutil.walk_packages(p.__path__, f"{p.__name__}."))
    elsewhere = ("specs.cases", "conformance.targets")
    return tuple(name for name in found if not name.startswith(elsewhere) and not name.endswith("__main__"))


@cache
def import_all() -> None:
    """Import every module of the project.

    NB: Hypothesis draws some integers from the literals of whichever local modules are loaded when it draws,
    so that a program would depend on what its process happened to do before.
    """
    for name in our_modules():
        importlib.import_module(name)
