"""The lines that caused an error or a warning, told from the steps before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from conformance.explanation.value import ExecutedLine, Mishap, Story
from specs.rule import RULES

Some = TypeVar("Some", bound=Story)

CUTS = (
    "detach/cuts", "data/cuts", "nn/parameter-cuts", "copy/tensor-copies", "mode/no-grad-records-nothing",
    "inference/records-nothing", "detach/in-place-makes-a-leaf",
)  # fmt: skip
"""The rules by which a tensor loses its history."""


def with_causes(found: Some) -> Some:
    """Return the explanation with names, causing lines and cures of its error and warnings."""
    error = found.error and _explained(found, found.error)
    return replace(found, error=error, warnings=tuple(_explained(found, w) for w in found.warnings))


def _explained(found: Story, mishap: Mishap) -> Mishap:
    before = list(found.steps)
    names = _names(before[-1], mishap.tensor) if before else ()
    causes = tuple(dict.fromkeys(line for line in _lines(found, mishap, before) if line))
    rule = RULES.get(mishap.rule or "")
    cure = rule.cure.format(tensor=names[0] if names else "the tensor") if rule and rule.cure else ""
    sentence = rule.statement if rule else ""
    return replace(mishap, tensors=names, causes=causes, sentence=sentence, cure=cure)


def _names(step: ExecutedLine, tensor: int | None) -> tuple[str, ...]:
    """Return the names of a tensor, or else of those that share its version counter."""
    state = step.tensors.get(tensor or 0)
    if names := step.named(tensor):
        return names
    return tuple(
        name
        for name, number in step.names.items()
        if state is not None and number in step.tensors and step.tensors[number].counter == state.counter
    )


def _lines(found: Story, mishap: Mishap, steps: list[ExecutedLine]) -> list[int]:
    """Return the lines that led to it, the decisive one first."""
    if not steps:
        return []
    last = steps[-1]
    state = last.tensors.get(mishap.tensor or 0)
    made = [step.line for step in steps if state is not None and step.number == state.made]
    if mishap.rule == "save/freed-refused":
        node = last.nodes.get(mishap.node or 0)
        freed = node.freed if node else None
        return [step.line for step in steps if step.number == freed]
    if mishap.rule == "save/modified-refused" and state is not None:
        return _writes(steps, state.counter, mishap.saved_version or 0)
    if mishap.rule == "backward/root-needs-grad":
        cuts = [step.line for step in steps if set(CUTS) & set(step.marks)]
        return [*made, *reversed(cuts)]
    return made


def _writes(steps: list[ExecutedLine], counter: int, since: int) -> list[int]:
    """Return the lines that wrote to what a version counter counts, beyond a version."""
    lines: list[int] = []
    known = since
    for step in steps:
        versions = [
            t.version for t in step.tensors.values() if t.counter == counter and t.version is not None
        ]
        if versions and max(versions) > known:
            known = max(versions)
            lines.append(step.line)
    return lines
