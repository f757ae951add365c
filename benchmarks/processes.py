"""Measures the cost of a process for an implementation: ``python -m benchmarks.processes``.

Programs are judged by the reference alone, as ``grade`` does it, with the implementation here, ``--isolated``
and over stdio; seconds by the clock and of all processes, the start of the other process left out. The
verdicts must be the same. A program that kills an implementation in process ends the measuring.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shlex
import subprocess
import sys
import time

from conformance import adapters
from conformance.adapters.capabilities import DEVICE_VARIABLE
from conformance.grading.campaign import Chunk, judge_chunk

SERVE = f"stdio:{shlex.quote(sys.executable)} -m conformance.adapters.serve "
SEED = 3

WAYS = {"in process": "", "--isolated": "isolated:", "stdio": SERVE}


def measure(spec: str, programs: int) -> dict[str, float | list[int]]:
    """Return the seconds that so many programs take, and how many agree, diverge and are on record."""
    _timed(spec, 5)  # what is loaded once
    start = _timed(spec, 1)
    found = _timed(spec, programs)
    return found | {"wall": found["wall"] - start["wall"], "cpu": found["cpu"] - start["cpu"]}  # type: ignore[operator]


def _timed(spec: str, programs: int) -> dict[str, float | list[int]]:
    began, before = time.monotonic(), _cpu()
    totals = judge_chunk(Chunk(spec, "reference", "prng", SEED, 0, programs)).totals
    wall = time.monotonic() - began
    if isinstance(there := adapters.load(spec), adapters.ELSEWHERE):
        there.close()
    return {"wall": wall, "cpu": _cpu() - before, "verdicts": [totals.agree, totals.diverge, totals.known]}


def _cpu() -> float:
    """Return the seconds of this process and of those that it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(arguments: list[str] | None = None) -> int:
    """Print a table; 1 if a way comes to other verdicts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes", description=__doc__)
    parser.add_argument("impl", nargs="*", default=["micrograd"], help="implementations")
    parser.add_argument("--programs", type=int, default=500, metavar="N")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    os.environ[DEVICE_VARIABLE] = "cpu"
    if options.one:
        print(json.dumps(measure(options.impl[0], options.programs)))
        return 0
    print(
        "| implementation | way | wall, s | x | CPU, s | x | agree, diverge, known |",
        *["|---" * 7 + "|"],
        sep="\n",
    )
    same = True
    for impl in options.impl:
        first = None
        for way, prefix in WAYS.items():
            asked = [sys.executable, "-m", "benchmarks.processes", "--one", prefix + impl]
            asked += ["--programs", str(options.programs)]
            found = json.loads(
                subprocess.run(asked, stdout=subprocess.PIPE, check=True).stdout.splitlines()[-1]
            )
            first = first or found
            same &= found["verdicts"] == first["verdicts"]
            times = (f"{found[key]:.1f} | {found[key] / first[key]:.2f}" for key in ("wall", "cpu"))
            verdicts = ", ".join(map(str, found["verdicts"]))
            print(f"| {impl} | {way} | {' | '.join(times)} | {verdicts} |", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
