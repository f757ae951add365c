"""Interruptions that cannot be lost: what a signal raises, an import or a finalizer may swallow, or make an
error of its own. So it is also noted here, until whoever deals with it takes it.
"""

from __future__ import annotations

import signal
from typing import Any, Never

_noted: list[int] = []


def interrupt(number: int, _frame: Any) -> Never:
    """Note the signal and raise KeyboardInterrupt."""
    _noted.append(number)
    raise KeyboardInterrupt


def interrupted() -> bool:
    """Tell whether a signal was noted that nobody has taken, and take it."""
    found = bool(_noted)
    _noted.clear()
    return found


def listen() -> None:
    """Have SIGTERM, which cancels a job, and Ctrl-C interrupt this process, unless it ignores Ctrl-C."""
    signal.signal(signal.SIGTERM, interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupt)
