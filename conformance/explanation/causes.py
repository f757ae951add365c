"""The lines that caused an error or a warning, told from the steps before it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from conformance.explanation.history import (
    backwards,
    changes_of,
    cuts_before,
    leaves_of,
    made_at,
    origin,
    way_out,
)
from conformance.explanation.value import GraphNode, Mishap, Story, TensorState
from conformance.explanation.words import at, names
from specs.rule import RULES

Some = TypeVar("Some", bound=Story)
Told = tuple[list[int], str]
"""The lines that led to a mishap, the decisive first, and what happened there, in sentences."""


def with_causes(found: Some) -> Some:
    """Return the explanation with names, causing lines and cures of its error and warnings."""
    error = found.error and _explained(found, found.error)
    return replace(found, error=error, warnings=tuple(_explained(found, w) for w in found.warnings))


def _explained(found: Story, mishap: Mishap) -> Mishap:
    if not found.steps:
        return mishap
    named = _names(found, mishap.tensor)
    lines, told = CAUSES.get(mishap.rule or "", _made)(found, mishap)
    causes = tuple(line for line in dict.fromkeys(lines) if line)
    rule = RULES.get(mishap.rule or "")
    cure = rule.cure.format(tensor=named[0] if named else "the tensor") if rule and rule.cure else ""
    if "{line}" in cure and causes:
        cure = cure.replace("{line}", str(causes[0]))
    return replace(mishap, tensors=named, causes=causes, sentence=told, cure=cure)


def _names(found: Story, tensor: int | None) -> tuple[str, ...]:
    """Return the names of a tensor, or else of those that share its version counter, or else those it had."""
    step = found.steps[-1]
    if tensor is None:
        return ()
    if known := step.named(tensor):
        return known
    state = next((s.tensors[tensor] for s in reversed(found.steps) if tensor in s.tensors), None)
    sharing = tuple(
        name
        for name, number in step.names.items()
        if state is not None and number in step.tensors and step.tensors[number].counter == state.counter
    )
    return sharing or next((s.named(tensor) for s in reversed(found.steps) if s.named(tensor)), ())


def _state(found: Story, mishap: Mishap) -> TensorState | None:
    number = mishap.tensor or 0
    return next((s.tensors[number] for s in reversed(found.steps) if number in s.tensors), None)


def _node(found: Story, mishap: Mishap) -> GraphNode | None:
    number = mishap.node or 0
    return next((s.nodes[number] for s in reversed(found.steps) if number in s.nodes), None)


def _line_of(found: Story, step: int | None) -> int:
    return next((s.line for s in found.steps if s.number == step), 0)


def _made(found: Story, mishap: Mishap) -> Told:
    """The line that made the tensor, and the one that gave it its history."""
    state = _state(found, mishap)
    if state is None:
        return [], ""
    line = made_at(found, state).line
    if state.is_leaf:
        return [line], ""
    changed = [s.line for s, _ in changes_of(found, state.number, "grad_fn")]
    line = changed[-1] if changed else line
    name = next(iter(_names(found, state.number)), "the tensor")
    came = origin(found, found.steps[-1], state)
    return [line], f"{name} is the result of {state.grad_fn} at {at(found, line)}, computed from {came}."


def _freed(found: Story, mishap: Mishap) -> Told:
    """The backward that freed what was saved; and the line of the node that both backwards meet."""
    node = _node(found, mishap)
    if node is None:
        ran = backwards(found)
        return [ran[-1].line] if ran else [], ""
    first = next((s for s in found.steps if s.number == node.freed), None)
    made = _line_of(found, node.made)
    if first is None:
        return [made], ""
    text = (
        f"{node.name}, recorded at {at(found, made)}, was freed by the backward of {at(found, first.line)}."
    )
    same = first.line == mishap.line
    if same:
        text = (
            f"{node.name} was recorded once, at {at(found, made)}, and the backward of line "
            f"{first.line} freed it "
            f"in an earlier pass: what line {made} computed is part of the next pass's graph too."
        )
    return ([made, first.line] if same and made != first.line else [first.line, made]), text


def _modified(found: Story, mishap: Mishap) -> Told:
    """The writes since the tensor was saved, and the line that saved it."""
    state, node = _state(found, mishap), _node(found, mishap)
    writes: list[int] = []
    known = mishap.saved_version or 0
    for step in found.steps:
        versions = [
            t.version for t in step.tensors.values()
            if state is not None and t.counter == state.counter and t.version is not None
        ]  # fmt: skip
        if versions and max(versions) > known:
            known = max(versions)
            writes.append(step.line)
    if not writes and state is None:
        return [], ""
    name = next(iter(_names(found, mishap.tensor)), "a tensor")
    if node is None:
        return writes, ""
    saved = _line_of(found, node.made)
    wrote = names([at(found, line) for line in dict.fromkeys(writes)])
    text = f"{node.name} of {at(found, saved)} saved {name} at version {mishap.saved_version}"
    text += f"; {wrote} wrote to it, which made it version {known}." if wrote else "."
    return [*writes, saved], text


def _no_history(found: Story, mishap: Mishap) -> Told:
    """The line at which what the root is computed from lost its history, or the lines of its constants."""
    state = _state(found, mishap)
    if state is None:
        return [], ""
    made = made_at(found, state)
    name = next(iter(_names(found, state.number)), "the tensor")
    for cut in cuts_before(found, state.number):
        return [cut.step.line, made.line], way_out(found, cut)
    takes = [t for s in found.steps for f in s.flows if state.number in f.gives for t in f.takes]
    known = names([n for t in takes for n in _names(found, t)[:1]])
    if known:
        return [
            made.line
        ], f"{name} is computed from {known} at {at(found, made.line)}; none of them requires grad."
    return [made.line], f"{name} was made at {at(found, made.line)} without requires_grad."


def _view(found: Story, mishap: Mishap) -> Told:
    """The line that made the view, and the one that made its base."""
    state = _state(found, mishap)
    if state is None:
        return [], ""
    made = made_at(found, state).line
    base = found.steps[-1].tensors.get(state.base or 0)
    if base is None:
        return [made], ""
    name = next(iter(_names(found, base.number)), "a tensor without a name")
    return [made, made_at(found, base).line], f"{at(found, made)} made a view of {name}."


def _mode(found: Story, mishap: Mishap) -> Told:
    lines, text = _made(found, mishap)
    state = _state(found, mishap)
    if state is not None and state.node is not None:
        leaves = leaves_of(found.steps[-1], state.node)
        lines += [
            _line_of(found, found.steps[-1].tensors[n].made) for n in leaves if n in found.steps[-1].tensors
        ]
    return lines, text


def _unused(found: Story, mishap: Mishap) -> Told:
    state = _state(found, mishap)
    if state is None:
        return [], ""
    name = next(iter(_names(found, state.number)), "an input")
    used = [s.line for s in found.steps for f in s.flows if state.number in f.takes]
    made = made_at(found, state).line
    if used:
        return [*used, made], f"{name} was used at {at(found, used[-1])}, and not for this output."
    return [made], f"No op took {name}, which was made at {at(found, made)}."


CAUSES: dict[str, Callable[[Story, Mishap], Told]] = {
    "save/freed-refused": _freed,
    "save/modified-refused": _modified,
    "backward/root-needs-grad": _no_history,
    "retain/needs-requires-grad": _no_history,
    "hook/needs-requires-grad": _no_history,
    "grad_call/input-needs-grad": _no_history,
    "grad_call/unused-refused": _unused,
    "write/view-of-leaf-refused": _view,
    "write/no-grad-view-refused": _view,
    "write/multi-output-refused": _view,
    "write/function-view-refused": _view,
    "view/stale-tag-refused": _view,
    "detach/view-refused": _view,
    "optim/needs-leaves": _mode,
}
"""The account of each rule's causes; of any other, the line that made the tensor counts."""
