"""What is open in a backward that several devices take part in, since each has a thread of its own.

The reference runs one node at a time; in PyTorch a device's thread goes on while another's is at work. Nodes
of one strand run in the order of the engine: those of one device, behind the node with which the gradients
came there. Of two strands neither waits for the other, so that which gradients are there first is open.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from reference_impl.base.device import ambient_in
from reference_impl.base.rules import Unspecified
from reference_impl.base.session import STATE
from reference_impl.core.extension_points import fill

if TYPE_CHECKING:
    from reference_impl.core.graph import Node
    from reference_impl.core.graph_task import GraphTask


def arrives(task: GraphTask, node: Node, target: Node, last: bool) -> bool:
    """Note that a gradient of ``node`` arrives at ``target``, the ``last`` one it waits for or not; whether
    it is open if it does so before those that are there.
    """
    strands = task.strands
    strand = strands.get(node, {task.start})
    there = strands.setdefault(target, set())
    there |= strand
    is_open = len(there) > 1
    if last and (is_open or ambient_in(target.metadata) is not ambient_in(node.metadata)):
        strands[target] = {target}
    return is_open


def apart(task: GraphTask, node: Node, other: Node) -> bool:
    """Whether neither of two nodes waits for the other, as far as their strands tell.

    NB: what is handed out at the start is there at once, and so in the engine's order on each device.
    """
    strand, that = (task.strands.get(each, {task.start}) for each in (node, other))
    if strand == that:
        return False
    first = {target for target, _ in task.start.edges}
    at_once = strand | that <= first
    return not (at_once and ambient_in(node.metadata) is ambient_in(other.metadata))


@fill
def on_failure(task: GraphTask) -> None:
    """Raise `Unspecified` if another strand may be at work as the last node fails: on what is ready there, or
    on what ran here before and did not have to.
    """
    if not task.ran:
        return
    failed = task.ran[-1]
    ready = (node for _, node, _ in task.ready)
    before = (node for node in task.ran if not _leads(node, failed))
    if any(apart(task, node, failed) for node in chain(ready, before)):
        why = "each device has a thread, and what the others have done by then is open"
        raise Unspecified(why) from None


@fill
def on_hook_call() -> None:
    """Note that the node that runs now calls a hook."""
    if not STATE.devices:
        return
    for task in (each for each in STATE.graph_tasks[-1:] if each.ran):
        node = task.ran[-1]
        if any(apart(task, before, node) and not _leads(before, node) for before in task.called):
            STATE.unordered_hooks.append(node.name())
        task.called.append(node)


def _leads(node: Node, to: Node) -> bool:
    """Whether gradients go from one node to another."""
    seen, stack = {node}, [node]
    while stack:
        for target, _ in stack.pop().edges:
            if target is to:
                return True
            if target is not None and target not in seen:
                seen.add(target)
                stack.append(target)
    return False
