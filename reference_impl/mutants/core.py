"""Mutants of core: ops, backward, grads, hooks and saved variables without a rule."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.core import apply, engine, graph, hooks, inplace
from reference_impl.core.graph import NOWHERE, AccumulateGrad, Edge, Grads, Node, RunningTask
from reference_impl.core.graph_task import ExecInfo, GraphTask
from reference_impl.core.hooks import Hooks, RemovableHandle
from reference_impl.core.kernel import Kernel
from reference_impl.core.ready_queue import NodeTask, ReadyQueue
from reference_impl.core.record import OpNode
from reference_impl.core.saved import SavedVariable, SavedVariableHooks
from reference_impl.core.tensor import Tensor
from reference_impl.mutants.replacing import without

# -- running ops -----------------------------------------------------------------------------------

_recorded_mask = Kernel.recorded_mask


@without("leaf/no-history-without-requires-grad", Kernel, "recorded_mask")
def _all_recorded(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """Record also what requires no grad."""
    return _recorded_mask(kernel, operands) or _mask(kernel, operands)


@without("leaf/op-result-is-no-leaf", Kernel, "recorded_mask")
def _none_recorded(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """Record nothing."""
    return _recorded_mask(kernel, operands) * 0


@without("requires_grad/any-input", Kernel, "recorded_mask")
def _recorded_if_all_require_grad(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """Record only if every operand requires grad."""
    mask = _recorded_mask(kernel, operands)
    return mask if mask == _mask(kernel, operands) else 0


def _mask(kernel: Kernel, operands: tuple[Any, ...]) -> int:
    """All tensors that the op has an edge for."""
    return sum(bit for i, bit in kernel.edges if isinstance(operands[i], Tensor))


_set_history = apply.set_history
_view = apply._view
_rebase = inplace.rebase


@without("grad/only-leaves-are-filled", apply, "set_history")
def _set_retained_history(out: Tensor, node: OpNode) -> None:
    """Have every result retain its grad."""
    _set_history(out, node)
    out.retain_grad()


@without("grad/only-leaves-are-filled", apply, "_view")
def _retaining_view(source: Tensor, array: np.ndarray, node: OpNode | None, multi: bool = False) -> Tensor:
    """Have every view retain its grad."""
    view = _view(source, array, node, multi)
    if node is not None:
        view.retain_grad()
    return view


@without("grad/only-leaves-are-filled", inplace, "rebase")
def _rebase_retained(target: Tensor, node: Node, number: int = 0) -> None:
    """Have all that is written retain its grad."""
    _rebase(target, node, number)
    if target._node is not None:
        target.retain_grad()


_leave_without_history = apply.leave_without_history


@without("requires_grad/integer-results-never", apply, "leave_without_history")
def _record_integers(out: Tensor, operands: tuple[Any, ...]) -> None:
    """Give a result that cannot carry gradients a history that leads nowhere."""
    _leave_without_history(out, operands)
    if any(isinstance(x, Tensor) and x.requires_grad for x in operands):
        out._node = Node((NOWHERE,))


# -- backward --------------------------------------------------------------------------------------

_execute = engine.execute
_init_to_execute = GraphTask.init_to_execute


@without("backward/runs-within-another", engine, "execute")
def _execute_alone(
    roots: list[Edge],
    grads: Grads,
    keep_graph: bool,
    create_graph: bool,
    accumulate: bool,
    targets: list[Edge],
) -> Grads:
    """Do nothing in a backward that another one began."""
    if STATE.graph_tasks and not by("backward/runs-within-another"):
        return [None] * len(targets)
    return _execute(roots, grads, keep_graph, create_graph, accumulate, targets)


@without("backward/failure-leaves-what-was-done", engine, "_fail")
def _undo(task: GraphTask) -> None:
    """Undo what a failed backward did to the leaves."""
    by("backward/failure-leaves-what-was-done")
    for node in (task.root, *task.dependencies):
        if isinstance(node, AccumulateGrad):
            node.variable._grad = None


@without("double/create-graph-decides-the-mode", engine, "_grad_mode")
def _mode_as_it_is(create_graph: bool) -> bool:
    by("double/create-graph-decides-the-mode")
    return STATE.enabled


@without("double/create-graph-records", engine, "_grad_mode")
def _never_recording(create_graph: bool) -> bool:
    return create_graph and by("double/create-graph-records")


@without("double/plain-without", engine, "_grad_mode")
def _always_recording(create_graph: bool) -> bool:
    return create_graph or not by("double/plain-without")


@without("grad_call/only-needed-nodes-run", GraphTask, "init_to_execute")
def _run_all_nodes(task: GraphTask, targets: list[Edge], accumulate: bool) -> None:
    _init_to_execute(task, targets, accumulate)
    assert task.exec_info is not None
    for node in (task.root, *task.dependencies):
        if not isinstance(node, AccumulateGrad):
            task.exec_info.setdefault(node, ExecInfo()).needed = True


@without("backward/latest-first", ReadyQueue, "pop")
def _pop_last(queue: ReadyQueue) -> NodeTask:
    if len(queue.heap) > 1:
        by("backward/latest-first")
    return queue.heap.pop()


# -- grads -----------------------------------------------------------------------------------------

_new_accumulator = AccumulateGrad.__init__
_apply_accumulator = AccumulateGrad.apply
_first_grad = graph._first_grad


@without("leaf/graph-keeps-its-leaves", AccumulateGrad, "__init__")
def _hold_weakly(node: AccumulateGrad, variable: Tensor) -> None:
    _new_accumulator(node, variable)
    node.variable = weakref.proxy(variable)


@without("leaf/edges-end-in-accumulators", graph, "grad_accumulator")
def _accumulator_anew(leaf: Tensor) -> AccumulateGrad:
    by("leaf/edges-end-in-accumulators")
    accumulator = AccumulateGrad(leaf)
    leaf._accumulator = weakref.ref(accumulator)
    return accumulator


_gradient_edge = graph.gradient_edge


@without("grad/plain-leaves-get-none", graph, "gradient_edge")
def _edge_of_any_leaf(tensor: Tensor) -> Edge:
    if tensor.grad_fn is None and not tensor._requires_grad:
        tensor._requires_grad = not by("grad/plain-leaves-get-none")
    return _gradient_edge(tensor)


@without("grad/accumulates", AccumulateGrad, "apply")
def _overwrite_grad(node: AccumulateGrad, grads: Grads, task: RunningTask) -> Grads:
    """Take each gradient for a first one."""
    leaf = node.variable
    if leaf._grad is not None and grads[0] is not None and leaf.requires_grad and leaf.grad_fn is None:
        by("grad/accumulates")
        leaf._grad = None
    return _apply_accumulator(node, grads, task)


@without("double/accumulates-out-of-place", graph, "_add_to_grad")
def _add_unseen(leaf: Tensor, g: Tensor) -> None:
    assert leaf._grad is not None
    by("grad/accumulates")
    if not STATE.enabled and by("grad/accumulates-in-place"):
        leaf._grad.add_(g)
    else:
        by("double/accumulates-out-of-place")
        leaf._grad._array += g._array


@without("double/first-grad-is-a-copy", graph, "_first_grad")
def _recorded_grad_itself(leaf: Tensor, grads: Grads, num_expected_refs: int) -> Tensor:
    if STATE.enabled and not by("double/first-grad-is-a-copy"):
        assert grads[0] is not None
        return grads[0]
    return _first_grad(leaf, grads, num_expected_refs)


# -- hooks -----------------------------------------------------------------------------------------

_register_hook = hooks.register_hook
_call_tensor_pre_hooks = hooks.call_tensor_pre_hooks
_in_order = hooks._in_order


@without("hook/first-alone-looks", hooks, "register_hook")
def _look_again(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    if self._view is not None and self._hooks is not None and not by("hook/first-alone-looks"):
        self.grad_fn  # noqa: B018  reading it regenerates the history, which forgets hooks
    return _register_hook(self, hook)


@without("hook/undefined-is-none", hooks, "call_tensor_pre_hooks")
def _leave_out_undefined(hooks_of: Iterable[tuple[int, Hooks]], grads: Grads) -> None:
    defined = [(nr, own) for nr, own in hooks_of if grads[nr] is not None or by("hook/undefined-is-none")]
    _call_tensor_pre_hooks(defined, grads)


@without("hook/in-order-of-registration", hooks, "_in_order")
def _in_reverse(own: Hooks) -> list[Callable[..., Any]]:
    return _in_order(own)[::-1]


@without("hook/error-ends-the-backward", hooks, "_call")
def _call_in_silence(hook: Callable[..., Any], *given: Any) -> Any:
    try:
        return _call(hook, *given)
    except Exception:
        return None


_call = hooks._call


@without("hook/once-for-each-gradient", hooks, "_call_tensor_hook")
def _call_twice(hook: Callable[..., Any], grad: Tensor | None) -> Any:
    _call_tensor_hook(hook, grad)
    return _call_tensor_hook(hook, grad)


_call_tensor_hook = hooks._call_tensor_hook


@without("hook/runs-before-retain", engine, "_receive")
def _retain_first(node: Node, grads: Grads) -> None:
    if node.retained and node.hooks is not None:
        by("hook/runs-before-retain")
    engine._retain(node, grads)
    hooks.call_tensor_pre_hooks(node.tensor_pre_hooks(), grads)


# -- saved variables -------------------------------------------------------------------------------

_unpack_variable = SavedVariable.unpack
_unpack_packed = SavedVariableHooks.unpack


@without("saved_hooks/packed-has-no-version", SavedVariable, "unpack")
def _check_packed_too(saved: SavedVariable, node: Node, or_detached: bool = False) -> Tensor:
    if saved.hooks is not None:
        saved.check_version()
    return _unpack_variable(saved, node, or_detached)


@without("saved_hooks/asked-each-time", SavedVariableHooks, "unpack")
def _unpack_once(own: SavedVariableHooks, node: Node, saved: SavedVariable) -> Tensor:
    data = own.unpack_hook(own.packed)
    own.unpack_hook = lambda packed: data
    return _unpack_packed(own, node, saved)
