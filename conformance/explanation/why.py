"""Answers to questions: why a fact of a tensor is what it is, in sentences."""

from __future__ import annotations

import re

from conformance.explanation.causes import CUTS
from conformance.explanation.value import ExecutedLine, Mishap, Story, TensorState
from specs.rule import RULES


def why(found: Story, question: str) -> str:
    """Answer ``a.grad``, ``w.is_leaf``, ``line 10`` or ``error``; raises KeyError for an unknown name."""
    if question == "error":
        return mishap_told(found, found.error) if found.error else "No error ended the script."
    if line := re.fullmatch(r"line (\d+)", question):
        return _line(found, int(line[1]))
    name, _, fact = question.rpartition(".")
    step = next((step for step in reversed(found.steps) if name in step.names), None)
    if step is None:
        raise KeyError(name)
    state = step.tensors[step.names[name]]
    if fact == "grad":
        return _grad(found, name, state, step)
    changed = [(s, c) for s in found.steps for c in s.changes if c.name == name and c.fact == fact]
    if not changed:
        return f"{question} is {getattr(state, fact, 'unknown')}: no line changed it."
    at, change = changed[-1]
    text = f"{question} is {change.after} since {_at(found, at)}."
    return " ".join([text, *(RULES[rule].statement for rule in change.because)])


def mishap_told(found: Story, mishap: Mishap) -> str:
    """An error or a warning in sentences: torch's words, the tensors, the lines that caused it, the cure."""
    parts = [f"line {mishap.line} `{found.text_of(mishap.line)}`: {mishap.kind}: {mishap.message}"]
    if mishap.tensors:
        parts.append(f"It is about {' alias '.join(mishap.tensors)}.")
    if mishap.rule:
        parts.append(f"Rule {mishap.rule}: {mishap.sentence}")
    if mishap.causes:
        lines = ", ".join(f"line {line} `{found.text_of(line)}`" for line in mishap.causes)
        parts.append(f"Caused by {lines}.")
    if mishap.cure:
        parts.append(f"Cure: {mishap.cure}")
    return " ".join(parts)


def _line(found: Story, line: int) -> str:
    step = next((s for s in reversed(found.steps) if s.line == line and s.changes), found.at(line))
    if step is None:
        return f"Line {line} did not run, or changed nothing that a name reaches."
    told = [f"{c.name}.{c.fact} became {c.after}." for c in step.changes]
    rules = [f"{RULES[rule].statement} ({rule})" for rule in step.because]
    return " ".join([f"{_at(found, step)}:", *told, *rules])


def _at(found: Story, step: ExecutedLine) -> str:
    return f"line {step.line} `{found.text_of(step.line)}`"


def _made(found: Story, state: TensorState) -> str:
    step = next(step for step in found.steps if step.number >= state.made)
    return _at(found, step)


def _grad(found: Story, name: str, state: TensorState, step: ExecutedLine) -> str:
    if state.grad is not None:
        filled = [(s, c) for s in found.steps for c in s.changes if c.name == name and c.fact == "grad"]
        told = [f"{_at(found, s)} made it {c.after}." for s, c in filled]
        rules = dict.fromkeys(rule for _, c in filled for rule in c.because)
        return " ".join([f"{name}.grad is set:", *told, *(RULES[rule].statement for rule in rules)])
    if not state.is_leaf:
        return _no_leaf(found, name, state, step)
    if not state.requires_grad:
        return (
            f"{name}.grad is None because {name} does not require grad since {_made(found, state)}. "
            f"Cure: {name}.requires_grad_() before it is used."
        )
    cleared = [s for s in found.steps if "grad" in [c.fact for c in s.changes if c.name == name]]
    if cleared:
        return f"{name}.grad is None because {_at(found, cleared[-1])} cleared it."
    ran = [s for s in found.steps if any(mark.startswith("backward/") for mark in _backwards(s))]
    if not ran:
        cure = "Cure: call backward() on what is computed from it."
        return f"{name}.grad is None because no backward() ran. {cure}"
    cuts = [s for s in found.steps if set(CUTS) & set(s.marks) and s.number <= ran[-1].number]
    text = f"{name}.grad is None because no path leads from the root of {_at(found, ran[-1])} to {name}."
    if cuts:
        rule = next(mark for mark in cuts[-1].marks if mark in CUTS)
        text += f" {_at(found, cuts[-1])} cut it: {RULES[rule].statement}"
    return text


def _backwards(step: ExecutedLine) -> tuple[str, ...]:
    """The marks of a step that a running backward leaves."""
    return tuple(
        m for m in step.marks if m in ("backward/frees-saved", "backward/retain-follows-create-graph")
    )


def _no_leaf(found: Story, name: str, state: TensorState, step: ExecutedLine) -> str:
    """The answer for a result of an op: where its gradient went instead."""
    leaves: list[int] = []
    stack, met = [state.node], set()
    while stack:
        node = step.nodes.get(stack.pop() or 0)
        if node is not None and node.number not in met:
            met.add(node.number)
            stack += [target for target, _ in node.edges]
            if node.variable is not None:
                leaves.append(node.variable)
    named = [step.named(leaf)[0] for leaf in leaves if step.named(leaf)]
    unnamed = [leaf for leaf in leaves if not step.named(leaf)]
    origin = " and ".join(named + ["an unnamed leaf which requires grad"] * bool(unnamed)) or "constants"
    parts = [
        f"{name}.grad is None because {name} is no leaf: it is the result of {state.grad_fn} at "
        f"{_made(found, state)}, computed from {origin}. backward() fills leaves only."
    ]
    for leaf in unnamed:
        grad = step.tensors[leaf].grad if leaf in step.tensors else None
        if grad is not None:
            value = step.tensors[leaf].grad_value
            parts.append(
                "The gradient went to the leaf that line made and dropped: "
                f"it holds grad {value if value is not None else '(a large tensor)'}, and nothing names it."
            )
    parts += [f"The gradient went to {leaf}." for leaf in named]
    parts.append(f"Cure: {name}.retain_grad() before backward(); or make the leaf itself there.")
    return " ".join(parts)
