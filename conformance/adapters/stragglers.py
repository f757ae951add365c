"""Processes that an implementation starts in a session of their own, which the end of its group spares."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

MARK = "AUTOGRAD_CONFORMANCE_HOST"
"""The variable of the environment by which whatever an implementation starts is known."""

ROUNDS = 20
"""The most times that processes are looked for: each may start another one as it ends."""


def end_marked(mark: str) -> None:
    """Kill the processes that were started with a mark, where the system shows the environment of each."""
    for _ in range(ROUNDS):
        if not (found := [*_marked(f"{MARK}={mark}".encode())]):
            return
        for process in found:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)


def _marked(variable: bytes) -> Iterator[int]:
    for entry in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if variable in entry.read_bytes().split(b"\0"):
                yield int(entry.parent.name)
