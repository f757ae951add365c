"""The lines that caused an error or a warning, told from the steps before it."""

from __future__ import annotations

from dataclasses import replace

from conformance.explanation.value import Explanation, Mishap, Step
from specs.rule import RULES

CUTS = (
    "detach/cuts", "data/cuts", "nn/parameter-cuts", "copy/tensor-copies", "mode/no-grad-records-nothing",
    "inference/records-nothing", "detach/in-place-makes-a-leaf",
)  # fmt: skip
"""The rules by which a tensor loses its history."""


def with_causes(found: Explanation) -> Explanation:
    """Return the explanation with names, causing lines and cures of its error and warnings."""
    error = found.error and _explained(found, found.error)
    return replace(found, error=error, warnings=tuple(_explained(found, w) for w in found.warnings))


def _explained(found: Explanation, mishap: Mishap) -> Mishap:
    before = [step for step in found.steps]
    names = _names(before[-1], mishap.tensor) if before else ()
    causes = tuple(dict.fromkeys(line for line in _lines(found, mishap, before) if line))
    line = causes[0] if causes else mishap.line
    template = getattr(RULES.get(mishap.rule or ""), "cure", None) or ""
    values = {"tensor": names[0] if names else "the tensor", "line": line, "source": found.text_of(line)}
    sentence = RULES[mishap.rule].statement if mishap.rule in RULES else ""
    try:
        cure = template.format(**values)
    except (KeyError, IndexError):
        cure = template
    return replace(mishap, tensors=names, causes=causes, sentence=sentence, cure=cure)


def _names(step: Step, tensor: int | None) -> tuple[str, ...]:
    """Return the names of a tensor, or else of those that share its version counter, as a saved result does."""
    state = step.tensors.get(tensor or 0)
    if names := step.named(tensor):
        return names
    return tuple(
        name
        for name, number in step.names.items()
        if state is not None and number in step.tensors and step.tensors[number].counter == state.counter
    )


def _lines(found: Explanation, mishap: Mishap, steps: list[Step]) -> list[int]:
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


def _writes(steps: list[Step], counter: int, since: int) -> list[int]:
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
