"""Reduction of a program that kills its process.

Each candidate runs in a child of a process that has torch imported and its adapter loaded, so that a try
takes milliseconds. A device of CUDA does not survive a fork: that process leaves it alone, and each child
begins with it. So does each with an implementation from outside, since to import it may kill.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Callable

from conformance import adapters
from conformance.execution.isolate import FOR_ONE, Died, survive
from conformance.execution.run import Runner
from conformance.grading.isolated import run_isolated
from conformance.program import Program
from conformance.program.shrink import shrink_program

Limits = tuple[int, int]
"""The most candidates that are tried, and the seconds that each may take; one that takes longer hangs."""

IN_A_CHILD, ON_CUDA, IN_A_NEW_PROCESS = (400, 2), (100, 20), (40, 20)
"""The limits in children, in children that begin with a device, and in processes that begin with torch."""

HANGS = "no answer"
"""The beginning of what is said of a program that hangs."""

Death = tuple[str, int]
"""The end of a process: its signal or exit code, and the step."""

Job = tuple[Program, str, str, str]
"""A program, the side and the density at which it dies, and how."""

Dies = Callable[[Program, str, str, int], Death | None]
"""Runs a program on a side at a density for so many seconds, and tells how that ends the process, if it does.
"""


def shrink_deadly(program: Program, side: str, density: str, death: Death) -> Program | None:
    """Return the shortest program found that still dies so, at a step of the same operation: its last one.

    None if the program, cut at that step, is not seen to die again: it was not that step that killed.
    """
    job = (Program(program.steps[: death[1] + 1]), side, density, death[0])
    if not _forks():
        return _shrunk((job, IN_A_NEW_PROCESS), _in_a_new_process)
    begins = getattr(adapters.load(side), "device", "cpu") == "cuda"
    checks, seconds = limits = ON_CUDA if begins else IN_A_CHILD
    (found,) = survive(_shrunk, [(job, limits)], preload=FOR_ONE, timeout=checks * seconds)
    return job[0] if isinstance(found, Died) else found


def _shrunk(limited: tuple[Job, Limits], dies: Dies | None = None) -> Program | None:
    (program, side, density, how), limits = limited
    checks, seconds = limits
    dies = dies or _in_a_process
    if limits == IN_A_CHILD and side in adapters.BUILT_IN:
        adapters.load_here(side)  # else each child does, for longer than most programs run
    op = program.steps[-1].op

    def still_dies(candidate: Program) -> bool:
        death = dies(candidate, side, density, seconds)
        return death is not None and death[0] == _kind(how) and candidate[death[1]].op == op

    if not still_dies(program):
        return None
    small = shrink_program(program, still_dies, checks).program
    death = dies(small, side, density, seconds)
    return small if death is None else Program(small.steps[: death[1] + 1])


def _forks() -> bool:
    return hasattr(os, "fork")


def _kind(how: str) -> str:
    """Return how a process ended, but for how long it was waited for."""
    return HANGS if how.startswith(HANGS) else how


def _in_a_new_process(program: Program, side: str, density: str, seconds: int) -> Death | None:
    """Run a program in a process of its own; return its death, if it dies."""
    trace = run_isolated(program, side, density, seconds)
    found = ((seen.crash, index) for index, seen in enumerate(trace.observations))
    return next(((_kind(crash), index) for crash, index in found if crash is not None), None)


def _in_a_process(program: Program, side: str, density: str, seconds: int) -> Death | None:
    """Run a program in a child of this process; return its death, if it dies."""
    read, write = os.pipe()
    gc.freeze()  # else the child's collector writes to all that it shares with this process
    child = os.fork()
    if child == 0:
        os.close(read)
        _run(program, side, density, seconds, lambda number: os.write(write, b"."))
    os.close(write)
    with open(read, "rb") as steps:
        at = max(len(steps.read()) - 1, 0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        ended = os.WTERMSIG(status)
        return (HANGS if ended == signal.SIGALRM else signal.Signals(ended).name), at
    code = os.WEXITSTATUS(status)
    return (f"exit code {code}", at) if code else None


def _run(program: Program, side: str, density: str, seconds: int, begin: Callable[[int], object]) -> None:
    """Run a program and end the process."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        with contextlib.suppress(Exception), Runner(adapters.load_here(side), density) as runner:
            for number, step in enumerate(program.steps):
                begin(number)
                runner.step(step)
            runner.finish()
    finally:
        os._exit(0)
