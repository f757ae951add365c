"""Measure the memory of a worker over many programs: ``python -m benchmarks.memory --programs 25000``.

The programs are judged in one process, as a worker of ``grade`` does it. The process is forked before each
hundred: where a program kills it, it goes on from there without that program.
"""

from __future__ import annotations

import gc
import mmap
import os
import re
import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import linear_regression
from typing import Annotated, NamedTuple

import typer

from conformance.execution.collector import spare_collector
from conformance.generate.guide.guide import Drawn
from conformance.grading.campaign import SIZE, Chunk, Sums, tally_of

NUMBER = struct.Struct("q")
GREW = 8
"""Types of objects that are shown, those that grew most first."""


class Row(NamedTuple):
    """The state of the process after so many programs."""

    programs: int
    megabytes: float
    objects: int
    deaths: int


class Careful(Sums):
    """A chunk that notes each program before it runs, and leaves out those that killed a process before."""

    def __init__(self, chunk: Chunk, at: mmap.mmap, deadly: set[int]) -> None:
        super().__init__(chunk)
        self.at, self.deadly = at, deadly

    def program(self, number: int, drawn: Drawn) -> None:
        self.at[:] = NUMBER.pack(number)
        if number not in self.deadly:
            super().program(number, drawn)


def megabytes() -> float:
    """Return the memory of this process that no file backs."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) / 1000


def guarded(at: mmap.mmap, deadly: set[int]) -> int:
    """Go on in a child, and return what it writes to when it has done its part. Where it dies before, its
    parent goes on in its place, in a child again, without the program that it died of.
    """
    while True:
        read, write = os.pipe()
        if not os.fork():
            os.close(read)
            return write
        os.close(write)
        if os.read(read, 1):
            os._exit(0)
        os.close(read)
        _, status = os.wait()
        if not os.WIFSIGNALED(status):
            os._exit(1)  # it has said why
        deadly.add(NUMBER.unpack(at[:])[0])


def rows(programs: int, seed: int, against: str, every: int) -> Iterator[Row]:
    """Judge programs in one process after another, each forked from the one before."""
    at, deadly = mmap.mmap(-1, NUMBER.size), set[int]()
    for first in range(0, programs, SIZE):
        done = guarded(at, deadly)
        count = min(SIZE, programs - first)
        tally_of(Careful(Chunk("reference", against, "prng", seed, first, count), at, deadly))
        if (first + count) % every == 0 or first + count == programs:
            gc.collect()
            yield Row(first + count, megabytes(), len(gc.get_objects()), len(deadly))
        os.write(done, b".")
        os.close(done)


def by_type() -> Counter[str]:
    """Count the live objects by their type."""
    return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.get_objects())


def judge_all(programs: int, seed: int, against: str, every: int) -> None:
    """Print a row as soon as it is known, and at last what grew in the second half."""
    spare_collector()
    print(f"{'programs':>9} {'MB':>8} {'objects':>9} {'deaths':>7}", flush=True)
    later: list[Row] = []
    middle = Counter[str]()
    for row in rows(programs, seed, against, every):
        print(f"{row.programs:9,} {row.megabytes:8.1f} {row.objects:9,} {row.deaths:7}", flush=True)
        if row.programs >= programs / 2:
            middle = middle or by_type()
            later.append(row)
    if len(later) > 2:
        slope = linear_regression([row.programs for row in later], [row.megabytes for row in later]).slope
        print(f"in the second half: {slope * 1000:+.3f} MB in 1,000 programs")
    for name, more in (by_type() - middle).most_common(GREW):
        print(f"{more:+9,} {name}")


def main(
    programs: Annotated[int, typer.Option(min=SIZE, help="How many programs.")] = 25_000,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    against: Annotated[str, typer.Option(help="The other side: torch, or reference.")] = "torch",
    every: Annotated[int, typer.Option(min=SIZE, help="Programs to a row.")] = 1_000,
) -> None:
    """Judge programs in one process, and show its memory and its live objects as they go by."""
    if not Path("/proc/self/status").exists():
        raise typer.BadParameter("it is read from /proc, which is not here")
    read, write = os.pipe()  # whoever goes on last holds the end that is written to
    if not os.fork():
        os.close(read)
        judge_all(programs, seed, against, every)
        os._exit(0)
    os.close(write)
    os.read(read, 1)


if __name__ == "__main__":
    typer.run(main)
