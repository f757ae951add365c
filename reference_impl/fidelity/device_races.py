"""Device races: the orders that a backward on several devices leaves unspecified.

PyTorch has one thread for each device; the reference runs one node at a time. Nodes of one strand run in the
engine's order: those of one device, behind the node from which the gradients came there. Of two strands
neither waits for the other, so either may be first.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

from reference_impl.base.device import CPU, ambient_in, device, place_in, place_of
from reference_impl.base.rules import UnspecifiedOrder, warn_once
from reference_impl.base.session import STATE
from reference_impl.core.engine import GraphRoot
from reference_impl.core.extension_points import fill
from reference_impl.core.graph import AccumulateGrad, Node
from reference_impl.core.graph_task import GraphTask
from reference_impl.core.tensor import Tensor


class _Strands:
    """The strands of one backward: the nodes that ran, those that called hooks, and the strands of each."""

    def __init__(self, root: Node) -> None:
        self.root = root
        self.ran: list[Node] = []
        self.called: list[Node] = []
        self.of: dict[Node, set[Node]] = {}

    def independent(self, node: Node, other: Node) -> bool:
        """Return whether neither of two nodes waits for the other, as far as their strands tell.

        Gradients of the roots are there at once, and so in the engine's order on each device.
        """
        strand, that = (self.of.get(each, {self.root}) for each in (node, other))
        if strand == that:
            return False
        first = {target for target, _ in self.root.edges}
        at_once = strand | that <= first
        return not (at_once and ambient_in(node.input_metadata) is ambient_in(other.input_metadata))


def _strands_of(task: GraphTask) -> _Strands:
    """Return the strands of a backward."""
    if task not in STATE.strands:
        STATE.strands[task] = _Strands(task.root)
    return STATE.strands[task]


@fill
def on_evaluate(node: Node, task: GraphTask) -> None:
    """Note that a node runs, as long as there is memory of devices."""
    if STATE.unordered_hooks and node is task.root and len(STATE.graph_tasks) == 1:
        STATE.unordered_hooks.clear()
    if STATE.devices:
        _strands_of(task).ran.append(node)


@fill
def on_arrival(task: GraphTask, node: Node, target: Node, g: Any, total: Any, last: bool) -> None:
    """Note a gradient of ``node`` at ``target``, and that its sum with those that are there is unordered if
    it comes on another strand.
    """
    strands = _strands_of(task).of
    there = strands.setdefault(target, set())
    there |= strands.get(node, {task.root})
    unordered = len(there) > 1
    if last and (unordered or ambient_in(target.input_metadata) is not ambient_in(node.input_metadata)):
        strands[target] = {target}
    if g is not None and type(target) is AccumulateGrad:
        _warn_of_streams(node, target, g)
    if unordered and total is not g and total._node is not None:
        STATE.unordered_sums.add(total._node)


@fill
def on_failure(task: GraphTask) -> None:
    """Raise `UnspecifiedOrder` if another strand may be at work as the last node fails: on what is ready
    there, or on a node that ran here before and did not have to.
    """
    strands = STATE.strands.get(task)
    if strands is None or not strands.ran:
        return
    failed = strands.ran[-1]
    ready = (node for _, node, _ in task.ready.heap)
    before = (node for node in strands.ran if not _leads(node, failed))
    if any(strands.independent(node, failed) for node in chain(ready, before)):
        raise UnspecifiedOrder("each has a thread, and how far the others got is open") from None


@fill
def on_hook_call() -> None:
    """Note that the running node calls a hook."""
    strands = STATE.strands.get(STATE.graph_tasks[-1]) if STATE.devices and STATE.graph_tasks else None
    if strands is not None and strands.ran:
        node = strands.ran[-1]
        if any(strands.independent(before, node) and not _leads(before, node) for before in strands.called):
            STATE.unordered_hooks.append(node.name())
        strands.called.append(node)


def _leads(node: Node, to: Node) -> bool:
    """Return whether gradients go from one node to another."""
    seen, stack = {node}, [node]
    while stack:
        for target, _ in stack.pop().edges:
            if target is to:
                return True
            if target is not None and target not in seen:
                seen.add(target)
                stack.append(target)
    return False


def _warn_of_streams(node: Node, leaf: AccumulateGrad, g: Tensor) -> None:
    """Warn of a gradient on a device that reaches its leaf from a node of another one."""
    here = place_of(g)
    if here is not CPU and (_stream(node) or here) is not (_stream(leaf) or here):
        warn_once("device/leaf-fed-from-elsewhere-warns")


def _stream(node: Node) -> device | None:
    """Return the device on whose stream a node works: the first to which a gradient given to it belongs."""
    places: Any = map(place_in, node.input_metadata)
    if isinstance(node, GraphRoot):
        places = (place_of(g) for g in node.grads if g is not None)
    return next((place for place in places if place is not CPU), None)
