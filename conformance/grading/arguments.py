"""Checks of a call's arguments, made before any process starts."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

LIMITS = {"programs": (0, 10**7), "seed": (0, 2**63 - 1), "workers": (1, 1024)}
"""The smallest and largest whole number that each argument may be; the command line has the same."""

SECONDS = (0.1, 86_400.0)
"""The shortest and the longest time limit."""

OPTIMIZED = (
    "Python leaves out assertions (-O), by which cases are held and torch checks arguments",
    "unset PYTHONOPTIMIZE, and run python without -O",
)
"""The problem with an interpreter that optimizes, and a hint."""

SOURCES = ("hypothesis", "prng", "mutating")
"""The sources of choices behind a program."""


def check_arguments(**given: Any) -> None:
    """Check arguments by their names; raises TypeError for another type, ValueError for a value out of range,
    and RuntimeError in a daemon process, which could not start any, and where Python leaves out assertions.

    ``workers`` and ``progress`` may be None.
    """
    if multiprocessing.current_process().daemon:
        raise RuntimeError(
            "a check starts processes, which a daemon process may not: start that with daemon=False"
        )
    if sys.flags.optimize:
        raise RuntimeError("{} (hint: {})".format(*OPTIMIZED))
    for name, value in given.items():
        if value is None and name in ("workers", "progress"):
            continue
        if name in LIMITS:
            _check_number(name, value, *LIMITS[name])
        elif name == "timeout":
            _check_seconds(value)
        elif name == "progress":
            if not callable(value):
                raise TypeError(f"progress must be callable, not {value!r:.80}")
        else:
            wanted = bool if name in ("fail_fast", "cases") else str
            if not isinstance(value, wanted):
                raise TypeError(f"{name} must be a {wanted.__name__}, not {value!r:.80}")
            if name == "source" and value not in SOURCES:
                raise ValueError(f"source {value!r:.80} is unknown: it is one of {', '.join(SOURCES)}")


def _check_number(name: str, value: Any, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {value!r:.80}")
    if not least <= value <= most:
        raise ValueError(f"{name} must be from {least} to {most:,}, not {_short(value)}")


def _check_seconds(value: Any) -> None:
    least, most = SECONDS
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"timeout must be a number of seconds, not {value!r:.80}")
    if not least <= value <= most:
        raise ValueError(f"timeout must be from {least:g} to {most:,g} seconds")


def _short(value: int) -> str:
    """Return a number in digits, or how long it is."""
    return f"{value:,}" if value.bit_length() < 200 else f"a number of {value.bit_length():,} bits"


def check_paths(name: str, paths: Sequence[Path | str]) -> list[Path]:
    """Return the paths of files to read; raises TypeError or ValueError where they are none."""
    if isinstance(paths, (str, bytes, Path)) or not isinstance(paths, Sequence):
        raise TypeError(f"{name} must be a list of paths, not {paths!r:.80}")
    if not all(isinstance(path, (str, Path)) for path in paths):
        raise TypeError(f"{name} must hold paths alone: {paths!r:.80}")
    if not paths:
        raise ValueError(f"{name} is empty")
    return [Path(path).absolute() for path in paths]
