"""Mistakes that a user can fix, in one line with a hint. Programming errors keep their traceback."""

from __future__ import annotations

from conformance.report import Verdict


class Trouble(Exception):
    """A user's mistake: the problem, a hint how to fix it, and the exit code."""

    def __init__(self, what: str, hint: str, code: int = Verdict.BAD_USAGE) -> None:
        super().__init__(what, hint)
        self.what, self.hint, self.code = what, hint, code

    def __str__(self) -> str:
        return f"error: {self.what} (hint: {self.hint})"


NOTHING_YET = "interrupted before there was anything to report", "no file was written"
"""The words for a command that ends before it has begun, with their hint."""

LONGEST = 1000
"""Characters of a line that is an error; an adapter may raise a book."""


def one_line(text: str) -> str:
    """Return the text as a line that any terminal shows: no control characters, and not too long."""
    line = " ".join(text.split())
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
