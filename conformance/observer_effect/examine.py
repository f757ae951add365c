"""Does observing a program change its result? If so, which rules explain it?

Reading the history of a stale view makes it anew, so that how densely a program is observed is part of it.
Torch is held against itself, over what shows at any density. Where that differs, the reference must do at
each density what torch does; then the rules behind its own difference explain torch's. ``campaign`` runs many
programs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from conformance import adapters
from conformance.comparison.compare import Comparison, Diverge, Divergence, compare
from conformance.comparison.judge import Decision, Judgement
from conformance.execution.flight_recorder import note
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.grading.participants import REFERENCE, TORCH, Participants
from conformance.program import Program, Step, binds, decoration, ref
from specs.active_rules import knocked_out
from specs.fact import DENSITIES, TOPOLOGY, UNSEEN

PAIRS = (("each", "end"), ("each", "touched"))
"""Traces that agree in both pairs agree at all densities."""

_AGE = TOPOLOGY.index("age")
_PARTICIPANTS = Participants(TORCH, REFERENCE)

Traces = Mapping[str, Trace]
"""By density."""


class Dependent(NamedTuple):
    """A program's dependence on being observed: the densities that differ, and where they first do.

    `unexplained` is the first density at which the reference does otherwise than torch, with the judgement;
    `departs` are the rules on record that torch breaks there.
    """

    densities: tuple[str, str]
    first: Divergence
    unexplained: tuple[str, Judgement] | None
    departs: tuple[str, ...]


def at_any_density(trace: Trace) -> Trace:
    """Return what a trace shows at any density: outcome, warnings and calls of each step, and all facts in
    the end.

    The ages of nodes are left out: a history that an observation makes is as old as the observation.
    """
    *before, last = trace.observations
    bare = tuple(seen._replace(facts={}) for seen in before)
    topology = trace.topology
    if topology is not None:
        topology = {name: (*facts[:_AGE], UNSEEN, *facts[_AGE + 1 :]) for name, facts in topology.items()}
    return replace(trace, observations=(*bare, last), topology=topology)


def traces_on(side: str, program: Program, densities: Iterable[str] = DENSITIES) -> Traces:
    """The program's traces at those densities."""
    if side == TORCH:
        note(program, 0)
    return {density: run(program, adapters.load(side), density) for density in densities}


def compared(traces: Traces) -> dict[tuple[str, str], Comparison]:
    """The comparisons between those of the densities."""
    shown = {density: at_any_density(trace) for density, trace in traces.items()}
    return {(x, y): compare(shown[x], shown[y]) for x, y in PAIRS if x in shown and y in shown}


def differing(traces: Traces) -> tuple[tuple[str, str], Divergence] | None:
    """Return the two densities that differ, and their first divergence."""
    found = ((pair, each.first) for pair, each in compared(traces).items() if isinstance(each, Diverge))
    return next(found, None)


def examine(program: Program, traces: Traces | None = None) -> Dependent | None:
    """Return how the program depends on being observed on torch, or None; ``traces`` may be at hand."""
    found = differing(traces or traces_on(TORCH, program))
    if found is None:
        return None
    judged = [(density, _PARTICIPANTS.judged(program, density).found) for density in DENSITIES]
    departs = {rule for _, each in judged if each.decision is Decision.KNOWN for rule in each.because}
    wrong = (pair for pair in judged if pair[1].decision not in (Decision.AGREE, Decision.KNOWN))
    return Dependent(*found, next(wrong, None), tuple(sorted(departs)))


def same_difference(program: Program, first: Divergence, other: Program, again: Divergence) -> bool:
    """Tell whether two differences are of one kind: about one fact and, if of a step, after one operation."""
    if first.fact != again.fact or type(first.expected) is not type(again.expected):
        return False
    return first.name is not None or program[first.step].op == other[again.step].op


def shown_by_the_reference(program: Program, found: Dependent, smaller: Program) -> bool:
    """Tell whether on the reference the smaller program depends on being observed as the program does."""
    with knocked_out(*found.departs):
        again = differing(traces_on(REFERENCE, smaller, found.densities))
    return again is not None and same_difference(program, found.first, smaller, again[1])


class Reading(NamedTuple):
    """A step of a program after which the history of a name is read."""

    after: int
    name: str


def with_reading(program: Program, reading: Reading) -> Program:
    """The program with ``name.grad_fn`` as one more step."""
    steps, after = program.steps, reading.after
    blocks, decorated = decoration(steps[after].mode)
    reading_step = Step(".grad_fn", (ref(reading.name),), mode=() if decorated else blocks)
    return Program((*steps[: after + 1], reading_step, *steps[after + 1 :]))


class Runs(NamedTuple):
    """A program observed more, and less, as traces of the same steps; the rules that observing obeyed."""

    more: Trace
    less: Trace
    by_observing: frozenset[str]

    @property
    def refused(self) -> set[int]:
        """The steps refused in either."""
        return {*self.more.refused, *self.less.refused}

    @property
    def first(self) -> Divergence | None:
        """The first divergence, expected where more was observed."""
        found = compare(at_any_density(self.more), at_any_density(self.less))
        return found.first if isinstance(found, Diverge) else None


def run_both(side: str, program: Program, densities: tuple[str, str], reading: Reading | None = None) -> Runs:
    """The runs at two densities; with a reading, those with it and without, observed in the end."""
    if reading is None:
        more, less = traces_on(side, program, densities).values()
        pairs = zip(more.observations, less.observations, strict=True)
        return Runs(more, less, frozenset(rule for x, y in pairs for rule in set(x.fired) ^ set(y.fired)))
    at = reading.after + 1
    (more,) = traces_on(side, with_reading(program, reading), ("end",)).values()
    (less,) = traces_on(side, program, ("end",)).values()
    rest = (*more.observations[:at], *more.observations[at + 1 :])
    return Runs(replace(more, program=program, observations=rest), less, frozenset(more[at].fired))


def reading_behind(program: Program, found: Dependent) -> Reading | None:
    """Return the one reading, the latest there is, that makes the difference on the reference; None if it
    takes more.
    """
    with knocked_out(*found.departs):
        for after in reversed(range(found.first.step)):
            bound = (name for step in program.steps[: after + 1] for name in binds(step))
            for name in dict.fromkeys(bound):
                reading = Reading(after, name)
                first = run_both(REFERENCE, program, found.densities, reading).first
                if first is not None and same_difference(program, found.first, program, first):
                    return reading
    return None


def rules_behind(program: Program, found: Dependent, reading: Reading | None) -> tuple[str, ...]:
    """Return the rules that the reference obeys in one run alone, or for observing, and without which the
    runs agree.
    """
    with knocked_out(*found.departs):
        runs = run_both(REFERENCE, program, found.densities, reading)
    first = runs.first
    if first is None:
        return found.departs
    more, less = (
        {rule for seen in trace.observations[: first.step + 1] for rule in seen.fired} for trace in runs[:2]
    )
    behind = []
    for rule in sorted(more ^ less | runs.by_observing):
        with knocked_out(rule, *found.departs):
            if run_both(REFERENCE, program, found.densities, reading).first is None:
                behind.append(rule)
    return (*behind, *found.departs)
