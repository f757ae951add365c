"""The queue of nodes that are ready to run: the heap of libstdc++, which also decides between equals."""

from __future__ import annotations

from reference_impl.base.rules import by
from reference_impl.core.graph import Node
from reference_impl.core.tensor import Tensor

InputBuffer = list["Tensor | None"]
Ready = tuple[int, Node, InputBuffer]


def push(heap: list[Ready], item: Ready) -> None:
    """Add to the queue."""
    heap.append(item)
    if len(heap) > 1:
        _sift_up(heap, len(heap) - 1, item)


def pop(heap: list[Ready]) -> Ready:
    """Take the ready node that was created last; accumulators come before all others."""
    value = heap.pop()
    size = len(heap)
    if not size or not by("backward/latest-first"):
        return value
    top = heap[0]
    hole = child = 0
    while child < (size - 1) // 2:
        child = 2 * (child + 1)
        if heap[child][0] < heap[child - 1][0]:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * (child + 1)
        heap[hole] = heap[child - 1]
        hole = child - 1
    _sift_up(heap, hole, value)
    return top


def _sift_up(heap: list[Ready], hole: int, item: Ready) -> None:
    while hole > 0:
        parent = (hole - 1) // 2
        if not heap[parent][0] < item[0]:
            break
        heap[hole] = heap[parent]
        hole = parent
    heap[hole] = item
