"""Which rules are in force: those that hold for the torch release being modelled, less what is knocked out.

``if by("view/shares-storage"):`` records that the rule was applied and answers whether it is in force. One
that does not hold for the release is not, and nothing is recorded of it. A knocked-out rule is not either:
whoever asks then behaves as if it had never heard of it, which is how the suite measures that it would be
missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from specs.rule import NEWEST, RULES

_foreign: set[str] = set()
"""The rules of other releases."""
_off: set[str] = set()
"""Those, and what is knocked out."""
_release = NEWEST


class _Answers(dict[str, bool]):
    """Whether each rule that applied since the last call of `fired` is in force."""

    def __missing__(self, rule: str) -> bool:
        answer = self[rule] = rule not in _off
        return answer


_answers = _Answers()

by: Callable[[str], bool] = _answers.__getitem__
"""``by(rule)`` records that ``rule`` applies here; False when it is not in force.

NB: asking the dictionary itself, whose asking leaves a trace, since nothing is called as often.
"""


def _change(off: set[str]) -> None:
    """Have the rules in ``off``, and no others, not in force from now on."""
    _off.clear()
    _off.update(off)
    for rule in _answers:
        _answers[rule] = rule not in off


def fired() -> frozenset[str]:
    """The rules that applied since the last call; forgets them."""
    rules = frozenset(_answers)
    if not rules.isdisjoint(_foreign):
        rules -= _foreign
    _answers.clear()
    return rules


def torch_release() -> str:
    """The torch release that is being modelled."""
    return _release


def set_torch_release(version: str) -> None:
    """Model that torch release (any version string of it) from now on."""
    global _release
    knocked = _off - _foreign
    _foreign.clear()
    _foreign.update(rule.id for rule in RULES.values() if not rule.holds_for(version))
    _change(knocked | _foreign)
    _release = version


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
    _change(_off | added)
    try:
        yield
    finally:
        _change(_off - added)


set_torch_release(NEWEST)
