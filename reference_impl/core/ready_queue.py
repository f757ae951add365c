"""The ready queue: nodes that have all their gradients, latest first.

It is the heap of libstdc++, since that decides between nodes of equal number.
"""

from __future__ import annotations

from reference_impl.base.rules import by
from reference_impl.core.graph import Node
from reference_impl.core.input_buffer import InputBuffer

NodeTask = tuple[int, Node, InputBuffer]
"""A node to run: its sequence number, the node, and the gradients that it is given."""


class ReadyQueue:
    """A heap of nodes by their sequence numbers; accumulators come before all others."""

    __slots__ = ("heap",)

    def __init__(self) -> None:
        self.heap: list[NodeTask] = []

    def push(self, node: Node, grads: InputBuffer) -> None:
        """Add a node and the gradients that it is given."""
        heap = self.heap
        item = (node.sequence_nr, node, grads)
        heap.append(item)
        if len(heap) > 1:
            _sift_up(heap, len(heap) - 1, item)

    def pop(self) -> NodeTask:
        """Take the node that was created last."""
        heap = self.heap
        value = heap.pop()
        size = len(heap)
        if not size:
            return value
        by("backward/latest-first")
        top = heap[0]
        hole = child = 0
        while child < (size - 1) // 2:
            child = 2 * (child + 1)
            if heap[child][0] < heap[child - 1][0]:
                child -= 1
            heap[hole] = heap[child]
            hole = child
        if size == 2 * (child + 1):  # an only child
            heap[hole] = heap[size - 1]
            hole = size - 1
        _sift_up(heap, hole, value)
        return top


def _sift_up(heap: list[NodeTask], hole: int, item: NodeTask) -> None:
    while hole > 0:
        parent = (hole - 1) // 2
        if not heap[parent][0] < item[0]:
            break
        heap[hole] = heap[parent]
        hole = parent
    heap[hole] = item
