"""The active rules: those that hold for the torch release being modelled, except those knocked out.

``if by("view/shares-storage"):`` records that the rule was applied and tells if it is active. A rule
that does not hold for the release is neither active nor recorded. A knocked-out rule is recorded but not
active: the code behaves as if the rule did not exist, so that the suite can show that its absence is noticed.

This is the one module of ``specs`` with mutable state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager

from specs.rule import NEWEST, RULES

_fired: set[str] = set()
_foreign: set[str] = set()
"""Rules of other releases."""
_off: set[str] = set()
"""Rules of other releases, and those knocked out."""
_release = NEWEST
_listeners: list[Callable[[Set[str]], None]] = []


def by(rule: str) -> bool:
    """Record that ``rule`` applies here; return False if it is not active."""
    if rule in _off:
        if rule not in _foreign:
            _fired.add(rule)
        return False
    _fired.add(rule)
    return True


def fired() -> frozenset[str]:
    """Return the rules applied since the last call, and forget them."""
    rules = frozenset(_fired)
    _fired.clear()
    return rules


def torch_release() -> str:
    """Return the torch release that is modelled."""
    return _release


def set_torch_release(version: str) -> None:
    """Model that torch release from now on, given any of its version strings."""
    global _release
    _off.difference_update(_foreign)
    _foreign.clear()
    _foreign.update(rule.id for rule in RULES.values() if not rule.holds_for(version))
    _off.update(_foreign)
    _release = version
    _tell_listeners()


@contextmanager
def modelling(version: str) -> Iterator[None]:
    """Model that torch release within the block."""
    before = _release
    set_torch_release(version)
    try:
        yield
    finally:
        set_torch_release(before)


@contextmanager
def knocked_out(*rules: str) -> Iterator[None]:
    """Knock ``rules`` out within the block."""
    added = set(rules) - _off
    _off.update(added)
    _tell_listeners()
    try:
        yield
    finally:
        _off.difference_update(added)
        _tell_listeners()


def on_change(listener: Callable[[Set[str]], None]) -> None:
    """Call ``listener`` with the rules that are not active: now, and whenever they change."""
    _listeners.append(listener)
    listener(_off)


def _tell_listeners() -> None:
    for listener in _listeners:
        listener(_off)


set_torch_release(NEWEST)
