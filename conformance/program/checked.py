"""Parsing for a script whose author may have slipped, or may mean harm."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from conformance.program.expressions import ProgramError
from conformance.program.parsing import Lowering, lowered
from conformance.program.value import DELETE, Program, reads


def parse_checked(text: str, known: Callable[[str], bool]) -> Program:
    """The program a script spells of ``known`` operations, in which no name is read before it is bound.

    Raises `ProgramError` where it is none, with the line.
    """
    return lowered(text, lambda taken: _Checked(taken, known))


class _Checked(Lowering):
    """Lowers a script whose author may have slipped: each operation must be known, each name bound before."""

    def __init__(self, taken: Iterable[str], known: Callable[[str], bool]) -> None:
        super().__init__(taken)
        self._known = known
        self._bound: set[str] = set()

    def emit(self, op: str, args: tuple[Any, ...], kwargs: tuple[tuple[str, Any], ...] = (),
             out: tuple[str, ...] = ()) -> None:  # fmt: skip
        if not self._known(op):
            hint = "one that draws no numbers and touches no files: see `autograd-conformance ops`"
            raise ProgramError(self.at, f"{op} is no operation of a program", hint)
        super().emit(op, args, kwargs, out)
        for name in reads(self.steps[-1]):
            if name not in self._bound:
                raise ProgramError(self.at, f"the name {name} is bound to nothing here")
        self._bound.update(out)
        if op == DELETE:
            self._bound.difference_update(ref.name for ref in args)
