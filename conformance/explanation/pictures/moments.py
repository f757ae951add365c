"""The moments of a story: each step with its warnings and errors, and the error that ended the script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.explanation.value import ExecutedLine, Mishap, Story


@dataclass(frozen=True, slots=True)
class Moment:
    """A line that has run, or failed: the state after it, and its errors and warnings."""

    line: int
    step: ExecutedLine
    mishaps: tuple[Mishap, ...] = ()
    lines: Mapping[int, int] = field(default_factory=dict)
    """The line of each step of the script, by number."""

    @property
    def own(self) -> bool:
        """Tell whether the step is the line's: an error may come at a line that changed nothing."""
        return self.line == self.step.line

    @property
    def because(self) -> tuple[str, ...]:
        """The rules behind all changes of the line, the most telling first."""
        if not self.own:
            return ()
        rules = [rule for change in self.step.changes for rule in change.because]
        return tuple(dict.fromkeys([*self.step.because, *rules]))

    @property
    def error(self) -> Mishap | None:
        """The error that the line raised."""
        return next((m for m in self.mishaps if not m.kind.endswith("Warning")), None)


def moments(found: Story) -> list[Moment]:
    """Return the moments of a story, in order; the error comes last, at its own line."""
    waiting = [*found.warnings, *found.caught]
    listed: list[Moment] = []
    lines = {step.number: step.line for step in found.steps}
    for step in _whole_ways(found.steps):
        mine = tuple(w for w in waiting if w.line == step.line and (w.step or 0) <= step.number)
        waiting = [warning for warning in waiting if warning not in mine]
        listed.append(Moment(step.line, step, mine, lines))
    if found.error is not None and listed:
        last = listed[-1]
        if last.line == found.error.line:
            listed[-1] = Moment(last.line, last.step, (*last.mishaps, found.error), lines)
        else:
            listed.append(Moment(found.error.line, last.step, (found.error,), lines))
    return listed


def _whole_ways(steps: Sequence[ExecutedLine]) -> Iterator[ExecutedLine]:
    """Give the steps; one that ends a backward knows its whole way, through lines of the script too."""
    begun: dict[tuple[int, str, int], int] = {}
    for at, step in enumerate(steps):
        first = begun.setdefault((step.line, step.function, step.passes), at)
        if step.ran and first < at:
            step = replace(step, ran=tuple(run for part in steps[first : at + 1] for run in part.ran))
        yield step


def moment_at(found: Story, line: int | None) -> Moment | None:
    """Return the last moment of a line, or of the script if none is given."""
    listed = moments(found)
    return next((moment for moment in reversed(listed) if line in (None, moment.line)), None)
