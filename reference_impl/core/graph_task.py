"""One backward as it is planned: which nodes run, how many gradients each waits for, and what is handed out.

How a plan is carried out is ``engine``'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.rules import by, refuse_by
from reference_impl.core.graph import AccumulateGrad, Edge, Node
from reference_impl.core.ready_queue import InputBuffer, Ready
from reference_impl.core.tensor import Tensor


class ExecInfo:
    """What a task wants of one node: that it runs, or that gradients arriving there are handed out."""

    __slots__ = ("captures", "runs")

    def __init__(self) -> None:
        self.runs = False
        self.captures: list[tuple[int, int]] = []


class GraphTask:
    """One backward: the nodes it may run (all, if ``exec_info`` is None) and the gradients it hands out."""

    __slots__ = (
        "__weakref__",
        "callbacks",
        "called",
        "captured",
        "dependencies",
        "exec_info",
        "keep_graph",
        "not_ready",
        "ran",
        "ready",
        "start",
        "strands",
    )  # fmt: skip

    def __init__(self, keep_graph: bool, start: Node) -> None:
        self.start = start
        self.keep_graph = keep_graph
        self.exec_info: dict[Node, ExecInfo] | None = None
        self.dependencies: dict[Node, int] = {}
        self.not_ready: dict[Node, InputBuffer] = {}
        self.ready: list[Ready] = []
        self.captured: list[Tensor | None] = []
        self.callbacks: list[Callable[[], Any]] = []
        self.ran: list[Node] = []  # as long as there is memory of devices
        self.called: list[Node] = []  # those that called hooks, likewise
        self.strands: dict[Node, set[Node]] = {}  # likewise, see `threads`

    def runs(self, node: Node) -> bool:
        """Whether anything is wanted of ``node``."""
        if self.exec_info is None:
            return True
        wanted = self.exec_info.get(node)
        return wanted is not None and (wanted.runs or bool(wanted.captures))

    def reaches(self, node: Node) -> bool:
        """Whether this backward comes to ``node`` at all."""
        if node not in self.dependencies:
            return node is self.start and by("edge/hook-counts-the-root") and self.runs(node)
        wanted = (self.exec_info or {}).get(node)
        if wanted and wanted.captures and not any(target for target, _ in node.edges):
            refuse_by("edge/hook-of-leaf-in-grad")
        return self.runs(node)

    def should_compute_output(self, node: Node, index: int) -> bool:
        """Whether the gradient for the node's ``index``-th edge is of use to anybody."""
        target = node.edges[index][0]
        return target is not None and (self.exec_info is None or self.runs(target))

    def require(self, node: Node | None) -> None:
        """Count ``node`` as wanted, unless the task already has a say on it."""
        if self.exec_info is not None and node is not None and node not in self.exec_info:
            self.exec_info[node] = ExecInfo()
            self.exec_info[node].runs = True


def call(node: Node, *grads: Any, **named: Any) -> Any:
    """What a node makes of these gradients (None: undefined) by itself: one gradient, or several in a tuple.

    No engine runs it, so that none of its hooks is called, and what it saved is kept.
    """
    if named:
        raise TypeError("keyword arguments are not supported")
    if len(grads) != len(node.metadata):
        raise TypeError(f"expected {len(node.metadata)} arguments, got {len(grads)} instead")
    for at, g in enumerate(grads):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {at} is not a Variable")
    given = node.apply(list(grads), GraphTask(True, node))
    return given[0] if len(given) == 1 else tuple(given)


Node.__call__ = call  # type: ignore[method-assign]  # what it takes to be called is not known where nodes are


def compute_dependencies(start: Node, dependencies: dict[Node, int]) -> None:
    """How many gradients each node waits for."""
    stack = [start]
    while stack:
        for node, _ in stack.pop().edges:
            if node in dependencies:
                dependencies[node] += 1
            elif node is not None:
                dependencies[node] = 1
                if node.edges:
                    stack.append(node)


def init_to_execute(task: GraphTask, start: Node, targets: list[Edge], accumulate: bool) -> None:
    """Let only nodes on a path to ``targets`` run; hand out what arrives there, or let it accumulate."""
    exec_info: dict[Node, ExecInfo] = {}
    for index, (node, nr) in enumerate(targets):
        assert node is not None
        wanted = exec_info.setdefault(node, ExecInfo())
        if accumulate:
            wanted.runs = True
        else:
            wanted.captures.append((nr, index))
    task.captured = [] if accumulate else [None] * len(targets)
    task.exec_info = exec_info
    exec_info.setdefault(start, ExecInfo())
    seen: set[Node] = set()
    stack: list[tuple[Node, Any]] = [(start, iter(start.edges))]
    while stack:
        node, rest = stack[-1]
        for child, _ in rest:
            if child is None:
                continue
            if child not in seen:
                seen.add(child)
                stack.append((child, iter(child.edges)))
                break
            if task.runs(child):
                exec_info.setdefault(node, ExecInfo()).runs = True
        else:
            stack.pop()
            if stack and task.runs(node):
                exec_info.setdefault(stack[-1][0], ExecInfo()).runs = True
    if not by("grad_call/only-needed-nodes-run"):
        for node in (start, *seen):
            if not isinstance(node, AccumulateGrad):
                exec_info.setdefault(node, ExecInfo()).runs = True
