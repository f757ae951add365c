"""Handing out the chunks of a campaign to processes, and what becomes of a chunk whose process dies.

What one chunk does lives in ``campaign``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from conformance import adapters
from conformance.comparison.known_crashes import issue_of, issue_within, words_of
from conformance.execution.interruption import interrupted
from conformance.execution.isolate import (
    FROM_OUTSIDE,
    MOST_DEATHS,
    PRELOAD,
    TWICE,
    Died,
    ProcessesKilled,
    survive,
)
from conformance.grading.campaign import SIZE, Chunk, judge_chunk
from conformance.grading.deadly import shrink_deadly
from conformance.grading.isolated import run_isolated
from conformance.grading.participants import REFERENCE, TORCH
from conformance.grading.tally import Tally
from conformance.program.printing import to_text
from conformance.report.value import Crash, Ending, Verdict
from specs.fact import DENSITIES

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and of how much."""


CHUNKS_PER_PROCESS = 50
"""Chunks that one process works through: torch never frees some cycles of tensors, 3 MB in 1,000 programs."""

C = TypeVar("C", bound=Chunk)

Work = Callable[[Any], Tally]
"""Worker function for one chunk; must be picklable by name."""


def in_chunks(
    whole: Chunk,
    workers: int,
    tick: Progress,
    work: Work = judge_chunk,
    preload: Iterable[str] = PRELOAD,
) -> Tally:
    """All programs, in chunks that processes work through; their sum, in the order of the programs. Ctrl-C
    ends it, and so does a machine that kills processes; what was found until then stands.
    """
    chunks = [
        replace(whole, first=first, count=min(SIZE, whole.count - first))
        for first in range(0, whole.count, SIZE)
    ]
    total, tally, ended = whole.count, Tally(), Ending.NONE
    results = survive(
        work,
        chunks,
        workers=workers,
        chunk=1,
        timeout=adapters.patience(whole.subject, whole.timeout),
        preload=preload,
        alike=1,
        items_per_process=CHUNKS_PER_PROCESS,
    )
    try:
        for chunk, result in zip(chunks, results, strict=True):
            tally += _surviving(chunk, result, work)
            tick("programs", chunk.first + chunk.count, total)
            if ended := _ending(whole, tally):
                break
    except KeyboardInterrupt:
        interrupted()
        ended = Ending.INTERRUPTED
    except ProcessesKilled:
        ended = Ending.KILLED
    unrun = total - tally.totals.programs - tally.stale
    return replace(tally, unrun=unrun, ended=ended or (Ending.FEWER if unrun else Ending.NONE))


def each_alone(chunks: Sequence[C], workers: int, work: Callable[[C], Tally]) -> Iterator[Tally]:
    """Give the tally of each chunk, whatever becomes of its process."""
    if not chunks:
        return
    limit = adapters.patience(chunks[0].subject, chunks[0].timeout)
    results = survive(work, chunks, workers=workers, chunk=1, timeout=limit, alike=1)
    for chunk, result in zip(chunks, results, strict=True):
        yield _surviving(chunk, result, work)


def _ending(whole: Chunk, tally: Tally) -> Ending:
    """Return the reason to end a campaign, if what was found is one."""
    if tally.broken:
        return Ending.BROKEN
    found = not all(map(whole.excuses, tally.findings)) or any(crash.known is None for crash in tally.crashes)
    return Ending.STOPPED if whole.fail_fast and found else Ending.NONE


def _surviving(chunk: Chunk, result: Tally | Died, work: Work) -> Tally:
    """The tally of a chunk; where a program killed its process, the chunk is worked through again without
    it.

    A death that is not seen again came from outside, and costs nothing but time. So did each
    SIGKILL that the program by itself does not get: the system sends it, not a program. One that no program
    gets while no rule is left out of the reference is the suite's own.
    """
    crashes = Tally()
    unconfirmed: list[Died] = []
    own: Died | None = None
    while isinstance(result, Died):
        if result.program is None or to_text(result.program) in chunk.skip:
            crashes += Tally(broken=(f"{_place(chunk)}: {result.how}",))
            return crashes
        side = TORCH if result.step == 0 else chunk.subject
        death = _death_again(result, side)
        unconfirmed.append(result)
        by_what_ran_before = result.how not in FROM_OUTSIDE and unconfirmed.count(result) >= TWICE
        if by_what_ran_before and death is None and chunk.unconfirmed and not _within(result, side):
            own, unconfirmed = result, []
            chunk = replace(chunk, unconfirmed=frozenset())
        elif death is not None or by_what_ran_before:
            own = None if death is None else own
            crashes += _crash(chunk, result, side, death)
            chunk = replace(chunk, skip=chunk.skip | {to_text(result.program)})
        elif len(unconfirmed) >= MOST_DEATHS:
            raise ProcessesKilled(f"processes keep ending ({result.how}), at nothing that does so by itself")
        limit = adapters.patience(chunk.subject, chunk.timeout)
        (result,) = survive(work, [chunk], chunk=1, timeout=limit, alike=1)
    return result + crashes + (Tally() if own is None else _own_crash(chunk, own))


def _death_again(died: Died, side: str) -> tuple[str, int] | None:
    """Return the density and the step at which the program kills a process again, or None if it does not.

    A program that dies unobserved may live when it is observed.
    """
    assert died.program is not None
    for density in DENSITIES:
        for index, seen in enumerate(run_isolated(died.program, side, density).observations):
            # An error that no rule words may come before; it does not kill.
            if seen.crash == died.how:
                return density, index
    return None


def _crash(chunk: Chunk, died: Died, side: str, again: tuple[str, int] | None) -> Tally:
    """Return the tally of a program that killed its process, reduced where it does so ``again``: whether that
    is on record.
    """
    assert died.program is not None
    program = died.program
    not_reduced = "by itself it does not kill a process"
    if again is not None:
        small = shrink_deadly(program, side, again[0], (died.how, again[1]))
        program, not_reduced = (program, "it kills now and then") if small is None else (small, "")
    if not_reduced:
        known = _within(died, side)
    else:
        known = issue_of(words_of(program), side, adapters.load(side).version, died.how)
    blames = Verdict.BROKEN_SUITE if side in (TORCH, REFERENCE) else Verdict.NONCONFORMANCE
    crash = Crash(_place(chunk), side, blames, died.how, to_text(program), known, not_reduced=not_reduced)
    return Tally(crashes=(crash,))  # NB: it is counted where the chunk is worked through again


def _within(died: Died, side: str) -> str | None:
    """Return the issue of a crash on record that the program may have died of later, or None."""
    assert died.program is not None
    return issue_within(words_of(died.program), side, adapters.load(side).version, died.how)


def _own_crash(chunk: Chunk, died: Died) -> Tally:
    """Return the tally of a death that comes where rules are left out of the reference, and else does not."""
    assert died.program is not None
    text, when = to_text(died.program), "it comes as rules are left out of the reference"
    crash = Crash(_place(chunk), "suite", Verdict.BROKEN_SUITE, died.how, text, not_reduced=when)
    return Tally(crashes=(crash,))


def _place(chunk: Chunk) -> str:
    return f"programs {chunk.first} to {chunk.first + chunk.count - 1}"
