"""``torch.autograd.graph``: gradient edges, saved-tensor hooks, hooks on several gradients.

Saved variables are in ``core.saved``, nodes in ``core.graph``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet, WeakValueDictionary

from reference_impl.autograd.function_node import FunctionNode
from reference_impl.base.modes import enable_grad, no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of, is_inference
from reference_impl.core.graph import Node, gradient_edge
from reference_impl.core.graph_task import GraphTask
from reference_impl.core.hooks import RemovableHandle
from reference_impl.core.inplace import bump
from reference_impl.core.saved import SavedVariable
from reference_impl.core.tensor import Tensor

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


class GradientEdge(NamedTuple):
    """The position of a tensor's gradient in the graph: an output of a node."""

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """The edge of a tensor, which `grad` and `backward` accept in its place.

    Raises RuntimeError for a tensor that does not require grad."""
    if not tensor.requires_grad:
        refuse_by("edge/needs-requires-grad")
    node, token = _node_of(tensor), None
    if isinstance(node, FunctionNode):  # PyTorch keeps its graph alive by a view, which may be refused
        with enable_grad():
            token = tensor.view_as(tensor).grad_fn
    return GradientEdge(node, tensor.output_nr, token)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Bump the version of tensors that were written without autograd's knowledge."""
    tensors: Any = [tensor] if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for each in tensors:
        if not isinstance(each, Tensor):
            raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
        if not is_inference(each) and by("version/increment-counts"):
            bump(each)


class saved_tensors_hooks:
    """In the block, save ``pack_hook(tensor)`` in place of each tensor; backward calls ``unpack_hook`` on it.

    Only the innermost pair of hooks is called.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if STATE.saved_tensors_hooks_disabled:
            refuse_by("saved_hooks/disabled-refused", message=STATE.saved_tensors_hooks_disabled[-1])
        for hook in (self.pack_hook, self.unpack_hook):
            if not callable(hook):
                raise TypeError(f"a hook of saved tensors must be a function, not {type(hook).__name__}")
        STATE.saved_tensors_hooks.append((self.pack_hook, self.unpack_hook))

    def __exit__(self, *_: object) -> None:
        STATE.saved_tensors_hooks.pop()


class save_on_cpu(saved_tensors_hooks):
    """In the block, keep saved tensors on the CPU; backward copies them back to their device."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: (tensor.device, tensor.cpu()), lambda kept: kept[1].to(kept[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Iterator[None]:
    """In the block, refuse saved-tensor hooks with this message."""
    STATE.saved_tensors_hooks_disabled.append(error_message)
    try:
        if STATE.saved_tensors_hooks:
            refuse_by("saved_hooks/disabled-refused", message=error_message)
        yield
    finally:
        STATE.saved_tensors_hooks_disabled.pop()


class _OfSaved(type):
    """Lets every saved variable count as an instance."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, SavedVariable)


class SavedTensor(metaclass=_OfSaved):
    """PyTorch's name of a saved variable, which nobody makes by hand."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError."""
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden")


class _Kept:
    """A placeholder for a saved tensor; nodes that may unpack it keep it alive."""

    __slots__ = ("__weakref__",)


VersionedId = tuple[int, int]
"""The id of a tensor or of a storage, and its version."""


def _begin(x: Tensor) -> int:
    """The address of a tensor's first element, by which writes find what was saved."""
    return int(array_of(x).ctypes.data)


class _Mutable(saved_tensors_hooks):
    """Keeps saved tensors, and copies those that are written afterwards.

    ``original`` holds unmodified tensors and ``cloned`` the copies of modified ones, by placeholder;
    ``tid_to_weakhandle`` maps tensors to placeholders, ``sid_to_tid`` storages to the tensors saved on them.
    """

    def __init__(self) -> None:
        super().__init__(self._pack, self._unpack)
        self.open = False
        self.original: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()
        self.cloned: WeakKeyDictionary[_Kept, Tensor] = WeakKeyDictionary()
        self.tid_to_weakhandle: WeakValueDictionary[VersionedId, _Kept] = WeakValueDictionary()
        self.sid_to_tid: dict[VersionedId, set[VersionedId]] = {}

    def _pack(self, tensor: Tensor) -> _Kept:
        version = tensor._version
        place = id(tensor), version
        self.sid_to_tid.setdefault((_begin(tensor), version), set()).add(place)
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
        """Copy the saved tensors on the storage that is about to be written."""
        for place in self.sid_to_tid.get((_begin(target), target._version), ()):
            kept = self.tid_to_weakhandle.get(place)
            if kept is None or kept in self.cloned:
                continue
            if by("saved_hooks/mutation-is-allowed"):
                with no_grad():
                    self.cloned[kept] = self.original.pop(kept).clone()

    def clear(self) -> None:
        """Drop all saved tensors."""
        self.original.clear()
        self.cloned.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_Mutable]:
    """In the block, allow writes to saved tensors: backward gets them as they were saved."""
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


class _Handles(RemovableHandle):
    """Removes several hooks at once."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[..., Any], *, mode: str = "all"
) -> RemovableHandle:
    """Call ``fn`` once per backward: with the gradients of all ``tensors``, None for those without, when the
    last arrives (``mode="all"``), or with the first that arrives (``mode="any"``).
    """
    if mode not in ("all", "any"):
        refuse_by("edge/hook-mode", mode=mode)
    if mode == "any":
        return _call_with_first(tensors, fn)
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
            if missing[task] and by("edge/hook-of-all"):
                return
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
    """The node at which the gradient of a tensor arrives."""
    if tensor.requires_grad and tensor.grad_fn is None:
        with enable_grad():
            tensor.view_as(tensor)  # PyTorch takes the history of such a view; it may be refused
        if STATE.inference or is_inference(tensor):
            refuse_by("edge/none-in-inference-mode")
    node, _ = gradient_edge(tensor)
    if node is None:
        refuse_by("edge/needs-a-node")
    return node  # type: ignore[return-value]


def _call_with_first(tensors: Sequence[Tensor], fn: Callable[[Tensor], Any]) -> RemovableHandle:
    called: WeakSet[GraphTask] = WeakSet()

    def hook(g: Tensor) -> None:
        if STATE.graph_tasks[-1] in called and by("edge/hook-of-any"):
            return
        called.add(STATE.graph_tasks[-1])
        fn(g)

    return _Handles([tensor.register_hook(hook) for tensor in tensors if tensor.requires_grad])
