"""``explain``: a script in a process of its own becomes an `Explanation`."""

from __future__ import annotations

import io
import json
import signal
import tempfile
import tokenize
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from conformance.explanation.because import Reasons
from conformance.explanation.causes import with_causes
from conformance.explanation.explanation import Explanation
from conformance.explanation.script_process import command_of, run_to_its_end
from conformance.explanation.value import (
    ExecutedLine,
    Flow,
    GraphNode,
    Mishap,
    NodeRun,
    SavedOperand,
    TensorState,
)
from conformance.input_files import TEXT, read_file

SECONDS, MEGABYTES = 30, 4096
"""The processor time and the memory that a script may take unless told otherwise."""


def explain_script(
    script: str | Path, *arguments: str, seconds: int = SECONDS, megabytes: int = MEGABYTES
) -> Explanation:
    """Explain a script, given its path or its text, which is taken as text if it has a line break or no file
    has that name.

    It runs in a process of its own on the reference. Whatever it does is told in the result; raises OSError
    where a file cannot be read.
    """
    text = str(script)
    if isinstance(script, Path) or ("\n" not in text and text.endswith(".py")):
        return explain_source(read_file(Path(script), TEXT), text, arguments, seconds, megabytes)
    return explain_source(text.encode(), "-c", arguments, seconds, megabytes)


Start = Callable[[Path, Path, str, Sequence[str], int, int], tuple[int | None, str]]
"""Runs a script so that its records are in a file: given that file, the script's, its name, its arguments and
the limits; returns the exit code (None if it took too long) and what stands on standard error.
"""


def explain_source(
    source: bytes,
    name: str,
    arguments: Sequence[str] = (),
    seconds: int = SECONDS,
    megabytes: int = MEGABYTES,
    start: Start | None = None,
) -> Explanation:
    """Explain the text of a script that goes by ``name``; ``start`` runs it elsewhere than usual."""
    with tempfile.TemporaryDirectory(prefix="explain-") as folder:
        records, script = Path(folder, "records"), Path(folder, "script")
        script.write_bytes(source)
        records.touch()
        if start is None:
            found, code, complaint = run_child("child", records, script, name, arguments, seconds, megabytes)
        else:
            code, complaint = start(records, script, name, arguments, seconds, megabytes)
            found = read_records(records)
    return put_together(name, source, found, code, complaint, seconds)


def _decoded(source: bytes) -> str:
    """Return the text of a script, in the encoding that it declares."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        return source.decode(encoding, errors="replace")
    except (SyntaxError, LookupError):
        return source.decode(errors="replace")


RunChild = Callable[..., tuple[list[Any], int | None, str]]
"""`run_child`, or what takes its place."""


def run_child(
    module: str, records: Path, script: Path, name: str, arguments: Sequence[str], seconds: int,
    megabytes: int, draws: str = "",
) -> tuple[list[Any], int | None, str]:  # fmt: skip
    """Run a script in a process of that module; return its records, its exit code (None if it took too long)
    and what stands on standard error.
    """
    records.touch()
    limits = (str(seconds), str(megabytes))
    command = command_of(module, str(records), str(script), name, *limits, draws, *arguments)
    code, complaint = run_to_its_end(command, records, seconds)
    return read_records(records), code, complaint


def read_records(records: Path) -> list[Any]:
    """Return the records in a file, without a last one that is not whole."""
    lines = records.read_text("utf-8", errors="replace").splitlines()
    return [json.loads(line) for line in lines if line.endswith("}")]


def put_together(
    name: str,
    source: bytes,
    records: list[Any],
    code: int | None,
    complaint: str,
    seconds: int,
    reasons: bool = True,
) -> Explanation:
    """Make the explanation of a script of its records; without ``reasons`` no change has a because."""
    steps: list[ExecutedLine] = []
    reason = Reasons(reasons)
    warned: list[Mishap] = []
    caught: list[Mishap] = []
    found = Explanation(name, tuple(_decoded(source).splitlines()), ())
    for record in records:
        if "step" in record and "names" in record:
            steps.append(_step(record, steps[-1] if steps else None, reason))
        elif "warning" in record:
            warned.append(_mishap(record, record["warning"]))
        elif "caught" in record:
            caught.append(_mishap(record, record["caught"]))
        elif "caught_again" in record:
            place = tuple(record["caught_again"])
            caught = [replace(c, again=c.again + ((c.line, c.rule) == place)) for c in caught]
        elif "error" in record:
            error = _mishap(record, record["error"])
            caught = [each for each in caught if (each.line, each.rule) != (error.line, error.rule)]
            if record["not_modelled"]:
                what = record["not_modelled"]
                what = f"not modelled: {what}" if " " in what else f"{what} is not modelled"
                note = f"line {error.line}: {what}; --on torch traces torch itself"
                found = replace(found, ending="not modelled", error=error, note=note)
            elif error.kind == "MemoryError":
                note = f"line {error.line}: the script needs more memory than it may take"
                found = replace(found, ending="memory", error=error, note=note)
            else:
                found = replace(found, ending="error", error=error)
        elif "syntax" in record:
            note = f"line {record['line']}: {record['syntax']}"
            found = replace(found, ending="syntax error", note=note)
        elif "exit" in record:
            found = replace(found, ending="exit", note=f"the script ended itself with {record['exit']}")
        elif record.get("compiled") and not found.note:
            found = replace(
                found, note="torch.compile() and torch.jit are off here: functions run as they are written"
            )
    ended = any("end" in r or "syntax" in r for r in records)
    if not ended:
        ending, note = _death(code, complaint, steps, seconds)
        found = replace(found, ending=ending, note=note)
    for record in records:
        if "failed" in record:
            note = f"line {record['line']}: explain itself failed, and not the script ({record['failed']})"
            found = replace(found, ending="killed", note=note)
    return with_causes(replace(found, steps=tuple(steps), warnings=tuple(warned), caught=tuple(caught)))


def _death(code: int | None, complaint: str, steps: list[ExecutedLine], seconds: int) -> tuple[str, str]:
    """Return how the process ended that told no end, in a word and in words."""
    where = f" after line {steps[-1].line}" if steps else ""
    if code is None:
        return "timeout", f"the script was stopped{where}: it ran longer than {seconds} s"
    if "MemoryError" in complaint:
        return "memory", f"the script ran out of memory{where}"
    if code < 0:
        name = signal.Signals(-code).name
        return "killed", f"the script's process died of {name}{where}"
    last = complaint.strip().splitlines()[-1:] or [""]
    return "killed", f"the script's process ended itself with code {code}{where} {last[0]}".strip()


def _step(record: dict[str, Any], before: ExecutedLine | None, reasons: Reasons) -> ExecutedLine:
    tensors = dict(before.tensors) if before else {}
    nodes = dict(before.nodes) if before else {}
    for number in record["gone"]:
        tensors.pop(number, None)
    for form in record["tensors"]:
        tensors[form["number"]] = TensorState(**{**form, "shape": tuple(form["shape"])})
    for form in record["nodes"]:
        form["edges"] = tuple((t, nr) for t, nr in form["edges"])
        form["saved"] = tuple(SavedOperand(**saved) for saved in form["saved"])
        nodes[form["number"]] = GraphNode(**form)
    step = ExecutedLine(
        record["step"], record["line"], record["function"], record["passes"], tuple(record["marks"]),
        (), (), record["printed"], record["names"], tensors, nodes,
        tuple(NodeRun(node, tuple(grads)) for node, grads in record["ran"]),
        tuple(Flow(how, tuple(gives), tuple(takes), lost) for how, gives, takes, lost in record["flows"]),
    )  # fmt: skip
    return reasons.explained(step, {int(n): marks for n, marks in record["subjects"].items()})


def _mishap(record: dict[str, Any], message: str) -> Mishap:
    return Mishap(
        record["kind"], message, record["line"], record["rule"], (), record["tensor"], record.get("node"),
        record.get("saved_version"), operands=tuple(record.get("operands", ())), step=record.get("step"),
        calls=tuple(record.get("calls", ())),
    )  # fmt: skip
