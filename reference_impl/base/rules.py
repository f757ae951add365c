"""Marks that tie a line of the machine to the rule it embodies, and switch it off.

``specs.active_rules`` decides the answer of ``by``; the machine refuses and warns by a rule here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from reference_impl.base.session import STATE
from specs import active_rules
from specs.active_rules import by, fired, knocked_out
from specs.errors import Unspecified, UnspecifiedOrder, refusal, warning

__all__ = [
    "Unspecified",
    "UnspecifiedOrder",
    "by",
    "enter_engine",
    "fired",
    "hold_back",
    "is_warn_always_enabled",
    "knocked_out",
    "leave_engine",
    "refuse_arguments",
    "refuse_by",
    "set_warn_always",
    "user_code",
    "warn",
    "warn_once",
    "warn_or_hold",
]  # fmt: skip


def refuse_by(rule: str, **details: Any) -> None:
    """Raise the refusal of ``rule``; return if the rule is knocked out."""
    if by(rule):
        raise refusal(rule, **details)


def refuse_arguments(name: str, given: Iterable[Any], named: Mapping[str, Any] | None = None) -> None:
    """Refuse the arguments of a call by their types; return if the rule is knocked out."""
    kinds = [type(each).__name__ for each in given]
    kinds += [f"{key}={type(value).__name__}" for key, value in (named or {}).items()]
    refuse_by("op/arguments", name=name, given=", ".join(kinds))


def warn(rule: str, **details: Any) -> None:
    """Give the warning of ``rule``."""
    if by(rule):
        warnings.warn(warning(rule, **details), stacklevel=3)


def set_warn_always(flag: bool) -> None:
    """Repeat the warnings that otherwise come once a process."""
    STATE.warn_always = flag


def is_warn_always_enabled() -> bool:
    """Return the flag that `set_warn_always` set."""
    return STATE.warn_always


def warn_once(rule: str) -> None:
    """Give the warning of ``rule`` once a process, or every time under `set_warn_always`."""
    if STATE.warn_always or rule not in STATE.warned:
        STATE.warned.add(rule)
        warn_or_hold(rule)


def warn_or_hold(rule: str) -> None:
    """Give the warning of ``rule`` at once, or when the engine releases the warnings that it holds back."""
    hold_back(partial(warn, rule))


def hold_back(tell: Callable[[], None]) -> None:
    """Call a function that warns at once, or when the engine releases the warnings that it holds back."""
    held = STATE.held_warnings
    if held and held[-1] is not None:
        held[-1].append(tell)
    else:
        tell()


def enter_engine() -> None:
    """Hold back warnings from now on, as PyTorch's engine does; its own calls mark no rules of calls."""
    STATE.held_warnings.append([])
    active_rules.enter_engine()


def leave_engine() -> None:
    """Undo the last `enter_engine` and release the warnings held back since."""
    active_rules.leave_engine()
    for tell in STATE.held_warnings.pop() or ():
        tell()


class user_code(active_rules.user_code):
    """A block of users' code, such as a hook, that the engine may have reached: no warning is held back."""

    __slots__ = ()

    def __enter__(self) -> None:
        STATE.held_warnings.append(None)
        super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__()
        STATE.held_warnings.pop()
