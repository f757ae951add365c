"""Recording: the cases and drawn programs are run on the installed torch, and their traces written.

Everything runs in processes that may die, and twice: what kills torch, crashes it or does not come out the
same again is left out and named. The form of a recording lives in ``format``.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import adapters
from conformance.execution.case import parse_case
from conformance.execution.flight_recorder import note
from conformance.execution.isolate import Died, survive
from conformance.execution.run import run
from conformance.generate.guide.guide import Drawn
from conformance.grading.arguments import check_arguments
from conformance.grading.cases import case_of, run_case_on
from conformance.grading.check import versions_of
from conformance.grading.chunks import Progress
from conformance.grading.sources import programs_from
from conformance.program import Program
from conformance.program.parsing import ProgramError
from conformance.recordings.format import (
    FOLDER,
    TORCH,
    Entry,
    Origin,
    digest,
    read_recording,
    to_lines,
    trace_form,
)
from conformance.recordings.strata import STRATA, Stratum
from conformance.report.files import write_file
from specs.case import Case, cases

PROGRAMS = 300
"""The number of programs in a recording."""

DIED, CRASHED, UNSTEADY = "died", "crashed", "unsteady"
"""Reasons for leaving something out: its process died, torch raised an error of no rule, or a repetition
differed.
"""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A recording as it is written, with what it holds."""

    text: str
    origin: Origin
    cases: int
    programs: int


def make_recording(
    *,
    programs: int = PROGRAMS,
    seed: int = 0,
    chosen: Iterable[Case] | None = None,
    strata: Iterable[Stratum] = STRATA,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Recorded:
    """Record the ``chosen`` cases (all) that speak of the installed torch, so many ``programs`` drawn for it,
    and those of the ``strata``.

    The same torch on the same device and processor gives the same text. Raises AdapterError where torch is
    missing, or the device that the environment asks for.
    """
    check_arguments(programs=programs, seed=seed, workers=workers, progress=progress)
    torch = adapters.load(TORCH)
    workers = workers or os.cpu_count() or 1
    tick = progress or (lambda what, done, total: None)
    wanted = [case for case in (cases() if chosen is None else chosen) if case.holds_for(torch.version)]
    jobs: list[tuple[str, list[Any], Any]] = [
        ("cases", [case.id for case in wanted], _case),
        ("programs", [(seed, number, None) for number in range(programs)], _program),
        ("strata", [(seed, number, each) for each in strata for number in each.numbers()], _program),
    ]
    left_out: dict[str, list[str]] = {}
    entries: list[Entry] = []
    for what, items, work in jobs:
        results = survive(work, items, workers=workers, chunk=20)
        for done, (item, found) in enumerate(zip(items, results, strict=True), 1):
            name = f"case {item}" if what == "cases" else f"program {item[1]}"
            form, why = ({}, DIED) if isinstance(found, Died) else found
            if why:
                left_out.setdefault(why, []).append(name)
            if form:
                entries.append(form)
            tick(what, done, len(items))
    origin = Origin(
        torch=torch.version,
        device=torch.device,
        **torch.hardware(),
        machine=platform.machine(),
        versions={name: version for name, version in versions_of().items() if name in MADE_WITH},
        source="prng",
        seed=seed,
        drawn=programs,
        left_out={why: tuple(names) for why, names in sorted(left_out.items())},
    )
    count = sum("case" in form for form in entries)
    return Recorded("".join(to_lines(origin, entries)), origin, count, len(entries) - count)


MADE_WITH = ("python", "numpy", "reference")
"""Packages whose versions a recording names, besides torch; programs are drawn beside the reference."""


def place_for(torch: Any, folder: Path = FOLDER) -> Path:
    """Return the path of the recording of that torch and its device."""
    name = torch.hardware()["device_name"] if torch.device == "cuda" else None
    words = [torch.device, *"".join(c if c.isalnum() else " " for c in (name or "").lower()).split()]
    return folder / f"torch-{torch.version.partition('+')[0]}-{'-'.join(words)}.jsonl"


def drop_cases(path: Path, dropped: Iterable[str]) -> tuple[str, ...]:
    """Take the lines of cases out of a recording; return the cases that it held.

    Raises RecordingError or OSError where the file is no recording, or cannot be written.
    """
    held = read_recording(path)
    found = tuple(id for id in dict.fromkeys(dropped) if id in held.cases)
    if found:
        entries = [form for id, form in held.cases.items() if id not in found]
        write_file(path, "".join(to_lines(held.origin, (*entries, *held.programs.values()))))
    return found


def _case(id: str) -> tuple[Entry, str]:
    """Return the entry of one case: as it stands and, if it can be read as a program, its trace."""
    torch, case = adapters.load(TORCH), case_of(id)
    result = run_case_on(case, torch)
    form: Entry = {"case": id, "status": result.status}
    form |= {key: text for key, text in (("line", result.line), ("why", result.why)) if text}
    trace, why = Entry(), ""
    with suppress(ProgramError):
        program = parse_case(case).program
        if not torch.beyond(case):
            trace, why = _traced(program, "each")
    return form | (trace or {"of": digest(case)}), why


def _program(job: tuple[int, int, Stratum | None]) -> tuple[Entry, str]:
    """Return the entry of one drawn program."""
    found: list[Drawn] = []
    seed, number, stratum = job
    limits = adapters.capabilities(adapters.load(TORCH)) if stratum is None else stratum.claims
    programs_from("prng", seed, number, 1, limits, lambda _, drawn: found.append(drawn))
    trace, why = _traced(found[0].program, found[0].density)
    within = {} if stratum is None else {"stratum": stratum.name}
    return ({"program": number} | within | trace if trace else {}), why


def _traced(program: Program, density: str) -> tuple[Entry, str]:
    """A program's trace, or why there is none."""
    note(program, 0)
    traces = [run(program, adapters.load(TORCH), density) for _ in range(2)]
    if any(seen.crash is not None for trace in traces for seen in trace.observations):
        return {}, CRASHED
    once, again = map(trace_form, traces)
    return (once, "") if repr(once) == repr(again) else ({}, UNSTEADY)
