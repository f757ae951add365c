"""The reasons why a check ends before all is done, and the exit codes of those from outside."""

from __future__ import annotations

from enum import StrEnum

PROCESSES_KILLED = 6
"""The exit code where something goes on killing processes, as the system does when memory runs out."""

INTERRUPTED = 130
"""The exit code of what Ctrl-C ended, as shells have it."""


class Ending(StrEnum):
    """The reasons why programs that were asked for did not run."""

    NONE = ""
    INTERRUPTED = "it was interrupted"
    KILLED = "the machine keeps killing the suite's processes"
    STOPPED = "it stops at the first divergence"
    BROKEN = "the adapter is broken"
    FEWER = "no more could be drawn"

    @property
    def from_outside(self) -> bool:
        """True if it is nobody's doing who took part."""
        return self in (Ending.INTERRUPTED, Ending.KILLED)
