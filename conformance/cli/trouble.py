"""Mistakes that a user can fix, in one line with a hint. Programming errors keep their traceback."""

from __future__ import annotations

from conformance.report import Verdict


class Trouble(Exception):
    """A user's mistake: the problem, a hint how to fix it, and the exit code."""

    def __init__(self, what: str, hint: str, code: Verdict = Verdict.BAD_USAGE) -> None:
        super().__init__(what, hint)
        self.what, self.hint, self.code = what, hint, code

    def __str__(self) -> str:
        return f"error: {self.what} (hint: {self.hint})"
