"""Accounts of leaves that no gradient reached: their histories were cut, or gradients went elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.explanation.history import (
    backwards,
    changes_of,
    cuts_after,
    leaves_of,
    made_at,
    root_of,
    sources,
    uses,
)
from conformance.explanation.statements import statement_of
from conformance.explanation.value import ExecutedLine, Story, TensorState
from conformance.explanation.ways_out import cure_of, rule_of, way_out
from conformance.explanation.words import at, beginning, with_rule


def other_ways(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a backward that leaves grads alone: autograd.grad, or inputs=."""
    last = backwards(found)[-1]
    called = statement_of(found, last.line)
    transforms = any(re.search(r"torch\.func\b|\bfunctorch\b", line) for line in found.source)
    if transforms and not re.search(r"backward\(|autograd|functional", called):
        text = (
            f"{name}.grad is None because {at(found, last.line)} differentiates a function, which gives the "
        )
        return [f"{text}gradient and fills no .grad.", f"Cure: use what line {last.line} gives."]
    root = root_of(found, last)[0]
    roots = (root,) if root is not None else last.flows[-1].gives if last.flows else ()
    reached = any(
        last.nodes[run.node].variable == state.number for run in last.ran if run.node in last.nodes
    ) or any(state.number in sources(found, number) for number in roots)
    if "grad_call/leaves-grad-alone" in last.marks and reached:
        return [
            (
                f"{name}.grad is None because {at(found, last.line)} calls autograd.grad(), which "
                "returns the gradients."
            ),
            with_rule("grad_call/leaves-grad-alone"),
            "Cure: use what it returns, or call backward().",
        ]
    if "backward/inputs-only" in last.marks and reached:
        return [
            f"{name}.grad is None because backward(inputs=...) at {at(found, last.line)} fills nothing else.",
            with_rule("backward/inputs-only"),
            f"Cure: name {name} in inputs=, or leave inputs= out.",
        ]
    return []


def undefined(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a leaf to which a path leads, where a custom backward gave None."""
    last = backwards(found)[-1]
    place = last.line, last.function, last.passes
    first = next(s for s in found.steps if s.ran and (s.line, s.function, s.passes) == place)
    within = [
        s.line for s in found.steps if s.function == "backward" and first.number <= s.number <= last.number
    ]
    if not within or state.number not in leaves_of(first, first.ran[0].node):
        return []
    return [
        f"{name}.grad is None because no gradient came to it: {at(found, within[-1])} gave None for it.",
        "Cure: return a gradient for each input that requires grad.",
    ]


def lost(found: Story, name: str, state: TensorState, step: ExecutedLine) -> list[str]:
    """The account of a leaf that no gradient reached: the line where its history was cut."""
    last = backwards(found)[-1]
    root, root_name = root_of(found, last)
    cuts = [cut for cut in cuts_after(found, state.number, root) if cut.step.number <= last.number]
    text = (
        f"{name}.grad is None because no path leads back from {root_name} ({at(found, last.line)}) to {name}."
    )
    if cuts:
        rule = rule_of(cuts[0])
        stated = with_rule(rule) if rule else ""
        return [text, way_out(found, cuts[0]), stated, f"Cure: {cure_of(found, cuts[0])}."]
    copied = [(s, f) for s, f in uses(found, state.number) if "deepcopy" in f.how]
    if copied:
        s = copied[-1][0]
        copy = f"{beginning(at(found, s.line))} made a copy, a leaf of its own, and the copy was used."
        cure = "Cure: use the original, or read the copy's grad."
        return [text, copy, with_rule("copy/deepcopy-takes-the-grad-along"), cure]
    aside = (".data", "detach")
    taken = [(s, flow) for s, flow in uses(found, state.number) if flow.how not in aside]
    used = [s for s, flow in taken if state.number not in flow.gives]
    if not used:
        owner = name.rpartition(".")[0]
        how = f"call {owner}" if owner and "nn/parameter-requires-grad" in made_at(found, state).marks else ""
        return [text, f"No op took {name}.", f"Cure: {how or f'compute {root_name} from {name}'}."]
    line = at(found, used[-1].line)
    if late := _flag_came_late(found, name, state, used):
        return [text, *late]
    if used[0].number > last.number:
        return [text, f"{name} was used only after that, at {line}.", "Cure: call backward() after it."]
    return [text, f"What {line} computed from {name} did not go into {root_name}.",
            f"Cure: compute {root_name} from it."]  # fmt: skip


def _flag_came_late(found: Story, name: str, state: TensorState, used: Sequence[ExecutedLine]) -> list[str]:
    """Tell that a leaf was used before it required grad, and not since."""
    flagged = [s for s, c in changes_of(found, state.number, "requires_grad") if c.after and not c.before]
    if not flagged or used[-1].number >= flagged[-1].number or flagged[-1].number <= state.made:
        return []
    asked = at(found, flagged[-1].line)
    early = f"{beginning(at(found, used[-1].line))} used {name} before {asked} asked for its grad"
    return [f"{early}, so nothing was recorded of it.",
            f"Cure: {name}.requires_grad_() before line {used[-1].line}."]  # fmt: skip
