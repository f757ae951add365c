"""Errors of an adapter itself, as opposed to the implementation behind it."""

from __future__ import annotations

from typing import Any

MISNAMED, BROKEN = 2, 3
"""Exit codes: a name that the user can mend, and an adapter that breaks its contract."""


class AdapterError(Exception):
    """An adapter that cannot be loaded or breaks its contract: one line, a hint, and the exit code it stands
    for.
    """

    def __init__(self, problem: str, hint: str = "", code: int = MISNAMED) -> None:
        self.problem, self.hint, self.code = problem, hint, code
        super().__init__(f"{problem} (hint: {hint})" if hint else problem)

    def __reduce__(self) -> Any:
        return type(self), (self.problem, self.hint, self.code)
