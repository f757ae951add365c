"""A tensor's raw state, for the folders around core and fidelity: they name no private attribute of it.

Readers fire no rule and leave a stale view's history alone, where the public attributes (``grad_fn``,
``requires_grad``, ``grad``) may regenerate it, refuse or warn. Writers check nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.base.dtypes import NAME_BY_NUMPY
from reference_impl.base.rules import refuse_by
from reference_impl.core.tensor import Tensor
from reference_impl.core.views import base_requires_grad

if TYPE_CHECKING:
    from reference_impl.core.graph import Node
    from reference_impl.core.views import ViewOf


def array_of(x: Tensor) -> np.ndarray:
    """The elements."""
    return x._array


def share_memory(tensors: Iterable[Tensor]) -> bool:
    """Tell whether two of the tensors may show the same memory."""
    return any(np.may_share_memory(x._array, y._array) for x, y in combinations(tensors, 2))


def storage_of(x: Tensor) -> np.ndarray:
    """The array that owns the memory."""
    return x._storage


def node_of(x: Tensor) -> Node | None:
    """The history, as far as it is up to date."""
    return x._node


def view_of(x: Tensor) -> ViewOf | None:
    """The relation to the base, or None if the tensor is no differentiable view."""
    return x._view


def grad_of(x: Tensor) -> Tensor | None:
    """The accumulated gradient, read without the warning for non-leaves."""
    return x._grad


def flag_of(x: Tensor) -> bool:
    """The ``requires_grad`` flag as set by hand; False on results of ops."""
    return x._requires_grad


def is_inference(x: Tensor) -> bool:
    """Return True for a tensor made in inference mode."""
    return x._inference


def version_counter(x: Tensor) -> list[int]:
    """The version, in a list of one that views and detached aliases share."""
    return x._version_counter


def hooks_of(x: Tensor) -> Any:
    """The hooks of the present history, or None."""
    return x._hooks


def alias_type(x: Tensor) -> type[Tensor]:
    """The class of an alias of the tensor: `Tensor`, or ZeroTensor's."""
    return x._plain


def observed_state(x: Tensor) -> tuple[Any, ...]:
    """Everything that a tensor shows after each step, in one call: nothing is read more often."""
    return (
        x._array, x._view, x._retains, x._node, x._requires_grad, x._grad, x._output_nr, x._version_counter,
    )  # fmt: skip


def shown_history(x: Tensor) -> tuple[Node | None, int, bool]:
    """Read a view's ``grad_fn``, ``output_nr`` and ``requires_grad``, in this order; a stale view gets
    its new history from the first of them.
    """
    view = x._view
    node = view.history(x)
    needs = node is not None or x._requires_grad or (base_requires_grad(view.base) and x.requires_grad)
    return node, x._output_nr, needs


def raw_state(x: Tensor) -> tuple[tuple[int, ...], str, bool, bool]:
    """Shape, the name of the dtype, requires_grad and is_leaf; a stale view stays stale."""
    array = x._array
    if x._node is not None:
        return array.shape, NAME_BY_NUMPY[array.dtype], True, False
    flag = x._requires_grad
    if not flag and x._view is not None:
        flag = raw_state(x._view.base)[2]  # as the base does, or its base
    return array.shape, NAME_BY_NUMPY[array.dtype], flag, True


def memory_of(x: Tensor) -> tuple[np.ndarray, np.ndarray]:
    """The elements, and the array that owns their memory."""
    return x._array, x._storage


_SLOTS = [name for name in Tensor.__slots__ if not name.startswith("__")]


def set_flag(x: Tensor, flag: bool) -> None:
    """Set the ``requires_grad`` flag."""
    x._requires_grad = flag


def ask_for_grad(x: Tensor, flag: bool, how: str = "requires_grad_") -> Tensor:
    """Set the flag of a leaf as ``requires_grad_()`` does, also within a transform; refusals say ``how``."""
    if not isinstance(flag, bool):
        refuse_by("requires_grad/argument-must-be-bool", type=type(flag).__name__, case=how)
    x._set_flag(flag, how)
    return x


def set_gradient_edge(x: Tensor, node: Node | None, output_nr: int) -> None:
    """Make ``x`` the output of that number of ``node``, which knows its metadata already."""
    x._node, x._output_nr = node, output_nr


def make_output_of(x: Tensor, node: Node) -> None:
    """Make ``x`` the next output of ``node``."""
    x._node = node
    x._output_nr = node.add_output(x)


def set_memory(x: Tensor, array: np.ndarray, storage: np.ndarray) -> None:
    """Let ``x`` show ``array``, a window on the memory that ``storage`` owns."""
    x._array, x._storage = array, storage


def set_grad(x: Tensor, grad: Tensor | None) -> None:
    """Set the accumulated gradient."""
    x._grad = grad


def set_hooks(x: Tensor, hooks: Any) -> None:
    """Put ``hooks`` in place of those of the present history."""
    x._hooks = hooks


def share_hooks(x: Tensor, other: Tensor) -> None:
    """Give ``x`` the hooks of another tensor, those called after accumulation included."""
    x._hooks, x._post_hooks = other._hooks, other._post_hooks


def forget_accumulator(x: Tensor) -> None:
    """Let the leaf's next use begin with a new ``AccumulateGrad`` node."""
    x._accumulator = None


def written_state(x: Tensor) -> tuple[Any, ...]:
    """Return what a write to ``x`` changes, in it and in the tensor that it is a view of."""
    base = None if x._view is None else x._view.base
    history = None if base is None else (base._node, base._output_nr)
    return x._array.copy(), x._version_counter[0], x._node, x._output_nr, history


def restore_written(x: Tensor, state: tuple[Any, ...]) -> None:
    """Undo writes to ``x`` that were made after that state."""
    elements, version, x._node, x._output_nr, history = state
    x._array[...] = elements
    x._version_counter[0] = version
    if history is not None:
        base = x._view.base
        base._node, base._output_nr = history


def become(x: Tensor, other: Tensor) -> None:
    """Take over all of another tensor's state."""
    for name in _SLOTS:
        setattr(x, name, getattr(other, name))


def showing(tensor: Tensor, array: np.ndarray, memory_of: Tensor) -> Tensor:
    """Have a tensor show an array in the memory of another; returns it."""
    tensor._array, tensor._storage = array, memory_of._storage
    return tensor
