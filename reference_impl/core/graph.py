"""The graph of histories: nodes, what they saved, and where gradients go next.

A node knows how to turn the gradient of its outputs into those of its inputs. Who calls it and in which order
is ``engine``'s business; which node an op records is ``apply``'s, and an in-place op ``write``'s.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any, Protocol

import numpy as np

from reference_impl.base.device import CPU, device, geometry, making_on, place_in, place_of
from reference_impl.base.grad_dtype import grad_dtype_of
from reference_impl.base.rules import Unspecified, by, refuse_by, warn_once
from reference_impl.base.session import STATE
from reference_impl.core.hooks import Hooks, NodeHooks, RemovableHandle, attach, call_post_accumulate
from reference_impl.core.tensor import Tensor, hold, wrap
from specs.memory import dense

Edge = tuple["Node | None", int]
Grads = list["Tensor | None"]
Geometry = tuple[tuple[int, ...], np.dtype]

NOWHERE: Edge = (None, 0)
LAST = 2**64 - 1
next_number = count().__next__


class RunningTask(Protocol):
    """A running backward, as its nodes see it."""

    exec_info: Any

    def runs(self, node: Node) -> bool:
        """Say whether ``node`` is to run."""

    def should_compute_output(self, node: Node, index: int) -> bool:
        """Say whether anybody needs the gradient for the node's ``index``-th edge."""

    def require(self, node: Node | None) -> None:
        """Have ``node`` run, too."""


class Node:
    """One step back in a history.

    ``edges`` say which input of which node each gradient goes to; ``metadata`` the shape and dtype its own
    incoming gradients must have; ``sequence_nr`` grows with creation; ``retained`` the tensors that keep a
    gradient passing here; ``hooks`` what users attached to it or to the tensors it made, or None.
    """

    __slots__ = ("__weakref__", "edges", "hooks", "metadata", "retained", "sequence_nr")

    mixes_elements = False
    """Whether an element of what it gives is made of several of what it is given, as a write's node."""

    def __init__(self, edges: tuple[Edge, ...], sequence_nr: int | None = None) -> None:
        self.edges = edges
        self.metadata: list[Geometry] = []
        self.retained: list[tuple[int, Any]] | None = None
        self.sequence_nr = next_number() if sequence_nr is None else sequence_nr
        self.hooks: NodeHooks | None = None
        if STATE.anomaly is not None:
            STATE.anomaly.made(self)

    def name(self) -> str:
        """PyTorch's name of the node's class."""
        return type(self).__name__

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        """The gradients for ``edges``, in order; None where undefined."""
        raise NotImplementedError

    def tensor_hooks(self) -> Iterable[tuple[int, Hooks]]:
        """The hooks of the tensors this node made or fills, with the number of each."""
        return () if self.hooks is None else self.hooks.tensors

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook`` called with what the node gives and what it was given, after it ran."""
        return attach(self.own_hooks().after, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Have ``hook`` called with what the node is given, before it runs."""
        return attach(self.own_hooks().before, hook)

    def own_hooks(self) -> NodeHooks:
        """Where hooks go that are attached to this node."""
        if self.hooks is None:
            self.hooks = NodeHooks()
        return self.hooks

    def stream(self) -> device | None:
        """The device on whose stream the node works: the first on which a gradient given to it belongs."""
        return next((place for place in map(place_in, self.metadata) if place is not CPU), None)

    def _sequence_nr(self) -> int:
        """The number that decides which node runs first."""
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        """Have the node run as if it were made then."""
        self.sequence_nr = number

    def release_variables(self) -> None:
        """Forget what was saved for this node's formulas."""

    @property
    def next_functions(self) -> tuple[Edge, ...]:
        """The edges, as PyTorch shows them."""
        return self.edges

    def add_output(self, tensor: Tensor) -> int:
        """Note a further output's geometry; its number."""
        array = tensor._array
        dtype = grad_dtype_of(tensor) if STATE.grad_dtypes else array.dtype
        self.metadata.append(
            (array.shape, dtype) if not STATE.devices else geometry(array.shape, dtype, place_of(tensor))
        )
        return len(self.metadata) - 1

    def __repr__(self) -> str:
        return f"<{self.name()} object at {id(self):#x}>"


class NotImplementedNode(Node):
    """The history of what cannot be differentiated."""

    __slots__ = ("what",)

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def __init__(self, edges: tuple[Edge, ...], what: str) -> None:
        super().__init__(edges, LAST)
        self.what = what

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        refuse_by("op/no-derivative", what=self.what)
        return [None] * len(self.edges)


class AccumulateGrad(Node):
    """The end of a path: adds what arrives to its leaf's ``grad``."""

    __slots__ = ("variable",)

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    def __init__(self, variable: Tensor) -> None:
        super().__init__((), LAST if by("backward/accumulate-first") else -1)
        self.variable: Tensor = variable if by("leaf/graph-keeps-its-leaves") else weakref.proxy(variable)
        self.add_output(variable)

    def tensor_hooks(self) -> Iterable[tuple[int, Hooks]]:
        hooks = self.variable._hooks
        return ((0, hooks),) if hooks else ()

    def apply(self, grads: list[Tensor | None], task: RunningTask) -> list[Tensor | None]:
        leaf = self.variable
        # NB: a view's history is brought up to date for it.
        if (leaf._node if leaf._view is None else leaf.grad_fn) is not None:
            refuse_by("backward/leaf-moved-inside")  # NB: also if no gradient arrives
        if grads[0] is not None and (
            leaf._requires_grad or leaf.requires_grad or not by("grad/needs-the-flag-on-arrival")
        ):
            self._accumulate(leaf, grads)
        if leaf._post_hooks:
            call_post_accumulate(leaf)
        return []

    def _accumulate(self, leaf: Tensor, grads: list[Tensor | None]) -> None:
        assert grads[0] is not None
        if leaf._grad is None:
            # A hook that is called afterwards is given what arrived, and counts as no other holder.
            leaf._grad = _first_grad(grads, leaf, watched=self.hooks is not None and bool(self.hooks.after))
        elif not by("grad/accumulates"):
            leaf._grad = grads[0].detach()
        elif not STATE.enabled and by("grad/accumulates-in-place"):
            leaf._grad.add_(grads[0])
            _check_layout(leaf)
        else:
            # Out of place, so that the old grad's own history stays what it was.
            if by("double/accumulates-out-of-place"):
                leaf._grad = leaf._grad.add(grads[0])
            else:
                leaf._grad._array += grads[0]._array
            _check_layout(leaf)


def _check_layout(leaf: Tensor) -> None:
    """An accumulated grad that is laid out otherwise than its leaf is tolerated, with a warning."""
    assert leaf._grad is not None
    if not obeys_grad_layout_contract(leaf._grad._array, leaf._array):
        warn_once("grad/layout-warns")


def _first_grad(grads: list[Tensor | None], leaf: Tensor, watched: bool) -> Tensor:
    """The tensor that becomes ``leaf.grad``: the arriving one if nobody else can see it, a copy otherwise."""
    alone = held_alone(grads, watched)
    grad = grads[0]
    assert grad is not None
    may_steal = not STATE.enabled and (alone or not by("grad/copied-when-shared"))
    fits = may_steal and (
        obeys_grad_layout_contract(grad._array, leaf._array) or not by("grad/copied-when-layout-differs")
    )
    if fits and by("grad/stolen-when-alone"):
        return grad.detach()
    if STATE.enabled and not by("double/first-grad-is-a-copy"):
        return grad
    if not dense(leaf._array):
        return grad.clone_contiguous()
    dtype = grad._array.dtype  # NB: the leaf's own from before its `.data` was assigned
    strides = tuple([s // leaf._array.itemsize * dtype.itemsize for s in leaf._array.strides])
    array = empty_strided(leaf._array.shape, strides, dtype)
    with making_on(place_of(leaf)):
        copy = wrap(array)
        hold(copy, array)  # NB: with the leaf's very strides, also where it has no elements
    if STATE.enabled or leaf._array.shape != grad._array.shape:
        return copy.copy_(grad)
    copy._array[...] = grad._array
    copy._version_counter[0] = 1  # as copy_ leaves it
    return copy


def held_alone(grads: list[Tensor | None], more: int = 0) -> bool:
    """Whether nobody but the list holds the first gradient in it, apart from so many references ``more``."""
    return _holders(grads) - more <= _ALONE


def _holders(grads: list[Tensor | None]) -> int:
    """How many references there are to the arriving gradient: CPython's count is what torch's use_count
    is.
    """
    return sys.getrefcount(grads[0])


_ALONE = _holders([wrap(np.zeros(()))])


def keeps_memory_alone(x: Tensor) -> bool:
    """Whether no other tensor is on the same memory: CPython's count is again what PyTorch's is."""
    own = x._array is x._storage or x._array.base is x._storage
    return sys.getrefcount(x._storage) <= 2 + own  # NB: one of the two is the call's


def obeys_grad_layout_contract(grad: np.ndarray, leaf: np.ndarray) -> bool:
    """Whether a gradient is laid out as its leaf's ``grad`` shall be (row-major for a leaf with holes or
    overlaps).
    """
    if not dense(leaf):
        return bool(grad.flags.c_contiguous)
    if grad.strides == leaf.strides and grad.dtype is leaf.dtype and 0 not in grad.strides:
        return True
    if grad.ndim > leaf.ndim:
        raise Unspecified("the leaf has lost dimensions, and PyTorch reads on behind its strides")
    for size, stride, wanted in zip(grad.shape, grad.strides, leaf.strides, strict=False):
        if stride * leaf.itemsize != wanted * grad.itemsize if size != 1 else stride == 0:
            return False
    return True


def empty_strided(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A fresh array with these strides (in bytes)."""
    if not strides:
        return np.empty((), dtype)
    if 0 in shape:
        return np.ndarray(shape, dtype, np.empty(1, dtype), strides=strides)
    extent = 1 + sum([(n - 1) * s for n, s in zip(shape, strides, strict=True)]) // dtype.itemsize
    return np.ndarray(shape, dtype, np.empty(extent, dtype), strides=strides)


def gradient_edge(tensor: Tensor) -> Edge:
    """Where a tensor's gradient goes: its history, a leaf's accumulator, or nowhere."""
    node = tensor._node if tensor._view is None else tensor.grad_fn
    if node is not None:
        return node, tensor._output_nr
    if not tensor._requires_grad:
        if by("grad/plain-leaves-get-none"):
            return NOWHERE
        tensor._requires_grad = True
    return grad_accumulator(tensor), 0


def grad_accumulator(leaf: Tensor) -> AccumulateGrad:
    """The node that fills a leaf's ``grad``, made if there is none."""
    reference = leaf._accumulator
    accumulator = None if reference is None else reference()
    if accumulator is None or not by("leaf/edges-end-in-accumulators"):
        accumulator = AccumulateGrad(leaf)
        leaf._accumulator = weakref.ref(accumulator)
    return accumulator


def alias(tensor: Tensor) -> Tensor:
    """The same elements and version counter, without history."""
    return wrap(tensor._array, tensor, tensor._plain)
