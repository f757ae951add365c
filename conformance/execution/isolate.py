"""Run work in subprocesses, so that a crash is a result; each records what it was running.

`survive` maps a function over items and yields results in the items' order whatever the number of workers or
the size of chunks. An item that kills its process (or hangs) is tried once more, alone; if that dies too, it
yields a `Died`. The work goes on in a fresh process. Nothing here knows what the items are; running one
program isolated lives in `grading.isolated`.
"""

from __future__ import annotations

import contextlib
import gc
import mmap
import multiprocessing
import os
import pickle
import signal
import struct
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing import connection
from pathlib import Path
from typing import Any

from conformance.program import Program

STARTING = 120.0
"""Seconds a fresh process may take before its first item (importing torch on a cold disk is slow)."""

TIMEOUT = 30.0
"""Seconds one item may take before it counts as hanging."""

FOR_ONE = ("torch", "conformance.grading.sources")
"""Modules that fresh processes find imported, so that no item is timed while it imports torch; those not
installed are passed over.
"""

WITHOUT_TORCH = (
    "conformance.grading.sources",
    "conformance.grading.campaign",
    "conformance.adapters.reference",
)
"""The same for many items that do without torch."""

PRELOAD = (*FOR_ONE, "torch._dynamo", *WITHOUT_TORCH)
"""The same for many items, so that surviving a crash is cheap: torch imports its compiler for optimizers."""

GIVEN_UP = 70
"""The exit code of a process that gives up (`give_up`)."""

_CRUMB = 1 << 16
_HEAD = struct.Struct("<qqq")


@dataclass(frozen=True, slots=True)
class Died:
    """An item whose process died: how, in which program and step as far as the crumbs tell."""

    how: str
    program: Program | None = None
    step: int | None = None


class Crumbs:
    """A process's record of what it is running, in shared memory, so that it survives the process."""

    def __init__(self, path: str) -> None:
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _CRUMB)

    def item(self, number: int) -> None:
        _HEAD.pack_into(self._memory, 0, number, -1, 0)

    def step(self, number: int) -> None:
        struct.pack_into("<q", self._memory, 8, number)

    def program(self, program: Program) -> None:
        data = pickle.dumps(program)
        # Whoever dies half-way through has left no program rather than half of one.
        struct.pack_into("<q", self._memory, 16, 0)
        if len(data) <= _CRUMB - _HEAD.size:
            self._memory[_HEAD.size : _HEAD.size + len(data)] = data
            struct.pack_into("<q", self._memory, 16, len(data))

    def at(self) -> int:
        """The item last written, which can be asked of a process that goes on writing."""
        number: int = struct.unpack_from("<q", self._memory, 0)[0]
        return number

    def read(self) -> tuple[int, int | None, Program | None]:
        """The item, step and program last written; only of a process that writes no more."""
        item, step, size = _HEAD.unpack_from(self._memory, 0)
        program = pickle.loads(self._memory[_HEAD.size : _HEAD.size + size]) if size else None
        return item, None if step < 0 else step, program

    def close(self) -> None:
        self._memory.close()


_here: Crumbs | None = None


def note(program: Program | None = None, step: int | None = None) -> None:
    """Leave a crumb: what is about to run. Outside an isolated process this does nothing."""
    if _here is not None:
        if program is not None:
            _here.program(program)
        if step is not None:
            _here.step(step)


def isolated() -> bool:
    """Tell whether this process is one that `survive` has started."""
    return _here is not None


def give_up() -> None:
    """End this process, if it is an isolated one: an earlier error would fail all that it runs from here."""
    if _here is not None:
        os._exit(GIVEN_UP)


def spare_collector() -> None:
    """Have the garbage collector leave alone what is imported, and come once in some tens of programs."""
    gc.freeze()
    gc.set_threshold(20_000)


def _serve(function: Callable[[Any], Any], pipe: connection.Connection, crumbs: str) -> None:
    """A process's life: chunks in, results out, a crumb before each item."""
    global _here
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _here = Crumbs(crumbs)
    spare_collector()
    while (chunk := pipe.recv()) is not None:
        results: list[Any] = []
        try:
            for number, item in chunk:
                _here.item(number)
                results.append(function(item))
        except Exception as error:
            with contextlib.suppress(Exception):
                error.add_note(f"in an isolated process, at item {number}")
            pipe.send(_portable(error))
        else:
            pipe.send(results)


def _portable(error: Exception) -> Exception:
    """The exception itself where it can travel between processes, else one that says what it was."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


Batch = list[tuple[int, Any]]


@dataclass
class _Worker:
    """A process with its pipe, its crumbs and what it has been given."""

    process: Any
    pipe: connection.Connection
    crumbs: Crumbs
    chunk: Batch = field(default_factory=list)
    at: int = -1
    since: float = 0.0

    def overdue(self, timeout: float) -> bool:
        """Tell whether the current item has taken too long."""
        item = self.crumbs.at()
        now = time.monotonic()
        if item != self.at:
            self.at, self.since = item, now
        return now - self.since > (STARTING if item < 0 else timeout)

    def end(self) -> str:
        """Kill it if need be and say how it ended."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        code = self.process.exitcode
        if code == GIVEN_UP:
            return "an error after which nothing runs any more"
        try:
            return signal.Signals(-code).name if code < 0 else f"exit code {code}"
        except ValueError:
            return f"exit code {code}"


class _Pool:
    """The workers of one `survive`, and the folder of their crumbs."""

    def __init__(self, function: Callable[[Any], Any], preload: Iterable[str]) -> None:
        methods = multiprocessing.get_all_start_methods()
        self.context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if hasattr(self.context, "set_forkserver_preload"):
            self.context.set_forkserver_preload(list(preload))
        self.function = function
        self.folder = tempfile.TemporaryDirectory(prefix="conformance-")
        self.workers: list[_Worker] = []
        self._made = 0

    def start(self) -> _Worker:
        self._made += 1
        path = Path(self.folder.name) / f"crumbs-{self._made}"
        path.write_bytes(_HEAD.pack(-1, -1, 0).ljust(_CRUMB, b"\0"))
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(self.function, theirs, str(path)), daemon=True)
        process.start()
        theirs.close()
        worker = _Worker(process, ours, Crumbs(str(path)))
        self.workers.append(worker)
        return worker

    def remove(self, worker: _Worker) -> tuple[str, tuple[int, int | None, Program | None]]:
        """End a process; how it ended, and what it was at."""
        self.workers.remove(worker)
        how, left = worker.end(), worker.crumbs.read()
        worker.crumbs.close()
        return how, left

    def close(self) -> None:
        for worker in list(self.workers):
            self.remove(worker)
        self.folder.cleanup()


def survive(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    workers: int = 1,
    chunk: int = 50,
    timeout: float = TIMEOUT,
    preload: Iterable[str] = PRELOAD,
) -> Iterator[Any]:
    """Yield `function(item)` for each item in order, or a `Died` where that killed its process twice or hung.

    `function` must be importable by name, and depend on its item alone. An exception it raises is raised
    here. On Ctrl-C the processes are ended and KeyboardInterrupt is raised; what was yielded before stands.
    """
    waiting = deque(_chunks(enumerate(items), chunk))
    alone: deque[Batch] = deque()
    done: dict[int, Any] = {}
    upcoming = 0
    total = sum(map(len, waiting))
    pool = _Pool(function, preload)
    try:
        while upcoming < total:
            _hand_out(pool, waiting, alone, workers)
            _collect(pool, waiting, alone, done, timeout)
            while upcoming in done:
                yield done.pop(upcoming)
                upcoming += 1
    finally:
        pool.close()


def _chunks(numbered: Iterable[tuple[int, Any]], size: int) -> Iterator[Batch]:
    held: Batch = []
    for pair in numbered:
        held.append(pair)
        if len(held) == size:
            yield held
            held = []
    if held:
        yield held


def _hand_out(pool: _Pool, waiting: deque[Batch], alone: deque[Batch], workers: int) -> None:
    """Give idle processes something to do; an item that is tried alone gets a fresh process."""
    while alone and sum(bool(w.chunk) for w in pool.workers) < workers:
        idle = next((w for w in pool.workers if not w.chunk), None)
        if idle is not None:
            pool.remove(idle)
        _give(pool.start(), alone.popleft())
    while waiting:
        idle = next((w for w in pool.workers if not w.chunk), None)
        if idle is None:
            if len(pool.workers) >= workers:
                return
            idle = pool.start()
        _give(idle, waiting.popleft())


def _give(worker: _Worker, chunk: Batch) -> None:
    worker.chunk, worker.since = chunk, time.monotonic()
    with contextlib.suppress(BrokenPipeError, ConnectionError):
        worker.pipe.send(chunk)


def _collect(
    pool: _Pool, waiting: deque[Batch], alone: deque[Batch], done: dict[int, Any], timeout: float
) -> None:
    """Wait until something happens; take results in, sort out the dead and the hanging."""
    busy = [worker for worker in pool.workers if worker.chunk]
    connection.wait([worker.pipe for worker in busy], timeout=min(timeout / 4, 1.0))
    for worker in busy:
        chunk = worker.chunk
        if worker.pipe.poll():
            try:
                results = worker.pipe.recv()
            except (EOFError, ConnectionError):
                worker.process.join(5)
                _bury(pool, worker, waiting, alone, done, None)
                continue
            if isinstance(results, Exception):
                raise results
            for (number, _), result in zip(chunk, results, strict=True):
                done[number] = result
            worker.chunk = []
        elif not worker.process.is_alive():
            _bury(pool, worker, waiting, alone, done, None)
        elif worker.overdue(timeout):
            _bury(pool, worker, waiting, alone, done, f"no answer for {timeout:g} s")


def _bury(pool: _Pool, worker: _Worker, waiting: deque[Batch], alone: deque[Batch], done: dict[int, Any],
          how: str | None) -> None:  # fmt: skip
    """Find the item a process died of; put back the rest of its chunk, and that one to be tried alone."""
    chunk = worker.chunk
    ended, (item, step, program) = pool.remove(worker)
    if item < 0 and how is None and ended == "exit code 1":  # by an exception, while it imported
        raise RuntimeError(
            f"an isolated process ended before it did anything ({ended}); a script that checks must "
            'do so under `if __name__ == "__main__":`, since each process imports it'
        )
    died = Died(how or ended, program, step)
    if len(chunk) == 1:
        done[chunk[0][0]] = died
        return
    at = next((index for index, (number, _) in enumerate(chunk) if number == item), 0)
    alone.append([chunk[at]])
    for rest in (chunk[:at], chunk[at + 1 :]):
        if rest:
            waiting.appendleft(rest)
