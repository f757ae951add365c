"""Witnesses that are tried on a mutation, and the functions of the reference that each of them runs.

They are cases, as they stand, by torch's recorded traces, and on the core alone, and drawn programs.

Traces of programs are kept pickled, those on record as JSON, since a trial may import the reference anew and
with it the classes of what it is given.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import pickle
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from benchmarks.mutations.changes import REFERENCE
from conformance import adapters
from conformance.comparison.compare import Diverge, compare
from conformance.comparison.tolerance.perturb import perturbed
from conformance.execution.case import parse_case
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.program.parsing import ProgramError
from conformance.recordings.format import FOLDER, Entry, Recording, read_recording
from reference_impl.core.extension_points import core_alone
from specs.case import Case, cases, run_case
from specs.rule import CHANGING_RELEASES

RECORDED = FOLDER / "torch-2.13.0-cpu.jsonl"
SEED = 1
OURS = ("reference_impl", "specs", "conformance")
"""The packages that a trial imports anew."""

Place = tuple[str, int, str]
"""A function: its file, its first line and its name."""


def place_of(code: CodeType) -> Place:
    """Identify a function by the place where it stands."""
    return code.co_filename, code.co_firstlineno, code.co_name


@dataclass(frozen=True)
class Witness:
    """Something to try: a case as it stands, torch's trace of one that is on record, a case on the core
    alone, or a program's trace.

    ``given`` is that trace, or the release of torch that the case is tried as; ``ran`` are the functions of
    the reference that run in it, of a case on the core alone those that run nowhere else.
    """

    kind: str  # "case", "recorded", "alone" or "program"
    name: str
    given: Any
    ran: frozenset[Place]

    def __str__(self) -> str:
        beside = {"recorded": " (recorded)", "alone": " (on the core alone)"}
        return self.name + beside.get(self.kind, "")


@dataclass(frozen=True)
class Witnesses:
    """All that is tried, in that order, and the torch release that is modelled."""

    release: str
    listed: tuple[Witness, ...]
    once: frozenset[Place]  # functions that run the first time alone, or at import

    def of(self, places: set[Place]) -> list[Witness]:
        """Those that run one of these functions."""
        return [witness for witness in self.listed if not places.isdisjoint(witness.ran)]


def witnesses(programs: int, seed: int = SEED, chapters: Collection[str] = ()) -> Witnesses:
    """All cases, or those of chapters, and so many programs. Cases that do not hold for the recorded release
    are tried as the latest for which they do.
    """
    recording, reference = read_recording(RECORDED), adapters.load("reference")
    release = recording.origin.release
    wanted = [case for case in cases() if not chapters or case.chapter in chapters]
    tried_as = {case: release if case.holds_for(release) else _latest_of(case) for case in wanted}
    found: list[Witness] = []
    once = run_at_import()

    filled: set[Place] = set()

    def add(kind: str, name: str, given: Any, do: Callable[[], object]) -> None:
        with watched() as first:
            do()
        with watched() as ran:
            do()
        once.update(first - ran)
        if kind == "case":
            filled.update(ran)
        found.append(Witness(kind, name, given, frozenset(ran - filled if kind == "alone" else ran)))

    with reference.modelling(release):
        for case in wanted:
            with reference.modelling(tried_as[case]):
                do = partial(run_case, case, reference.namespace, says=reference.says)
                add("case", case.id, tried_as[case], do)
        for case in wanted:
            do = partial(_on_the_core_alone, case, reference.namespace)
            with reference.modelling(tried_as[case]):
                if do():
                    add("alone", case.id, tried_as[case], do)
        for case in wanted:
            if case.holds_for(release) and _is_recorded(recording, case):
                form: Entry = recording.cases[case.id]
                add("recorded", case.id, form, partial(run, parse_case(case).program, reference))
        for index in range(programs):
            trace = draw(Prng(seed, index), reference).trace
            assert trace is not None
            again = partial(run, trace.program, reference, trace.density)
            add("program", str(index), pickle.dumps(trace), again)
    return Witnesses(release, tuple(found), frozenset(once))


def kept_witnesses(programs: int, file: Path | None, seed: int = SEED) -> Witnesses:
    """The same, from a file if it holds what these sources give."""
    folders = [*(REFERENCE.parent / name for name in OURS)]
    sources = sorted(
        path for folder in folders for path in folder.rglob("*") if path.suffix in (".py", ".toml")
    )
    text = b"".join(path.read_bytes() for path in sources)
    key = hashlib.sha256(f"{programs} {seed} {REFERENCE} ".encode() + text).hexdigest()
    if file is not None and file.exists():
        held, found = pickle.loads(file.read_bytes())
        if held == key:
            return found  # type: ignore[no-any-return]
    found = witnesses(programs, seed)
    if file is not None:
        file.write_bytes(pickle.dumps((key, found)))
    return found


def run_at_import() -> set[Place]:
    """The functions of the reference that run while it is imported."""
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.close(read)
        with watched() as ran:
            import_anew()
        with os.fdopen(write, "wb") as pipe:
            pipe.write(pickle.dumps(ran))
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return set(pickle.loads(told))


def import_anew() -> None:
    """Import the reference, and what runs programs on it, again."""
    for name in [name for name in sys.modules if name.partition(".")[0] in OURS]:
        del sys.modules[name]
    importlib.import_module("conformance.adapters").load("reference")


@contextmanager
def watched() -> Iterator[set[Place]]:
    """The functions of the reference that run in the block."""
    ran: set[Place] = set()
    known: dict[CodeType, Place | None] = {}
    folder = str(REFERENCE)

    def note(frame: Any, event: str, arg: Any) -> None:
        if event == "call":
            code = frame.f_code
            if code not in known:
                known[code] = place_of(code) if code.co_filename.startswith(folder) else None
                if (place := known[code]) is not None:
                    ran.add(place)

    sys.setprofile(note)
    try:
        yield ran
    finally:
        sys.setprofile(None)


def _latest_of(case: Case) -> str:
    """The latest release of torch for which a case holds, of those at which a rule changes."""
    return next(release for release in reversed(CHANGING_RELEASES) if case.holds_for(release))


def _on_the_core_alone(case: Case, namespace: Any) -> bool:
    """Tell whether a case holds without what fills the extension points."""
    with core_alone():
        return run_case(case, namespace).passed


def _is_recorded(recording: Recording, case: Case) -> bool:
    """Tell whether torch's trace of a case is on record, and what the reference gives."""
    if case.departed_by(recording.origin.release):
        return False
    try:
        parse_case(case)
    except ProgramError:
        return False
    return "script" in recording.cases.get(case.id, {})


def excused(expected: bytes, actual: bytes) -> bool:
    """Tell whether a difference is no more than what rounding may do to that program."""
    right, wrong = pickle.loads(expected), pickle.loads(actual)
    assert isinstance(right, Trace)
    moved = partial(perturbed, right.program, right.density)
    return not isinstance(compare(right, wrong, perturbed=moved), Diverge)
