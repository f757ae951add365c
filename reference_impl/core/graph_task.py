"""One backward as it is planned: which nodes run, how many gradients each waits for, and what is handed out.

How a plan is carried out is ``engine``'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference_impl.base.rules import by, refuse_by
from reference_impl.core.graph import AccumulateGrad, Edge, Node
from reference_impl.core.ready_queue import Buffer, Ready
from reference_impl.core.tensor import Tensor


class Wanted:
    """What a task wants of one node: that it runs, or that gradients arriving there are handed out."""

    __slots__ = ("captures", "runs")

    def __init__(self) -> None:
        self.runs = False
        self.captures: list[tuple[int, int]] = []


class Task:
    """One backward: the nodes it may run (all, if ``only`` is None) and the gradients it hands out."""

    __slots__ = (
        "__weakref__", "callbacks", "called", "captured", "dependencies", "keep_graph", "only", "ran",
        "ready", "start", "strands", "waiting",
    )  # fmt: skip

    def __init__(self, keep_graph: bool, start: Node) -> None:
        self.start = start
        self.keep_graph = keep_graph
        self.only: dict[Node, Wanted] | None = None
        self.dependencies: dict[Node, int] = {}
        self.waiting: dict[Node, Buffer] = {}
        self.ready: list[Ready] = []
        self.captured: list[Tensor | None] = []
        self.callbacks: list[Callable[[], Any]] = []
        self.ran: list[Node] = []  # as long as there is memory of devices
        self.called: list[Node] = []  # those that called hooks, likewise
        self.strands: dict[Node, set[Node]] = {}  # likewise, see `threads`

    def runs(self, node: Node) -> bool:
        """Whether anything is wanted of ``node``."""
        if self.only is None:
            return True
        wanted = self.only.get(node)
        return wanted is not None and (wanted.runs or bool(wanted.captures))

    def reaches(self, node: Node) -> bool:
        """Whether this backward comes to ``node`` at all."""
        if node not in self.dependencies:
            return node is self.start and by("edge/hook-counts-the-root") and self.runs(node)
        wanted = (self.only or {}).get(node)
        if wanted and wanted.captures and not any(target for target, _ in node.edges):
            refuse_by("edge/hook-of-leaf-in-grad")
        return self.runs(node)

    def wants(self, node: Node, index: int) -> bool:
        """Whether the gradient for the node's ``index``-th edge is of use to anybody."""
        target = node.edges[index][0]
        return target is not None and (self.only is None or self.runs(target))

    def want(self, node: Node | None) -> None:
        """Count ``node`` as wanted, unless the task already has a say on it."""
        if self.only is not None and node is not None and node not in self.only:
            self.only[node] = Wanted()
            self.only[node].runs = True


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
    given = node.apply(list(grads), Task(True, node))
    return given[0] if len(given) == 1 else tuple(given)


Node.__call__ = call  # type: ignore[method-assign]  # what it takes to be called is not known where nodes are


def count_dependencies(start: Node, dependencies: dict[Node, int]) -> None:
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


def restrict(task: Task, start: Node, targets: list[Edge], accumulate: bool) -> None:
    """Let only nodes on a path to ``targets`` run; hand out what arrives there, or let it accumulate."""
    only: dict[Node, Wanted] = {}
    for index, (node, nr) in enumerate(targets):
        assert node is not None
        wanted = only.setdefault(node, Wanted())
        if accumulate:
            wanted.runs = True
        else:
            wanted.captures.append((nr, index))
    task.captured = [] if accumulate else [None] * len(targets)
    task.only = only
    only.setdefault(start, Wanted())
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
                only.setdefault(node, Wanted()).runs = True
        else:
            stack.pop()
            if stack and task.runs(node):
                only.setdefault(stack[-1][0], Wanted()).runs = True
    if not by("grad_call/only-needed-nodes-run"):
        for node in (start, *seen):
            if not isinstance(node, AccumulateGrad):
                only.setdefault(node, Wanted()).runs = True
