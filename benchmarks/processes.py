"""Measures the cost of a process for an implementation: ``python -m benchmarks.processes``.

Programs are judged by the reference alone, as ``grade`` does it, with the implementation here, ``--isolated``
and over stdio; seconds by the clock and of all processes, the start of the other process left out. The
verdicts must be the same. Programs that kill the implementation in process are found first; each way leaves
them out, and the table says how many they are.
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
from conformance.report.value import Totals

SERVE = f"stdio:{shlex.quote(sys.executable)} -m conformance.adapters.serve "
SEED = 3

_SELF = [sys.executable, "-m", "benchmarks.processes"]
WAYS = {"in process": "", "--isolated": "isolated:", "stdio": SERVE}


def survivors(spec: str, programs: int) -> list[range]:
    """Return the numbers of the programs that the implementation survives in process, as ranges."""
    found, first = [], 0
    while first < programs:
        asked = [*_SELF, "--survey", str(first), "--programs", str(programs), spec]
        told = subprocess.run(asked, stdout=subprocess.PIPE)
        reached = int(told.stdout.splitlines()[-1])
        if told.returncode > 0:
            raise SystemExit(f"{spec}: exit code {told.returncode} at program {reached}")
        found.append(range(first, reached + (told.returncode == 0)))
        first = reached + 1
    return [each for each in found if each]


def measure(spec: str, numbers: list[range]) -> dict[str, float | list[int]]:
    """Return the seconds that these programs take, and how many agree, diverge and are on record."""
    first = numbers[0]
    _timed(spec, [first[:5]])  # what is loaded once
    start = _timed(spec, [first[:1]])
    found = _timed(spec, numbers)
    return found | {"wall": found["wall"] - start["wall"], "cpu": found["cpu"] - start["cpu"]}  # type: ignore[operator]


def _timed(spec: str, numbers: list[range]) -> dict[str, float | list[int]]:
    began, before = time.monotonic(), _cpu()
    totals = [_judged(spec, each) for each in numbers]
    wall = time.monotonic() - began
    if isinstance(there := adapters.load(spec), adapters.ELSEWHERE):
        there.close()
    verdicts = [sum(getattr(each, word) for each in totals) for word in ("agree", "diverge", "known")]
    return {"wall": wall, "cpu": _cpu() - before, "verdicts": verdicts}


def _judged(spec: str, numbers: range) -> Totals:
    return judge_chunk(Chunk(spec, "reference", "prng", SEED, numbers.start, len(numbers))).totals


def _cpu() -> float:
    """Return the seconds of this process and of those that it has ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main(arguments: list[str] | None = None) -> int:
    """Print a table; 1 if a way comes to other verdicts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes", description=__doc__)
    parser.add_argument("impl", nargs="*", default=["micrograd"], help="implementations")
    parser.add_argument("--programs", type=int, default=500, metavar="N")
    parser.add_argument("--one", metavar="RANGES", help=argparse.SUPPRESS)
    parser.add_argument("--survey", type=int, metavar="FIRST", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    os.environ[DEVICE_VARIABLE] = "cpu"
    if options.survey is not None:
        for number in range(options.survey, options.programs):
            print(number, flush=True)
            _judged(options.impl[0], range(number, number + 1))
        return 0
    if options.one:
        numbers = [range(*pair) for pair in json.loads(options.one)]
        print(json.dumps(measure(options.impl[0], numbers)))
        return 0
    print(
        "| implementation | way | wall, s | x | CPU, s | x | agree, diverge, known | left out |",
        *["|---" * 8 + "|"],
        sep="\n",
    )
    same = True
    for impl in options.impl:
        numbers = survivors(impl, options.programs)
        pairs = json.dumps([(each.start, each.stop) for each in numbers])
        left_out = options.programs - sum(map(len, numbers))
        first = None
        for way, prefix in WAYS.items():
            asked = [*_SELF, "--one", pairs, prefix + impl]
            told = subprocess.run(asked, stdout=subprocess.PIPE, check=True)
            found = json.loads(told.stdout.splitlines()[-1])
            first = first or found
            same &= found["verdicts"] == first["verdicts"]
            times = (f"{found[key]:.1f} | {found[key] / first[key]:.2f}" for key in ("wall", "cpu"))
            verdicts = ", ".join(map(str, found["verdicts"]))
            print(f"| {impl} | {way} | {' | '.join(times)} | {verdicts} | {left_out} |", flush=True)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
