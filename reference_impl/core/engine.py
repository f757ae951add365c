"""The engine: carries gradients from the roots back through the graph, in PyTorch's order.

The order of nodes decides what a backward that fails half-way leaves behind, so it is part of the semantics.
``autograd`` makes the checks that PyTorch makes before it calls its engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from reference_impl.base.fresh_stack import call_on_fresh_stack
from reference_impl.base.rules import by, refuse_by, warn_once
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.graph import Edge, Grads, Node, RunningTask
from reference_impl.core.graph_task import GraphTask
from reference_impl.core.hooks import call_post_hooks, call_pre_hooks, call_tensor_pre_hooks
from reference_impl.core.input_buffer import InputBuffer
from reference_impl.core.validate_grads import validate_outputs

MAX_DEPTH = 24
"""The number of backwards within each other that share a stack; PyTorch has such a number, too."""


class GraphRoot(Node):
    """Stands before several roots and feeds each its gradient."""

    __slots__ = ("grads",)

    def __init__(self, edges: tuple[Edge, ...], grads: Grads) -> None:
        super().__init__(edges)
        self.grads = grads

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        return list(self.grads)


def queue_callback(callback: Callable[[], Any]) -> None:
    """Have ``callback`` called at the end of the backward that runs now."""
    if not STATE.graph_tasks:
        refuse_by("backward/callbacks-only-within")
    STATE.graph_tasks[-1].callbacks.append(callback)


def execute(
    roots: Sequence[Edge],
    grads: Grads,
    keep_graph: bool,
    create_graph: bool,
    accumulate: bool,
    targets: Sequence[Edge],
) -> Grads:
    """Carry ``grads`` from ``roots`` back to ``targets`` (to every leaf, if there are none).

    Returns the gradients that arrived at ``targets``, or nothing when they accumulate.
    """
    edges = tuple(roots)
    validate_outputs(edges, grads)
    if accumulate and create_graph:
        warn_once("double/create-graph-cycle-warns")
    if not accumulate and not targets:
        refuse_by("grad_call/inputs-empty")
    if not edges:
        return [None] * len(targets)
    task = _task(edges, grads, keep_graph)
    if targets:
        task.init_to_execute(targets, accumulate)
    if STATE.graph_tasks:
        by("backward/runs-within-another")
    enabled, place, hooks = STATE.enabled, STATE.place, STATE.saved_tensors_hooks[:]
    STATE.enabled = _grad_mode(create_graph)
    STATE.graph_tasks.append(task)
    try:
        if len(STATE.graph_tasks) % MAX_DEPTH:
            _run(task)
        else:
            call_on_fresh_stack(_run, task)
    except Exception:
        _fail(task)
        raise
    finally:
        STATE.graph_tasks.pop()
        STATE.enabled, STATE.place, STATE.saved_tensors_hooks = enabled, place, hooks
    return task.captured


def _task(edges: tuple[Edge, ...], grads: Grads, keep_graph: bool) -> GraphTask:
    """Return a task whose root is ready."""
    node, nr = edges[0]
    assert node is not None
    root = node if len(edges) == 1 else GraphRoot(edges, grads)
    buffer: InputBuffer = [None] * len(root.input_metadata)
    if root is node:
        buffer[nr] = grads[0]
    task = GraphTask(root, keep_graph)
    task.compute_dependencies()
    task.ready.push(root, buffer)
    return task


def _grad_mode(create_graph: bool) -> bool:
    """Return the grad mode in which nodes run."""
    by("double/create-graph-decides-the-mode")
    if create_graph:
        by("double/create-graph-records")
    else:
        by("double/plain-without")
    return create_graph


def _run(task: GraphTask) -> None:
    """Run nodes until none is ready, then the callbacks."""
    ready = task.ready
    while ready.heap:
        _, node, grads = ready.pop()
        try:
            evaluate_function(node, grads, task)
        except Exception:
            if STATE.anomaly is not None:
                STATE.anomaly.failed(node)
            raise
    for callback in task.callbacks:  # one may add more
        if by("backward/callbacks-at-the-end"):
            callback()


def _fail(task: GraphTask) -> None:
    """Leave a failed backward as it is."""
    by("backward/failure-leaves-what-was-done")
    extension_points.on_failure(task)


def evaluate_function(node: Node, grads: InputBuffer, task: GraphTask) -> None:
    """Run one node and hand its gradients on."""
    if STATE.devices or STATE.unordered_hooks:
        extension_points.on_evaluate(node, task)
    if task.exec_info is not None and not _capture(node, grads, task):
        return
    if node.hooks is not None or node.retained or not node.edges:  # an accumulator's hooks are its leaf's
        _receive(node, grads)
    outputs = call_function(node, grads, task)
    grads.clear()  # so that one which the node handed on, too, may be alone elsewhere
    if not task.keep_graph and by("backward/frees-saved"):
        node.release_variables()
    task.hand_on(node, outputs)


def _capture(node: Node, grads: InputBuffer, task: GraphTask) -> bool:
    """Capture what the task wants of the gradients that arrived, and return whether the node runs."""
    info = task.exec_info[node]  # type: ignore[index]
    if not info.needed:
        _receive(node, grads)
    for nr, index in info.captures:
        task.captured[index] = grads[nr]
    return info.needed


def _receive(node: Node, grads: InputBuffer) -> None:
    """Call the hooks of the tensors that the node made, then let those tensors retain their gradients."""
    call_tensor_pre_hooks(node.tensor_pre_hooks(), grads)
    if node.retained and node.hooks is not None:
        by("hook/runs-before-retain")
    _retain(node, grads)


def _retain(node: Node, grads: InputBuffer) -> None:
    """Keep gradients as the ``grad`` of the tensors that retain it."""
    for nr, reference in node.retained or ():
        tensor, g = reference(), grads[nr]
        if tensor is not None and g is not None and by("retain/fills-grad"):
            if tensor._grad is not None and by("retain/accumulates"):
                tensor._grad = tensor._grad.add(g)
            else:
                tensor._grad = g.clone_contiguous() if by("retain/keeps-a-copy") else g


def call_function(node: Node, grads: InputBuffer, task: GraphTask) -> Grads:
    """Run a node between its own hooks."""
    hooks = node.hooks
    if hooks is not None and hooks.pre_hooks:
        call_pre_hooks(hooks.pre_hooks, grads)
    given = tuple(grads) if hooks is not None and hooks.post_hooks else None
    if STATE.devices:
        extension_points.on_apply(node)
    anomaly = STATE.anomaly
    outputs = node.apply(grads, task) if anomaly is None else anomaly.watch(node, grads, task)
    validate_outputs(node.edges, outputs, node)
    if given is not None:
        outputs = call_post_hooks(node.own_hooks().post_hooks, outputs, given)
    if anomaly is not None:
        anomaly.look_for_nan(node, outputs, task)
    return outputs
