"""Names that carry a result from one pass of a loop to the next, and how to cut its history."""

from __future__ import annotations

import re

from conformance.explanation.value import ExecutedLine, GraphNode, Story
from conformance.explanation.words import at


def of_earlier_pass(found: Story, first: ExecutedLine, node: GraphNode, made: int) -> tuple[str, str]:
    """Tell how a backward came to a node that the same line freed in a pass before (``first``), and the cure.

    ``made`` is the line that recorded it.
    """
    if not any(s.line == made and s.number > first.number for s in found.steps):
        text = (
            f"{node.name} was recorded once, at {at(found, made)}, and the backward of line {first.line} "
            f"freed it in an earlier pass: what line {made} computed is part of the next pass's graph too."
        )
        return text, f"Compute it anew in each pass (line {made} in the loop)."
    text = (
        f"{node.name} was recorded at {at(found, made)} in an earlier pass, and the backward of line "
        f"{first.line} freed it there; the graph of this pass leads back to it."
    )
    carried = _carried_name(found, first, node.number)
    if _was_leaf(found, carried):
        return text, f"Give the result of line {made} another name: {carried} is the leaf to begin with."
    once = 0 if carried else _made_once(found, first, node.number)
    if once:
        keeps = f"what it made keeps what line {made} computed of it in an earlier one"
        return text, f"Run line {once} in each pass, too: {keeps}."
    return text, f"Cut what is carried from pass to pass {_cut_of(found, carried)}."


def _carried_name(found: Story, first: ExecutedLine, node: int) -> str:
    """Return the name that took a node's result from the pass that freed it to the next, if there is one."""
    takers = {
        t: s for s in reversed(found.steps) if s.number > first.number for f in s.flows for t in f.takes
    }
    taken = set(takers)
    taken |= {n for s in found.steps[-1:] for n in s.names.values()} if not taken else set()
    for number in sorted(taken & first.tensors.keys()):
        state = first.tensors[number]
        if state.node is not None and node in _reached_from(first, state.node):
            known = [name for name in first.named(number) if not name.startswith("self.")]
            before = takers[number].number - 1 if number in takers else 0
            kept = [s.named(number) for s in found.steps if s.number == before]
            known = [name for name in known if kept and name in kept[0]] or known
            if known:
                return min(known, key=lambda name: (name.count("."), len(name)))
    return ""


def _was_leaf(found: Story, name: str) -> bool:
    """Tell whether a name was that of a leaf which requires grad, before results took it."""
    first = next((s for s in found.steps if name in s.names), None)
    state = first.tensors.get(first.names[name]) if first is not None else None
    return state is not None and state.is_leaf is True and state.requires_grad is True


def _made_once(found: Story, first: ExecutedLine, node: int) -> int:
    """Return the last line that ran only before the backward ``first``, of those that a node's history was
    made at; 0 if there is none.
    """
    since = {s.line for s in found.steps if s.number >= first.number}
    line_of = {s.number: s.line for s in found.steps}
    seen = next((s for s in reversed(found.steps) if node in s.nodes), first)
    made = sorted(filter(None, (seen.nodes[n].made for n in _reached_from(seen, node))), reverse=True)
    return next((line_of[step] for step in made if line_of.get(step, min(since)) not in since), 0)


def _reached_from(step: ExecutedLine, node: int) -> set[int]:
    stack, met = [node], set()
    while stack:
        number = stack.pop()
        if number not in met and number in step.nodes:
            met.add(number)
            stack += [target for target, _ in step.nodes[number].edges if target is not None]
    return met


def _cut_of(found: Story, name: str) -> str:
    """Return how to cut the history of what a name holds: a tensor, a tuple of them, or a list that grows."""
    whole, part, key = name.partition("[")
    if part and any(
        re.search(rf"(?<![\w.]){re.escape(whole)}\.(append|extend|insert)\(", s) for s in found.source
    ):
        return f"by emptying the list: {whole} = [] in each pass"
    if key.startswith(("'", '"')):
        return f"with {name} = {name}.detach(); a dict that keeps results is emptied: {whole}.clear()"
    if part:
        return f"with {whole} = tuple(x.detach() for x in {whole})"
    return f"with {name} = {name}.detach()" if name else "with detach()"
