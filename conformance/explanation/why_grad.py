"""Answers to the question that is asked most: why a grad is None, or what it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.explanation.history import (
    backwards,
    changes_of,
    grad_told,
    leaves_of,
    made_at,
    origin,
    root_of,
    sources,
)
from conformance.explanation.not_finite import is_finite, not_finite
from conformance.explanation.optimizers import not_stepped
from conformance.explanation.value import ExecutedLine, Mishap, Story, TensorState
from conformance.explanation.ways_out import Cut, way_out
from conformance.explanation.why_not_reached import lost, other_ways, undefined
from conformance.explanation.words import at, beginning, in_print, names, with_rule
from conformance.explanation.zero_grad import is_set, zero


def grad_answer(found: Story, name: str, state: TensorState, step: ExecutedLine) -> str:
    """Answer why the grad of a tensor is what it is: the first account that applies."""
    for account in ACCOUNTS:
        parts = account(found, name, state, step)
        if parts:
            return " ".join(part for part in parts if part)
    return f"{name}.grad is None, and no rule says why."


def _filled(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a grad that is there: which line made it, and what each added."""
    if state.grad is None:
        return []
    changed = list(changes_of(found, state.number, "grad"))
    told = [f"{name}.grad is {grad_told(state)}:"]
    sentences = [_added(found, s, c.before, c.after, c.because) for s, c in changed]
    if len(sentences) > 6:
        sentences = [*sentences[:3], f"{len(sentences) - 4} more lines changed it", sentences[-1]]
    told.append(
        "; ".join(sentences).rstrip(".") + "."
        if sentences
        else ("it had that before the script's first line.")
    )
    rules = list(dict.fromkeys(rule for _, c in changed for rule in c.because[:1]))
    told += [with_rule(rule) for rule in rules[-2:]]
    told.append(not_stepped(found, name, state))
    several = [
        s
        for s, c in changed
        if {"grad/accumulates", "retain/accumulates"} & set(c.because) and is_set(c.before)
    ]
    if several:
        told.append(_not_called(found, "zero_grad"))
        told.append(
            f"Cure, unless the sum is wanted: {name}.grad = None, or optimizer.zero_grad(), "
            "before the next backward()."
        )
    if changed and not is_set(state.grad_value):
        told.append(zero(found, state, changed[-1][0]))
    if changed and not is_finite(state.grad_value):
        told.append(not_finite(found, changed[-1][0]))
    if not state.is_leaf and not state.retains_grad:
        told.append("It is no leaf, so backward() leaves that grad as it is.")
    return told


def _not_called(found: Story, method: str) -> str:
    """Tell of a line that names a method and does not call it."""
    for line, text in enumerate(found.source, 1):
        if re.fullmatch(rf"[\w.\[\]]+\.{method}", text.strip()):
            return f"{beginning(at(found, line))} lacks its parentheses, and calls nothing."
    return ""


def _added(found: Story, step: ExecutedLine, before: Any, after: Any, because: tuple[str, ...]) -> str:
    """The sentence of one change of a grad."""
    place = at(found, step.line) + (f" in pass {step.passes}" if step.passes > 1 else "")
    if after is None:
        return f"{place} cleared it"
    if "grad/assigned-as-is" in because:
        return f"{place} assigned {in_print(after)}"
    if not step.ran:
        return f"{place} made it {in_print(after)}"
    if before is None:
        root = root_of(found, step)[1]
        return f"{place} set it to {in_print(after)}, the gradient of {root}"
    difference = _minus(after, before)
    if difference is None:
        return f"{place} added to it"
    return f"{place} added {in_print(difference)}, which makes {in_print(after)}"


def _minus(one: Any, other: Any) -> Any:
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = [_minus(x, y) for x, y in zip(one, other, strict=True)]
        return None if any(part is None for part in parts) else parts
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return float(f"{one - other:.6g}")
    return None


def _renamed(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a name that held a leaf before, and was assigned a result of it."""
    if state.is_leaf and state.requires_grad:
        return []
    held = [(s, s.names[name]) for s in found.steps if s.names.get(name, state.number) != state.number]
    old = [(s, n) for s, n in held if s.tensors[n].is_leaf and s.tensors[n].requires_grad]
    if not old or not sources(found, state.number) & {n for _, n in old}:
        return []
    before, number = old[-1]
    line = next(s.line for s in found.steps if s.number > before.number and s.names.get(name) == state.number)
    leaf = before.tensors[number]
    known = step.tensors.get(number, leaf)
    grad = f"; that leaf's grad is {grad_told(known)}" if known.grad is not None else ""
    if state.is_leaf:
        what = "is a leaf that does not require grad"
    else:
        what = f"is no leaf but the result of {state.grad_fn}"
    if ".grad" in found.source[line - 1] or state.is_leaf:
        own = re.match(rf"{re.escape(name)}\s*=\s*({re.escape(name)}\s*([-+])\s*(.+))$", found.text_of(line))
        write = f"{name} {own[2]}= {own[3]}" if own else f"for instance {name} -= lr * {name}.grad"
        cure = f"Cure: change the leaf in place, under torch.no_grad(): {write}; or "
        cure += (
            f"make a new leaf of the result: {name} = ({own[1] if own else '...'}).detach().requires_grad_()."
        )
    else:
        cure = (
            f"Cure: give the result of line {line} another name, and ask the leaf for its grad; or "
            f"{name}.retain_grad() before backward()."
        )
    return [
        f"{name}.grad is None because {at(found, line)} gave the name {name} to a new tensor, which {what}.",
        f"Before, {name} was the leaf of line {made_at(found, leaf).line}{grad}.",
        with_rule("grad/only-leaves-are-filled" if not state.is_leaf else "grad/plain-leaves-get-none"),
        cure,
    ]


def _no_leaf(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a result of an op: where its gradient went instead."""
    if state.is_leaf:
        return []
    leaves = leaves_of(step, state.node)
    unnamed = [leaf for leaf in leaves if not step.named(leaf)]
    parts = [
        f"{name}.grad is None because {name} is no leaf: it is the result of {state.grad_fn} at "
        f"{at(found, _since(found, state).line)}, computed from {origin(found, step, state)}.",
        "backward() fills leaves only (grad/only-leaves-are-filled).",
    ]
    moved = state.device != "cpu" or "device/copy-is-an-op" in _since(found, state).because
    if state.grad_fn == "ToCopyBackward0":
        copy = "A copy to another device is an op like any other (device/copy-is-an-op)."
        parts.append(copy if moved else "A cast to another dtype is an op like any other.")
    for leaf in unnamed:
        at_leaf = step.tensors.get(leaf)
        if at_leaf is not None and at_leaf.grad is not None:
            parts.append(
                f"The gradient went to the leaf that line {made_at(found, at_leaf).line} made and dropped: "
                f"it holds grad {grad_told(at_leaf)}, and nothing names it."
            )
    filled = [leaf for leaf in leaves if leaf in step.tensors and step.tensors[leaf].grad is not None]
    went = [step.named(leaf)[0] for leaf in filled if step.named(leaf)]
    if went:
        parts.append(f"The gradient went to {names(went)}.")
    if not backwards(found):
        parts.append("Besides, no backward() ran.")
    cure = f"Cure: {name}.retain_grad() before backward()"
    if state.grad_fn == "ToCopyBackward0" and state.device != "cpu":
        cure += f"; or make the leaf there: {name} = torch.rand(..., device='cuda', requires_grad=True)"
    elif unnamed and not went:
        made = names([f"line {made_at(found, x).line}" for n in unnamed if (x := step.tensors.get(n))])
        cure += f"; or make {name} the leaf: compute it without requires_grad at {made or 'its line'}, then "
        cure += f"{name}.requires_grad_()"
    elif went:
        cure += f"; or read {names([f'{leaf}.grad' for leaf in went])}"
    parts.append(cure + ".")
    return parts


def _since(found: Story, state: TensorState) -> ExecutedLine:
    changed = [s for s, _ in changes_of(found, state.number, "grad_fn")]
    return changed[-1] if changed else made_at(found, state)


def _plain(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a tensor that does not require grad."""
    if state.requires_grad:
        return []
    changed = [(s, c) for s, c in changes_of(found, state.number, "requires_grad")]
    since = changed[-1][0] if changed else made_at(found, state)
    rule = changed[-1][1].because[0] if changed and changed[-1][1].because else "grad/plain-leaves-get-none"
    cut = next((c for c in cuts_after_all(found, state.number)), None)
    parts = [f"{name}.grad is None because {name} does not require grad since {at(found, since.line)}."]
    if "register_buffer(" in found.text_of(since.line):
        part = f"self.{name.rpartition('.')[2]} = nn.Parameter(...)"
        return [
            *parts,
            "A buffer is kept with the module and is not trained.",
            f"Cure: {part} at line {since.line}.",
        ]
    if "from_pretrained(" in found.text_of(since.line):
        frozen = "from_pretrained() freezes its weight unless it is told freeze=False."
        return [*parts, frozen, f"Cure: pass freeze=False at line {since.line}, or {name}.requires_grad_()."]
    if cut is not None:
        parts.append(way_out(found, cut))
    parts.append(with_rule(rule))
    if "int" in state.dtype or state.dtype == "bool":
        parts.append(f"Cure: make it of floats: {name} = {name}.float().requires_grad_().")
    elif len(changed) > 1 and changed[-1][1].before:
        parts.append(f"Cure: leave requires_grad of {name} True until backward() has run.")
    elif cut is not None:
        parts.append(f"Cure: do not leave the graph there; or {name}.requires_grad_() for a leaf of its own.")
    else:
        parts.append(f"Cure: {name}.requires_grad_() before it is used.")
    return parts


def cuts_after_all(found: Story, tensor: int) -> list[Cut]:
    """Return the call that made a tensor and lost the history of what it is made of, if one did."""
    return [Cut(s, f) for s in found.steps for f in s.flows if f.lost and tensor in f.gives]


def _cleared(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a grad that was there and was cleared."""
    cleared = [(s, c) for s, c in changes_of(found, state.number, "grad") if c.before is not None]
    if not cleared or cleared[-1][1].after is not None:
        return []
    at_step, change = cleared[-1]
    return [
        (
            f"{name}.grad is None because {at(found, at_step.line)} cleared it; before, it was "
            f"{in_print(change.before)}."
        ),
        *(with_rule(rule) for rule in change.because[:1]),
        not_stepped(found, name, state) or "Cure: read the grad after backward() and before it is cleared.",
    ]


def _no_backward(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a leaf of a script in which no backward ran, or none since it is there."""
    ran = [s for s in backwards(found) if s.number >= state.made]
    errors = [error for error in (found.error, *found.caught) if error is not None]
    if ran:
        began = [e for e in errors if e.line == ran[-1].line and (e.step or 0) - ran[-1].number in (0, 1)]
        if not began or state.number not in leaves_of(ran[-1], ran[-1].ran[0].node):
            return []
        return _refused(name, began[0], f"failed before it came to {name}")
    if refusals := [error for error in errors if (error.rule or "").startswith("backward/")]:
        return _refused(name, refusals[0], "was refused")
    late = " since it was made" if backwards(found) else ""
    return [f"{name}.grad is None because no backward() ran{late}.", _not_called(found, "backward"),
            "Cure: call backward() on what is computed from it."]  # fmt: skip


def _refused(name: str, error: Mishap, how: str) -> list[str]:
    """Tell that a backward ended with an error, and why."""
    message = re.split(r"(?<=\w)[.:](?= |$)", error.message, maxsplit=1)[0]
    refused = f"{name}.grad is None because the backward() of line {error.line} {how}: {message}."
    return [refused, error.sentence, error.cure and f"Cure: {error.cure[0].lower()}{error.cure[1:]}"]


Account = Callable[[Story, str, TensorState, ExecutedLine], list[str]]
ACCOUNTS: tuple[Account, ...] = (
    _filled, _renamed, _no_leaf, _plain, _cleared, _no_backward, other_ways, undefined, lost,
)  # fmt: skip
"""The accounts of a grad, in the order in which they are tried."""
