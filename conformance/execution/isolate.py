"""Run work in subprocesses, so that a crash is a result; each records what it was running.

`survive` maps a function over items and yields results in the items' order whatever the number of workers or
the size of chunks. An item whose process dies (or hangs) is tried again, alone; if that dies twice alike, it
yields a `Died`: a process that somebody else killed is no result. The work goes on in a fresh process.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import shutil
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from multiprocessing import connection
from pathlib import Path
from typing import Any

from conformance.execution import starting
from conformance.execution.collector import spare_collector
from conformance.execution.flight_recorder import GIVEN_UP, FlightRecorder, record_to
from conformance.execution.interruption import interrupted
from conformance.execution.starting import ProcessesKilled
from conformance.execution.waiting import Patience, doing_of_process
from conformance.program import Program

STARTING = 120.0
"""Seconds a fresh process may take before its first item (importing torch on a cold disk is slow)."""

TIMEOUT = 30.0
"""Seconds that one item, or one program in it, may take before it counts as hanging."""

FOR_ONE = ("torch", "conformance.grading.sources")
"""Modules that fresh processes find imported, where installed, so that no item is timed while torch is."""

WITHOUT_TORCH = (
    "conformance.grading.sources",
    "conformance.grading.campaign",
    "conformance.adapters.reference",
)
"""The same for many items that do without torch."""

PRELOAD = (*FOR_ONE, "torch._dynamo", "torch._decomp.decompositions_for_jvp", *WITHOUT_TORCH)
"""The same for many items, so that surviving a crash is cheap: torch imports its compiler for optimizers, and
decompositions for tangents.
"""

FROM_OUTSIDE = ("SIGKILL", "exit code 255")
"""Ends that programs hardly ever have: the system sends SIGKILL, and without its server a process ends so."""

TWICE, OFTEN, MOST_DEATHS = 2, 4, 20
"""The deaths alike that make a result, those that do where it may be the machine's fault, the most in all."""


@dataclass(frozen=True, slots=True)
class Died:
    """An item whose process died: how, in which program and step as far as it has recorded."""

    how: str
    program: Program | None = None
    step: int | None = None


Batch = list[tuple[int, Any]]


def _serve(function: Callable[[Any], Any], pipe: connection.Connection, record: str) -> None:
    """A process's life: chunks in, results out, each item recorded before it begins."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    starting.restore_environment()
    threading.Thread(target=_end_with_the_parent, args=(Path(record).parent,), daemon=True).start()
    try:
        recorder = record_to(record)
    except OSError as error:  # the folder is gone, and maybe who made it
        with contextlib.suppress(OSError):
            pipe.send(_portable(error))
        return
    spare_collector()
    with contextlib.suppress(EOFError, ConnectionError):  # nobody asks any more
        while (chunk := pipe.recv()) is not None:
            pipe.send(_results(function, chunk, recorder))


def _results(function: Callable[[Any], Any], chunk: Batch, recorder: FlightRecorder) -> list[Any] | Exception:
    """Return what the function makes of each item, or the exception that it raised."""
    results: list[Any] = []
    try:
        for number, item in chunk:
            recorder.item(number)
            results.append(function(item))
    except Exception as error:
        with contextlib.suppress(Exception):
            error.add_note(f"in an isolated process, at item {number}")
        return _portable(error)
    return results


def _end_with_the_parent(folder: Path) -> None:
    """Wait for the end of the process that had this one started; clear away what it left, and end. Without
    the server that forked it nobody learns how this one ends, and another takes its place.
    """
    parent, server = multiprocessing.parent_process(), os.getppid()
    if parent is not None:
        while parent.is_alive() and os.getppid() == server:
            parent.join(1)
        for _ in range(10):
            if starting.is_abandoned(folder.parent):
                shutil.rmtree(folder.parent, ignore_errors=True)
                break
            time.sleep(0.1)  # its end is told before it is over
        os._exit(GIVEN_UP)


def _portable(error: Exception) -> Exception:
    """The exception itself where it can travel between processes, else one that says what it was."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


@dataclass
class _Worker:
    """A process with its pipe, its record and what it has been given."""

    process: Any
    pipe: connection.Connection
    recorder: FlightRecorder
    chunk: Batch = field(default_factory=list)
    done: int = 0
    begun: int = -1
    patience: Patience | None = None

    def overdue(self, timeout: float) -> bool:
        """Tell whether the current item, or the program in it, has taken too long."""
        begun = self.recorder.begun()
        if self.patience is None or begun != self.begun:
            seconds = timeout if begun else STARTING
            self.begun, self.patience = begun, Patience(seconds, self.process.pid, doing_of_process)
        return self.patience.left() < 0

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
    """The workers of one `survive`, and the folder of their records."""

    def __init__(
        self, function: Callable[[Any], Any], preload: Iterable[str], alike: int, items_per_process: float
    ) -> None:
        self.context: Any = starting.finding_imported(preload)
        self.function, self.alike, self.items_per_process = function, alike, items_per_process
        # A worker clears the folder of this process away if this process cannot.
        self.folder = tempfile.mkdtemp(prefix="records-", dir=starting.folder_of_this_process())
        self.workers: list[_Worker] = []
        self.deaths: dict[int, list[Died]] = {}
        self._made = 0

    def start(self) -> _Worker:
        self._made += 1
        path = Path(self.folder) / str(self._made)
        FlightRecorder.make(path)
        ours, theirs = self.context.Pipe()
        process = self.context.Process(target=_serve, args=(self.function, theirs, str(path)), daemon=True)
        starting.begin(process)
        theirs.close()
        worker = _Worker(process, ours, FlightRecorder(str(path)))
        self.workers.append(worker)
        return worker

    def remove(self, worker: _Worker) -> tuple[str, tuple[int, int | None, Program | None]]:
        """End a process; how it ended, and what it was at."""
        self.workers.remove(worker)
        how, left = worker.end(), worker.recorder.read()
        worker.recorder.close()
        return how, left

    def retire(self) -> None:
        """End the idle processes that have done their share."""
        for worker in [w for w in self.workers if not w.chunk and w.done >= self.items_per_process]:
            self.remove(worker)

    def close(self) -> None:
        for worker in list(self.workers):
            self.remove(worker)
        shutil.rmtree(self.folder, ignore_errors=True)


def survive(
    function: Callable[[Any], Any],
    items: Iterable[Any],
    *,
    workers: int = 1,
    chunk: int = 50,
    timeout: float = TIMEOUT,
    preload: Iterable[str] = PRELOAD,
    alike: int = TWICE,
    items_per_process: float = inf,
) -> Iterator[Any]:
    """Yield `function(item)` for each item in order, or a `Died` where its process died so often `alike`.

    A process that has done `items_per_process` is replaced by a fresh one, whatever memory it has lost. An
    item hangs if neither it nor a program that it notes ends within `timeout` seconds. `function` must be
    importable by name, and depend on its item alone. An exception it raises is raised here. On Ctrl-C the
    processes are ended and KeyboardInterrupt is raised; what was yielded before stands. Raises
    ProcessesKilled where processes go on dying, and never of the same.
    """
    waiting = deque(_chunks(enumerate(items), chunk))
    alone: deque[Batch] = deque()
    done: dict[int, Any] = {}
    upcoming = 0
    total = sum(map(len, waiting))
    pool = _Pool(function, preload, alike, items_per_process)
    try:
        while upcoming < total:
            if interrupted():
                raise KeyboardInterrupt
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
    pool.retire()
    while waiting:
        idle = next((w for w in pool.workers if not w.chunk), None)
        if idle is None:
            if len(pool.workers) >= workers:
                return
            idle = pool.start()
        _give(idle, waiting.popleft())


def _give(worker: _Worker, chunk: Batch) -> None:
    worker.chunk, worker.patience = chunk, None
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
            worker.chunk, worker.done = [], worker.done + len(chunk)
        elif not worker.process.is_alive():
            _bury(pool, worker, waiting, alone, done, None)
        elif worker.overdue(timeout):
            _bury(pool, worker, waiting, alone, done, f"no answer for {timeout:g} s")


def _enough(died: Died, alike: int) -> int:
    """Return how many deaths like this one make a result.

    Of those from outside it takes more, and where no program was recorded none is enough.
    """
    killed = died.how in FROM_OUTSIDE
    if died.program is None:
        return MOST_DEATHS + 1 if killed else OFTEN
    return OFTEN if killed and alike > 1 else alike


def _bury(pool: _Pool, worker: _Worker, waiting: deque[Batch], alone: deque[Batch], done: dict[int, Any],
          how: str | None) -> None:  # fmt: skip
    """Find the item a process died of; put back the rest of its chunk, and that one to be tried alone, unless
    it has died like that before.
    """
    chunk = worker.chunk
    ended, (item, step, program) = pool.remove(worker)
    if item < 0 and how is None and ended == "exit code 1":  # by an exception, while it imported
        raise RuntimeError(
            f"an isolated process ended before it did anything ({ended}); a script that checks must "
            'do so under `if __name__ == "__main__":`, since each process imports it'
        )
    at = next((index for index, (number, _) in enumerate(chunk) if number == item), 0)
    number, died = chunk[at][0], Died(how or ended, program, step)
    deaths = pool.deaths.setdefault(number, [])
    deaths.append(died)
    if deaths.count(died) >= _enough(died, pool.alike):
        done[number] = died
    elif len(deaths) >= MOST_DEATHS:
        raise ProcessesKilled(f"processes keep ending ({ended}), each at something else")
    else:
        alone.append([chunk[at]])
    for rest in (chunk[:at], chunk[at + 1 :]):
        if rest:
            waiting.appendleft(rest)
