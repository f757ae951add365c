"""``run``: one program on several implementations, traces side by side.

How a program runs lives in ``conformance.execution.run``, how traces are judged in ``conformance.grading``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.cli.loading import AUTO, DeviceOption, ImportOption, load_adapter, load_program, use
from conformance.cli.screen import console
from conformance.cli.trouble import Trouble
from conformance.comparison.tolerance.bounds import ulp_distance
from conformance.execution.op_reach import EVERYTHING, Scope
from conformance.execution.trace import Observation, Refused, Trace
from conformance.explanation.because import deciding
from conformance.grading.isolated import run_isolated
from conformance.grading.side_by_side import Location, SideBySide, side_by_side
from conformance.program import Program, Step, decoration
from conformance.program.printing import statement
from conformance.report import Verdict, words
from specs.fact import DENSITIES, FACTS, GRAD_FACTS, TOPOLOGY, UNSEEN

ABSENT = object()
"""The value of a fact whose name is not live."""

USUAL = {"device": "cpu", "retains_grad": False, "output_nr": 0, "is_view": False, "version": 0, "grad": None}
"""The usual facts of a new tensor; a row is printed only for others."""


Key = tuple[str | None, str]
"""A name (None: the step itself) and a fact."""


class TableRow(NamedTuple):
    """One line of the table; ``place`` is None where the line is never compared."""

    label: str
    cells: list[str]
    place: Location | None


def run(
    program: Annotated[Path, typer.Argument(metavar="PROGRAM.py", help="A straight-line PyTorch script.")],
    on: Annotated[
        str, typer.Option(metavar="IMPL,...", help="Where to run it: any implementations that grade takes.")
    ] = "torch,reference",
    density: Annotated[
        str, typer.Option(help="When to observe: after each step, at what a step touched, or at the end.")
    ] = "each",
    device: DeviceOption = AUTO,
    imports: ImportOption = None,
) -> None:
    """Run one program and print its traces side by side: each step's outcome, and the facts that it changed.

    A line is marked '!' where an implementation differs from torch (or else from the reference, or the
    first), and '~' where that is on record. Values that differ within the error that rounding may cause show
    by how many ulp. Observing is part of a program: reading a stale view's grad_fn regenerates it, so another
    --density may show another trace.
    """
    if density not in DENSITIES:
        raise Trouble(f"there is no density {density!r}", f"one of {', '.join(DENSITIES)}")
    specs = [spec.strip() for spec in on.split(",") if spec.strip()]
    if not specs:
        raise Trouble("--on names no implementation", "for instance --on torch,reference")
    steps = load_program(program)
    use(device, imports)
    for spec in specs:
        load_adapter(spec)
    traces = [run_isolated(steps, spec, _as_shown(steps, density)) for spec in specs]
    found = side_by_side(traces, str(program))
    out = console()
    out.print(_table(traces, found))
    _print_findings(found, out)
    raise typer.Exit(int(Verdict.NONCONFORMANCE if found.findings else Verdict.CONFORMS))


def _as_shown(program: Program, density: str) -> str:
    """Return the density at which each change shows at its step, however much is live."""
    scope = Scope(density)
    rarer = [not scope.after(step)[1] and scope.reach_of(step.op)[1] for step in program]
    return EVERYTHING if density == "each" and any(rarer) else density


def _table(traces: list[Trace], found: SideBySide) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("", "step", *(trace.adapter for trace in traces)):
        table.add_column(heading, overflow="fold")
    for index, step in enumerate(found.baseline.program):
        for row in rows(step, index, traces, found):
            mark = _mark(row.place, found)
            style = "bold red" if mark == "!" else "bold" if row.label[0] != " " else "dim"
            table.add_row(mark, *(Text(words.plain(text), style=style) for text in (row.label, *row.cells)))
    return table


def _mark(place: Location | None, found: SideBySide) -> str:
    """Return '!' on a divergence, '~' on one that is on record, else nothing."""
    if place is None:
        return ""
    step, name, fact = place
    at = {place, (step, name, "bound"), (step, name, fact.partition(".")[0])}
    return "!" if at & found.divergences else "~" if at & found.known else ""


def _print_findings(found: SideBySide, out: Console) -> None:
    """Print the first divergence of each implementation with the rules behind it, and what else to know."""
    for finding in found.findings:
        rows = Table.grid(padding=(0, 2))
        for label, text in words.divergence(finding):
            rows.add_row(label, Text(words.plain(text)))
        out.print("", rows)
    for note in found.notes:
        out.print(Text(note, style="dim"))


def rows(step: Step, index: int, traces: list[Trace], found: SideBySide) -> Iterator[TableRow]:
    """Give the line of one step and, below it, a line for each fact that changed or diverges."""
    modes = "".join(f"{mode}: " for mode in decoration(step.mode)[0])
    outcomes = [trace[index].outcome for trace in traces]
    yield TableRow(
        modes + statement(step), [words.outcome(each) for each in outcomes], (index, None, "outcome")
    )
    if any(isinstance(outcome, Refused) for outcome in outcomes):
        yield TableRow("    says", [getattr(outcome, "message", "") for outcome in outcomes], None)
    now = [flat(trace[index]) for trace in traces]
    before = [last_seen(trace, index) for trace in traces]
    changes: list[Key] = []
    at = traces.index(found.baseline)
    for key in dict.fromkeys(key for facts in now for key in facts):
        seen = [facts.get(key, ABSENT) for facts in now]
        changed = any(facts.get(key, ABSENT) != value for facts, value in zip(before, seen, strict=True))
        if changed and not _is_usual(key, before, seen):
            changes.append(key)
            name, fact = key
            place = (index, name, fact)
            cells = [cell(value) for value in seen]
            if not _mark(place, found):
                apart = (_apart(seen[at], value, now[at], key) for value in seen)
                cells = list(map("".join, zip(cells, apart, strict=True)))
            yield TableRow(f"    {name}.{fact}" if name else f"    {fact}", cells, place)
    yield from _because(index, traces, changes, now)
    yield from _beyond_facts(index, traces, found)


def _because(
    index: int, traces: list[Trace], changes: list[Key], now: list[dict[Key, Any]]
) -> Iterator[TableRow]:
    """Give a line with the rules that decide what changed, where an implementation knows its rules."""
    cells = []
    for trace, facts in zip(traces, now, strict=True):
        fired = trace[index].fired
        told = [
            deciding(fact.partition(".")[0], facts.get((name, fact)), fired)
            for name, fact in changes
            if name
            and facts.get((name, fact)) is not UNSEEN
            and (fact != "grad" or "grad/assign-none-clears" in fired)
        ]
        cells.append("\n".join(list(dict.fromkeys(filter(None, told)))[:3]))
    if any(cells) and not isinstance(traces[0][index].outcome, Refused):
        yield TableRow("    because", cells, None)


def _beyond_facts(index: int, traces: list[Trace], found: SideBySide) -> Iterator[TableRow]:
    """Give a line for each divergence in what hooks were called with, and in the topology at the end."""
    for step, name, fact in sorted(found.divergences | found.known, key=str):
        if step == index and fact == "calls":
            yield TableRow(
                "    calls", [words.value(trace[index].calls) for trace in traces], (step, name, fact)
            )
        elif step == index and fact in TOPOLOGY and name is not None:
            hung = [(trace.topology or {}).get(name) for trace in traces]
            cells = ["unseen" if each is None else words.value(each[TOPOLOGY.index(fact)]) for each in hung]
            yield TableRow(f"    {name}.{fact}", cells, (step, name, fact))


def _apart(expected: Any, actual: Any, facts: dict[Key, Any], key: Key) -> str:
    """Return how far a value lies from the baseline's, in words, or nothing if they are equal."""
    name, fact = key
    missing = any(x is ABSENT or x is UNSEEN for x in (expected, actual))
    if missing or fact not in ("value", "grad.value"):
        return ""
    distance = ulp_distance(expected, actual, facts.get((name, fact.replace("value", "dtype"))))
    if distance is None:
        return " (within rounding)"
    return f" (within {distance:,} ulp)" if distance else ""


def _is_usual(key: Key, before: list[dict[Any, Any]], seen: list[Any]) -> bool:
    """Tell whether a fact of a new name is what most tensors show, on all sides."""
    usual = USUAL.get(key[1], ABSENT)
    new = all(facts.get(key, ABSENT) is ABSENT for facts in before)
    return new and all(value is usual or value is UNSEEN or value == usual for value in seen)


def last_seen(trace: Trace, index: int) -> dict[Key, Any]:
    """Return each fact as it was last seen before a step; few steps show all of them."""
    facts: dict[Key, Any] = {}
    for observation in trace.observations[:index]:
        facts |= flat(observation)
    facts.pop((None, "warnings"), None)
    return facts


def flat(observation: Observation) -> dict[Key, Any]:
    """Return what was seen by name and fact; the facts of a grad stand beside those of its tensor."""
    facts: dict[Key, Any] = {}
    for name, seen in observation.facts.items():
        for fact, value in zip(FACTS if len(seen) > 1 else ("value",), seen, strict=False):
            if fact == "grad" and isinstance(value, tuple) and len(value) == len(GRAD_FACTS):
                facts |= {(name, f"grad.{f}"): v for f, v in zip(GRAD_FACTS, value, strict=True)}
            else:
                facts[name, fact] = value
    if observation.warnings:
        facts[None, "warnings"] = ", ".join(observation.warnings)
    return facts


def cell(found: Any) -> str:
    """Return a fact's value as text, or a dash where the name is not live."""
    return "-" if found is ABSENT else words.value(found)
