"""The console that commands print to, wide enough for a table also without a terminal, and the
progress bar.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

WIDE = 132
"""Columns assumed where output is no terminal (a file, a pipe, a CI log)."""

Tick = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and of how many."""


def console() -> Console:
    """Standard output."""
    return Console(width=None if sys.stdout.isatty() else WIDE, highlight=False, soft_wrap=False)


@contextmanager
def progress_bar() -> Iterator[Tick]:
    """A bar on standard error while the block runs; silent where that is no terminal."""
    screen = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        tasks: dict[str, object] = {}

        def tick(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield tick
