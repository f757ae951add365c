"""Standard output and error that outlast what they are connected to: a full disk, a reader who goes away, a
terminal that shows ASCII alone, nothing at all.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from typing import Any


class _Lasting(io.FileIO):
    """A file descriptor whose first failure is kept instead of raised; what comes after is dropped."""

    failure: OSError | None = None

    def write(self, data: Any) -> Any:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


def make_streams_last() -> None:
    """Put streams that last in the place of standard output and error, where they are the process's own."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file opened would take its place
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for number, name in ((1, "stdout"), (2, "stderr")):
        stream: Any = getattr(sys, name)
        buffer = getattr(stream, "buffer", None)
        raw = getattr(buffer, "raw", buffer)
        if stream is None or (type(raw) is io.FileIO and raw.fileno() == number):
            setattr(sys, name, _lasting(number, stream))


def _lasting(number: int, stream: Any) -> io.TextIOWrapper:
    """Return a stream as the one that was there, in which any text can be written."""
    errors = getattr(stream, "errors", "strict")
    return io.TextIOWrapper(
        io.BufferedWriter(_Lasting(number, "w", closefd=False)),
        encoding=getattr(stream, "encoding", "utf-8"),
        errors="backslashreplace" if errors in ("strict", "surrogateescape") else errors,
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def failure_of_output() -> OSError | None:
    """Return why something that was printed is lost; that its reader went away is no failure."""
    with contextlib.suppress(AttributeError, ValueError):
        sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    failure = getattr(raw, "failure", None)
    return None if failure is None or failure.errno == errno.EPIPE else failure
