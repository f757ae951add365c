"""Which rules are in force: those that hold for the torch release being modelled, less what is knocked out.

``if by("view/shares-storage"):`` records that the rule was applied and answers whether it is in force. One
that does not hold for the release is not, and nothing is recorded of it. A knocked-out rule is not either:
whoever asks then behaves as if it had never heard of it, which is how the suite measures that it would be
missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager

from specs.rule import NEWEST, RULES

_fired: set[str] = set()
_foreign: set[str] = set()
"""The rules of other releases."""
_off: set[str] = set()
"""Those, and what is knocked out."""
_release = NEWEST
_listeners: list[Callable[[Set[str]], None]] = []


def by(rule: str) -> bool:
    """Record that ``rule`` applies here; False when it is not in force."""
    if rule in _off:
        if rule not in _foreign:
            _fired.add(rule)
        return False
    _fired.add(rule)
    return True


def fired() -> frozenset[str]:
    """The rules that applied since the last call; forgets them."""
    rules = frozenset(_fired)
    _fired.clear()
    return rules


def torch_release() -> str:
    """The torch release that is being modelled."""
    return _release


def set_torch_release(version: str) -> None:
    """Model that torch release (any version string of it) from now on."""
    global _release
    _off.difference_update(_foreign)
    _foreign.clear()
    _foreign.update(rule.id for rule in RULES.values() if not rule.holds_for(version))
    _off.update(_foreign)
    _release = version
    _tell_listeners()


@contextmanager
def modelling(version: str) -> Iterator[None]:
    """Within the block that torch release is modelled."""
    before = _release
    set_torch_release(version)
    try:
        yield
    finally:
        set_torch_release(before)


@contextmanager
def knocked_out(*rules: str) -> Iterator[None]:
    """Within the block nobody knows ``rules``."""
    added = set(rules) - _off
    _off.update(added)
    _tell_listeners()
    try:
        yield
    finally:
        _off.difference_update(added)
        _tell_listeners()


def on_change(listener: Callable[[Set[str]], None]) -> None:
    """Call ``listener`` with the rules that are not in force: now, and whenever they change."""
    _listeners.append(listener)
    listener(_off)


def _tell_listeners() -> None:
    for listener in _listeners:
        listener(_off)


set_torch_release(NEWEST)
