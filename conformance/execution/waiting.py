"""The time for which a process may be silent; on a busy machine its wait for a processor does not count."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

GLANCE = 0.5
"""Seconds after which a silent process is looked at."""

AT_MOST = 4.0
"""The multiple of its time that a process may take by the clock, however little it gets to compute."""

Doing = tuple[bool, float]
"""A pair: if any of some processes wants to compute now, and the seconds for which they have computed."""


class Patience:
    """The seconds that are left to a group of processes, or to what else ``doing`` looks at by its number.
    Those in which one of them wants to compute count by what it computes, all others by the clock.
    """

    def __init__(
        self,
        seconds: float,
        number: int,
        doing: Callable[[int], Doing] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._number, self._doing, self._clock = number, doing or doing_of, clock
        self._left, self._seen = seconds, clock()
        self._end = self._seen + AT_MOST * seconds
        self._computed: float | None = None

    def left(self) -> float:
        """Return the seconds that are left."""
        now = self._clock()
        passed = now - self._seen
        if passed >= min(GLANCE, self._left):
            wants, computed = self._doing(self._number)
            since = 0.0 if self._computed is None else max(computed - self._computed, 0.0)
            self._left -= min(since, passed) if wants else passed
            self._seen, self._computed = now, computed
            passed = 0.0
        return min(self._left - passed, self._end - now)

    def glance(self) -> float:
        """Return the seconds until the next look, none where no time is left."""
        return min(max(self.left(), 0.0), GLANCE)


def doing_of(group: int) -> Doing:
    """Return the doings of a group of processes; none where the system does not tell."""
    return _doings(_processes(), group)


def doing_of_process(process: int) -> Doing:
    """Return the doings of one process, the same way."""
    return _doings([Path("/proc", str(process))])


def _doings(processes: Iterable[Path], group: int | None = None) -> Doing:
    """The doings of those of the processes that are of the group, if one is given."""
    wants, ticks = False, 0
    for process in processes:
        with contextlib.suppress(OSError, IndexError, ValueError):
            fields = _fields(process / "stat")
            if group in (None, int(fields[2])):
                ticks += int(fields[11]) + int(fields[12])
                threads = (process / "task").iterdir()
                wants = wants or any(_fields(each / "stat")[0] == "R" for each in threads)
    return wants, ticks / os.sysconf("SC_CLK_TCK")


def _processes() -> Iterator[Path]:
    """The folders in which Linux tells of its processes."""
    with contextlib.suppress(OSError):
        yield from (path for path in Path("/proc").iterdir() if path.name.isdigit())


def _fields(stat: Path) -> list[str]:
    """The fields of a process or thread after its name, its state first."""
    return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
