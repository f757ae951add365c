"""Running a script on real torch beside the reference, and telling where they disagree."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.explanation.explanation import Explanation
from conformance.explanation.run import put_together, run_child
from conformance.explanation.value import ExecutedLine
from conformance.explanation.words import at, in_print
from specs.rule import classify

COMPARED = (
    "is_leaf",
    "requires_grad",
    "grad_fn",
    "grad",
    "version",
    "retains_grad",
    "shape",
    "dtype",
    "value",
)
"""The facts that are compared, by name, after each line."""
MOST = 10
"""The disagreements that are told."""


@dataclass(frozen=True)
class Disagreement:
    """A fact of a name that is not the same on torch after a line."""

    line: int
    passes: int
    name: str
    fact: str
    reference: Any
    torch: Any


@dataclass(frozen=True)
class Beside:
    """A script on both: its explanation (torch's facts alone where the reference cannot run it), the
    disagreements, the number of lines and facts compared, and what else to know.
    """

    found: Explanation
    disagreements: tuple[Disagreement, ...]
    lines: int
    facts: int
    note: str = ""

    def __str__(self) -> str:
        return "\n".join(told_beside(self))


def explain_on_torch(
    source: bytes, name: str, arguments: Sequence[str], seconds: int, megabytes: int
) -> Beside:
    """Explain a script on the reference and run it on torch, with the same random numbers.

    Raises ImportError if torch is not there.
    """
    with tempfile.TemporaryDirectory(prefix="explain-") as folder:
        script = Path(folder, "script")
        script.write_bytes(source)
        common = script, name, arguments, seconds, megabytes
        ours, code, complaint = run_child("child", Path(folder, "ours"), *common, draws="yes")
        drawn = Path(folder, "drawn")
        drawn.write_text(json.dumps([record["draw"] for record in ours if "draw" in record]), "utf-8")
        theirs, code_there, complaint_there = run_child(
            "torch_child", Path(folder, "theirs"), *common, draws=str(drawn)
        )
    absent = next((record["absent"] for record in theirs if "absent" in record), None)
    if absent is not None:
        raise ImportError(absent)
    ours = [record for record in ours if "draw" not in record]
    found = put_together(name, source, ours, code, complaint, seconds)
    there = put_together(name, source, theirs, code_there, complaint_there, 2 * seconds, reasons=False)
    if found.ending == "not modelled":
        note = f"{found.note.partition(';')[0]}, so this is torch {_version()} alone: facts without because"
        return Beside(there, (), 0, 0, note)
    lost = next((record["lost"] for record in theirs if record.get("lost")), "")
    differ, lines, facts = _compared(found, there, bool(lost))
    note = f"values are not compared from the first {lost} on" if lost else ""
    return Beside(found, (*differ, *_endings(found, there)), lines, facts, note)


def told_beside(beside: Beside) -> list[str]:
    """Return what torch says to it, in lines."""
    found = beside.found
    if not beside.lines:
        return [beside.note] if beside.note else []
    told = []
    for d in beside.disagreements[:MOST]:
        where = at(found, d.line) + (f" in pass {d.passes}" if d.passes > 1 else "")
        told.append(f"{where}: {d.name}.{d.fact} is {_shown(d.torch)} on torch, {_shown(d.reference)} here")
    if len(beside.disagreements) > MOST:
        told.append(f"... and {len(beside.disagreements) - MOST} more")
    verdict = "torch disagrees" if beside.disagreements else "torch agrees"
    told.append(f"{verdict}: {beside.facts:,} facts after {beside.lines:,} lines, torch {_version()}")
    return [*told, beside.note] if beside.note else told


def _version() -> str:
    from importlib.metadata import version

    return version("torch")


def _shown(value: Any) -> str:
    return in_print(value) if isinstance(value, (list, float)) else str(value)


def _compared(found: Explanation, there: Explanation, unlike: bool) -> tuple[list[Disagreement], int, int]:
    """Compare the states after each pass of a line that changed something on both sides."""
    differ: list[Disagreement] = []
    told: set[tuple[str, str]] = set()
    facts = lines = 0
    by_place = {_place(step): step for step in there.steps}
    last = {_place(step): step for step in found.steps}
    for here in found.steps:
        torch = by_place.get(_place(here))
        if torch is None or last[_place(here)] is not here:
            continue  # a line that calls a function is looked at before and after
        if found.error is not None and here is found.steps[-1]:
            continue
        lines += 1
        for name in here.names.keys() & torch.names.keys():
            one = here.tensors.get(here.names[name])
            other = torch.tensors.get(torch.names[name])
            if one is None or other is None or one.stale or other.stale:
                continue
            for fact in COMPARED:
                was, is_ = _fact(one, fact), _fact(other, fact)
                if unlike and fact in ("value", "grad"):
                    was, is_ = was is None, is_ is None
                facts += 1
                if not _alike(was, is_) and (name, fact) not in told:
                    told.add((name, fact))
                    differ.append(Disagreement(here.line, here.passes, name, fact, was, is_))
    return differ, lines, facts


def _place(step: ExecutedLine) -> tuple[int, str, int]:
    return step.line, step.function, step.passes


def _fact(state: Any, fact: str) -> Any:
    if fact == "grad":
        return state.grad_value if state.grad_value is not None else (state.grad is not None) or None
    if fact == "device":
        return state.device.partition(":")[0]
    return getattr(state, fact)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-3, abs_tol=1e-5)
    return one == other or (str(one) == str(other))


def _endings(found: Explanation, there: Explanation) -> list[Disagreement]:
    """Compare the errors that ended the script, by line and rule."""
    ours, theirs = found.error, there.error
    if ours is None and theirs is None:
        return []
    rule = theirs and (classify(theirs.kind, theirs.message) or theirs.kind)
    mine = ours and (ours.rule or ours.kind)
    line = (ours or theirs).line  # type: ignore[union-attr]  # one of them is there
    same = mine == rule or (ours and theirs and not ours.rule and ours.kind == theirs.kind)
    if same and ours and theirs and ours.line == theirs.line:
        return []
    shown = f"{theirs.kind}: {theirs.message.splitlines()[0]}" if theirs and theirs.message else rule
    return [Disagreement(line, 1, "the script", "error", mine, shown)]
