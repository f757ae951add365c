"""The last line of a recording: how many cases and programs it holds, and the SHA-256 of all before it.

With it a recording that was cut, or changed in a single bit, is told from a whole one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

FORMAT = 2
_BEGIN = b'{"format":%d,' % FORMAT


class RecordingError(ValueError):
    """A file that is no recording: what is wrong, and in which line if it is in one."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem, line)
        self.problem, self.line = problem, line


def to_line(form: dict[str, Any]) -> str:
    """Return a JSON value as a line, with its end."""
    return json.dumps(form, separators=(",", ":"), ensure_ascii=False) + "\n"


def sealed(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a recording, and the one that seals them."""
    cases = programs = 0
    sha = hashlib.sha256()
    for line in lines:
        cases += line.startswith('{"case":')
        programs += line.startswith('{"program":')
        sha.update(line.encode())
        yield line
    yield to_line({"cases": cases, "programs": programs, "sha256": sha.hexdigest()})


def unsealed(name: str, data: bytes) -> list[str]:
    """Return the lines of a recording without the one that seals them.

    Raises RecordingError where anything was cut off or changed since it was written.
    """
    if not data.startswith(_BEGIN):
        if data.startswith(b'{"format":'):
            raise RecordingError(f"{name} is of another format than {FORMAT}: record again", 1)
        raise RecordingError(f"{name} does not begin as a recording does", 1)
    try:
        lines = [f"{line}\n" for line in data.decode().split("\n")]
    except UnicodeDecodeError:
        lines = []
    lines, seal = lines[:-2], lines[-2:-1]
    if not seal or not data.endswith(b"\n") or [*sealed(lines)][-1:] != seal:
        raise RecordingError(f"{name} is damaged: it is not as long, or not as it was written")
    return lines
