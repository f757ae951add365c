"""Programs as a Hypothesis strategy: drawn, shrunk, stored and replayed."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.database import InMemoryExampleDatabase

from conformance import adapters
from conformance.adapters.capabilities import Capabilities
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.generate.strategy import drawn, parts_of, programs, shrink
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
