"""Count the derivatives that programs compute: ``python -m benchmarks.derivatives``."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.derivatives.counting import Cell, counting
from benchmarks.derivatives.page import PAGE, page
from conformance.adapters import load
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng


def main(
    programs: Annotated[int, typer.Option(min=1, help="Draw so many programs.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    keep: Annotated[Path | None, typer.Option(help="Keep the counts there, and go on from them.")] = None,
    seconds: Annotated[float, typer.Option(help="Begin no program after so many seconds.")] = float("inf"),
    write: Annotated[bool, typer.Option("--write", help=f"Write {PAGE.name} once all are counted.")] = False,
) -> None:
    """Draw programs, run them on the reference, and count the derivatives of each op in each dtype.

    What no program computed is looked for in torch: the page says why each cell is empty.
    """
    counts, done = _kept(keep, seed)
    done = count(counts, seed, done, programs, seconds)
    if keep:
        listed = [[*cell, number] for cell, number in sorted(counts.items())]
        keep.write_text(json.dumps({"seed": seed, "done": done, "counts": listed}), encoding="utf-8")
    print(f"{done} of {programs} programs, {len(counts)} cells")
    if done >= programs:
        text = page(counts, programs, seed)
        if write:
            PAGE.write_text(text, encoding="utf-8")
        else:
            print(text)


def count(counts: Counter[Cell], seed: int, first: int, last: int, seconds: float = float("inf")) -> int:
    """Count what the programs from ``first`` to before ``last`` compute; give the number of the next one."""
    reference, ends = load("reference"), time.monotonic() + seconds
    for number in range(first, last):
        if time.monotonic() > ends:
            return number
        drawn = draw(Prng(seed, number), reference)
        with counting(counts):
            run(drawn.program, reference, "end")
    return last


def _kept(keep: Path | None, seed: int) -> tuple[Counter[Cell], int]:
    """The counts of an earlier run, and how many programs it looked at."""
    if keep is None or not keep.exists():
        return Counter(), 0
    read = json.loads(keep.read_text(encoding="utf-8"))
    if read["seed"] != seed:
        raise typer.BadParameter(f"{keep} counts programs of seed {read['seed']}")
    return Counter({tuple(cell): number for *cell, number in read["counts"]}), read["done"]


if __name__ == "__main__":
    typer.run(main)
