"""The reduction of a program that differs: to few steps, and to the first step at which the difference shows.

What makes programs smaller lives in ``program.shrink``; the rules behind a difference in ``diagnosis``. How
findings are counted and merged is told in ``kinds``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from conformance.comparison.compare import Agree, compare
from conformance.execution.op_reach import EVERYTHING
from conformance.execution.trace import Trace
from conformance.grading.participants import Judged, same_defect
from conformance.program import Program
from conformance.program.shrink import CHECKS, shrink_program

Judge = Callable[[Program, str], Judged]
"""Runs a program at a density and judges it."""


class Differing(NamedTuple):
    """The density at which a program differs, and the judgement that says so."""

    density: str
    judged: Judged

    @property
    def program(self) -> Program:
        """The program that was judged."""
        return self.judged.reference.program

    @property
    def moved(self) -> bool:
        """Tell whether it is looked at so closely that the difference stands where it arises."""
        return self.density == EVERYTHING


class Reducer:
    """Reduces programs that differ, with so many ``checks`` in all."""

    def __init__(self, kills: Callable[[Program], bool], checks: int) -> None:
        self._kills, self.checks = kills, checks

    def reduced(self, large: Differing, judge: Judge) -> Differing | None:
        """Reduce a program that differs; None if the difference is lost.

        Where looking at everything after each step changes nothing, the difference moves to the first step at
        which it shows.
        """
        small = self._shrunk(self._cut(large, judge), judge)
        if small is not None and not small.moved:
            closer = self.looked_at(small, judge)
            small = (self._shrunk(self._cut(closer, judge), judge) if closer.moved else None) or small
        if small is None:
            return None
        earlier = self._cut_at_first_sight(small, judge)
        return (self._shrunk(earlier, judge) if earlier is not small else None) or small

    def looked_at(self, seen: Differing, judge: Judge) -> Differing:
        """Look at everything after each step; return the program as it is where that changes something."""
        closely = judge(seen.program, EVERYTHING)
        if closely.found.first is None or closely.found.decision is not seen.judged.found.decision:
            return seen
        pairs = ((seen.judged.reference, closely.reference), (seen.judged.right, closely.right))
        if all(_shows_the_same(before, now) for before, now in pairs):
            return Differing(EVERYTHING, closely)
        return seen

    def _cut(self, seen: Differing, judge: Judge) -> Differing:
        """Leave out the steps after the difference, if it shows without them."""
        first = seen.judged.found.first
        assert first is not None
        program = Program(seen.program.steps[: first.step + 1])
        if len(program) == len(seen.program) or self._kills(program):
            return seen
        judged = judge(program, seen.density)
        cut = Differing(seen.density, judged)
        return cut if same_defect(seen.judged.found, judged.found, seen.program, cut.program) else seen

    def _cut_at_first_sight(self, seen: Differing, judge: Judge) -> Differing:
        """Cut a program where it differs to a look at its end, which alone shows memory and history."""
        first = seen.judged.found.first
        assert first is not None
        for end in range(1, first.step + 1):
            start = Program(seen.program.steps[:end])
            if self._kills(start):
                break
            self.checks -= 1
            judged = judge(start, seen.density)
            if judged.found.first is not None and judged.found.decision is seen.judged.found.decision:
                return Differing(seen.density, judged)
        return seen

    def _shrunk(self, large: Differing, judge: Judge) -> Differing | None:
        anywhere = not large.moved and _seen_last(large)

        def still_fails(program: Program) -> bool:
            if self._kills(program):
                return False
            now = Differing(large.density, judge(program, large.density))
            return same_defect(large.judged.found, now.judged.found, large.program, now.program, anywhere)

        small = shrink_program(large.program, still_fails, max(min(self.checks, CHECKS), 0))
        self.checks -= small.checks
        now = Differing(large.density, judge(small.program, large.density))
        if now.judged.found.first is not None:
            return now
        return large if still_fails(large.program) else None


def _seen_last(seen: Differing) -> bool:
    """Tell whether the difference shows in what is looked at after the last step: who made it is open."""
    first = seen.judged.found.first
    return first is not None and first.name is not None and first.step == len(seen.program) - 1


def _shows_the_same(before: Trace, now: Trace) -> bool:
    """Tell whether a trace that shows more shows the same where the other shows anything."""
    seen = tuple(
        more._replace(facts={name: more.facts[name] for name in less.facts if name in more.facts})
        for less, more in zip(before.observations, now.observations, strict=True)
    )
    return isinstance(compare(before, replace(now, observations=seen)), Agree)
