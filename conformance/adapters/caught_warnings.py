"""Warnings while programs run: caught and counted, and silent while facts are read."""

from __future__ import annotations

import re
import warnings

from specs.rule import RULES, classify_warning

_OF_THREADS = re.compile("Attempting to run cuBLAS, but there was no current CUDA context")
_OF_IMPORTS = re.compile(r"`torch\.jit\.script` is deprecated")
RECORDED = [
    ("ignore", None, ResourceWarning, None, 0),
    ("ignore", _OF_IMPORTS, DeprecationWarning, None, 0),
    ("ignore", _OF_THREADS, UserWarning, None, 0),
    ("always", None, Warning, None, 0),
]
"""Python warns of what was not closed when the garbage collector comes by, torch of what it imports when
forward mode is first used, and its thread of a device when it first multiplies: no program causes that.
"""
IGNORED = [("ignore", None, Warning, None, 0)]


class CaughtWarnings:
    """Catches warnings for as long as any session is open; reading facts is silent."""

    def __init__(self) -> None:
        self.depth = 0
        self.caught: list[str] = []

    def install(self) -> None:
        """Catch warnings from now on."""
        if self.depth == 0:
            self._before = (warnings.filters, warnings.showwarning)
            warnings.filters = RECORDED
            warnings.showwarning = self._show
        self.depth += 1

    def restore(self) -> None:
        """Leave warnings as they were, once this was called as often as `install`."""
        self.depth -= 1
        if self.depth == 0:
            warnings.filters, warnings.showwarning = self._before
            self.caught.clear()

    def _show(self, message: Warning | str, *_: object, **__: object) -> None:
        self.caught.append(getattr(message, "rule", None) or str(message))


WARNINGS = CaughtWarnings()


def rule_of_warning(text: str) -> str:
    """The rule by which a text warns, or the text's first line."""
    return text if text in RULES else classify_warning(text) or f"unclassified: {text.splitlines()[0]}"
