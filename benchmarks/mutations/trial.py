"""The trial of a change, in a process that has little time and memory.

First the functions that are there get the changed code, and what runs them is tried. What survives that is
tried again with the changed module imported, if a function of it runs at import, or once for all.
"""

from __future__ import annotations

import base64
import gc
import importlib.abc
import importlib.util
import os
import pickle
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import cache
from importlib.machinery import ModuleSpec
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn

from benchmarks.mutations.changes import REFERENCE, ChangedModule
from benchmarks.mutations.witnesses import Place, Witness, Witnesses, excused, import_anew, place_of
from specs.case import cases

ONE, WALL, MEMORY = 4.0, 900.0, 4 << 30
"""Seconds of the processor that one witness may take, and seconds of the clock and bytes for all of them; a
change that needs more is noticed.
"""


class Result(NamedTuple):
    """The first that noticed a mutation: a case, a program, or its import (``kind``), and which;
    ``alive`` if nothing did.
    """

    kind: str
    what: str = ""

    @property
    def alive(self) -> bool:
        return self.kind == "alive"


class _Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports a changed module from its changed code, and leaves all others to Python."""

    def __init__(self, change: ChangedModule) -> None:
        self._change = change

    def find_spec(
        self, fullname: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._change.module:
            return None
        file = self._change.path
        inside = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, file, loader=self, submodule_search_locations=inside
        )

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(self._change.now, vars(module))


def trial(change: ChangedModule, given: Witnesses) -> Result:
    """Try a change until something notices it."""
    _functions(), cases()  # before any fork: each child would look, or read, again
    functions = change.functions
    if not functions:
        return _tried(lambda: _imported(change), given.listed, given)
    places = {place_of(old) for old, _ in functions}
    tried = given.of(places)
    result = _tried(lambda: _in_place(functions), tried, given) if tried else Result("alive")
    if result.alive and not places.isdisjoint(given.once):
        return _tried(lambda: _imported(change), given.listed, given)
    return result


@cache
def _functions() -> dict[Place, list[FunctionType]]:
    """The functions of the reference that are there, by place."""
    found: dict[Place, list[FunctionType]] = {}
    for function in gc.get_objects():
        if type(function) is FunctionType:  # isinstance would ask proxies, which may be dead
            place = place_of(function.__code__)
            if place[0].startswith(str(REFERENCE)):
                found.setdefault(place, []).append(function)
    return found


def _in_place(functions: list[tuple[CodeType, CodeType]]) -> None:
    """Give the functions that are there other code."""
    for old, new in functions:
        for function in _functions().get(place_of(old), ()):
            if new.co_freevars == function.__code__.co_freevars:
                function.__code__ = new


def _imported(change: ChangedModule) -> None:
    """Import the reference anew, with the changed module."""
    sys.meta_path.insert(0, _Changed(change))
    import_anew()


def _tried(begin: Callable[[], None], tried: Iterable[Witness], given: Witnesses) -> Result:
    """Try witnesses until one notices what ``begin`` does; one that rounding explains does not count."""
    left = list(tried)
    while True:
        kind, what, number, trace = _asked(begin, left, given.release)
        if trace is None or not excused(left[number].given, trace):
            return Result(kind, what)
        del left[number]


Told = tuple[str, str, int, bytes | None]


def _asked(begin: Callable[[], None], tried: list[Witness], release: str) -> Told:
    """Run a trial in a process of its own and hear what came of it: one that dies is noticed where it was."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.close(read)
        _tell(write, begin, tried, release)
    os.close(write)
    heard, ends = b"", time.monotonic() + WALL
    while select.select([read], [], [], max(0.0, ends - time.monotonic()))[0]:
        piece = os.read(read, 1 << 20)
        if not piece:
            break
        heard += piece
    else:
        os.kill(child, signal.SIGKILL)
    os.close(read)
    os.waitpid(child, 0)
    lines = heard.splitlines()
    if lines and lines[-1].startswith(b"result "):
        told: Told = pickle.loads(base64.b64decode(lines[-1].removeprefix(b"result ")))
        return told
    if not lines:
        return "import", "died", 0, None
    last = tried[int(lines[-1])]
    return "program" if last.kind == "program" else "case", f"{last} (died)", 0, None


def _tell(write: int, begin: Callable[[], None], tried: list[Witness], release: str) -> NoReturn:
    """In the process of a trial: say what is tried, then what noticed the change, and end."""
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))  # a driver of CUDA reserves far more addresses

    def say(text: bytes) -> None:
        os.write(write, text + b"\n")
        signal.setitimer(signal.ITIMER_VIRTUAL, ONE)  # which ends the process

    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_VIRTUAL, 5 * ONE)

    try:
        begin()
        told: Told = next(_noticed(tried, release, say), ("alive", "", 0, None))
        say(b"result " + base64.b64encode(pickle.dumps(told)))
    finally:
        os._exit(0)


def _noticed(tried: list[Witness], release: str, say: Callable[[bytes], None]) -> Iterator[Told]:
    """The witnesses that notice the change, as they are tried."""
    adapters = importlib.import_module("conformance.adapters")
    run = importlib.import_module("conformance.execution.run").run
    comparison = importlib.import_module("conformance.comparison.compare")
    recordings = importlib.import_module("conformance.recordings.format")
    case = importlib.import_module("specs.case")
    points = importlib.import_module("reference_impl.core.extension_points")
    reference = adapters.load("reference")
    known = {each.id: each for each in case.cases()}
    with reference.modelling(release):
        for number, witness in enumerate(tried):
            say(str(number).encode())
            if witness.kind in ("case", "alone"):
                place = points.core_alone() if witness.kind == "alone" else nullcontext()
                with reference.modelling(witness.given), place:
                    says = reference.says if witness.kind == "case" else None
                    passed = case.run_case(known[witness.name], reference.namespace, says=says).passed
                if not passed:
                    yield "case", str(witness), number, None
                continue
            drawn = witness.kind == "program"
            expected = pickle.loads(witness.given) if drawn else recordings.trace_of(witness.given)
            actual = run(expected.program, reference, expected.density)
            if isinstance(comparison.compare(expected, actual), comparison.Diverge):
                trace = pickle.dumps(actual) if drawn else None
                yield "program" if drawn else "case", str(witness), number, trace
