"""An explanation as JSON, as ``specs/schema/explanation.schema.json`` describes it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from conformance.explanation.value import JSON_FORMAT, ExecutedLine, Story


def as_json(found: Story) -> dict[str, Any]:
    """Return the JSON form: each step lists the tensors and nodes that differ from the step before."""
    before: ExecutedLine | None = None
    steps = []
    for step in found.steps:
        steps.append(_step(step, before))
        before = step
    return {
        "format": JSON_FORMAT,
        "script": found.script,
        "source": list(found.source),
        "steps": steps,
        "warnings": [asdict(warning) for warning in found.warnings],
        "caught": [asdict(error) for error in found.caught],
        "error": None if found.error is None else asdict(found.error),
        "ending": found.ending,
        "note": found.note,
    }


def _step(step: ExecutedLine, before: ExecutedLine | None) -> dict[str, Any]:
    tensors = before.tensors if before else {}
    nodes = before.nodes if before else {}
    return {
        "number": step.number,
        "line": step.line,
        "function": step.function,
        "pass": step.passes,
        "marks": list(step.marks),
        "changes": [asdict(change) for change in step.changes],
        "because": list(step.because),
        "printed": step.printed,
        "names": dict(step.names),
        "tensors": [asdict(t) for n, t in step.tensors.items() if tensors.get(n) is not t],
        "gone": sorted(tensors.keys() - step.tensors.keys()),
        "nodes": [asdict(node) for n, node in step.nodes.items() if nodes.get(n) is not node],
        "ran": [asdict(run) for run in step.ran],
        "flows": [asdict(flow) for flow in step.flows],
    }
