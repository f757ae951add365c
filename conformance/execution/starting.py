"""Starting a process of `multiprocessing`, whatever became of what starts them and of the main module's file;
the temporary folder of a process, and whether it lives still.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from multiprocessing import util
from pathlib import Path
from typing import Any

LONGEST_TEMPORARY = 70
"""The most bytes in the path of the temporary folder.

A socket's path has room for 104 on macOS and 108 on Linux, and multiprocessing appends two names of its own.
"""

MOST_TRIES, PAUSE = 8, 0.2
"""The most times that one process is started, and the seconds after the first, which grow by as many after
each: what was killed is there a while.
"""

_OWNED = "owned"
"""A file in the folder of a process, which it holds locked as long as it lives."""

_SAFE_PATH, _OURS = "PYTHONSAFEPATH", "while it begins"
"""The variable by which Python leaves out the current folder, and the value that it has from here."""

_BEGINNING = threading.RLock()
_held: dict[str, int] = {}


_FIRST, _LAST = "conformance.execution.before_imports", "conformance.execution.after_imports"


class ProcessesKilled(Exception):
    """Something outside keeps killing processes, as the system does when memory runs out."""


def folder_of_this_process() -> str:
    """Return multiprocessing's temporary folder, which this process holds until it ends."""
    folder = _temporary_folder()
    if folder not in _held:
        with contextlib.suppress(ImportError, OSError):
            _held[folder] = _locked(folder, os.O_CREAT)
    return folder


def is_abandoned(folder: Path) -> bool:
    """Tell whether the process whose folder it is has ended."""
    try:
        os.close(_locked(folder))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return True
    return True


def _locked(folder: str | Path, create: int = 0) -> int:
    """Return the descriptor of the folder's file, locked; raises BlockingIOError where another has it."""
    import fcntl

    file = os.open(os.path.join(folder, _OWNED), os.O_RDWR | create)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise
    return file


def _temporary_folder() -> str:
    """Return multiprocessing's folder, which is in /tmp where the path of TMPDIR is too long."""
    short = "/tmp"
    if len(os.fsencode(tempfile.gettempdir())) <= LONGEST_TEMPORARY or not os.access(short, os.W_OK):
        return util.get_temp_dir()
    before, tempfile.tempdir = tempfile.tempdir, short
    try:
        return util.get_temp_dir()  # kept from here on
    finally:
        tempfile.tempdir = before


def finding_imported(preload: Iterable[str]) -> Any:
    """Return the context whose processes find modules imported, where a server forks them."""
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if hasattr(context, "set_forkserver_preload"):
        modules = list(preload)
        context.set_forkserver_preload([_FIRST, *modules, _LAST] if modules else [])
    return context


def begin(process: Any) -> None:
    """Start a process, also where what starts them has been killed: then another does."""
    for tries in range(1, MOST_TRIES + 1):
        with contextlib.suppress(EOFError, ConnectionError), _BEGINNING, _a_main_that_exists(), _safe_path():
            process.start()
            return
        time.sleep(tries * PAUSE)
    raise ProcessesKilled("what starts them has ended")


@contextlib.contextmanager
def _a_main_that_exists() -> Iterator[None]:
    """Hide the file of a `__main__` that was read from standard input: a process would try to import it."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if file is None or os.path.exists(file):
        yield
        return
    del main.__file__
    try:
        yield
    finally:
        main.__file__ = file


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the current folder off the path of what starts processes: a file there may be named like a module
    that it imports.
    """
    if _SAFE_PATH in os.environ:
        yield
        return
    os.environ[_SAFE_PATH] = _OURS
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]


def restore_environment() -> None:
    """Undo in a process what it was begun with: what an implementation starts is its own affair."""
    if os.environ.get(_SAFE_PATH) == _OURS:
        del os.environ[_SAFE_PATH]
