"""Grading in forks of a process that finds torch imported, and keeps what later checks need again.

The implementation lives in the fork itself, as what is built in does: to start Python and torch for it takes
longer than to grade it. How implementations in processes of their own are graded is tested elsewhere.

What checks share is found once: the reference's results in cases, the programs of a seed, and the reference's
traces of these without a rule. None of it depends on the implementation.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from conformance import adapters, check
from conformance.adapters.capabilities import Capabilities
from conformance.comparison.compare import Comparison, compare
from conformance.execution import starting
from conformance.execution.collector import spare_collector
from conformance.execution.isolate import PRELOAD
from conformance.execution.trace import Trace
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.state.choices import Prng
from conformance.grading import confirm, sources
from conformance.grading.campaign import Chunk, judge_chunk
from conformance.grading.cases import run_cases
from conformance.grading.tally import Tally
from conformance.program.printing import to_text
from conformance.report import Report
from conformance.report.value import Witnessed
from specs.case import Case

LONGEST = 600.0
"""Seconds after which all that is asked for counts as hanging."""

DIED = "died"
"""The answer where the fork is dead."""


def graded(spec: str, **options: Any) -> Report:
    """The report of a check against the reference.

    Where a program kills the process, as some kill torch, the check is done again as users do it.
    """
    result: Report | str = _ended(_report, (spec, options))
    if isinstance(result, str):
        return check(spec, against="reference", workers=1, **options)
    return result


def judged_chunk(chunk: Chunk) -> Tally:
    """The tally of a chunk of programs."""
    tally: Tally | str = _ended(judge_chunk, chunk)
    assert not isinstance(tally, str), tally
    return tally


def _ended(work: Callable[[Any], Any], job: Any) -> Any:
    pipe = _forker()
    pipe.send((work, job, sys.path, os.getcwd()))
    assert pipe.poll(LONGEST), f"no answer for {LONGEST:g} s"
    found = pipe.recv()
    if isinstance(found, Exception):
        raise found
    return found


@cache
def _forker() -> Connection:
    """Start the process that forks, which ends with this one."""
    context = starting.finding_imported(PRELOAD)
    ours, theirs = context.Pipe()
    starting.begin(context.Process(target=_fork_for_each, args=(theirs,), daemon=True))
    theirs.close()
    return ours  # type: ignore[return-value]


# -- in the process that forks -------------------------------------------------------------------------
def _fork_for_each(pipe: Connection) -> None:
    """Answer until nobody asks any more."""
    starting.restore_environment()
    spare_collector()
    _do_all_here()
    while True:
        try:
            work, job, path, folder = pipe.recv()
        except EOFError:
            return
        sys.path[:] = path
        os.chdir(folder)
        pipe.send(_forked(work, job))


def _forked(work: Callable[[Any], Any], job: Any) -> Any:
    """Return the answer of a fork, and keep the traces that it made."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    gc.freeze()  # else the fork's collector writes to all that it shares with this process
    child = os.fork()
    if child == 0:
        ours.close()
        try:
            theirs.send(_worked(work, job))
        finally:
            os._exit(0)
    theirs.close()
    try:
        found, more = ours.recv()
        _kept.update(more)
    except EOFError:
        found = DIED
    finally:
        ours.close()
        os.waitpid(child, 0)
    return found


def _worked(work: Callable[[Any], Any], job: Any) -> tuple[Any, dict[Any, Any]]:
    known = set(_kept)
    try:
        found = work(job)
    except Exception as error:
        found = error
    return found, {key: _kept[key] for key in _kept.keys() - known}


def _report(job: tuple[str, dict[str, Any]]) -> Report:
    spec, options = job
    return check(spec, against="reference", workers=1, **options)


def _do_all_here() -> None:
    """Have this process and its forks start no other, and find what is kept."""
    adapters.Remote = adapters.load_here  # type: ignore[assignment, misc]
    checking = import_module("conformance.grading.check")
    checking.run_cases = _run_cases
    checking.check_arguments = lambda **_: None  # no process may be started from here, and none is
    for module in ("cases", "chunks"):
        import_module(f"conformance.grading.{module}").survive = _survive
    sources._prng = _prng
    confirm.without, confirm.compare = _without, _compare


def _survive(work: Callable[[Any], Any], items: Iterable[Any], **_: Any) -> Iterator[Any]:
    return map(work, items)


# -- what is kept --------------------------------------------------------------------------------------
_kept: dict[Any, Any] = {}
_of_trace: dict[int, tuple[str, str, str]] = {}
"""The rule, the program and the density of each kept trace, by its identity."""


def _find(key: Any, find: Callable[[], Any]) -> Any:
    if key not in _kept:
        _kept[key] = find()
    return _kept[key]


def _run_cases(side: str, chosen: Iterable[Case], workers: int, **given: Any) -> Iterator[Witnessed]:
    if side != "reference":
        yield from run_cases(side, chosen, workers, **given)
        return
    for case in chosen:
        yield _find(("case", case.id), lambda: next(run_cases(side, [case], workers, **given)))  # noqa: B023


def _prng(
    seed: int, first: int, count: int, capabilities: Capabilities, take: Callable[[int, Drawn], None]
) -> None:
    oracle = adapters.load("reference")
    for number in range(first, first + count):
        key = "drawn", seed, number, capabilities
        take(number, _find(key, lambda: draw(Prng(seed, number), oracle, capabilities)))  # noqa: B023


def _without(rule: str, trace: Trace) -> Trace:
    of = rule, to_text(trace.program), trace.density
    mutant: Trace = _find(("without", *of), lambda: _own_without(rule, trace))
    _of_trace[id(mutant)] = of
    return mutant


def _compare(right: Trace, mutant: Trace) -> Comparison:
    of = _of_trace.get(id(mutant))
    if of is None:  # what is claimed made another of it
        return compare(right, mutant)
    found: Comparison = _find(("compared", *of), lambda: compare(right, mutant))
    return found


_own_without = confirm.without
