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
"""The rules that are not active now: of the next two sets, the one that applies to the present calls."""
_off_outside = _off
"""Rules of other releases, and those knocked out."""
_aside = 0
"""The number of open `set_aside` blocks."""
_release = NEWEST

OF_CALLS = frozenset({
    "copy/clone-shares-nothing", "detach/cuts", "detach/is-no-view", "detach/needs-no-grad",
    "detach/shares-storage",
    "inference/detached-counts", "inference/tag-prevails", "inference/view-tag", "inference/views-are-none",
    "version/shared-by-detach", "version/shared-by-views", "view/base-is-the-root",
    "view/multi-output-tag", "view/no-grad-tag", "view/outputs-share-a-node",
    "view/reshape-copies-when-it-must", "view/shares-storage", "view/tag-is-inherited",
    "write/returns-its-tensor",
})  # fmt: skip
"""The rules of views, writes and copies. The engine makes such calls too: in those the rules do not fire, and
knocking them out changes nothing.
"""
_off_in_engine: set[str] = set()
"""The rules that are not active in calls of the engine."""
_fired_outside: list[set[str]] = []
"""The rules of calls that had fired when the engine was entered."""
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


def enter_engine() -> None:
    """Say that calls are the engine's own from now on."""
    global _off
    _fired_outside.append(_fired & OF_CALLS)
    _off = _off_in_engine


def leave_engine() -> None:
    """Undo the last `enter_engine`: of the rules of calls, those count that had fired before."""
    global _off
    _fired.difference_update(OF_CALLS)
    _fired.update(_fired_outside.pop())
    _off = _off_in_engine if _fired_outside else _off_outside


class user_code:
    """A block in which calls are the user's, although the engine may have reached it."""

    __slots__ = ("_in_engine",)

    def __enter__(self) -> None:
        self._in_engine = _off is _off_in_engine
        if self._in_engine:
            leave_engine()

    def __exit__(self, *error: object) -> None:
        if self._in_engine:
            enter_engine()


class set_aside:
    """A block whose calls belong to no program: the rules that they apply are not recorded, and none is
    knocked out, unless the calls ``repeat`` those of the program.
    """

    __slots__ = ("_before", "_repeat")

    def __init__(self, repeat: bool = False) -> None:
        self._repeat = repeat

    def __enter__(self) -> None:
        global _fired, _off, _aside
        self._before = _fired, _off
        _fired, _off = set(), _off if self._repeat else _foreign
        _aside += 1

    def __exit__(self, *error: object) -> None:
        global _fired, _off, _aside
        _fired, _off = self._before
        _aside -= 1


def is_set_aside() -> bool:
    """Tell whether a `set_aside` block runs."""
    return _aside > 0


class _Recorded(set[str]):
    """Fired rules that tell a listener of each mark, in order; the engine's own calls stay untold."""

    def __init__(self, rules: Set[str], listener: Callable[[str], None]) -> None:
        super().__init__(rules)
        self.listener = listener

    def add(self, rule: str) -> None:
        super().add(rule)
        if _off is not _off_in_engine or rule not in OF_CALLS:
            self.listener(rule)


@contextmanager
def recording(listener: Callable[[str], None]) -> Iterator[None]:
    """Within the block, call ``listener`` with each rule that is marked, in order.

    Outside it marks cost what they always do: they go to a plain set.
    """
    global _fired
    before = _fired
    _fired = _Recorded(before, listener)
    try:
        yield
    finally:
        _fired = before


def torch_release() -> str:
    """Return the torch release that is modelled."""
    return _release


def set_torch_release(version: str) -> None:
    """Model that torch release from now on, given any of its version strings."""
    global _release
    _release = version
    foreign = {rule.id for rule in RULES.values() if not rule.holds_for(version)}
    if foreign == _foreign:
        return
    _off_outside.difference_update(_foreign)
    _foreign.clear()
    _foreign.update(foreign)
    _off_outside.update(_foreign)
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
    added = set(rules) - _off_outside
    _off_outside.update(added)
    _tell_listeners()
    try:
        yield
    finally:
        _off_outside.difference_update(added)
        _tell_listeners()


def on_change(listener: Callable[[Set[str]], None]) -> None:
    """Call ``listener`` with the rules that are not active: now, and whenever they change."""
    _listeners.append(listener)
    listener(_off_outside)


def _tell_listeners() -> None:
    _off_in_engine.clear()
    _off_in_engine.update(_off_outside - OF_CALLS, _foreign)
    for listener in _listeners:
        listener(_off_outside)


set_torch_release(NEWEST)
