"""``run``: one program on several implementations, traces side by side. How a program runs lives in
``conformance.execution.run``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from conformance.cli.loading import Device, DeviceOption, load_adapter, load_program, use
from conformance.cli.screen import console
from conformance.cli.trouble import Trouble
from conformance.execution.trace import Observation, Refused, Trace
from conformance.grading.isolated import run_isolated
from conformance.program import Step, decoration
from conformance.program.printing import statement
from conformance.report import Verdict, words
from specs.fact import DENSITIES, FACTS, GRAD_FACTS, UNSEEN

SAID = "    says"
"""Labels the line that quotes refusals; their words are no semantics, and never compared."""

ABSENT = object()
"""A fact of a name that is not live."""


USUAL = {"device": "cpu", "retains_grad": False, "output_nr": 0, "is_view": False, "version": 0, "grad": None}
"""What a new tensor mostly shows; said only where it is otherwise."""


def run(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.py", help="A straight-line PyTorch script.")],
    on: Annotated[
        str, typer.Option(metavar="IMPL,...", help="Where to run it: any implementations that grade takes.")
    ] = "torch,reference",
    density: Annotated[
        str, typer.Option(help="When to look: after each step, at what a step touched, or at the end.")
    ] = "each",
    device: DeviceOption = Device.AUTO,
) -> None:
    """Run one program and print its traces side by side: each step's outcome, and the facts that it changed.

    Lines on which the implementations differ are marked with '!'. Looking is part of a program: reading a
    stale view's grad_fn regenerates it, so another --density may show another trace.
    """
    if density not in DENSITIES:
        raise Trouble(f"there is no density {density!r}", f"one of {', '.join(DENSITIES)}")
    specs = [spec.strip() for spec in on.split(",") if spec.strip()]
    if not specs:
        raise Trouble("--on names no implementation", "for instance --on torch,reference")
    steps = load_program(program)
    use(device)
    for spec in specs:
        load_adapter(spec)
    traces = [run_isolated(steps, spec, density) for spec in specs]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "step", *(trace.adapter for trace in traces)):
        table.add_column(heading, overflow="fold")
    differ = False
    for index, step in enumerate(steps):
        for label, cells in rows(step, index, traces):
            odd = label != SAID and len({cell for cell in cells if cell != "unseen"}) > 1
            differ = differ or odd
            style = "bold red" if odd else "bold" if label[0] != " " else "dim"
            table.add_row("!" if odd else "", *(Text(text, style=style) for text in (label, *cells)))
    console().print(table)
    raise typer.Exit(int(Verdict.NONCONFORMANCE if differ else Verdict.CONFORMS))


def rows(step: Step, index: int, traces: list[Trace]) -> Iterator[tuple[str, list[str]]]:
    """The line of one step and below it a line for each fact that it changed or on which the traces
    differ.
    """
    modes = "".join(f"{mode}: " for mode in decoration(step.mode)[0])
    outcomes = [trace[index].outcome for trace in traces]
    yield modes + statement(step), [words.outcome(outcome) for outcome in outcomes]
    if any(isinstance(outcome, Refused) for outcome in outcomes):
        yield SAID, [getattr(outcome, "message", "") for outcome in outcomes]
    now = [flat(trace[index]) for trace in traces]
    before = [last_seen(trace, index) for trace in traces]
    for key in dict.fromkeys(key for facts in now for key in facts):
        seen = [facts.get(key, ABSENT) for facts in now]
        changed = any(facts.get(key, ABSENT) != value for facts, value in zip(before, seen, strict=True))
        if changed and not _plain(key, before, seen):
            yield f"    {key}", [show(value) for value in seen]


def _plain(key: str, before: list[dict[str, Any]], seen: list[Any]) -> bool:
    """Whether a fact of a new name is what most tensors show, on all sides; such lines would drown the
    others.
    """
    usual = USUAL.get(key.partition(".")[2], ABSENT)
    new = all(facts.get(key, ABSENT) is ABSENT for facts in before)
    return new and all(value is usual or value is UNSEEN or value == usual for value in seen)


def last_seen(trace: Trace, index: int) -> dict[str, Any]:
    """Each fact as it was seen last before a step; not every step is followed by a look at everything."""
    facts: dict[str, Any] = {}
    for observation in trace.observations[:index]:
        facts |= flat(observation)
    facts.pop("warnings", None)
    return facts


def flat(observation: Observation) -> dict[str, Any]:
    """What was seen, as ``name.fact`` to value; the facts of a grad stand beside those of its tensor."""
    facts: dict[str, Any] = {}
    for name, seen in observation.facts.items():
        for fact, value in zip(FACTS if len(seen) > 1 else ("value",), seen, strict=False):
            if fact == "grad" and isinstance(value, tuple) and len(value) == len(GRAD_FACTS):
                facts |= {f"{name}.grad.{f}": v for f, v in zip(GRAD_FACTS, value, strict=True)}
            else:
                facts[f"{name}.{fact}"] = value
    if observation.warnings:
        facts["warnings"] = ", ".join(observation.warnings)
    return facts


def show(found: Any) -> str:
    """A fact's value as text, or a dash where the name is not live."""
    return "-" if found is ABSENT else words.value(found)
