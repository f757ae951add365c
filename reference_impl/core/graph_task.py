"""The graph task: one backward, the nodes that it runs, and the gradients that it captures.

``engine`` carries it out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.graph import Edge, Grads, Node, RunningTask
from reference_impl.core.input_buffer import InputBuffer, add
from reference_impl.core.ready_queue import ReadyQueue


class ExecInfo:
    """The needs of a task at one node: that it runs, or that gradients arriving there are captured."""

    __slots__ = ("captures", "needed")

    def __init__(self) -> None:
        self.needed = False
        self.captures: list[tuple[int, int]] = []


class GraphTask(RunningTask):
    """One backward: the nodes that it may run (all, if ``exec_info`` is None) and what it captures."""

    __slots__ = (
        "__weakref__", "callbacks", "captured", "dependencies", "exec_info", "keep_graph", "not_ready",
        "ready", "root",
    )  # fmt: skip

    def __init__(self, root: Node, keep_graph: bool) -> None:
        self.root = root
        self.keep_graph = keep_graph
        self.exec_info: dict[Node, ExecInfo] | None = None
        self.dependencies: dict[Node, int] = {}
        self.not_ready: dict[Node, InputBuffer] = {}
        self.ready = ReadyQueue()
        self.captured: Grads = []
        self.callbacks: list[Callable[[], Any]] = []

    def compute_dependencies(self) -> None:
        """Count the gradients that each node waits for."""
        dependencies = self.dependencies
        stack = [self.root]
        while stack:
            for node, _ in stack.pop().edges:
                if node in dependencies:
                    dependencies[node] += 1
                elif node is not None:
                    dependencies[node] = 1
                    if node.edges:
                        stack.append(node)

    def init_to_execute(self, targets: Sequence[Edge], accumulate: bool) -> None:
        """Run only nodes on a path to ``targets``; capture what arrives there, or let it accumulate."""
        exec_info: dict[Node, ExecInfo] = {}
        for index, (target, nr) in enumerate(targets):
            assert target is not None
            wanted = exec_info.setdefault(target, ExecInfo())
            if accumulate:
                wanted.needed = True
            else:
                wanted.captures.append((nr, index))
        self.captured = [] if accumulate else [None] * len(targets)
        self.exec_info = exec_info
        exec_info.setdefault(self.root, ExecInfo())
        by("grad_call/only-needed-nodes-run")
        seen: set[Node] = set()
        stack = [(self.root, iter(self.root.edges))]
        while stack:
            node, edges = stack[-1]
            for child, _ in edges:
                if child is not None and child not in seen:
                    seen.add(child)
                    stack.append((child, iter(child.edges)))
                    break
                if child is not None and self.runs(child):
                    exec_info.setdefault(node, ExecInfo()).needed = True
            else:
                stack.pop()
                if stack and self.runs(node):
                    exec_info.setdefault(stack[-1][0], ExecInfo()).needed = True

    def runs(self, node: Node) -> bool:
        if self.exec_info is None:
            return True
        wanted = self.exec_info.get(node)
        return wanted is not None and (wanted.needed or bool(wanted.captures))

    def require(self, node: Node | None) -> None:
        if self.exec_info is not None and node is not None and node not in self.exec_info:
            self.exec_info[node] = ExecInfo()
            self.exec_info[node].needed = True

    def hand_on(self, node: Node, outputs: Grads) -> None:
        """Give each gradient to the node that its edge leads to; with its last gradient a node is ready."""
        dependencies, not_ready = self.dependencies, self.not_ready
        for index, (target, nr) in enumerate(node.edges[: len(outputs)]):
            if target is None:
                continue
            left = dependencies[target] = dependencies[target] - 1
            buffer = not_ready.get(target)
            if buffer is None:
                if self.exec_info is not None and not self.runs(target):
                    continue
                buffer = [None] * len(target.input_metadata)
                if left:
                    not_ready[target] = buffer
            elif not left:
                del not_ready[target]
            g, outputs[index] = outputs[index], None  # moved, so that the buffer alone may hold it
            if g is not None:
                add(buffer, nr, g)
            if STATE.devices:
                extension_points.on_arrival(self, node, target, g, buffer[nr], not left)
            if not left:
                self.ready.push(target, buffer)
