"""The process in which an implementation lives: ``python -m conformance.grading.host SPEC``.

It reads requests, pickled, and answers each with a line of JSON; before a step of a program it writes a dot,
and a dash where it begins anew, so that whoever asked knows where it died. Nothing that the implementation
does to this process (its modules, its output, its end) reaches the process that judges.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import pickle
import queue
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any, BinaryIO

from conformance import adapters
from conformance.adapters.errors import AdapterError
from conformance.execution.collector import importing
from conformance.execution.flight_recorder import may_be_replaced
from conformance.execution.region import trace_of
from conformance.execution.waiting import Patience
from conformance.execution.wire import LENGTH, WireError, encode
from conformance.grading.cases import case_of, run_case_on, runs_as_it_stands
from specs import ops

MEMORY = 4 << 30
"""Bytes of memory that the process may ask for, where the system can limit that."""

ANSWERED = 87
"""The exit code of a child that has answered."""

_DIES_WITH_PARENT = 1
"""The option of Linux's ``prctl`` by which a process asks for a signal at its parent's end."""

Request = tuple[str, tuple[Any, ...]]


def main(spec: str) -> None:
    """Load the implementation, say what it is, and answer until nobody asks any more."""
    answers = os.dup(1)
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit()
    may_be_replaced()
    end_forks_with_their_parent()
    waiting: queue.SimpleQueue[Request] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(requests, waiting.put), daemon=True).start()
    with importing():
        ops.load()  # here, and not in the time of the first program
        _answer(answers, lambda: _described(spec))
    while True:
        verb, arguments = waiting.get()
        _answer(answers, lambda: VERBS[verb](answers, adapters.load_here(spec), *arguments))  # noqa: B023


def _limit() -> None:
    """Have the process end with its parent, and fail where it asks for too much memory."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(_DIES_WITH_PARENT, signal.SIGKILL)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def end_forks_with_their_parent() -> None:
    """Have each process that is forked from here on end with the one that forked it.

    The signal of `_limit` comes at the end of the thread that forked, which may be long before that.
    """
    forker = os.getpid()

    def end_with(parent: int) -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    def watch() -> None:
        nonlocal forker
        parent, forker = forker, os.getpid()  # known from before the fork: it may have ended since
        threading.Thread(target=end_with, args=(parent,), daemon=True).start()

    os.register_at_fork(after_in_child=watch)


def _read(requests: BinaryIO, put: Callable[[Request], None]) -> None:
    """Take requests in; the end of them ends the process, whatever it is at."""
    code = 1  # of an error here, after which nobody would be answered
    try:
        while len(head := requests.read(LENGTH.size)) == LENGTH.size:
            put(pickle.loads(requests.read(*LENGTH.unpack(head))))
        code = 0
    finally:
        os._exit(code)


def _answer(answers: int, find: Callable[[], str]) -> None:
    """Write what is found, or why nothing is."""
    try:
        line = find()
    except AdapterError as error:
        line = json.dumps({"broken": (error.problem, error.hint, error.code)})
    except WireError as error:
        line = json.dumps({"broken": (str(error), "see the contract in conformance.adapters", 3)})
    except Exception as error:
        line = json.dumps({"raised": (type(error).__name__, str(error))})
    data = f"\n{line}\n".encode("utf-8", "backslashreplace")
    while data:
        data = data[os.write(answers, data) :]


def _described(spec: str) -> str:
    """Return the name, version and capabilities of the implementation, how its cases run, and its device."""
    adapter = adapters.load_here(spec)
    claimed = {
        key: sorted(value) if isinstance(value, frozenset) else value
        for key, value in asdict(adapters.capabilities(adapter)).items()
    }
    shaped = getattr(adapter, "namespace", None) is not None
    return json.dumps([adapter.name, adapter.version, claimed, shaped, getattr(adapter, "device", "cpu")])


def _trace(answers: int, adapter: Any, program: Any, density: str, seconds: float) -> str:
    if hasattr(adapter, "run_program"):
        adapter.timeout = max(seconds - 1, seconds / 2)
        return encode(adapter.run_program(program, density))
    return encode(
        trace_of(program, adapter, density, lambda: os.write(answers, b"."), lambda: os.write(answers, b"-"))
    )


def _trace_in_a_child(answers: int, adapter: Any, program: Any, density: str, seconds: float) -> str:
    """Run a program in a child of this process, which may die of it; in this process where the device of the
    implementation does not survive a fork.
    """
    if getattr(adapter, "device", "cpu") == "cuda":
        _answer(answers, lambda: _trace(answers, adapter, program, density, seconds))
        return json.dumps(None)
    gc.freeze()  # else the child's collector writes to all that it shares with this process
    with warnings.catch_warnings(action="ignore"):  # of the thread that reads, which the child does without
        child = os.fork()
    if child == 0:
        _limit()
        with _ending():
            _answer(answers, lambda: _trace(answers, adapter, program, density, seconds))
            os._exit(ANSWERED)
    status = _status(child, seconds)
    if status is None:
        return json.dumps({"died": f"no answer for {seconds:g} s"})
    if os.WIFSIGNALED(status):
        return json.dumps({"died": signal.Signals(os.WTERMSIG(status)).name})
    code = os.WEXITSTATUS(status)
    return json.dumps(None if code == ANSWERED else {"died": f"exit code {code}"})


def _status(child: int, seconds: float) -> int | None:
    """Wait for a child, and return its exit status; none where its time is up, and it is killed."""
    watched = [os.pidfd_open(child)] if hasattr(os, "pidfd_open") else []
    patience = Patience(seconds, os.getpgrp())
    try:
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            select.select(watched, [], [], patience.glance() if watched else 0.01)
            if patience.left() <= 0:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
    finally:
        for each in watched:
            os.close(each)
    return ended[1]


@contextlib.contextmanager
def _ending() -> Iterator[None]:
    """End this process where the implementation asks for that, whatever else it has left running."""
    try:
        yield
    except SystemExit as asked:
        os._exit(asked.code if isinstance(asked.code, int) else asked.code is not None)
    except BaseException:
        os._exit(1)


def _stands(answers: int, adapter: Any) -> str:
    return json.dumps(runs_as_it_stands(adapter))


def _witness(answers: int, adapter: Any, case: str) -> str:
    return json.dumps(asdict(run_case_on(case_of(case), adapter)))


VERBS: dict[str, Callable[..., str]] = {
    "trace": _trace,
    "trace in a child": _trace_in_a_child,
    "stands": _stands,
    "witness": _witness,
}

if __name__ == "__main__":
    with _ending():
        main(sys.argv[1])
