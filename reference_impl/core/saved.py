"""What is kept for backward: snapshots of tensors, and the hooks that users put around keeping them.

What keeps them, and when they are asked for, is the business of the nodes.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from reference_impl.base import dtypes
from reference_impl.base.modes import no_grad
from reference_impl.base.rules import by, refuse_by
from reference_impl.base.session import STATE
from reference_impl.base.version_counter import UNTRACKED
from reference_impl.core.graph import Node, alias, grad_accumulator
from reference_impl.core.tensor import Tensor


class SavedVariable:
    """A snapshot of a tensor at a certain version, kept for a node's formulas.

    An operand is kept as it is; an output as an alias, and gets its history back from the node that asks.
    """

    __slots__ = ("freed", "is_leaf", "is_output", "nr", "packed", "tensor", "version", "written_view")

    def __init__(self, tensor: Tensor, is_output: bool = False, written_view: bool = False) -> None:
        if tensor._inference:
            refuse_by("inference/not-saved")
        self.version = tensor._version_counter[0]
        self.is_leaf = tensor._node is None
        self.is_output = is_output
        self.nr = tensor._output_nr
        self.written_view = weakref.ref(tensor.grad_fn) if written_view else None
        self.tensor = alias(tensor) if is_output else tensor
        # NB: torch lets go of the memory; here only the permission to use it ends.
        self.freed = False
        self.packed: SavedVariableHooks | None = None
        if STATE.saved_tensors_hooks and by("saved_hooks/pack-and-unpack"):
            pack, unpack = STATE.saved_tensors_hooks[-1 if by("saved_hooks/innermost-alone") else 0]
            self.packed = SavedVariableHooks(tensor, self, pack, unpack)

    def unpack(self, node: Node, or_detached: bool = False) -> Tensor:
        """The tensor, if it is still there and still what it was (or lost its history since, if that is
        allowed).
        """
        tensor = self.tensor
        if self.freed:
            refuse_by("save/freed-refused")
        if self.packed is not None:
            if tensor._version_counter[0] != self.version and not by("saved_hooks/packed-has-no-version"):
                refuse_by("save/modified-refused", now=tensor._version_counter[0], then=self.version)
            written = None if self.written_view is None else self.written_view()
            return self.packed.unpack(written or node, self)
        # What is kept as it was is first asked for its history, which a stale view makes anew or refuses.
        history = tensor._node if self.is_output else tensor.grad_fn
        if history is None and not (self.is_output or self.is_leaf or or_detached):
            refuse_by("save/detached-refused")
        if tensor._version_counter[0] != self.version:
            refuse_by("save/modified-refused", now=tensor._version_counter[0], then=self.version)
        if not self.is_output:
            return tensor
        unpacked = alias(tensor)
        written = None if self.written_view is None else self.written_view()
        unpacked._node, unpacked._output_nr = written or node, self.nr
        return unpacked

    def free(self) -> None:
        """Let nobody have it any more."""
        self.freed = True
        self.packed = None

    def register_hooks(self, pack: Callable[[Tensor], Any], unpack: Callable[[Any], Tensor]) -> None:
        """Put hooks around this one saved tensor; refused where there are some, or it is gone."""
        if self.packed is not None:
            refuse_by("saved_hooks/one-pair-each")
        if self.freed:
            refuse_by("saved_hooks/freed-takes-none")
        given = self.tensor if self.is_output else self.tensor.detach()
        if by("saved_hooks/on-one-saved-tensor"):
            self.packed = SavedVariableHooks(self.tensor, self, pack, unpack, given)


class _OfSaved(type):
    """What counts as a saved tensor: every snapshot."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, SavedVariable)


class SavedTensor(metaclass=_OfSaved):
    """PyTorch's name of a snapshot, which nobody makes by hand."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden")


class SavedVariableHooks:
    """What a pack hook made of a saved tensor, and what is needed to make the tensor of it again."""

    __slots__ = ("accumulator", "data", "held", "node", "requires_grad", "unpack_hook")

    def __init__(
        self,
        tensor: Tensor,
        saved: SavedVariable,
        pack: Callable[[Tensor], Any],
        unpack: Callable[[Any], Tensor],
        given: Tensor | None = None,
    ) -> None:
        self.requires_grad = saved.is_leaf and tensor.requires_grad
        # A view that requires grad through its base alone has none, nor has what unpack gives of it.
        self.accumulator = grad_accumulator(tensor) if self.requires_grad and tensor._requires_grad else None
        self.node = None if saved.is_leaf or saved.is_output else tensor.grad_fn
        self.unpack_hook = unpack
        given = tensor if given is None else given
        version = given._version_counter[0]
        with no_grad() if by("saved_hooks/pack-records-nothing") else nullcontext():
            self.held = pack(given)
        if given._version_counter[0] != version:
            refuse_by("saved_hooks/pack-in-place-refused")
        self.data: Any = None  # what unpack gave, if it is asked once only
        saved.tensor = alias(tensor)  # what was given is the hook's to keep

    def unpack(self, asking: Node, saved: SavedVariable) -> Tensor:
        """What the unpack hook gives, with the history, or the flag, of what was saved."""
        node = self.node
        if node is None and not saved.is_leaf:
            node = asking
        if by("saved_hooks/asked-each-time"):
            data = self.unpack_hook(self.held)
        else:
            data = self.data = self.unpack_hook(self.held) if self.data is None else self.data
        if not isinstance(data, Tensor):
            refuse_by("saved_hooks/unpack-gives-a-tensor", type=type(data).__name__)
        if node is None and not self.requires_grad and not data.requires_grad:
            return data
        if not by("saved_hooks/history-comes-back"):
            return data
        if node is None and self.requires_grad and not dtypes.differentiable(data._array.dtype):
            refuse_by("requires_grad/float-or-complex-only", dtype=data.dtype)
        if data._inference and data._version_counter is not UNTRACKED:
            refuse_by("saved_hooks/unpack-gives-no-counter")
        unpacked = alias(data)
        if node is not None:
            unpacked._node, unpacked._output_nr = node, saved.nr
        else:
            unpacked._requires_grad = self.requires_grad
            if self.accumulator is not None:
                unpacked._accumulator = weakref.ref(self.accumulator)
        return unpacked


class SavedNumber:
    """A Python number standing where a tensor may: PyTorch wraps it into one, which is freed like any
    other.
    """

    __slots__ = ("freed", "number", "wrapped")

    def __init__(self, number: Any, wrapped: bool) -> None:
        self.number = number
        self.wrapped = wrapped
        self.freed = False

    def free(self) -> None:
        """Let nobody have it any more."""
        self.freed = True

    def unpack(self, node: Node) -> Any:
        if self.freed and self.wrapped:
            refuse_by("save/freed-refused")
        return self.number
