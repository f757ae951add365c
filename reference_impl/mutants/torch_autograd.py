"""Mutants of ``torch.autograd``: roots, targets, seeds and custom functions without a rule."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from reference_impl import autograd
from reference_impl.autograd.function_node import FunctionNode
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.graph import Edge, Grads, Node, RunningTask
from reference_impl.core.hooks import RemovableHandle
from reference_impl.core.tensor import Tensor
from reference_impl.mutants.replacing import without

_run = autograd._run
_root_edge = autograd._root_edge
_target_edge = autograd._target_edge
_complete = autograd._complete
_implicit_seed = autograd._implicit_seed
_new_function_node = FunctionNode.__init__
_register_hook = FunctionNode.register_hook
_recorded = FunctionNode._recorded


class _Sink(Node):
    """A node that takes any gradient."""

    __slots__ = ()

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        return []


@without("backward/root-needs-grad", autograd, "_root_edge")
def _any_root(index: int, root: Any) -> Edge:
    edge = _root_edge(index, root)
    if edge[0] is None:
        sink = _Sink(())
        return sink, sink.add_output(autograd._shown(root))
    return edge


@without("backward/leaf-root", autograd, "_root_edge")
def _no_leaf_root(index: int, root: Any) -> Edge:
    edge = _root_edge(index, root)
    if edge[0] is not None and not edge[0].edges and not by("backward/leaf-root"):
        refuse_by("backward/root-needs-grad", index=index)
    return edge


@without("grad_call/non-leaf-input", autograd, "_target_edge")
def _no_history(index: int, target: Any, accumulate: bool) -> Edge:
    edge = _target_edge(index, target, accumulate)
    if not accumulate and isinstance(target, Tensor) and target.grad_fn is not None:
        return autograd.Identity(()), 0
    return edge


@without("mode/backward-under-no-grad", autograd, "_run")
def _run_in_grad_mode_alone(
    roots: Any, seeds: Grads, keep: bool, create: bool, targets: Any, accumulate: bool
) -> Grads:
    if not STATE.enabled and not by("mode/backward-under-no-grad"):
        return [None] * len(targets)
    return _run(roots, seeds, keep, create, targets, accumulate)


@without("backward/inputs-only", autograd, "_run")
def _fill_all_leaves(
    roots: Any, seeds: Grads, keep: bool, create: bool, targets: Any, accumulate: bool
) -> Grads:
    if accumulate and targets:
        by("backward/inputs-only")
    return _run(roots, seeds, keep, create, () if accumulate else targets, accumulate)


@without("grad_call/leaves-grad-alone", autograd, "_run")
def _fill_grads(roots: Any, seeds: Grads, keep: bool, create: bool, targets: Any, accumulate: bool) -> Grads:
    _run(roots, seeds, keep, create, targets, accumulate=True)
    return [target.grad for target in targets]


@without("grad_call/allow-unused-gives-none", autograd, "_complete")
def _always_zeros(
    result: Grads, targets: Any, allow_unused: bool, materialize_grads: bool, create_graph: bool
) -> tuple[Tensor | None, ...]:
    gradients = _complete(result, targets, allow_unused, materialize_grads, create_graph)
    return tuple(
        autograd._filled(target, 0) if g is None else g for g, target in zip(gradients, targets, strict=True)
    )


@without("double/constant-root-grad", autograd, "_implicit_seed")
def _seed_that_needs_grad(root: Tensor, create_graph: bool) -> Tensor:
    one = _implicit_seed(root, create_graph)
    one._requires_grad = create_graph
    return one


@without("function/needs-input-grad", FunctionNode, "__init__")
def _all_need_grad(node: FunctionNode, args: tuple[Any, ...]) -> None:
    _new_function_node(node, args)
    node.needs_input_grad = (True,) * len(args)


@without("function/node-outlives-its-results", FunctionNode, "register_hook")
def _refuse_alone(node: FunctionNode, hook: Callable[..., Any]) -> RemovableHandle:
    """Refuse a hook of a node that no result and no later node holds."""
    edges = [each for each in gc.get_referrers(node) if isinstance(each, Tensor | tuple)]
    if not edges and not by("function/node-outlives-its-results"):
        raise RuntimeError("Attribute 'register_hook' is invalid for this instance of _C._FunctionBase")
    return _register_hook(node, hook)


@without("grad/only-leaves-are-filled", FunctionNode, "_recorded")
def _recorded_and_retained(node: FunctionNode, number: int, out: Tensor, is_input: bool) -> Tensor:
    """Have every result of a custom function retain its grad."""
    result = _recorded(node, number, out, is_input)
    result.retain_grad()
    return result


@without("function/backward-gives-the-gradients", FunctionNode, "apply")
def _pass_through(node: FunctionNode, grads: Grads, task: RunningTask) -> Grads:
    by("function/backward-gives-the-gradients")
    return [node._undefined(0) if grads[0] is None else grads[0]] * len(node.edges)
