"""The console that commands print to, as wide as the terminal or as COLUMNS says, and the progress bar."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

USUAL = 80
"""Columns where output is no terminal (a file, a pipe, a CI log) and COLUMNS does not say."""

Tick = Callable[[str, int, int], None]
"""Called with what is being done, how many are done, and of how many."""


def console() -> Console:
    """Return standard output, as wide as its terminal; COLUMNS goes first."""
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdigit() and int(columns) else None if sys.stdout.isatty() else USUAL
    return Console(width=width, highlight=False, soft_wrap=False, markup=False, emoji=False)


@contextmanager
def progress_bar() -> Iterator[Tick]:
    """A bar on standard error while the block runs; silent where that is no terminal."""
    screen = Console(stderr=True)
    what = TextColumn("{task.description}", markup=False)
    columns = (what, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        tasks: dict[str, object] = {}

        def tick(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(what, total=total)
            bar.update(tasks[what], completed=done, total=total)  # type: ignore[arg-type]

        yield tick
