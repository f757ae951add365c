"""The graph: nodes, the edges between them, and the accumulators in which paths end.

A node turns the gradients of its outputs into those of its inputs. ``engine`` decides when it runs;
``record`` makes the nodes of ops, and ``views`` those of in-place writes to views.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from functools import cache
from itertools import count
from typing import Any

import numpy as np

from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core import extension_points
from reference_impl.core.detach import shallow_copy_and_detach
from reference_impl.core.hooks import Hooks, NodeHooks, RemovableHandle, attach, call_post_accumulate
from reference_impl.core.tensor import Tensor

Edge = tuple["Node | None", int]
Grads = list["Tensor | None"]
InputMetadata = tuple[tuple[int, ...], np.dtype]
"""The shape and dtype of a gradient."""

NOWHERE: Edge = (None, 0)
LAST = 2**64 - 1
next_number = count().__next__


class RunningTask:
    """A running backward, as its nodes see it: here one that needs every gradient. See `GraphTask`."""

    __slots__ = ()

    exec_info: Any = None

    def runs(self, node: Node) -> bool:
        """Return whether ``node`` is to run, or its gradients are to be captured."""
        return True

    def should_compute_output(self, node: Node, index: int) -> bool:
        """Return whether anybody needs the gradient for the node's ``index``-th edge."""
        target = node.edges[index][0]
        return target is not None and self.runs(target)

    def require(self, node: Node | None) -> None:
        """Have ``node`` run, too."""


class Node:
    """One step back in a history.

    ``edges`` name the input of a node that each gradient goes to; ``input_metadata`` holds the shape and
    dtype of each incoming gradient; ``sequence_nr`` grows with creation; ``retained`` lists the tensors that
    keep a gradient passing here; ``hooks`` belong to the node or to the tensors that it made (None: no
    hooks).
    """

    __slots__ = ("__weakref__", "edges", "hooks", "input_metadata", "notes", "retained", "sequence_nr")

    mixes_elements = False
    """Set where an element of a result depends on several elements of an incoming gradient."""

    def __init__(self, edges: tuple[Edge, ...], sequence_nr: int | None = None) -> None:
        self.edges = edges
        self.input_metadata: list[InputMetadata] = []
        self.retained: list[tuple[int, Any]] | None = None
        self.sequence_nr = next_number() if sequence_nr is None else sequence_nr
        self.hooks: NodeHooks | None = None
        if STATE.anomaly is not None:
            STATE.anomaly.made(self)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dict for what users tell of the node, made when it is asked for."""
        try:
            return self.notes
        except AttributeError:
            self.notes: dict[Any, Any] = {}
            return self.notes

    def name(self) -> str:
        """Return PyTorch's name of the node's class."""
        return type(self).__name__

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        """Return the gradients for ``edges``, in order; None where undefined."""
        raise NotImplementedError

    def release_variables(self) -> None:
        """Forget what was saved for backward."""

    def __call__(self, *grads: Any, **named: Any) -> Any:
        """Apply the node to gradients (None: undefined), outside any backward: its hooks are not called, and
        what it saved is kept. Returns one gradient, or several in a tuple.
        """
        if named:
            raise TypeError("keyword arguments are not supported")
        if len(grads) != len(self.input_metadata):
            raise TypeError(f"expected {len(self.input_metadata)} arguments, got {len(grads)} instead")
        for at, g in enumerate(grads):
            if g is not None and not isinstance(g, Tensor):
                raise TypeError(f"argument {at} is not a Variable")
        given = self.apply(list(grads), RunningTask()) if by("backward/nodes-can-be-called") else [None]
        return given[0] if len(given) == 1 else tuple(given)

    def tensor_pre_hooks(self) -> Iterable[tuple[int, Hooks]]:
        """Return the hooks of the tensors that this node made or fills, with each tensor's output number."""
        return () if self.hooks is None else self.hooks.tensor_pre_hooks

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook`` called after the node ran, with the gradients it returned and those it was given."""
        return attach(self.own_hooks().post_hooks, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook`` called before the node runs, with the gradients it is given."""
        return attach(self.own_hooks().pre_hooks, hook)

    def own_hooks(self) -> NodeHooks:
        """Return the node's hooks, made if there are none."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def _sequence_nr(self) -> int:
        """Return the number that decides which node runs first."""
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        """Have the node run as if it were made then."""
        self.sequence_nr = number

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """The edges, as PyTorch shows them."""
        return self.edges

    def add_output(self, tensor: Tensor) -> int:
        """Record the metadata of one more output, and return its number."""
        self.input_metadata.append(extension_points.input_metadata(tensor))
        return len(self.input_metadata) - 1

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


class NotImplementedNode(Node):
    """The history of an op that has no derivative."""

    __slots__ = ("called", "what")

    def __new__(cls, edges: Any, what: str, called: str = "torch::autograd::NotImplemented") -> Any:
        """Make a node of a class of that name, which scripts read."""
        return super().__new__(_named(called))

    def __init__(
        self, edges: tuple[Edge, ...], what: str, called: str = "torch::autograd::NotImplemented"
    ) -> None:
        super().__init__(edges, LAST)
        self.what, self.called = what, called

    def name(self) -> str:
        return self.called

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        refuse_by("op/no-derivative", what=self.what)
        return [None] * len(self.edges)


@cache
def _named(called: str) -> type[NotImplementedNode]:
    return type(called.rpartition(":")[2], (NotImplementedNode,), {"__slots__": (), "__module__": "builtins"})


class AccumulateGrad(Node):
    """The end of a path: adds what arrives to its leaf's ``grad``."""

    __module__ = "builtins"  # as PyTorch's
    __slots__ = ("variable",)

    def __init__(self, variable: Tensor) -> None:
        super().__init__((), LAST if by("backward/accumulate-first") else -1)
        by("leaf/graph-keeps-its-leaves")
        self.variable: Tensor = variable
        self.add_output(variable)

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def tensor_pre_hooks(self) -> Iterable[tuple[int, Hooks]]:
        hooks = self.variable._hooks
        return ((0, hooks),) if hooks else ()

    def apply(self, grads: Grads, task: RunningTask) -> Grads:
        leaf = self.variable
        if leaf.grad_fn is not None:
            refuse_by("backward/leaf-moved-inside")  # also where no gradient arrives
        if grads[0] is None or (not leaf.requires_grad and by("grad/needs-the-flag-on-arrival")):
            pass
        elif leaf._grad is None:
            # A post hook is given the incoming gradient afterwards, and holds it until then.
            has_post_hooks = self.hooks is not None and bool(self.hooks.post_hooks)
            leaf._grad = _first_grad(leaf, grads, num_expected_refs=1 + has_post_hooks)
        else:
            _add_to_grad(leaf, grads[0])
            extension_points.on_accumulated(leaf)
        if leaf._post_hooks:
            call_post_accumulate(leaf)
        return []


def _first_grad(leaf: Tensor, grads: Grads, num_expected_refs: int) -> Tensor:
    """Return the tensor that becomes the ``grad`` of a leaf that has none: the incoming one, or a copy."""
    if not STATE.enabled and extension_points.can_steal(grads, leaf, num_expected_refs):
        return shallow_copy_and_detach(grads[0])  # type: ignore[arg-type]
    if STATE.enabled:
        by("double/first-grad-is-a-copy")
    return extension_points.clone_obey_contract(grads[0], leaf)


def _add_to_grad(leaf: Tensor, g: Tensor) -> None:
    """Add to the ``grad`` of a leaf that has one."""
    by("grad/accumulates")
    if not STATE.enabled and by("grad/accumulates-in-place"):
        leaf._grad.add_(g)  # type: ignore[union-attr]
    else:  # so that the old grad keeps its own history
        by("double/accumulates-out-of-place")
        leaf._grad = leaf._grad.add(g)  # type: ignore[union-attr]


def gradient_edge(tensor: Tensor) -> Edge:
    """Return where a tensor's gradient goes: to its history, to a leaf's accumulator, or nowhere."""
    node = tensor._node if tensor._view is None else tensor.grad_fn
    if node is not None:
        return node, tensor._output_nr
    if tensor._requires_grad:
        return grad_accumulator(tensor), 0
    by("grad/plain-leaves-get-none")
    return NOWHERE


def grad_accumulator(leaf: Tensor) -> AccumulateGrad:
    """Return the node that fills a leaf's ``grad``, made if there is none."""
    reference = leaf._accumulator
    accumulator = None if reference is None else reference()
    if accumulator is None:
        accumulator = AccumulateGrad(leaf)
        leaf._accumulator = weakref.ref(accumulator)
    else:
        by("leaf/edges-end-in-accumulators")
    return accumulator


def accumulator_of(tensor: Tensor) -> AccumulateGrad | None:
    """The living node that fills a leaf's ``grad``, if any."""
    reference = tensor._accumulator
    return None if reference is None else reference()
