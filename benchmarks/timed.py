"""Times the parts of a check with the checkout it is run in; ``benchmarks.since`` runs it as a script there.

Hence it asks for no more than any release has: ``timed.py draw COUNT SEED`` prints programs of the core
vocabulary, ``timed.py time ROUNDS COUNT SEED`` reads programs, each as a text and as the script that it is
on torch and on the reference, and prints, part by part, the least seconds that each of them took.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

from conformance import adapters
from conformance.comparison.judge import judge
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.program import Program
from conformance.program.parsing import parse
from conformance.program.printing import to_text

REFERENCE, TORCH = adapters.load("reference"), adapters.load("torch")


def limits() -> Any:
    """The core vocabulary; the first releases have no other."""
    try:
        from benchmarks.core import core
    except ImportError:
        return adapters.capabilities(REFERENCE)
    return core()


def drawn(count: int, seed: int) -> Iterator[Program]:
    """Programs of this checkout's own generator, which leaves looking for the end."""
    choices, within = Prng(), limits()
    for number in range(count):
        yield draw(choices.restart(seed, number), REFERENCE, within, density="end").program


def timed(given: dict[str, list[str]], rounds: int, count: int, seed: int) -> dict[str, Any]:
    """The least seconds for each program, part by part; what is drawn are ``count`` programs, of so many
    ``steps``.
    """
    own = list(drawn(count, seed))
    programs = [parse(text) for text in given.pop("programs")]
    codes = {part: [compile(text, part, "exec") for text in texts] for part, texts in given.items()}
    least: dict[str, list[float]] = {
        "draw and run": [float("inf")] * count,
        "run what was drawn": [float("inf")] * count,
    }
    parts = [
        f"{part}, {density}" for density in ("each", "end") for part in ("reference", "torch", "compare")
    ]
    least |= {part: [float("inf")] * len(programs) for part in (*codes, *parts)}

    def note(part: str, at: int, before: float) -> float:
        now = process_time()
        least[part][at] = min(least[part][at], now - before)
        return process_time()

    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)
    for _ in range(rounds):
        started = process_time()
        for at, _drawn in enumerate(drawn(count, seed)):
            started = note("draw and run", at, started)
        for at, program in enumerate(own):
            run(program, REFERENCE, "end")
            started = note("run what was drawn", at, started)
        for part, scripts in codes.items():
            started = process_time()
            for at, code in enumerate(scripts):
                exec(code, {})
                started = note(part, at, started)
        for density in ("each", "end"):
            for at, program in enumerate(programs):
                started = process_time()
                expected = run(program, REFERENCE, density)
                started = note(f"reference, {density}", at, started)
                actual = run(program, TORCH, density)
                started = note(f"torch, {density}", at, started)
                judge(expected, actual, actual)
                note(f"compare, {density}", at, started)
    return {"least": least, "steps": sum(map(len, own))}


if __name__ == "__main__":
    if not Path(adapters.__file__).is_relative_to(Path.cwd()):
        sys.exit(f"{adapters.__file__} would be timed")  # what is installed stands in for what is not there
    what, *numbers = sys.argv[1:]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if what == "draw":
            print(json.dumps([to_text(program) for program in drawn(*map(int, numbers))]))
        else:
            print(json.dumps(timed(json.load(sys.stdin), *map(int, numbers))))
