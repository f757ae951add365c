"""``python -m benchmarks``: one run, one table. What is timed lives in ``benchmarks.cost``."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.cost import BARS, Cost, measure


def main(
    programs: Annotated[int, typer.Option(min=10, help="How many programs of the generator's mix.")] = 300,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="Each figure is the best of so many rounds.")] = 5,
    core: Annotated[bool, typer.Option("--core", help="Draw from the core vocabulary alone.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Time the whole check against bare torch on the same programs, part by part; all ratios are of this one
    run.
    """
    cost = measure(programs, seed, rounds, of_core=core)
    if as_json:
        print(json.dumps({"seconds": asdict(cost), "ratios": cost.ratios()}, indent=2))
    else:
        show(cost, Console())


def show(cost: Cost, out: Console) -> None:
    """The parts in microseconds a program and as a multiple of bare torch, then the ratios beside their
    bars.
    """
    why = "torch crashes, or they depend on being looked at"
    without = f" ({cost.left_out} left out: {why})" if cost.left_out else ""
    parts = Table(title=f"{cost.programs} programs, {cost.steps / cost.programs:.1f} steps each{without}")
    for heading in ("part", "us/program", "x bare torch"):
        parts.add_column(heading, justify="left" if heading == "part" else "right")
    for name, seconds in cost.parts().items():
        parts.add_row(name, f"{seconds / cost.programs * 1e6:,.0f}", f"{seconds / cost.bare:.2f}")
    out.print(parts)
    ratios = Table()
    for heading in ("ratio", "here", "bar"):
        ratios.add_column(heading, justify="left" if heading == "ratio" else "right")
    for name, ratio in cost.ratios().items():
        ratios.add_row(name, f"{ratio:.2f}", BARS.get(name, ""))
    out.print(ratios)
    out.print(f"PRNG {cost.prng_rate:,.0f} programs/s, Hypothesis {cost.hypothesis_rate:,.0f} programs/s")


if __name__ == "__main__":
    typer.run(main)
