"""``torch.autograd.graph``: edges of the graph as values, and hooks around what is saved or computed.

Saved tensors live in ``reference_impl.core.saved``, the graph itself in ``reference_impl.core.graph``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from reference_impl.base.modes import enable_grad, no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.graph import Node, gradient_edge
from reference_impl.core.graph_task import GraphTask
from reference_impl.core.hooks import RemovableHandle
from reference_impl.core.inplace import bump
from reference_impl.core.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor is computed: an output of a node."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor, to be used where `grad` and `backward` take tensors."""
    if not tensor.requires_grad:
        refuse_by("edge/needs-requires-grad")
    return GradientEdge(_node_of(tensor), tensor.output_nr)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a write that the machine has not seen."""
    tensors: Iterable[Tensor] = [tensor] if isinstance(tensor, Tensor) else list(tensor)
    for each in tensors:
        if not each._inference and by("version/increment-counts"):
            bump(each)


# -- what is saved -------------------------------------------------------------------------------------


class saved_tensors_hooks:
    """In the block, ``pack_hook`` is called with each tensor that is saved, and ``unpack_hook`` with what it
    returned when the tensor is needed.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if STATE.saved_tensors_hooks_disabled:
            refuse_by("saved_hooks/disabled-refused", message=STATE.saved_tensors_hooks_disabled[-1])
        STATE.saved_tensors_hooks.append((self.pack_hook, self.unpack_hook))

    def __exit__(self, *_: object) -> None:
        STATE.saved_tensors_hooks.pop()


class save_on_cpu(saved_tensors_hooks):
    """In the block, what is saved is kept on the CPU, and brought back to its device when it is asked for."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda kept: kept[1].to(kept[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In the block, hooks for everything that is saved are refused with that message."""
    STATE.saved_tensors_hooks_disabled.append(error_message)
    try:
        if STATE.saved_tensors_hooks:
            refuse_by("saved_hooks/disabled-refused", message=error_message)
        yield
    finally:
        STATE.saved_tensors_hooks_disabled.pop()


class _Kept:
    """Stands for a saved tensor; lives as long as some node may ask for it."""

    __slots__ = ("__weakref__",)


Place = tuple[int, int]
"""The identity of a tensor, or of a storage, and its version."""


class _Mutable(saved_tensors_hooks):
    """Keeps what is saved, and a copy of what is written to afterwards.

    ``original`` holds what is as it was saved, ``cloned`` the copies of what is not; ``tid_to_weakhandle``
    tells by tensor and version what stands for it, ``sid_to_tid`` by storage and version which tensors on
    it were saved.
    """

    def __init__(self) -> None:
        super().__init__(self._pack, self._unpack)
        self.open = False
        self.original: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()
        self.tid_to_weakhandle: WeakValueDictionary[Place, _Kept] = WeakValueDictionary()
        self.sid_to_tid: dict[Place, set[Place]] = {}

    def _pack(self, tensor: Tensor) -> _Kept:
        version = tensor._version_counter[0]
        place = id(tensor), version
        self.sid_to_tid.setdefault((id(tensor._storage), version), set()).add(place)
        kept = self.tid_to_weakhandle.get(place)
        if kept is None:
            kept = self.tid_to_weakhandle[place] = _Kept()
            self.original[kept] = tensor
        return kept

    def _unpack(self, kept: _Kept) -> Tensor:
        if self.open and kept in self.cloned:
            return self.cloned[kept]
        if not self.open or kept not in self.original:
            refuse_by("saved_hooks/mutation-inside-only")
        return self.original[kept]

    def before_write(self, target: Tensor) -> None:
        """Copy what was saved of the memory that is about to be written to."""
        if target._inference:
            return
        for place in self.sid_to_tid.get((id(target._storage), target._version_counter[0]), ()):
            kept = self.tid_to_weakhandle.get(place)
            if kept is None or kept in self.cloned:
                continue
            if by("saved_hooks/mutation-is-allowed"):
                with no_grad():
                    self.cloned[kept] = self.original.pop(kept).clone()

    def clear(self) -> None:
        """Forget everything that was kept."""
        self.original.clear()
        self.cloned.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Mutable]:
    """In the block, saved tensors may be written to: backward gets them as they were saved."""
    if STATE.write_watchers:
        refuse_by("saved_hooks/mutation-not-nested")
    context = _Mutable()
    STATE.write_watchers.append(context.before_write)
    try:
        with context:
            context.open = True
            yield context
    finally:
        context.open = False
        context.clear()
        STATE.write_watchers.pop()


# -- hooks of several tensors --------------------------------------------------------------------------
class _Handles(RemovableHandle):
    """Takes several hooks off at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Have ``fn`` called once a backward: with all gradients of ``tensors`` (None for one that has none) when
    the last is there, or with the first (``mode="any"``).
    """
    if mode not in ("all", "any"):
        refuse_by("edge/hook-mode", mode=mode)
    if mode == "any":
        return _any(tensors, fn)
    nodes = [_node_of(tensor) for tensor in tensors]
    seen: WeakKeyDictionary[GraphTask, list[Tensor | None]] = WeakKeyDictionary()
    missing: WeakKeyDictionary[GraphTask, int] = WeakKeyDictionary()

    def hook_of(index: int) -> Callable[[Tensor], None]:
        def hook(g: Tensor) -> None:
            task = STATE.graph_tasks[-1]
            if task not in missing:
                reached = [_will_execute(task, node) for node in nodes]
                missing[task] = sum(reached) if by("edge/hook-sees-what-is-missing") else len(reached)
                seen[task] = [None] * len(nodes)
            seen[task][index] = g
            missing[task] -= 1
            if not missing[task] or not by("edge/hook-of-all"):
                del missing[task]
                fn(seen.pop(task))

        return hook

    return _Handles([tensor.register_hook(hook_of(index)) for index, tensor in enumerate(tensors)])


def _will_execute(task: GraphTask, node: Node) -> bool:
    """Return whether this backward comes to ``node`` at all."""
    if node not in task.dependencies:
        return node is task.root and by("edge/hook-counts-the-root") and task.runs(node)
    info = (task.exec_info or {}).get(node)
    if info and info.captures and not any(target for target, _ in node.edges):
        refuse_by("edge/hook-of-leaf-in-grad")
    return task.runs(node)


def _node_of(tensor: Tensor) -> Node:
    """Where the gradient of a tensor arrives."""
    if tensor.requires_grad and tensor.grad_fn is None:
        with enable_grad():
            tensor.view_as(tensor)  # PyTorch goes by the history of such a view, where there can be one
        if STATE.inference or tensor._inference:
            refuse_by("edge/none-in-inference-mode")
    node, _ = gradient_edge(tensor)
    if node is None:
        refuse_by("edge/needs-a-node")
    return node  # type: ignore[return-value]


def _any(tensors: Sequence[Tensor], fn: Callable[[Tensor], Any]) -> RemovableHandle:
    called: WeakSet[GraphTask] = WeakSet()

    def hook(g: Tensor) -> None:
        if STATE.graph_tasks[-1] not in called or not by("edge/hook-of-any"):
            called.add(STATE.graph_tasks[-1])
            fn(g)

    return _Handles([tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad])
