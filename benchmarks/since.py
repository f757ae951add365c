"""``python -m benchmarks.since CHECKOUT``: what a check costs more, or less, than it did in another checkout.

Both check the same programs, those that the other one's generator draws of the core vocabulary, and each
draws programs of its own. They take turns, each in a process of its own, and of each program the least time
counts: what else the machine does makes it slower, never faster. In each turn memory is laid out otherwise,
by Python's hash seed, since one layout may cost a checkout some percent.

A process runs the same programs as scripts on bare torch, too, and what its check takes is told in multiples
of that, as ``python -m benchmarks`` does: the same torch need not be as fast in every process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.cost import bare
from conformance import adapters
from conformance.execution.isolate import survive
from conformance.execution.run import run
from conformance.program.parsing import parse

HERE = Path(__file__).parents[1]
SCRIPT = Path(__file__).with_name("timed.py")
BARE = {"bare torch": "torch", "bare reference": "reference_impl"}
WHOLE = {
    "each": "whole check, looking after each step",
    "end": "whole check, looking at the end",
}


def main(
    checkout: Annotated[Path, typer.Argument(exists=True, file_okay=False, help="Another checkout.")],
    programs: Annotated[int, typer.Option(min=10, help="How many programs.")] = 200,
    seed: Annotated[int, typer.Option(min=0)] = 0,
    rounds: Annotated[int, typer.Option(min=1, help="How often a process times each program.")] = 6,
    turns: Annotated[int, typer.Option(min=1, help="How many processes each of the two has.")] = 5,
) -> None:
    """Compare what a check costs here with what it costs in another checkout, on the same programs."""
    out, err = Console(), Console(stderr=True)
    texts = json.loads(_timed(checkout, 0, "draw", programs, seed))
    scripts = [lived for lived in survive(_scripts, texts) if isinstance(lived, dict)]
    given = {part: [script[part] for script in scripts] for part in ("programs", *BARE)}
    best: dict[Path, dict[str, Any]] = {}
    for turn in track(range(turns), "turns", console=err):
        for where in (checkout, HERE):
            found = json.loads(_timed(where, turn, "time", rounds, programs, seed, given=json.dumps(given)))
            best[where] = found if where not in best else _least(best[where], found)
    steps = sum(len(parse(text)) for text in given["programs"])
    before, now = (_per_step(best[where], steps) for where in (checkout, HERE))
    about = f"{len(scripts)} programs of {steps / len(scripts):.1f} steps"
    out.print(_table(f"microseconds a step, {about}", before, now))
    out.print(_table("times bare torch", _ratios(before), _ratios(now)))


def _table(title: str, before: dict[str, float], now: dict[str, float]) -> Table:
    """Each part there and here, and by how much it changed."""
    table = Table(title=title)
    for heading in ("part", "there", "here", "change"):
        table.add_column(heading, justify="left" if heading == "part" else "right")
    for part, then in before.items():
        table.add_row(part, f"{then:.2f}", f"{now[part]:.2f}", f"{now[part] / then - 1:+.1%}")
    return table


def _timed(where: Path, turn: int, *asked: object, given: str = "") -> str:
    """What the script prints in that checkout; raises SystemExit where it fails."""
    environment = os.environ | {"PYTHONPATH": str(where.resolve()), "PYTHONHASHSEED": str(turn)}
    environment |= {"OMP_NUM_THREADS": "1", "AUTOGRAD_CONFORMANCE_DEVICE": "cpu"}
    environment["PYTHONSAFEPATH"] = "1"  # the checkout's packages, not what lies beside the script
    command = [sys.executable, str(SCRIPT), *map(str, asked)]
    done = subprocess.run(command, input=given, capture_output=True, text=True, cwd=where, env=environment)
    if done.returncode:
        raise SystemExit(f"{done.stderr.strip()}\n{where} cannot be timed: is it a checkout of this project?")
    return done.stdout


def _scripts(text: str) -> dict[str, str] | None:
    """A program and the scripts that it is, from a process that may die of it; None where a script is refused
    a step that was not refused with somebody looking.
    """
    program, torch = parse(text), adapters.load("torch")
    trace = run(program, torch, "each")
    run(program, torch, "end")
    scripts = {part: bare(program, trace, module) for part, module in BARE.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for script in scripts.values():
                exec(script, {})
        except Exception:
            return None
    return {"programs": text, **scripts}


def _least(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The lesser times of two processes of one checkout."""
    pairs = ((part, zip(times, other["least"][part], strict=True)) for part, times in one["least"].items())
    return one | {"least": {part: [min(pair) for pair in times] for part, times in pairs}}


def _per_step(found: dict[str, Any], steps: int) -> dict[str, float]:
    """Microseconds a step, part by part and as a whole."""
    total = {part: sum(times) * 1e6 for part, times in found["least"].items()}
    draw = (total.pop("draw and run") - total.pop("run what was drawn")) / found["steps"]
    parts = {part: time / steps for part, time in total.items()}
    whole = {
        name: draw + sum(time for part, time in parts.items() if part.endswith(density))
        for density, name in WHOLE.items()
    }
    return {"draw": draw, **parts, **whole}


def _ratios(parts: dict[str, float]) -> dict[str, float]:
    """What ``python -m benchmarks`` calls a ratio."""
    return {name: parts[name] / parts["bare torch"] for name in (*WHOLE.values(), "bare reference", "draw")}


if __name__ == "__main__":
    typer.run(main)
