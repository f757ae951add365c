"""Names that carry a result from one pass of a loop to the next, and how to cut its history."""

from __future__ import annotations

import re

from conformance.explanation.history import root_of
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
        cure = f"Compute it anew in each pass (line {made} in the loop)"
        if kept := _kept_name(first, node.number, found, made):
            cure += f"; or, if its values are to stay as they are, take {kept}.detach() after line {made}"
        return text, f"{cure}."
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
    return text, f"Cut what is carried from pass to pass {_cut_of(found, carried, made)}."


def _kept_name(first: ExecutedLine, node: int, found: Story, made: int) -> str:
    """Return the name of what a line made, from which the graph leads to a node, if it can be detached: a
    root that leads to leaves past it keeps a history.
    """
    steps = {s.number for s in found.steps if s.line == made}
    known = [
        (name.count("."), name)
        for name, number in first.names.items()
        if (state := first.tensors.get(number)) is not None
        and state.node in first.nodes
        and first.nodes[state.node or 0].made in steps
        and node in _reached_from(first, state.node or 0)
        and not name.startswith("self.")
    ]
    if not known or not first.ran:
        return ""
    name = min(known)[1]
    kept = first.tensors[first.names[name]].node
    past = _reached_from(first, first.ran[0].node, kept)
    return name if any(first.nodes[n].variable is not None for n in past) else ""


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


def shared_result(found: Story, first: ExecutedLine, node: int) -> str:
    """Return the name of the last result that a freed node led to and from which both backwards came."""
    root, second = root_of(found, first)[0], next((s for s in reversed(found.steps) if s.ran), first)
    met = _reached_from(first, first.ran[0].node) if first.ran else set()
    if second.ran and second is not first:
        met &= _reached_from(second, second.ran[0].node)
    known = [
        (-first.nodes[state.node or 0].made, name.count("."), name)
        for name, number in first.names.items()
        if number != root
        and (state := first.tensors.get(number)) is not None
        and state.node in met
        and state.node in first.nodes
        and node in _reached_from(first, state.node or 0)
        and not name.startswith("self.")
    ]
    return min(known)[-1] if known else ""


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


def _reached_from(step: ExecutedLine, node: int, past: int | None = None) -> set[int]:
    """Return the nodes that a node leads to, itself included, without going through ``past``."""
    stack, met = [node], set()
    while stack:
        number = stack.pop()
        if number not in met and number in step.nodes and number != past:
            met.add(number)
            stack += [target for target, _ in step.nodes[number].edges if target is not None]
    return met


def _cut_of(found: Story, name: str, made: int) -> str:
    """Return how to cut the history of what a name holds: a tensor, a tuple of them, or a list that grows."""
    whole, part, key = name.partition("[")
    put = re.match(rf"({re.escape(whole)}\[[^=]*\])\s*=\s*(.*)", found.text_of(made)) if part else None
    if put and key.startswith(("'", '"')):
        return f"at line {made}: {put[1]} = ({put[2]}).detach(), or run that line under torch.no_grad()"
    if part and any(
        re.search(rf"(?<![\w.]){re.escape(whole)}\.(append|extend|insert)\(", s) for s in found.source
    ):
        return f"by emptying the list: {whole} = [] in each pass"
    if key.startswith(("'", '"')):
        return f"with {name} = {name}.detach(); a dict that keeps results is emptied: {whole}.clear()"
    if part:
        return f"with {whole} = tuple(x.detach() for x in {whole})"
    return f"with {name} = {name}.detach()" if name else "with detach()"
