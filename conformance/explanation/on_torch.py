"""Running a script on real torch beside the reference, and telling where they disagree."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from conformance.adapters.reference_state import WITHOUT_CUDA
from conformance.explanation.both_sides import BothSides, Disagreement, nudged
from conformance.explanation.explanation import Explanation
from conformance.explanation.run import RunChild, put_together, run_child
from conformance.explanation.torch_child import ALONE
from conformance.explanation.words import at, in_print
from specs.active_rules import torch_release
from specs.rule import classify

MOST = 10
"""The disagreements that are told."""
LACKS_CUDA = re.compile("Torch not compiled with CUDA enabled|no NVIDIA driver|No CUDA GPUs are available")
"""The words of a torch that has no CUDA."""


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
    source: bytes,
    name: str,
    arguments: Sequence[str],
    seconds: int,
    megabytes: int,
    run: RunChild = run_child,
) -> Beside:
    """Explain a script on the reference and run it on torch, with the same random numbers; ``run`` runs each
    side elsewhere than usual.

    Raises ImportError if torch is not there.
    """
    release = _version()
    with tempfile.TemporaryDirectory(prefix="explain-") as folder:
        script = Path(folder, "script")
        script.write_bytes(source)
        common = script, name, arguments, seconds, megabytes

        def here(by: str) -> tuple[Explanation, list[Any], bool]:
            records = Path(folder, "ours")
            records.unlink(missing_ok=True)
            ours, code, complaint = run("child", records, *common, by)
            draws = [record["draw"] for record in ours if "draw" in record]
            ours = [record for record in ours if "draw" not in record]
            cast = any(record.get("autocast") for record in ours)
            return put_together(name, source, ours, code, complaint, seconds), draws, cast

        def on_torch(draws: list[Any]) -> tuple[Explanation, dict[str, Any]]:
            records = Path(folder, "theirs")
            records.unlink(missing_ok=True)
            drawn = Path(folder, ALONE if found.ending == "not modelled" else "drawn")
            drawn.write_text(json.dumps(draws), "utf-8")
            theirs, code, complaint = run("torch_child", records, *common, str(drawn))
            if theirs and "absent" in theirs[0]:
                raise ImportError(theirs[0]["absent"])
            there = put_together(name, source, theirs, code, complaint, 2 * seconds, reasons=False)
            return there, next((record for record in theirs if "end" in record), {})

        found, draws, cast = here(release)
        there, end = on_torch(draws)
        if not end.get("cuda", True) and _differ(found, there, end):
            found, draws, cast = here(f"{release} {WITHOUT_CUDA}")
            there, end = on_torch(draws)
        if found.ending == "not modelled":
            note = f"{found.note.partition(';')[0]}, so this is torch {release} alone: facts without because"
            return Beside(there, (), 0, 0, note)
        lost_at = _lost_at(end)
        if cast:  # each kernel rounds to half precision in its own way
            lost_at = 0
        compared = BothSides(found, there, lost_at)
        if draws and any(d.fact in ("value", "grad") for d in compared.differ):
            compared = BothSides(found, there, lost_at, on_torch(nudged(draws))[0])
    notes = compared.notes()
    if cast:
        notes.insert(0, "values are not compared: kernels under autocast round in their own ways")
    elif lost_at is not None:
        notes.insert(0, f"values are not compared from the first {end['lost']} on")
    endings = _endings(found, there)
    if endings and there.error and LACKS_CUDA.search(there.error.message):
        notes.append(f"torch has no CUDA here: compared up to line {there.error.line}, which asks for it")
        endings = []
    differ = (*compared.differ, *endings)
    return Beside(found, differ, compared.lines, compared.facts, "; ".join(notes))


def _lost_at(end: dict[str, Any]) -> int | None:
    """Return the step from which on torch's random numbers are not those of the reference."""
    return end["lost_at"] if end.get("lost") else None


def _differ(found: Explanation, there: Explanation, end: dict[str, Any]) -> bool:
    """Tell whether anything differs at first sight."""
    return bool(_endings(found, there) or BothSides(found, there, _lost_at(end)).differ)


def told_beside(beside: Beside) -> list[str]:
    """Return what torch says to it, in lines."""
    found = beside.found
    if not beside.lines:
        return [beside.note] if beside.note else []
    told = []
    for d in beside.disagreements[:MOST]:
        where = at(found, d.line) + (f" in pass {d.passes}" if d.passes > 1 else "")
        if d.fact == "error":
            told.append(f"{where}: {_ended(d.torch)} on torch, {_ended(d.reference)} here")
        else:
            there, here = _shown(d.torch), _shown(d.reference)
            told.append(f"{where}: {d.name}.{d.fact} is {there} on torch, {here} here")
    if len(beside.disagreements) > MOST:
        told.append(f"... and {len(beside.disagreements) - MOST} more")
    verdict = "torch disagrees" if beside.disagreements else "torch agrees"
    lines = "1 line" if beside.lines == 1 else f"{beside.lines:,} lines"
    told.append(f"{verdict}: {beside.facts:,} facts after {lines}, torch {_version()}")
    return [*told, beside.note] if beside.note else told


def _version() -> str:
    try:
        return version("torch")
    except PackageNotFoundError as error:
        raise ImportError("No module named 'torch'") from error


def _ended(error: Any) -> str:
    return f"the script ends with {error}" if error else "no error"


def _shown(value: Any) -> str:
    return in_print(value) if isinstance(value, (list, float)) else str(value)


def _endings(found: Explanation, there: Explanation) -> list[Disagreement]:
    """Compare the errors that ended the script, by line and rule."""
    ours, theirs = found.error, there.error
    if ours is None and theirs is None:
        return []
    rule = theirs and (classify(theirs.kind, theirs.message, torch_release()) or theirs.kind)
    mine = ours and (ours.rule or ours.kind)
    line = (ours or theirs).line  # type: ignore[union-attr]  # one of them is there
    same = mine == rule or (ours and theirs and not ours.rule and ours.kind == theirs.kind)
    if same and ours and theirs and ours.line == theirs.line:
        return []
    shown = f"{theirs.kind}: {theirs.message.splitlines()[0]}" if theirs and theirs.message else rule
    return [Disagreement(line, 1, "the script", "error", mine, shown)]
