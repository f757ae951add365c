"""Marks that tie a line of the machine to the rule it embodies, and switch it off.

What ``by`` answers is decided in ``specs.force``; here stands how the machine refuses and warns by a rule.
"""

from __future__ import annotations

import warnings
from typing import Any

from specs.force import by, fired, knocked_out
from specs.refusal import refusal, warning

__all__ = [
    "by", "fired", "is_warn_always_enabled", "knocked_out", "refuse", "set_warn_always", "warn", "warn_once",
]  # fmt: skip


def refuse(rule: str, **details: Any) -> None:
    """Raise the refusal of ``rule``; return, as if nothing forbade it, when the rule is not in force."""
    if by(rule):
        raise refusal(rule, **details)


def warn(rule: str) -> None:
    """Warn as ``rule`` says."""
    if by(rule):
        warnings.warn(warning(rule), stacklevel=3)


_warned: set[str] = set()
_always = False


def set_warn_always(flag: bool) -> None:
    """Whether warnings that come once a process come every time."""
    global _always
    _always = flag


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was last given."""
    return _always


def warn_once(rule: str) -> None:
    """Warn as ``rule`` says, the first time only unless `set_warn_always` is on."""
    if _always or rule not in _warned:
        _warned.add(rule)
        warn(rule)
