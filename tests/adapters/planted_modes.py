"""Compilers with one bug each, over real torch: ``planted_modes:NAME`` for a name of BUGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import torch

from conformance.adapters.capabilities import Capabilities
from conformance.execution.op_reach import may_change_others
from conformance.execution.region import Region
from conformance.program import Program, Step, reads
from conformance.targets.torch_modes import Mode


class Planted(Mode):
    """Runs each region after a pass over its steps, and another over its results."""

    wiring: Any = None

    def __init__(
        self, name: str, steps: Callable[..., Any] = list, results: Callable[..., Any] = list
    ) -> None:
        super().__init__(name)
        self.capabilities = Capabilities(refusals="outside")
        self._steps, self._results = steps, results

    def run(self, session: None, region: Region, values: tuple[Any, ...]) -> Any:
        changed = replace(region, program=Program(tuple(self._steps(region.program.steps))))
        return tuple(self._results(changed.function(torch)(*values)))


def _writes(step: Step) -> bool:
    return may_change_others(step.op) and not step.out and not step.mode


def without_last_write(steps: tuple[Step, ...]) -> list[Step]:
    """Leave out the last mutation."""
    last = max((at for at, step in enumerate(steps) if _writes(step)), default=None)
    return [step for at, step in enumerate(steps) if at != last]


def writes_reordered(steps: tuple[Step, ...]) -> list[Step]:
    """Do the last write before the one that precedes it, if what it reads is there by then."""
    places = [at for at, step in enumerate(steps) if _writes(step)]
    order = list(steps)
    for first, second in reversed([*pairwise(places)]):
        bound = {name for step in steps[first:second] for name in step.out}
        if bound.isdisjoint(reads(steps[second])):
            order.insert(first, order.pop(second))
            break
    return order


def buffer_reused(results: tuple[Any, ...]) -> list[Any]:
    """Write a result into the memory of an earlier one of the same kind that still lives."""
    for at, x in enumerate(results):
        for y in results[at + 1 :]:
            plain = not (x._is_view() or y._is_view() or x.is_leaf or y.is_leaf)
            if plain and x.shape == y.shape and x.dtype == y.dtype:
                x.data.copy_(y.data)
                return list(results)
    return list(results)


def dropped_write() -> Planted:
    return Planted("dropped write", steps=without_last_write)


def reordered_writes() -> Planted:
    return Planted("reordered writes", steps=writes_reordered)


def reused_buffer() -> Planted:
    return Planted("reused buffer", results=buffer_reused)
