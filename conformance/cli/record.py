"""``record``: what the installed torch does, put on record for those who have none, or no such device. The
work itself lives in ``conformance.recordings.record``.
"""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.loading import (
    AUTO,
    DeviceOption,
    check_writable,
    load_adapter,
    load_recordings,
    number_option,
    use,
    write_reports,
)
from conformance.cli.screen import progress_bar
from conformance.cli.trouble import Trouble
from conformance.recordings.format import in_place, read_recording
from conformance.recordings.record import PROGRAMS, drop_cases, make_recording, place_for


def record(
    device: DeviceOption = AUTO,
    programs: Annotated[
        int, number_option("programs", "How many programs to draw, by the PRNG, after the cases.")
    ] = PROGRAMS,
    seed: Annotated[int, number_option("seed", "The same seed draws the same programs.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write (default: specs/recorded, by torch and device)."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a recording that is there.")] = False,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CASE",
            help="Record nothing; take a case that has changed out of FILE, or of each recording there is.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        number_option("workers", "Processes that run programs (default: one a core). No effect on results."),
    ] = None,
) -> None:
    """Record what the installed torch does on a device: each witness case, and programs drawn at random.

    `grade --against recorded` then holds an implementation against it on any machine, without torch and
    without the device. `record --device cuda` is the command for a machine with a GPU.

    The file says which torch, device and driver it comes from. What kills torch, crashes it, or does not come
    out the same twice is left out and named. The same torch, device and processor give the same file.
    """
    if drop:
        _drop(drop, [out] if out is not None else list(in_place()))
        return
    use(device)
    torch = load_adapter("torch")
    path = out or place_for(torch)
    check_writable(out=path)
    if path.exists() and not force:
        raise Trouble(f"{path} is there already", "--force writes over it, --out elsewhere")
    with progress_bar() as tick:
        made = make_recording(programs=programs, seed=seed, workers=workers, progress=tick)
    write_reports({path: made.text})
    left_out = ", ".join(f"{len(names)} {why}" for why, names in made.origin.left_out.items()) or "none"
    print(f"{path}: {made.cases} cases, {made.programs} programs; left out: {left_out}")


def _drop(dropped: list[str], paths: list[Path]) -> None:
    """Take cases out of recordings, and say how many each of them has lost."""
    held = {id for path in load_recordings(paths) for id in read_recording(path).cases}
    for id in dropped:
        if id not in held:
            near = get_close_matches(id, held, n=1)
            raise Trouble(
                f"no recording holds the case {id!r}", f"did you mean {near[0]}?" if near else "CHAPTER/NAME"
            )
    for path in paths:
        print(f"{path}: {', '.join(drop_cases(path, dropped)) or 'nothing'} taken out")
