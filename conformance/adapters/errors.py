"""Errors of an adapter itself, as opposed to the implementation behind it."""

from __future__ import annotations


class AdapterError(Exception):
    """An adapter that cannot be loaded or breaks its contract: one line and a hint."""

    def __init__(self, problem: str, hint: str = "") -> None:
        self.problem, self.hint = problem, hint
        super().__init__(f"{problem} (hint: {hint})" if hint else problem)
