"""Say which mutations of the reference nobody notices: ``python -m benchmarks.mutations``."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from benchmarks.mutations.changes import Mutation, unchanged
from benchmarks.mutations.record import Record, Score, survivors_on_record
from benchmarks.mutations.sample import SEED, STRATA, sample
from benchmarks.mutations.trial import trial
from benchmarks.mutations.witnesses import kept_witnesses

CASES_NOTICE, ALL_NOTICE = 0.85, 0.95
"""The parts of the noticeable mutations that cases, and cases and programs, are to notice."""


def main(
    part: Annotated[list[str] | None, typer.Option(help=f"Parts: {', '.join(STRATA)}.")] = None,
    programs: Annotated[int, typer.Option(min=1, help="Try so many programs.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the sample of mutations.")] = SEED,
    keep: Annotated[Path | None, typer.Option(help="Keep results there, and go on from them.")] = None,
    seconds: Annotated[float, typer.Option(help="Begin no mutation after so many seconds.")] = float("inf"),
    again: Annotated[bool, typer.Option(help="Try again what survived, by what is kept.")] = False,
) -> None:
    """Try a sample of mutations, with all cases and drawn programs, until something notices each.

    The exit code is 1 if one survives that survivors.toml does not list, or if too few are noticed.
    """
    out, record = Console(stderr=True), Record(keep)
    wanted = [m for m in sample(seed) if not part or m.id.partition("/")[0] in part]
    left = [m for m in wanted if m.id not in record.results or (again and record.results[m.id].alive)]
    if left:
        given = kept_witnesses(programs, keep and keep.with_suffix(".witnesses"))
        control = trial(unchanged(), given)
        if not control.alive:
            out.print(f"error: the reference as it is fails: {control.kind} {control.what}")
            sys.exit(2)
        started = time.monotonic()
        for number, mutation in enumerate(left):
            if time.monotonic() - started > seconds:
                out.print(f"{len(left) - number} mutations are left")
                break
            record.read()
            if mutation.id in record.results and not again:
                continue
            result = trial(mutation.made(), given)
            record.keep(mutation.id, result)
            if not keep:
                print(f"{result.kind:8} {mutation.id}  {result.what}")
    sys.exit(_told(wanted, record))


def _told(wanted: list[Mutation], record: Record) -> int:
    """Print the survivors and the score; give 1 if it is too low."""
    reasons = survivors_on_record()
    known = {id: f"{kind}: {why}" for kind, listed in reasons.items() for id, why in listed.items()}
    for mutation in wanted:
        if mutation.id in record.results and record.results[mutation.id].alive:
            print(f"alive  {mutation.id}  ({mutation.line})  {known.get(mutation.id, '')}".rstrip())
    score = Score.of([m.id for m in wanted], record, reasons)
    count = score.noticeable or 1
    print(f"{score.tried} of {len(wanted)} mutations tried, {score.noticeable} of them noticeable")
    print(f"cases notice {score.by_cases} ({score.by_cases / count:.1%}), ", end="")
    print(f"cases and programs {score.noticed} ({score.noticed / count:.1%})")
    print(f"{len(score.unlisted)} survivors are not on record in survivors.toml")
    low = score.by_cases < CASES_NOTICE * score.noticeable or score.noticed < ALL_NOTICE * score.noticeable
    return int(low or bool(score.unlisted))


if __name__ == "__main__":
    typer.run(main)
