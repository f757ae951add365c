"""What is open in a backward that several devices take part in, since each has a thread of its own.

The reference runs one node at a time; in PyTorch a device's thread goes on while another's is at work. Nodes
of one strand run in the order of the engine: those of one device, behind the node with which the gradients
came there. Of two strands neither waits for the other, so that which gradients are there first is open.
"""

from __future__ import annotations

from weakref import WeakSet

from reference_impl.devices import ambient_in
from reference_impl.graph import Node
from reference_impl.task import Task

OPEN_SUMS: WeakSet[Node] = WeakSet()
"""The nodes of recorded sums whose operands PyTorch may add in another order."""


def arrives(task: Task, node: Node, target: Node, last: bool) -> bool:
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


def others_at_work(task: Task) -> bool:
    """Whether, as the node fails that ran last, another device may be at work: on what is ready there, or on
    what ran here before and did not have to.
    """
    if not task.ran:
        return False
    failed = task.ran[-1]
    here = ambient_in(failed.metadata)
    if any(ambient_in(node.metadata) is not here for _, node, _ in task.ready):
        return True
    return any(ambient_in(node.metadata) is not here and not _leads(node, failed) for node in task.ran)


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
