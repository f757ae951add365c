"""Optimizers: the parameters that their steps passed by, and those that they were not given."""

from __future__ import annotations

import re

from conformance.adapters.call_names import STEP
from conformance.explanation.history import backwards, changes_of, made_at
from conformance.explanation.statements import statement_of
from conformance.explanation.value import ExecutedLine, Mishap, Story, TensorState
from conformance.explanation.words import at, beginning, names


def not_stepped(found: Story, name: str, state: TensorState) -> str:
    """Say why the optimizers' steps did not change a leaf, or return nothing."""
    if not (state.is_leaf and state.requires_grad):
        return ""
    passed: list[ExecutedLine] = []
    own: list[ExecutedLine] = []
    for before, step in zip(found.steps, found.steps[1:], strict=False):
        was, is_ = before.tensors.get(state.number), step.tensors.get(state.number)
        taken = [flow.takes for flow in step.flows if flow.how == STEP]
        if not (taken or "optim/step-is-a-write" in step.marks) or was is None or is_ is None:
            continue
        if was.version != is_.version:
            return ""
        if any(state.number in takes for takes in taken):
            own += [step] * (is_.grad is None)
        elif taken:
            passed += [step] * (was.grad is not None)
    if own:
        return _without_a_grad(found, name, state, own[-1])
    if not passed:
        return ""
    return (
        f"Besides, the optimizer's step of {at(found, passed[-1].line)} did not change {name}, although it "
        f"has a grad: {name} is not among the parameters that it was given. Cure: make the optimizer after "
        f"{name} and give it {name}; module.parameters() finds what is assigned as an nn.Parameter or "
        "nn.Module, and what is in an nn.ModuleList, but nothing in a plain list."
    )


def _without_a_grad(found: Story, name: str, state: TensorState, step: ExecutedLine) -> str:
    """Say that a step found no grad, and which line had cleared it."""
    told = f"Besides, the optimizer's step of {at(found, step.line)} did not change {name}, "
    told += "which had no grad then."
    last = max((s.number for s in backwards(found) if s.number < step.number), default=step.number)
    cleared = [
        s.line
        for s, c in changes_of(found, state.number, "grad")
        if c.after is None and last < s.number < step.number
    ]
    if cleared:
        told += " Cure: clear the grads before backward(), not between it and step(), as line "
        told += f"{cleared[-1]} does."
    return told


def _used_up(found: Story, line: int) -> tuple[list[int], str, str] | None:
    """Return the line that took all parameters out of a generator before an optimizer was given it."""
    for name in re.findall(r"(?<![.\w])[A-Za-z_]\w*\b(?!\s*[(.=])", statement_of(found, line)):
        using = re.compile(rf"(?<![.\w]){name}\b(?!\s*=[^=])")
        for made in range(line - 1, 0, -1):
            given = re.match(rf"{name}\s*=\s*([\w.]+\.parameters\(.*\)|(?:filter|map)\(.*\)|\(.* for .*\))$",
                             found.text_of(made))  # fmt: skip
            if given:
                used = [at_line for at_line in range(made + 1, line) if using.search(found.text_of(at_line))]
                if not used:
                    break
                text = f"{name} of {at(found, made)} is a generator: it gives the parameters once, and "
                text += f"{at(found, used[0])} took them."
                return (
                    [used[0], made],
                    text,
                    f"Keep them in a list at line {made}: {name} = list({given[1]}).",
                )
    return None


def no_parameters(found: Story, mishap: Mishap) -> tuple[list[int], str] | tuple[list[int], str, str]:
    """Name the tensors that no module registered, though they look like parameters."""
    step = found.steps[-1]
    if used_up := _used_up(found, mishap.line):
        return used_up
    held = [
        (name, state)
        for name, number in step.names.items()
        if (state := step.tensors.get(number)) is not None and state.requires_grad and "." in name
    ]
    results = [(name, state) for name, state in held if not state.is_leaf]
    leaves = [name for name, state in held if state.is_leaf]
    if results:
        name, state = results[0]
        line = made_at(found, state).line
        text = f"{name} is no parameter: it is the result of {state.grad_fn} at {at(found, line)}."
        return [line], text, f"Make it last of all: {name} = nn.Parameter(...), of plain numbers."
    if leaves:
        text = (
            f"{names(leaves)} require grad, but no module registered them (a plain list or tensor does not)."
        )
        cure = "Keep layers in nn.ModuleList or nn.ModuleDict, and assign tensors as nn.Parameter(...)."
        return [made_at(found, held[0][1]).line], text, cure
    frozen = [s.line for n in step.tensors for s, c in changes_of(found, n, "requires_grad") if c.before]
    if frozen:
        text = f"{beginning(at(found, frozen[0]))} set requires_grad to False, so nothing is left to train."
        cure = f"Leave requires_grad on for what is to be trained, after line {frozen[0]}."
        return [frozen[0]], text, cure
    return [mishap.line], ""
