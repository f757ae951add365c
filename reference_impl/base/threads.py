"""Threads: each has modes and open calls of its own, and begins with PyTorch's defaults.

Until a thread is started that may compute, the session is as plain as it looks, and costs nothing more. Then
it becomes one whose attributes of `PER_THREAD` are those of the thread that asks.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from reference_impl.base.session import STATE, Session

PER_THREAD = (
    "enabled", "inference", "multithreading", "saved_tensors_hooks", "saved_tensors_hooks_disabled",
    "write_watchers", "graph_tasks", "evaluating", "paused", "transforms", "autocast", "held_warnings",
    "place", "default_devices", "current_cuda", "streams",
)  # fmt: skip
"""The attributes that are a thread's own in PyTorch, and the notes of a running call. Anomaly mode and dual
levels are not.
"""

_COMPUTE_NOTHING = ("conformance", "rich")
"""Packages whose threads wait, read and show."""

_DEFAULTS = {field.name: field for field in fields(Session) if field.name in PER_THREAD}
_local = threading.local()


def _own() -> dict[str, Any]:
    """Return the attributes of the thread that asks, new ones if it has none."""
    try:
        return _local.attributes
    except AttributeError:
        adopt(
            {
                name: field.default if field.default_factory is MISSING else field.default_factory()
                for name, field in _DEFAULTS.items()
            }
        )
        return _own()


def adopt(attributes: dict[str, Any]) -> None:
    """Give the thread that asks these attributes; threads that wait for each other may share them."""
    _local.attributes = attributes


def _attribute(name: str) -> property:
    def read(self: Session) -> Any:
        return _own()[name]

    def write(self: Session, value: Any) -> None:
        _own()[name] = value

    return property(read, write)


class SessionOfThreads(Session):
    """The session of a process with several threads that compute."""

    __slots__ = ()


for _name in PER_THREAD:
    setattr(SessionOfThreads, _name, _attribute(_name))


class Continuation(threading.Thread):
    """A thread that goes on for another, which waits for it: their attributes are the same."""


def attributes_shared() -> dict[str, Any] | None:
    """Return the attributes of this thread, if threads have their own."""
    return _own() if type(STATE) is SessionOfThreads else None


def _starting(start: Callable[[threading.Thread], None]) -> Callable[[threading.Thread], None]:
    """Make a ``start`` of threads that first gives them attributes of their own."""

    @functools.wraps(start)
    def started(thread: threading.Thread) -> None:
        work = getattr(thread, "_target", None) or type(thread)
        module = getattr(work, "__module__", None) or ""
        plain = type(STATE) is not SessionOfThreads and not isinstance(thread, Continuation)
        if plain and module.partition(".")[0] not in _COMPUTE_NOTHING:
            adopt({name: getattr(STATE, name) for name in PER_THREAD})
            STATE.__class__ = SessionOfThreads
        start(thread)

    return started


# NB: Python tells nobody when a thread starts.
setattr(threading.Thread, "start", _starting(threading.Thread.start))  # noqa: B010
