"""The engine: carries gradients from the roots back through the graph, in PyTorch's order.

Which node comes next decides what a backward that fails half-way leaves behind, so the order is part of the
semantics. The checks that PyTorch makes before it calls its engine live in ``autograd``.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Thread
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.device import CPU, ambient_for, ambient_in, copied_to_device, device, place_of
from reference_impl.base.dtypes import DIFFERENTIABLE
from reference_impl.base.grad_dtype import cast_to
from reference_impl.base.rules import by, refuse_by, warn_once
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.graph import (
    AccumulateGrad,
    Edge,
    Grads,
    Node,
    RunningTask,
    held_alone,
    keeps_memory_alone,
)
from reference_impl.core.graph_task import GraphTask, compute_dependencies, init_to_execute
from reference_impl.core.hooks import call_post_hooks, call_pre_hooks, call_tensor_hooks
from reference_impl.core.ready_queue import InputBuffer, pop, push
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.device_races import arrives
from reference_impl.fidelity.zero_tensor import Zeros
from specs.layout import as_torch_lays_out
from specs.memory import dense

MAX_DEPTH = 24
"""So many backwards within each other share a stack; PyTorch has such a number, too."""


def queue_callback(callback: Callable[[], Any]) -> None:
    """Have ``callback`` called when the backward that runs now is done."""
    if not STATE.graph_tasks:
        raise RuntimeError("Final callbacks can only be installed during backward pass.")
    STATE.graph_tasks[-1].callbacks.append(callback)


class GraphRoot(Node):
    """Stands before several roots and feeds each its gradient."""

    __slots__ = ("grads",)

    def __init__(self, edges: tuple[Edge, ...], grads: InputBuffer) -> None:
        super().__init__(edges)
        self.grads = grads

    def stream(self) -> device | None:
        places = (place_of(g) for g in self.grads if g is not None)
        return next((place for place in places if place is not CPU), None)

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        return list(self.grads)


def run(
    roots: list[Edge],
    grads: InputBuffer,
    keep_graph: bool,
    create_graph: bool,
    accumulate: bool,
    targets: list[Edge],
) -> InputBuffer:
    """Carry ``grads`` from ``roots`` back to ``targets`` (to every leaf, if there are none).

    Returns the gradients that arrived at ``targets``, or nothing when they accumulate.
    """
    edges = tuple(roots)
    validate_outputs(edges, grads, at_root=True)
    if accumulate and create_graph:
        warn_once("double/create-graph-cycle-warns")
    if not accumulate and not targets:
        refuse_by("grad_call/inputs-empty")
    if not edges:
        return [None] * len(targets)
    start = edges[0][0] if len(edges) == 1 else GraphRoot(edges, grads)
    assert start is not None
    task = GraphTask(keep_graph, start)
    compute_dependencies(start, task.dependencies)
    if targets:
        init_to_execute(task, start, targets, accumulate)
    buffer: InputBuffer = [None] * len(start.metadata)
    if len(edges) == 1:
        buffer[edges[0][1]] = grads[0]
    if STATE.graph_tasks and not by("backward/runs-within-another"):
        return [None] * len(targets)
    recording, place = STATE.enabled, STATE.place
    STATE.enabled = _records(create_graph)
    ready = task.ready
    ready.append((start.sequence_nr, start, buffer))
    del buffer
    if not STATE.graph_tasks:
        STATE.unordered_hooks.clear()
    STATE.graph_tasks.append(task)
    hooks = STATE.saved_tensors_hooks[:]
    try:
        if len(STATE.graph_tasks) % MAX_DEPTH:
            _drain(task)
        else:
            _on_fresh_stack(_drain, task)
        for callback in task.callbacks:  # one may add more
            callback()
    except Exception:
        _give_up(task)
        raise
    finally:
        STATE.graph_tasks.pop()
        STATE.saved_tensors_hooks = hooks  # what was entered within ends here, as the mode does
        STATE.enabled, STATE.place = recording, place
    return task.captured


def _drain(task: GraphTask) -> None:
    """Run nodes until none is ready."""
    ready = task.ready
    while ready:
        _, node, arrived = ready.pop() if len(ready) == 1 else pop(ready)
        _evaluate(node, arrived, task)


def _on_fresh_stack(function: Callable[[GraphTask], None], task: GraphTask) -> None:
    """Call the function in a thread that has nothing on its stack, and wait for it."""
    raised: list[BaseException] = []

    def call() -> None:
        try:
            function(task)
        except BaseException as error:
            raised.append(error)

    thread = Thread(target=copy_context().run, args=(call,))
    thread.start()
    thread.join()
    if raised:
        raise raised.pop()


def _records(create_graph: bool) -> bool:
    """The grad mode in which nodes run."""
    if not by("double/create-graph-decides-the-mode"):
        return STATE.enabled
    return by("double/create-graph-records") if create_graph else not by("double/plain-without")


def _give_up(task: GraphTask) -> None:
    """Leave a failed backward as it is."""
    by("backward/failure-leaves-what-was-done")
    extension_points.on_failure(task)


def _evaluate(node: Node, arrived: InputBuffer, task: GraphTask) -> None:
    """Run one node and hand its gradients on."""
    only = task.exec_info
    if STATE.devices:
        task.ran.append(node)
    if only is not None:
        wanted = only[node]
        if not wanted.runs:
            _arrive(node, arrived)
        for nr, index in wanted.captures:
            task.captured[index] = arrived[nr]
        if not wanted.runs:
            return
    hooks = node.hooks
    _arrive(node, arrived)
    if hooks is not None and hooks.before:
        call_pre_hooks(node, arrived)
    given = list(arrived) if hooks is not None and hooks.after else None
    if STATE.devices:
        STATE.place = ambient_in(node.metadata)  # hooks may have asked for another
    outputs = node.apply(arrived, task) if STATE.anomaly is None else STATE.anomaly.watch(node, arrived, task)
    validate_outputs(node.edges, outputs)
    if given is not None:
        outputs = call_post_hooks(node, outputs, given)
    if not task.keep_graph and by("backward/frees-saved"):
        node.release_variables()
    if not outputs:
        return
    dependencies, waiting, ready = task.dependencies, task.not_ready, task.ready
    for (target, nr), g in zip(node.edges, outputs, strict=False):
        if target is None:
            continue
        left = dependencies[target] = dependencies[target] - 1
        buffer = waiting.get(target)
        if buffer is None:
            if only is not None and not task.runs(target):
                continue
            buffer = [None] * len(target.metadata)
            if left:
                waiting[target] = buffer
        elif not left:
            del waiting[target]
        is_open = bool(STATE.devices) and arrives(task, node, target, not left)
        if g is not None:
            if STATE.devices and type(target) is AccumulateGrad:
                _tell_streams_apart(node, target, g)
            old = buffer[nr]
            if old is None or not by("grad/sums-paths"):
                buffer[nr] = g
            elif old._array.dtype is g._array.dtype or STATE.enabled:
                buffer[nr] = total = _sum(old, g)
                if is_open and total._node is not None:
                    STATE.unordered_sums.add(total._node)
            else:
                passed_on = [x is old for x in (*outputs, *arrived, *(given or ()))].count(True)
                del old
                _sum_of_two_dtypes(buffer, g, passed_on)
        if not left:
            push(ready, (target.sequence_nr, target, buffer))


def _tell_streams_apart(node: Node, leaf: AccumulateGrad, g: Tensor) -> None:
    """Warn of a gradient on a device that comes to its leaf from a node of another one."""
    here = place_of(g)
    if here is not CPU and (node.stream() or here) is not (leaf.stream() or here):
        warn_once("device/leaf-fed-from-elsewhere-warns")


def _sum(old: Tensor, new: Tensor) -> Tensor:
    """What comes by several paths."""
    # NB: complex numbers that are not finite are not simply added, see the op.
    if STATE.enabled or old._array.dtype.kind == "c" or Zeros in (type(old), type(new)):
        return old.add(new)
    both = (old._array, new._array)
    if STATE.devices:
        STATE.place = ambient_for(old)
    return wrap(as_torch_lays_out(np.asarray(np.add(*both)), both))


def _sum_of_two_dtypes(buffer: InputBuffer, new: Tensor, passed_on: int) -> None:
    """What comes by several paths in more than one dtype, as only a leaf whose grad_dtype is None takes it.

    ``passed_on`` are the references to what came first that PyTorch has let go of already.
    """
    alone = held_alone(buffer, passed_on)  # NB: before there is a name for it, which holds it, too
    old = buffer[0]
    assert old is not None
    alone = alone and keeps_memory_alone(old)
    # A view holds what it is a view of, and that the memory.
    if alone and old._view is None and dense(old._array) and by("grad/sums-into-the-first"):
        old.add_(new)
    else:
        buffer[0] = old.add(new)


def _arrive(node: Node, arrived: InputBuffer) -> None:
    """What gradients set off where they arrive: the tensors' hooks, then what is retained of their result."""
    if node.edges and node.hooks is None and not node.retained:
        return  # so it mostly is, but a leaf's hooks hang on the leaf
    early = node.retained and node.hooks is not None and not by("hook/runs-before-retain")
    if early:
        _retain(node, arrived)
    call_tensor_hooks(node, arrived)
    if node.retained and not early:
        _retain(node, arrived)


def _retain(node: Node, arrived: InputBuffer) -> None:
    """Let the tensors that retain their grad keep what arrives for them."""
    for nr, reference in node.retained or ():
        tensor, g = reference(), arrived[nr]
        if tensor is None or g is None or not by("retain/fills-grad"):
            continue
        if tensor._grad is None or not by("retain/accumulates"):
            tensor._grad = g.clone_contiguous() if by("retain/keeps-a-copy") else g
        else:
            tensor._grad = tensor._grad.add(g)


def validate_outputs(edges: tuple[Edge, ...], grads: InputBuffer, at_root: bool = False) -> None:
    """Bring each gradient into the shape and dtype of what it is the gradient of."""
    for index, g in enumerate(grads):
        if g is None:
            continue
        node, nr = edges[index]
        if node is not None:
            shape, dtype = node.metadata[nr]
            array = g._array
            if array.dtype is not dtype or array.shape != shape or dtype.kind not in DIFFERENTIABLE:
                grads[index] = _conformed(g, node.metadata[nr], at_root)
            elif STATE.devices:
                grads[index] = copied_to_device(g, node.metadata[nr])


def _conformed(g: Tensor, metadata: Any, at_root: bool) -> Tensor:
    array, (shape, dtype) = g._array, metadata
    complex_too, dtype = dtype.kind == "c", cast_to(dtype) or array.dtype
    if array.shape != shape and by("grad/reduces-broadcast"):
        if not _expandable(shape, array.shape):
            refuse_by("backward/gradient-shape-inside", got=list(array.shape), expected=list(shape))
        g = sum_to(g, shape)
    if array.dtype.kind == "c" and not complex_too:
        refuse_by("backward/gradient-complexity")
    casts = array.dtype != dtype and dtype.kind in DIFFERENTIABLE
    if casts and (by("backward/gradient-is-cast") if at_root else by("grad/casts-to-leaf-dtype")):
        g = g.cast(dtype)
    if STATE.devices:
        g = copied_to_device(g, metadata)
    if dtype.kind not in DIFFERENTIABLE:
        refuse_by("backward/no-gradient-of-integers", dtype=dtypes.of(dtype))
    return g


def _expandable(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    if len(shape) > len(to):
        return False
    pairs = zip(reversed(shape), reversed(to), strict=False)
    return all(n == m or n == 1 for n, m in pairs)


def sum_to(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Sum over the dimensions that broadcasting added or stretched."""
    if not shape:
        return g.sum()
    lead = g._array.ndim - len(shape)
    dims = list(range(lead)) + [
        lead + d for d, n in enumerate(shape) if n == 1 and g._array.shape[lead + d] != 1
    ]
    if dims:
        g = g.sum(dims, True)
    return g.view(shape) if lead > 0 else g
