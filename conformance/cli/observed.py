"""``observed``: programs whose result depends on how they are observed. The search itself lives in
``conformance.observer_effect.campaign``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.grade import Source
from conformance.cli.loading import (
    AUTO,
    DeviceOption,
    check_writable,
    load_adapter,
    number_option,
    use,
    write_reports,
)
from conformance.cli.screen import console, progress_bar
from conformance.observer_effect.campaign import search
from conformance.report import as_json, terminal


def observed(
    programs: Annotated[int, number_option("programs", "How many programs to draw.")] = 1000,
    seed: Annotated[int, number_option("seed", "The same seed gives the same report.")] = 0,
    source: Annotated[Source, typer.Option(help="What draws them, as for `grade`.")] = Source.PRNG,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the report as JSON.")] = None,
    workers: Annotated[
        int | None,
        number_option("workers", "Processes that run programs (default: one a core). No effect on results."),
    ] = None,
    device: DeviceOption = AUTO,
) -> None:
    """Find programs whose result on torch depends on how they are observed, and explain them by rules.

    Reading `grad_fn` of a stale view (its base was written since) regenerates it. So each program is run on
    torch three times: observed after each step, observed where a step touched something, and observed at
    the end alone. Compared is what all three show: outcome, warnings and calls of each step, and all
    facts in the end, but for the ages of nodes.

    A program that differs is **explained** if the reference does at each density what torch does; the rules
    behind it name its kind, of which the shortest program is shown. Any other is a finding.
    """
    check_writable(json=json)
    use(device)
    load_adapter("torch")
    with progress_bar() as tick:
        found = search(programs=programs, seed=seed, source=str(source), workers=workers, progress=tick)
    terminal.print_observed(found, console())
    if json is not None:
        write_reports({json: as_json.render_observed(found)})
    raise typer.Exit(found.exit_code)
