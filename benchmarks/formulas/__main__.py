"""Say which mutants of formulas nobody notices: ``python -m benchmarks.formulas``."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from benchmarks.formulas.branches import branches_not_taken
from benchmarks.formulas.gate import (
    by_function,
    disagreeing,
    killed,
    surveyed_inputs,
    survivors_on_record,
)
from benchmarks.formulas.inputs import inputs
from benchmarks.formulas.measure import RELATIVE
from benchmarks.formulas.mutants import mutants
from benchmarks.formulas.sources import sources

FAMILIES = "Look at the formulas of these families of ops alone: elementwise, pow, ..."


def main(
    family: Annotated[list[str] | None, typer.Option(help=FAMILIES)] = None,
    every: Annotated[int, typer.Option(min=1, help="Take one input in so many.")] = 1,
    branches: Annotated[
        bool, typer.Option("--branches", help="List the branches of formulas that no input takes, instead.")
    ] = False,
    against_torch: Annotated[
        bool, typer.Option("--against-torch", help="Compare the reference with torch on the inputs, instead.")
    ] = False,
) -> None:
    """Change each formula in small ways, and list the changes that no input shows.

    Inputs are calls of every op, made from its declaration; each is differentiated twice. The exit code is 1
    if a change survives that survivors.toml does not list with a reason.
    """
    out = Console(stderr=True)
    if against_torch:
        sys.exit(_against_torch(every, out))
    if branches:
        found = branches_not_taken()
        print("\n".join(found))
        sys.exit(int(bool(found)))
    surveyed = surveyed_inputs(every)
    reached = by_function(surveyed)
    families = set(family or ()) or {source.path.stem for source in sources()}
    wanted = [m for source in sources() if source.path.stem in families for m in mutants(source)]
    counts: Counter[bool] = Counter()
    reasons, unlisted = survivors_on_record(), 0
    for mutant in track(wanted, "mutants", console=out):
        found = killed(mutant, reached)
        if found is not None:
            counts[found] += 1
        if found is False:
            unlisted += mutant.id not in reasons
            print(f"alive  {mutant.id}  {reasons.get(mutant.id, '')}".rstrip())
    print(f"{counts[True]} of {counts.total()} mutants killed by {len(surveyed)} inputs")
    print(f"{unlisted} of those alive are not on record in survivors.toml")
    sys.exit(int(unlisted > 0))


def _against_torch(every: int, out: Console) -> int:
    """Compare the reference with torch on the inputs of each dtype; give 1 if an input differs."""
    torch = importlib.import_module("torch")
    differ = 0
    for dtype in RELATIVE:
        given = [one for at, one in enumerate(inputs(dtype)) if at % every == 0]
        found = list(disagreeing(torch, track(given, dtype, console=out)))
        for one, expected, actual in found:
            print(f"{one}\n  torch      {expected}\n  reference  {actual}")
        print(f"{dtype:10} {len(given):6d} inputs, {len(found)} differ")
        differ += len(found)
    return int(differ > 0)


if __name__ == "__main__":
    typer.run(main)
