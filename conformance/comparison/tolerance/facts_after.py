"""The facts of names as they were after a step, whenever they were seen."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from typing import Any

from conformance.comparison.tolerance.op_effects import writes
from conformance.execution.trace import Done, Trace
from conformance.program import binds, reads
from specs.fact import POSITION

_DTYPE = POSITION["dtype"]


class FactsAfter:
    """The facts of a name after a step, as they were seen then, or later before the dtype could change.

    A dtype changes where a name is bound again, and where `.data` is assigned to whatever the name is bound
    to.
    """

    def __init__(self, trace: Trace) -> None:
        self._observations = trace.observations
        self._assigned: list[int] = []
        self._bound: defaultdict[str, list[int]] = defaultdict(list)
        for index, (step, seen) in enumerate(zip(trace.program, trace.observations, strict=True)):
            if step.op == ".data=":
                self._assigned.append(index)
            elif step.out and type(seen.outcome) is Done:
                for name in set(binds(step)).difference(reads(step)[:1] if writes(step.op) else ()):
                    self._bound[name].append(index)

    def __call__(self, index: int, name: str) -> tuple[Any, ...] | None:
        changes = chain(self._assigned, self._bound.get(name, ()))
        end = min([step for step in changes if step > index], default=len(self._observations))
        for observed in self._observations[index:end]:
            facts = observed.facts.get(name)
            if facts is not None and len(facts) > 1 and isinstance(facts[_DTYPE], str):
                return facts
        return None
