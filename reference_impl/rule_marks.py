"""Marks that tie a line of the machine to the rule it embodies, and switch it off.

``if by("view/shares-storage"):`` records that the rule was applied and answers whether it is in force. A
knocked-out rule is not: the machine then behaves as if it had never heard of it, which is how the suite
measures that it would be missed.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from specs.refusal import refusal, warning

_fired: set[str] = set()
_knocked: set[str] = set()


def by(rule: str) -> bool:
    """Record that ``rule`` applies here; False when it is knocked out."""
    _fired.add(rule)
    return rule not in _knocked


def refuse(rule: str, **details: Any) -> None:
    """Raise the refusal of ``rule``; return, as if nothing forbade it, when the rule is knocked out."""
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


def fired() -> frozenset[str]:
    """The rules that applied since the last call; forgets them."""
    rules = frozenset(_fired)
    _fired.clear()
    return rules


@contextmanager
def knocked_out(*rules: str) -> Iterator[None]:
    """Within the block the machine does not know ``rules``."""
    added = set(rules) - _knocked
    _knocked.update(added)
    try:
        yield
    finally:
        _knocked.difference_update(added)
