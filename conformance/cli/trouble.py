"""What a user can mend, in one line with a hint. Programming errors are not caught here: they keep their
traceback.
"""

from __future__ import annotations

from conformance.report import Verdict


class Trouble(Exception):
    """A mistake of the user's: what is wrong, a hint how to mend it, and the exit code."""

    def __init__(self, what: str, hint: str, code: Verdict = Verdict.BAD_USAGE) -> None:
        super().__init__(what, hint)
        self.what, self.hint, self.code = what, hint, code

    def __str__(self) -> str:
        return f"error: {self.what} (hint: {self.hint})"
