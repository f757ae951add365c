"""An explanation as text: each line told once, with what changed and why."""

from __future__ import annotations

from typing import Any

from conformance.explanation.value import ExecutedLine, Story
from conformance.explanation.why import mishap_told
from specs.rule import RULES


def told(found: Story) -> str:
    """Return the whole explanation as text."""
    lines: list[str] = []
    last: dict[int, tuple[Any, ...]] = {}
    for step in found.told():
        facts = tuple((c.name, c.fact, c.because) for c in step.changes)
        if step.passes > 1 and last.get(step.line) == facts:
            continue
        last[step.line] = facts
        lines += _step(found, step)
    for warning in found.warnings:
        lines += ["", f"warning, {mishap_told(found, warning)}"]
    if found.error is not None and found.ending == "error":
        lines += ["", f"error, {mishap_told(found, found.error)}"]
    if found.note:
        lines += ["", found.note]
    return "\n".join(lines)


def _step(found: Story, step: ExecutedLine) -> list[str]:
    passed = f"  (pass {step.passes})" if step.passes > 1 else ""
    lines = [f"line {step.line:<4} {found.text_of(step.line)}{passed}"]
    by_name: dict[str, list[str]] = {}
    for change in step.changes:
        value = step.named(change.after)[:1] or ("an unnamed tensor",) if change.fact == "base" else ()
        shown = value[0] if value and change.after is not None else change.after
        by_name.setdefault(change.name, []).append(f"{change.fact}={shown}")
    lines += [f"          {name}: {', '.join(facts)}" for name, facts in by_name.items()]
    lines += [f"          because {RULES[rule].statement} ({rule})" for rule in step.because]
    lines += [f"          prints {text}" for text in step.printed.splitlines()]
    return lines
