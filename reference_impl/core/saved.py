"""Saved variables: snapshots of tensors that backward needs, and the hooks that pack and unpack them.

Nodes decide what they save and when they need it.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core import extension_points
from reference_impl.core.graph import Node, grad_accumulator
from reference_impl.core.tensor import Tensor, alias, wrap
from specs.active_rules import user_code


def standing_in(tensor: Tensor) -> Tensor:
    """Mark a tensor in place of one that PyTorch is not given: hooks on what is saved do not see it."""
    tensor.__dict__["_stands_in"] = True
    return tensor


class SavedVariable:
    """A snapshot of a variable at a certain version.

    An operand is kept as it is. An output is kept as an alias, and gets its history back from the node that
    unpacks it (from the node of ``written_view`` where it was written through a view).
    """

    __slots__ = ("freed", "hooks", "is_leaf", "is_output", "output_nr", "tensor", "version", "written_view")

    def __init__(self, tensor: Tensor, is_output: bool = False, written_view: bool = False) -> None:
        if tensor._inference:
            refuse_by("inference/not-saved")
        self.version = tensor._version_counter[0]
        self.is_leaf = tensor._node is None
        self.is_output = is_output
        self.output_nr = tensor._output_nr
        self.written_view = weakref.ref(tensor.grad_fn) if written_view else None
        self.tensor = alias(tensor) if is_output else tensor
        # NB: PyTorch frees the memory; here the snapshot merely may not be used any more.
        self.freed = False
        self.hooks: SavedVariableHooks | None = None
        if not STATE.saved_tensors_hooks or "_stands_in" in tensor.__dict__:
            return
        if by("saved_hooks/pack-and-unpack"):
            pack, unpack = STATE.saved_tensors_hooks[-1 if by("saved_hooks/innermost-alone") else 0]
            self.hooks = SavedVariableHooks(tensor, self, tensor, pack, unpack)

    def unpack(self, node: Node, or_detached: bool = False) -> Tensor:
        """Return the tensor; refuse if it was freed, modified, or (unless ``or_detached``) detached since."""
        tensor = self.tensor
        if self.freed:
            refuse_by("save/freed-refused")
        if self.written_view is not None:
            node = self.written_view() or node
        if self.hooks is not None:
            if tensor._version_counter[0] != self.version:
                by("saved_hooks/packed-has-no-version")
            return self.hooks.unpack(node, self)
        # Reading the history first may regenerate it, or refuse.
        history = tensor._node if self.is_output else tensor.grad_fn
        if history is None and not (self.is_output or self.is_leaf or or_detached):
            refuse_by("save/detached-refused")
        self.check_version()
        if not self.is_output:
            return tensor
        unpacked = alias(tensor)
        unpacked._node, unpacked._output_nr = node, self.output_nr
        if STATE.level is not None:
            STATE.level.pass_on(tensor, unpacked)
        if STATE.transforms:
            extension_points.on_unpack(tensor, unpacked)
        return unpacked

    def check_version(self) -> None:
        """Refuse a tensor that was modified in place since it was saved."""
        if self.tensor._version_counter[0] != self.version:
            refuse_by("save/modified-refused", now=self.tensor._version_counter[0], then=self.version)

    def free(self) -> None:
        """Refuse to be unpacked from now on."""
        self.freed = True
        self.hooks = None

    def register_hooks(self, pack: Callable[[Tensor], Any], unpack: Callable[[Any], Tensor]) -> None:
        """Put hooks around this one saved variable, which may not have any yet."""
        if self.hooks is not None:
            refuse_by("saved_hooks/one-pair-each")
        if self.freed:
            refuse_by("saved_hooks/freed-takes-none")
        given = self.tensor if self.is_output else self.tensor.detach()
        if by("saved_hooks/on-one-saved-tensor"):
            self.hooks = SavedVariableHooks(self.tensor, self, given, pack, unpack)


class SavedVariableHooks:
    """The result of a pack hook, with all that is needed to make a tensor of it again."""

    __slots__ = ("accumulator", "node", "packed", "requires_grad", "unpack_hook")

    def __init__(
        self,
        tensor: Tensor,
        saved: SavedVariable,
        given: Tensor,
        pack: Callable[[Tensor], Any],
        unpack: Callable[[Any], Tensor],
    ) -> None:
        self.requires_grad = saved.is_leaf and tensor.requires_grad
        # A view that requires grad through its base alone has no accumulator, nor has its unpacked tensor.
        self.accumulator = grad_accumulator(tensor) if self.requires_grad and tensor._requires_grad else None
        self.node = None if saved.is_leaf or saved.is_output else tensor.grad_fn
        self.unpack_hook = unpack
        version = given._version_counter[0]
        extension_points.on_hook_call()
        with no_grad() if by("saved_hooks/pack-records-nothing") else nullcontext(), user_code():
            self.packed = pack(given)
        if given._version_counter[0] != version:
            refuse_by("saved_hooks/pack-in-place-refused")
        saved.tensor = alias(tensor)  # what the hook was given is the hook's to keep

    def unpack(self, node: Node, saved: SavedVariable) -> Tensor:
        """Return the result of the unpack hook, with the history, or the flag, of the saved tensor."""
        history = node if self.node is None and not saved.is_leaf else self.node
        by("saved_hooks/asked-each-time")
        extension_points.on_hook_call()
        with user_code():
            data = self.unpack_hook(self.packed)
        if not isinstance(data, Tensor):
            refuse_by("saved_hooks/unpack-gives-a-tensor", type=type(data).__name__)
        needs_history = history is not None or self.requires_grad or data.requires_grad
        if needs_history and by("saved_hooks/history-comes-back"):
            return self._with_history(data, history, saved.output_nr)
        return data

    def _with_history(self, data: Tensor, node: Node | None, output_nr: int) -> Tensor:
        if self.requires_grad and not dtypes.differentiable(data._array.dtype):
            refuse_by("requires_grad/float-or-complex-only", dtype=data.dtype)
        if data._inference and data._version_counter is not UNTRACKED:
            refuse_by("saved_hooks/unpack-gives-no-counter")
        unpacked = alias(data)
        if node is not None:
            unpacked._node, unpacked._output_nr = node, output_nr
        else:
            unpacked._requires_grad = self.requires_grad
            if self.accumulator is not None:
                unpacked._accumulator = weakref.ref(self.accumulator)
        return unpacked


class SavedNumber:
    """A Python number in place of a tensor; PyTorch wraps it into one, which is freed like any other.

    Only of a complex number does the tensor show: a formula takes its conjugate, a view that hooks are given.
    """

    __slots__ = ("freed", "number", "tensor", "wrapped")

    def __init__(self, number: Any, wrapped: bool) -> None:
        self.number = number
        self.wrapped = wrapped
        self.tensor = wrap(np.asarray(number)) if wrapped and isinstance(number, complex) else None
        if self.tensor is not None:
            self.tensor._storage = self.tensor._array  # on the CPU, whatever device the op runs on
        self.freed = False

    def free(self) -> None:
        """Refuse to be unpacked from now on."""
        self.freed = True

    def unpack(self, node: Node) -> Any:
        """Return the number, a complex one as a tensor; refuse that if it was modified."""
        if self.freed and self.wrapped:
            refuse_by("save/freed-refused")
        if self.tensor is None:
            return self.number
        if self.tensor._version_counter[0]:
            refuse_by("save/modified-refused", now=self.tensor._version_counter[0], then=0)
        return self.tensor
