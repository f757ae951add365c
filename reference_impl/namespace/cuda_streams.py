"""Streams and events of the virtual CUDA devices: all work is done when a call returns."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from reference_impl.base.device import find_device
from reference_impl.base.session import STATE


class Event:
    """A point in a stream, with its time if it was asked for."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self._timed = enable_timing
        self._time: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Note the time."""
        self._time = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """Return the milliseconds from this event to another.

        Raises RuntimeError or ValueError if one of both was not recorded, or without ``enable_timing``.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        return (end_event._time - self._time) * 1000

    def query(self) -> bool:
        """Return True: what was recorded is done."""
        return True

    def wait(self, stream: Stream | None = None) -> None:
        """Do nothing: there is nothing to wait for."""

    def synchronize(self) -> None:
        """Do nothing: there is nothing to wait for."""


class Stream:
    """A queue of a device that is always empty."""

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self.device, self.priority = find_device("cuda" if device is None else device), priority

    def __enter__(self) -> Stream:
        STATE.streams.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        STATE.streams.pop()

    def query(self) -> bool:
        """Return True: all work is done."""
        return True

    def synchronize(self) -> None:
        """Do nothing: all work is done."""

    def wait_stream(self, stream: Stream) -> None:
        """Do nothing: all work is done."""

    def wait_event(self, event: Event) -> None:
        """Do nothing: all work is done."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one by default, and return it."""
        event = Event() if event is None else event
        event.record(self)
        return event


@cache
def _first_of(place: Any) -> Stream:
    return Stream(place)


def default_stream(device: Any = None) -> Stream:
    """Return the stream that a device begins with."""
    return _first_of(find_device("cuda" if device is None else device))


def current_stream(device: Any = None) -> Stream:
    """Return the stream that work would go to."""
    return STATE.streams[-1] if STATE.streams else default_stream(device)


@contextmanager
def stream(stream: Stream | None) -> Iterator[None]:
    """Have work go to a stream in the block."""
    with default_stream() if stream is None else stream:
        yield


def set_device(device: Any) -> None:
    """Set the device that "cuda" stands for; a negative number changes nothing."""
    if not isinstance(device, int) or device >= 0:
        STATE.current_cuda = find_device(device).index or 0


class device:
    """A block in which "cuda" stands for a device."""

    def __init__(self, device: Any) -> None:
        self.idx = device if isinstance(device, int) else find_device(device).index

    def __enter__(self) -> None:
        self._before = STATE.current_cuda
        set_device(self.idx)

    def __exit__(self, *_: object) -> None:
        STATE.current_cuda = self._before
