"""The trace of a run: outcomes and observations.

Plain values that nobody changes. How they come about lives in `run`, how two traces are held against each
other in `compare`.

NB: what a run makes by the dozen is not declared frozen, since making a frozen dataclass takes several times
as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from conformance.program import Program


@dataclass(frozen=True, slots=True)
class Done:
    """The step did what it says."""

    def __reduce__(self) -> str:
        return "DONE"


@dataclass(slots=True, unsafe_hash=True)
class Refused:
    """The implementation refused by a rule; refusals are equal when their rules are."""

    rule: str
    message: str = field(default="", compare=False)


@dataclass(slots=True, unsafe_hash=True)
class Unsupported:
    """The implementation says it cannot do this at all."""

    why: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Crashed:
    """An exception no rule explains, or a dead process; it equals nothing, not even another crash."""

    error: str


@dataclass(frozen=True, slots=True)
class Unbound:
    """A name is missing: an operand is unbound or None (the step was not run), or a result is."""

    def __reduce__(self) -> str:
        return "UNBOUND"


Outcome = Done | Refused | Unsupported | Crashed | Unbound
DONE = Done()
UNBOUND = Unbound()


Calls = tuple[tuple[int, tuple[Any, ...]], ...]
"""Of functions: the step that handed one over, and what it was given."""


class Observation(NamedTuple):
    """One step's outcome and what was seen after it.

    `facts` maps a name to a tuple in the order of `specs.fact.FACTS`; a name bound to None or to a Python
    value has a tuple of one, its value. `warnings` is None where warnings cannot be seen. `calls` are those
    of functions the program handed over: the step that did, and what was given, tensors by their GRAD_FACTS;
    None where their order is open.
    """

    outcome: Outcome
    facts: Mapping[str, tuple[Any, ...]]
    warnings: tuple[str, ...] | None = ()
    fired: tuple[str, ...] = ()
    calls: Calls | None = ()

    @property
    def crash(self) -> str | None:
        """The error of a crash, be it of the step or of reading what is there after it."""
        if type(self.outcome) is Crashed:
            return self.outcome.error
        for facts in self.facts.values():
            for fact in facts:
                if type(fact) is tuple and fact and fact[0] == "crashed":
                    return str(fact[1])
        return None


@dataclass(slots=True, unsafe_hash=True)
class Trace:
    """One observation per step, of all that is live after the last; `complete` if every fact can be seen.

    `topology` maps what is live in the end to its facts in the order of `specs.fact.TOPOLOGY`; None where an
    implementation does not show how tensors hang together. Steps of one of the ``regions`` (from the first to
    the one after the last) were run at once, and the last alone shows anything. A ``loose`` trace shows other
    names than a runner would look at: those left out are unseen.
    """

    program: Program
    adapter: str
    density: str
    observations: tuple[Observation, ...]
    complete: bool = True
    topology: Mapping[str, tuple[Any, ...]] | None = None
    regions: tuple[tuple[int, int], ...] = ()
    loose: bool = False

    def in_regions(self, regions: tuple[tuple[int, int], ...]) -> Trace:
        """Return the trace of a program that was run in these regions."""
        return replace(self, regions=regions, complete=False)

    def __len__(self) -> int:
        return len(self.observations)

    def __getitem__(self, index: int) -> Observation:
        return self.observations[index]

    @property
    def refused(self) -> tuple[int, ...]:
        """The steps that were refused."""
        return tuple(i for i, seen in enumerate(self.observations) if type(seen.outcome) is Refused)

    @property
    def crashed(self) -> Crashed | None:
        """The first crash, if there was one."""
        return next((o.outcome for o in self.observations if isinstance(o.outcome, Crashed)), None)
