"""The calls of one op on operands of given shapes, each worked out when it is first drawn.

Which arguments there are, and whether a call fits, says the recipe; here is remembered what it said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

REFUSED, TOO_MUCH = -1, -2
"""In place of the number of results: the op refuses the arguments, or they are not to be drawn."""
_STRIDE = 101
"""From an entry that does not fit on to the next: a prime beyond any table's size, so that no two tries are
one, and what stands after a run of misfits is not drawn for all of them.
"""
_TRIES = 8
"""How many entries are worked out before the search is given up."""


class Call(NamedTuple):
    """One way to call an op on operands of given shapes: its spelling, the other arguments, and how many
    results it gives.

    ``given`` are all attributes by name. ``pattern`` is None where the operands come first; else the
    arguments in order, an `At` standing for an operand.
    """

    op: str
    tail: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outs: int
    given: tuple[tuple[str, Any], ...]
    pattern: tuple[Any, ...] | None = None


class At(int):
    """The place of operand number so and so in a pattern."""


class Table:
    """The calls on operands of given shapes, simplest first; ``work`` works out one by its number."""

    __slots__ = ("_calls", "_fits", "_misfits", "_work", "size")

    def __init__(self, size: int, work: Callable[[int], Call]) -> None:
        self.size = size
        self._work = work
        self._calls: dict[int, Call] = {}
        self._fits: dict[int, Call | None] = {}
        self._misfits: dict[int, Call | None] = {}

    def fit(self, at: int) -> Call | None:
        """The call at that place, or one soon found, that the op takes; None if there is none."""
        try:
            return self._fits[at]
        except KeyError:
            found = self._fits[at] = next((c for c in self._from(at) if c.outs >= 0), None)
            return found

    def misfit(self, at: int) -> Call | None:
        """The call at that place, or one soon found, that the op refuses; None if there is none."""
        try:
            return self._misfits[at]
        except KeyError:
            refused = next((c for c in self._from(at) if c.outs == REFUSED), None)
            found = self._misfits[at] = refused and refused._replace(outs=1)
            return found

    def _from(self, start: int) -> Iterator[Call]:
        for n in range(min(self.size, _TRIES)):
            at = (start + n * _STRIDE) % self.size
            if at not in self._calls:
                self._calls[at] = self._work(at)
            yield self._calls[at]
