"""Programs as a Hypothesis strategy: drawn, shrunk, stored and replayed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import InMemoryExampleDatabase

from conformance import adapters, drawing
from conformance.adapters import capabilities
from conformance.adapters.capabilities import Capabilities
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.generate.strategy import drawn, parts_of, programs, shrink
from conformance.grading.sources import programs_from
from conformance.hypothesis_plugin import BACKEND
from conformance.program import Program, Ref, Step
from conformance.program.printing import to_text

ORACLE = adapters.load("reference")
EASY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)


@EASY
@given(programs(ORACLE))
def test_programs_are_a_strategy(program):
    """A drawn program is a plain value that runs by itself."""
    assert isinstance(program, Program)
    assert len(program) == len(run(program, ORACLE, "end").observations)


@EASY
@given(drawn(ORACLE, Capabilities(features=frozenset()), density="end"))
def test_the_strategy_is_narrowed_alike(one):
    """Capabilities hold for both sources of choices."""
    assert "end" == one.density
    assert not any(step.mode or step.op == "view" for step in one.program)


def test_both_sources_draw_the_same_programs():
    """A seed and a number name one program, whether Hypothesis draws it or not."""
    drawn_by: dict[str, list[Any]] = {"prng": [], "hypothesis": []}
    for source, found in drawn_by.items():
        programs_from(source, 5, 40, 12, capabilities(ORACLE), lambda *one, to=found: to.append(one))
    drawn_by = {source: [(number, one[:3]) for number, one in found] for source, found in drawn_by.items()}
    assert list(range(40, 52)) == [number for number, _ in drawn_by["prng"]]
    assert drawn_by["prng"] == drawn_by["hypothesis"]


def test_a_program_of_the_prng_lands_in_the_database():
    """A campaign's program fails a test of one's own by its number; Hypothesis then replays it unasked."""
    database, tried = InMemoryExampleDatabase(), list[str]()
    wanted = draw(Prng(7, 3), ORACLE).program

    @settings(EASY, backend=BACKEND, database=database, phases=[Phase.reuse, Phase.generate])
    @given(programs(ORACLE))
    def mine(program: Program) -> None:
        tried.append(to_text(program))
        assert program != wanted

    with drawing(7, first=3), pytest.raises(AssertionError):
        mine()
    assert to_text(wanted) in tried
    tried.clear()
    with pytest.raises(AssertionError):
        mine()
    assert to_text(wanted) == tried[0]


def test_a_seed_of_hypothesis_decides_what_the_backend_draws():
    """Without a campaign's seed the programs are other ones, and the same for the same ``@seed``."""

    def programs_of(number: int) -> list[str]:
        found = list[str]()

        @seed(number)
        @settings(EASY, backend=BACKEND, max_examples=6)
        @given(programs(ORACLE))
        def each(program: Program) -> None:
            found.append(to_text(program))

        each()
        return found

    first, again, other = programs_of(1), programs_of(1), programs_of(2)
    assert first == again
    assert 11 == len({*first, *other})


def refuses_modified(program: Program) -> bool:
    """True if some backward finds a saved tensor modified."""
    trace = run(program, ORACLE, "end")
    return any(getattr(o.outcome, "rule", "") == "save/modified-refused" for o in trace.observations)


def a_failure() -> Program:
    """The shortest of those that leave something to be left out."""
    drawn_ones = (draw(Prng(11, index), ORACLE).program for index in range(1000))
    found = (program for program in drawn_ones if len(program) > 12 and refuses_modified(program))
    return min(found, key=len)


def test_a_failure_from_elsewhere_shrinks_in_hypothesis():
    """A campaign's program becomes small where only Hypothesis's public strategies are at work."""
    failure = a_failure()
    small = shrink(
        failure, refuses_modified, key="modified", database=None, max_examples=2000, derandomize=True
    )
    assert refuses_modified(small)
    assert len(small) <= 8


def test_a_failure_is_stored_and_replayed():
    """A failure is stored in the example database and is the first thing tried again."""
    database = InMemoryExampleDatabase()
    failure = a_failure()
    small = shrink(failure, refuses_modified, key="k", database=database, max_examples=2000)
    tried: list[str] = []

    def fails(program: Program) -> bool:
        tried.append(to_text(program))
        return refuses_modified(program)

    again = shrink(failure, fails, key="k", database=database, phases=[Phase.reuse])
    assert to_text(small) == to_text(again) == tried[0]


@EASY
@given(
    parts_of(Program((Step("torch.tensor", (1.0,), (), ("a",)), Step("mul", (Ref("a"), 2.0), (), ("b",)))))
)
def test_parts_are_parts(program):
    """Leaving steps out keeps the order of the rest."""
    assert [step.op for step in program] in ([], ["torch.tensor"], ["mul"], ["torch.tensor", "mul"])
