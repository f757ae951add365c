"""Hooks: functions that users attach to tensors and to nodes, how they are called, and what they may return.

When they are called in the course of a backward is ``engine``'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any

from reference_impl.base import dtypes
from reference_impl.base.rules import by, refuse_by, warning_at_once
from reference_impl.core import extension_points
from reference_impl.core.tensor import Tensor

if TYPE_CHECKING:
    from reference_impl.core.graph import Node

Hooks = dict[int, Callable[..., Any]]

_next_id = count().__next__


class RemovableHandle:
    """Takes a hook off again; doing so twice does no harm. As a context manager it does so at the end."""

    def __init__(self, hooks: Hooks) -> None:
        self.id = _next_id()
        self._hooks = hooks

    def remove(self) -> None:
        """Take the hook off, wherever its tensor's history has gone since."""
        if by("hook/removed-is-gone"):
            self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class NodeHooks:
    """What hangs on one node: the hooks of the tensors it made, by number, and its own."""

    __slots__ = ("after", "before", "tensors")

    def __init__(self) -> None:
        self.tensors: list[tuple[int, Hooks]] = []
        self.before: Hooks = {}
        self.after: Hooks = {}


def attach(hooks: Hooks, hook: Callable[..., Any]) -> RemovableHandle:
    """Put ``hook`` at the end of ``hooks``."""
    handle = RemovableHandle(hooks)
    hooks[handle.id] = hook
    return handle


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Have ``hook`` called with each gradient of this tensor; what it returns takes the gradient's place."""
    if not self.requires_grad:
        refuse_by("hook/needs-requires-grad")
    if self._view is not None and self._hooks is not None and not by("hook/first-alone-looks"):
        self.grad_fn  # noqa: B018  reading it brings it up to date, which forgets hooks
    if self._hooks is None:
        # There from now on, even if a stale history refuses; one that is brought up to date forgets hooks.
        own: Hooks = {}
        self._hooks = own
        node = self.grad_fn
        self._hooks = own
        if node is not None:
            node.own_hooks().tensors.append((self._output_nr, own))
    return attach(self._hooks, hook)


def register_post_accumulate_grad_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Have ``hook`` called with this leaf each time a backward has accumulated into its ``grad``."""
    if not self.requires_grad:
        refuse_by("hook/needs-requires-grad")
    if self.grad_fn is not None:
        refuse_by("hook/post-accumulate-needs-leaf")
    if self._post_hooks is None:
        self._post_hooks = {}
    return attach(self._post_hooks, hook)


def call_tensor_hooks(node: Node, arrived: list[Tensor | None]) -> None:
    """Call the hooks of the tensors that ``node`` made (or fills) on the gradients that arrive for them."""
    for nr, hooks in node.tensor_hooks():
        if arrived[nr] is None and not by("hook/undefined-is-none"):
            continue
        for hook in _in_order(hooks):
            result = _call(hook, arrived[nr])
            if result is None or result is arrived[nr]:
                continue
            check(arrived[nr], result, hook)
            if by("hook/result-replaces"):
                arrived[nr] = result


def call_post_accumulate(leaf: Tensor) -> None:
    """Call a leaf's hooks once its ``grad`` is what it shall be."""
    if leaf._post_hooks and by("hook/post-accumulate-sees-the-grad"):
        given, replaced = leaf, False
        for hook in _in_order(leaf._post_hooks):
            result = _call(hook, given)
            if result is not None and result is not given:
                check(given, result, hook)
                given, replaced = result, True
        if replaced:
            refuse_by("hook/post-accumulate-returns-none")


def call_pre_hooks(node: Node, arrived: list[Tensor | None]) -> None:
    """Let the node's own hooks change the gradients it is given."""
    given = tuple(arrived)
    for hook in _in_order(node.own_hooks().before):
        result = _call(hook, given)
        if result is not None and result is not given:
            check_all(given, result, hook)
            if by("hook/before-node-replaces"):
                given = result
                arrived[:] = given


def call_post_hooks(
    node: Node, outputs: list[Tensor | None], arrived: list[Tensor | None]
) -> list[Tensor | None]:
    """What the node's own hooks make of the gradients it gives."""
    made, given = tuple(outputs), tuple(arrived)
    for hook in _in_order(node.own_hooks().after):
        result = _call(hook, made, given)
        if result is not None and result is not made:
            check_all(made, result, hook)
            if by("hook/after-node-replaces"):
                made = tuple(result)
    return list(made)


def _in_order(hooks: Hooks) -> list[Callable[..., Any]]:
    """The hooks as they were registered; what comes or goes meanwhile counts from the next time on."""
    return list(hooks.values()) if by("hook/in-order-of-registration") else list(hooks.values())[::-1]


def _call(hook: Callable[..., Any], *given: Any) -> Any:
    extension_points.on_hook_call()
    try:
        with warning_at_once():
            return hook(*given)
    except Exception:
        if by("hook/error-ends-the-backward"):
            raise
        return None


def check_all(given: tuple[Any, ...], result: Any, hook: Callable[..., Any]) -> None:
    """Refuse what cannot stand for all gradients of a node."""
    if not isinstance(result, tuple):
        refuse_by("hook/node-returns-tuple", type=type(result).__name__)
        return
    if len(result) != len(given):
        refuse_by("hook/node-returns-as-many", hook=_name(hook), got=len(result), expected=len(given))
    for g, replacement in zip(given, result, strict=False):
        if replacement is not None:
            check(g, replacement, hook)


def check(g: Tensor | None, result: Any, hook: Callable[..., Any]) -> None:
    """Refuse what cannot stand for one gradient."""
    if g is None:
        refuse_by("hook/undefined-stays")
    if not isinstance(result, Tensor):
        refuse_by("hook/returns-tensor", type=type(result).__name__)
        return
    assert g is not None
    was, now = g._array.dtype, result._array.dtype
    if was != now:
        refuse_by("hook/keeps-dtype", hook=_name(hook), was=dtypes.of(was), got=dtypes.of(now))
    if g._array.shape != result._array.shape:
        refuse_by("hook/keeps-shape", hook=_name(hook))


def _name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)
