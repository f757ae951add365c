"""Terminals of some columns, and what is shown on them."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import forkserver

from conformance.execution import starting
from conformance.execution.isolate import PRELOAD

CODES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\r")


def make_wide(terminal: int, columns: int) -> None:
    """Give a terminal 24 lines and so many columns."""
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def read_from(terminal: int) -> bytes:
    """Read some of what is shown; nothing when nobody can show more."""
    try:
        return os.read(terminal, 65_536)
    except OSError:  # the other end is closed
        return b""


def lines_of(shown: bytes) -> list[str]:
    """Return the lines without the codes for colours and the like."""
    return CODES.sub("", shown.decode()).splitlines()


def check_width(lines: Sequence[str], columns: int) -> None:
    """Assert that each line fits, and that none is cut."""
    assert [] == [line for line in lines if len(line) > columns or "\N{HORIZONTAL ELLIPSIS}" in line]


@contextmanager
def terminal(columns: int) -> Iterator[list[str]]:
    """Have standard output be a terminal within the block; give its lines, which are there in the end."""
    starting.finding_imported(PRELOAD)
    forkserver.ensure_running()  # what it would find as standard output it keeps
    ours, theirs = pty.openpty()
    make_wide(theirs, columns)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.extend(iter(lambda: read_from(ours), b"")), daemon=True)
    reader.start()
    sys.stdout.flush()
    file, before = os.dup(1), sys.stdout
    os.dup2(theirs, 1)
    os.close(theirs)
    lines: list[str] = []
    try:
        with open(1, "w", closefd=False) as sys.stdout:
            yield lines
    finally:
        sys.stdout = before
        os.dup2(file, 1)
        os.close(file)
        reader.join(30)
        os.close(ours)
    lines += lines_of(b"".join(read))
