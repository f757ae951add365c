"""The calls of one op on operands of given shapes, each worked out when it is first drawn.

The arguments, and the validity of a call, come from the recipe; they are cached here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

REFUSED, NOT_DRAWN = -1, -2
"""In place of the number of results: the op refuses the arguments, or the call is not to be drawn."""
_STRIDE = 101
"""Distance to the next entry to try: a prime beyond any table's size, so that tries differ, and the entry
after a run of unfit ones is not drawn for all of them.
"""
_TRIES = 8
"""Entries to work out before the search ends."""


class Call(NamedTuple):
    """One way to call an op on operands of given shapes: its spelling, the other arguments, and the number
    of results (``outs``).

    ``attributes`` are all of them by name. ``pattern`` is None if the operands come first; otherwise it is
    the arguments in order, with an `At` for each operand.
    """

    op: str
    tail: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outs: int
    attributes: tuple[tuple[str, Any], ...]
    pattern: tuple[Any, ...] | None = None


class At(int):
    """Stands for an operand in a pattern, by its number."""


class CallTable:
    """The calls on operands of given shapes, simplest first; ``work_out`` finds one by its number."""

    __slots__ = ("_calls", "_invalid", "_valid", "_work_out", "size")

    def __init__(self, size: int, work_out: Callable[[int], Call]) -> None:
        self.size = size
        self._work_out = work_out
        self._calls: dict[int, Call] = {}
        self._valid: dict[int, Call | None] = {}
        self._invalid: dict[int, Call | None] = {}

    def valid(self, at: int) -> Call | None:
        """Return the call at that index, or one near it, that the op accepts; None if none is found."""
        try:
            return self._valid[at]
        except KeyError:
            found = self._valid[at] = next((c for c in self._from(at) if c.outs >= 0), None)
            return found

    def invalid(self, at: int) -> Call | None:
        """Return the call at that index, or one near it, that the op refuses; None if none is found."""
        try:
            return self._invalid[at]
        except KeyError:
            refused = next((c for c in self._from(at) if c.outs == REFUSED), None)
            found = self._invalid[at] = refused and refused._replace(outs=1)
            return found

    def _from(self, start: int) -> Iterator[Call]:
        for n in range(min(self.size, _TRIES)):
            at = (start + n * _STRIDE) % self.size
            if at not in self._calls:
                self._calls[at] = self._work_out(at)
            yield self._calls[at]
