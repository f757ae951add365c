"""Hooks: functions that users attach to tensors and nodes, how they are called, and what they may return.

``engine`` decides when a backward calls them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.rules import by, refuse_by, user_code
from reference_impl.core import extension_points
from reference_impl.core.tensor import Tensor

Hooks = dict[int, Callable[..., Any]]

_next_id = count().__next__


class RemovableHandle:
    """Removes a hook; doing so twice does no harm. As a context manager it does so at the end."""

    def __init__(self, hooks: Hooks) -> None:
        self.id = _next_id()
        self._hooks = hooks

    def remove(self) -> None:
        """Remove the hook, wherever its tensor's history has gone since."""
        if by("hook/removed-is-gone"):
            self._hooks.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        if by("hook/handle-ends-with-its-block"):
            self.remove()


class NodeHooks:
    """The hooks of one node: those of the tensors that it made, with their output numbers, and its own."""

    __slots__ = ("post_hooks", "pre_hooks", "tensor_pre_hooks")

    def __init__(self) -> None:
        self.tensor_pre_hooks: list[tuple[int, Hooks]] = []
        self.pre_hooks: Hooks = {}
        self.post_hooks: Hooks = {}


def attach(hooks: Hooks, hook: Callable[..., Any], first: bool = False) -> RemovableHandle:
    """Put ``hook`` at the end of ``hooks``, or at the beginning."""
    handle = RemovableHandle(hooks)
    others = dict(hooks) if first else {}
    if first:
        hooks.clear()
    hooks[handle.id] = hook
    hooks.update(others)
    return handle


def register_hook(self: Tensor, hook: Callable[[Tensor], Any]) -> RemovableHandle:
    """Have ``hook`` called with each gradient of this tensor; its result, if any, replaces the gradient."""
    if not self.requires_grad:
        refuse_by("hook/needs-requires-grad")
    if self._hooks is None:
        # Set first: it stays even if a stale history refuses. Regenerating the history forgets hooks.
        own: Hooks = {}
        self._hooks = own
        node = self.grad_fn
        self._hooks = own
        if node is not None:
            node.own_hooks().tensor_pre_hooks.append((self._output_nr, own))
    elif self._view is not None:
        by("hook/first-alone-looks")
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


def call_tensor_pre_hooks(hooks_of: Iterable[tuple[int, Hooks]], grads: list[Tensor | None]) -> None:
    """Call the hooks of tensors on the gradients with their output numbers."""
    for nr, hooks in hooks_of:
        for hook in _in_order(hooks):
            if grads[nr] is None:
                by("hook/undefined-is-none")
            result = _call_tensor_hook(hook, grads[nr])
            if result is None or result is grads[nr]:
                continue
            check(grads[nr], result, hook)
            if by("hook/result-replaces"):
                grads[nr] = result


def call_post_accumulate(leaf: Tensor) -> None:
    """Call a leaf's hooks after its ``grad`` has been accumulated."""
    if leaf._post_hooks and by("hook/post-accumulate-sees-the-grad"):
        given, replaced = leaf, False
        for hook in _in_order(leaf._post_hooks):
            result = _call(hook, given)
            if result is not None and result is not given:
                check(given, result, hook)
                given, replaced = result, True
        if replaced:
            refuse_by("hook/post-accumulate-returns-none")


def call_pre_hooks(hooks: Hooks, grads: list[Tensor | None]) -> None:
    """Let a node's own hooks replace the gradients that it is given."""
    given = tuple(grads)
    for hook in _in_order(hooks):
        result = _call(hook, given)
        if result is not None and result is not given:
            check_all(given, result, hook)
            if by("hook/before-node-replaces"):
                given = result
    grads[:] = given


def call_post_hooks(
    hooks: Hooks, outputs: Sequence[Tensor | None], grads: Sequence[Tensor | None]
) -> list[Tensor | None]:
    """Let a node's own hooks replace the gradients that it returned for ``grads``."""
    returned, given = tuple(outputs), tuple(grads)
    for hook in _in_order(hooks):
        result = _call(hook, returned, given)
        if result is not None and result is not returned:
            check_all(returned, result, hook)
            if by("hook/after-node-replaces"):
                returned = tuple(result)
    return list(returned)


def _in_order(hooks: Hooks) -> list[Callable[..., Any]]:
    """Return the hooks in order of registration; changes made meanwhile count from the next call on."""
    by("hook/in-order-of-registration")
    return list(hooks.values())


def _call_tensor_hook(hook: Callable[..., Any], grad: Tensor | None) -> Any:
    """Call the hook of a tensor with its gradient."""
    by("hook/once-for-each-gradient")
    return _call(hook, grad)


def _call(hook: Callable[..., Any], *given: Any) -> Any:
    """Call a hook, and let its exception end the backward."""
    extension_points.on_hook_call()
    try:
        with user_code():
            return hook(*given)
    except Exception:
        by("hook/error-ends-the-backward")
        raise


def check_all(given: tuple[Any, ...], result: Any, hook: Callable[..., Any]) -> None:
    """Refuse a result that cannot replace all gradients of a node."""
    if not isinstance(result, tuple):
        refuse_by("hook/node-returns-tuple", type=type(result).__name__)
    elif len(result) != len(given):
        refuse_by("hook/node-returns-as-many", hook=_name(hook), got=len(result), expected=len(given))
    else:
        for g, replacement in zip(given, result, strict=True):
            if replacement is not None:
                check(g, replacement, hook)


def check(g: Tensor | None, result: Any, hook: Callable[..., Any]) -> None:
    """Refuse a result that cannot replace one gradient."""
    if g is None:
        refuse_by("hook/undefined-stays")
    elif not isinstance(result, Tensor):
        refuse_by("hook/returns-tensor", type=type(result).__name__)
    else:
        was, now = g._array.dtype, result._array.dtype
        if was != now:
            refuse_by("hook/keeps-dtype", hook=_name(hook), was=dtypes.of(was), got=dtypes.of(now))
        if g._array.shape != result._array.shape:
            refuse_by("hook/keeps-shape", hook=_name(hook))


def _name(hook: Callable[..., Any]) -> str:
    return getattr(hook, "__name__", type(hook).__name__)
