"""Reading a file that somebody names: one without an end, or a pipe without a writer, is refused at once."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

TEXT, DATA = 4 << 20, 128 << 20
"""The most bytes of a file that people write (a script, expectations), and of one that the suite writes."""

OPEN_HERE = ("/dev/fd", "/dev/stdin", "/proc/self/fd")
"""The places of what this process has open; a pipe there has its writer, as of a shell's ``<(command)``."""


def read_file(path: Path, most: int) -> bytes:
    """Return what a file holds; raises OSError where that is more bytes than ``most``, and for a named pipe,
    which may have no writer.
    """
    if stat.S_ISFIFO(os.stat(path).st_mode) and not str(path).startswith(OPEN_HERE):
        raise OSError(errno.ESPIPE, "it is a named pipe", str(path))
    with open(path, "rb") as file:
        large = os.fstat(file.fileno()).st_size > most
        held = b"" if large else file.read(most + 1)
    if large or len(held) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most >> 20} MB", str(path))
    return held


def read_lines(path: Path, most: int, encoding: str = "utf-8") -> str:
    """Return the text of a file, each line's end a newline; raises OSError as `read_file` does, and
    UnicodeDecodeError.
    """
    return io.StringIO(read_file(path, most).decode(encoding), newline=None).read()
