"""``python -m benchmarks``: one run, one table. ``benchmarks.cost`` does the measuring."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.cost import HERE, Cost, Programs, instructions, least, need_valgrind, programs, rates, seconds
from conformance.cli.trouble import Trouble

BARS = {
    "whole check, each step": "<= 4.0",
    "whole check, as drawn": "<= 3.3",
    "reference, same scripts": "<= 0.75",
    "draw": "<= 0.5",
}
"""Aims by the clock, as multiples of bare torch."""


def main(
    count: Annotated[int, typer.Option("--programs", min=10, help="How many programs.")] = 100,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    core: Annotated[bool, typer.Option("--core", help="Draw from the core vocabulary alone.")] = False,
    length: Annotated[int, typer.Option("--steps", min=0, help="Draw programs of so many steps.")] = 0,
    counting: Annotated[
        bool, typer.Option("--instructions", help="Count instructions with valgrind: slow, and repeatable.")
    ] = False,
    rounds: Annotated[int, typer.Option(min=1, help="Without --instructions: processes to time.")] = 4,
    against: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="Measure another checkout, too.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the legs as JSON.")] = False,
) -> None:
    """Measure the whole check against bare torch on the same programs, part by part. With --against, the
    programs are those that the other checkout draws.
    """
    try:
        if counting:
            need_valgrind()
        given = programs(count, seed, not core, against or HERE, length)
        checkouts = {"there": against} if against else {}
        checkouts["here"] = HERE
        if counting:
            costs = {name: instructions(given, checkout) for name, checkout in checkouts.items()}
        else:
            costs = timed(given, rounds, checkouts)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        raise typer.Exit(trouble.code) from None
    if as_json:
        print(json.dumps({name: cost.rows() | cost.legs for name, cost in costs.items()}, indent=2))
        return
    out = Console()
    out.print(table(costs, given, "1,000 instructions" if counting else "microseconds"))
    if not counting and not against:
        for source, rate in rates(count, seed, not core).items():
            out.print(f"{source} draws {rate:,.0f} programs/s")


def timed(given: Programs, rounds: int, checkouts: dict[str, Path]) -> dict[str, Cost]:
    """The least of each leg in so many processes; the checkouts take turns."""
    best: dict[str, Cost] = {}
    for turn in range(rounds):
        for name, checkout in checkouts.items():
            cost = seconds(given, checkout, turn)
            best[name] = least(best.get(name, cost), cost)
    return best


def table(costs: dict[str, Cost], given: Programs, unit: str) -> Table:
    """A row for each part: its cost per program, as a multiple (x) of bare torch too, and the change."""
    here, there = costs["here"], costs.get("there")
    count = len(given.programs)
    scale = (1e6 if unit == "microseconds" else 1e-3) / count
    without = f", {given.left_out} more left out" if given.left_out else ""
    out = Table(title=f"{unit} a program: {count} programs of {here.steps / count:.1f} steps{without}")
    out.add_column("part", no_wrap=True)
    for heading in ("there", "here", "x there", "x here", "change") if there else ("", "x torch", "aim"):
        out.add_column(heading, justify="right")
    was = there.rows() if there else {}
    for name, cost in here.rows().items():
        cells = [f"{cost * scale:,.0f}", f"{cost / here.bare:.3f}"]
        if there:
            then = was[name]
            cells = [f"{then * scale:,.0f}", cells[0], f"{then / there.bare:.3f}", cells[1]]
            cells.append(f"{cost / then - 1:+.1%}")
        else:
            cells.append(BARS.get(name, ""))
        out.add_row(name, *cells)
    return out


if __name__ == "__main__":
    typer.run(main)
