"""The flight recorder of an isolated process: what it is running, in memory that survives it."""

from __future__ import annotations

import mmap
import os
import pickle
import struct
from pathlib import Path

from conformance.program import Program

GIVEN_UP = 70
"""The exit code of a process that gives up (`give_up`)."""

_SIZE = 1 << 16
_HEAD = struct.Struct("<qqqq")
"""The item, the step, the size of the program, and how often an item or a program was begun."""
_STEP, _LENGTH, _BEGUN = 8, 16, 24


class FlightRecorder:
    """The record of one process; both sides open the same file."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SIZE)

    @staticmethod
    def make(path: Path) -> None:
        """Make the file of a process that has not begun anything."""
        path.write_bytes(_HEAD.pack(-1, -1, 0, 0).ljust(_SIZE, b"\0"))

    def item(self, number: int) -> None:
        _HEAD.pack_into(self._memory, 0, number, -1, 0, self.begun() + 1)

    def step(self, number: int) -> None:
        struct.pack_into("<q", self._memory, _STEP, number)

    def program(self, program: Program) -> None:
        data = pickle.dumps(program)
        # Whoever dies half-way through has left no program rather than half of one.
        struct.pack_into("<q", self._memory, _LENGTH, 0)
        struct.pack_into("<q", self._memory, _BEGUN, self.begun() + 1)
        if len(data) <= _SIZE - _HEAD.size:
            self._memory[_HEAD.size : _HEAD.size + len(data)] = data
            struct.pack_into("<q", self._memory, _LENGTH, len(data))

    def begun(self) -> int:
        """Return how often an item or a program was begun; a process that goes on writing may be asked."""
        number: int = struct.unpack_from("<q", self._memory, _BEGUN)[0]
        return number

    def read(self) -> tuple[int, int | None, Program | None]:
        """Return the item, step and program last written; only of a process that writes no more."""
        item, step, size, _ = _HEAD.unpack_from(self._memory, 0)
        program = pickle.loads(self._memory[_HEAD.size : _HEAD.size + size]) if size else None
        return item, None if step < 0 else step, program

    def close(self) -> None:
        self._memory.close()


_here: FlightRecorder | None = None
_replaceable = False


def record_to(path: str) -> FlightRecorder:
    """Have this process record to that file from now on."""
    global _here
    _here = FlightRecorder(path)
    return _here


def isolated() -> bool:
    """Tell whether this process is an isolated one, which keeps a record."""
    return _here is not None


def note(program: Program | None = None, step: int | None = None) -> None:
    """Record what is about to run. Outside an isolated process this does nothing."""
    if _here is not None:
        if program is not None:
            _here.program(program)
        if step is not None:
            _here.step(step)


def give_up() -> None:
    """End this process, if another may take its place: an earlier error would fail all that it runs from
    here.
    """
    if _here is not None or _replaceable:
        os._exit(GIVEN_UP)


def may_be_replaced() -> None:
    """Say that whoever asks this process for something starts another where it ends."""
    global _replaceable
    _replaceable = True
