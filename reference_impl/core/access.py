"""A tensor's raw state, for the folders around core and fidelity: they name no private attribute of it.

Readers fire no rule and leave a stale view's history alone, where the public attributes (``grad_fn``,
``requires_grad``, ``grad``) may regenerate it, refuse or warn. Writers check nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from reference_impl.core.tensor import Tensor

if TYPE_CHECKING:
    from reference_impl.core.graph import Node
    from reference_impl.core.views import ViewOf

array_of: Callable[[Tensor], np.ndarray] = attrgetter("_array")
"""The elements."""

storage_of: Callable[[Tensor], np.ndarray] = attrgetter("_storage")
"""The array that owns the memory."""

node_of: Callable[[Tensor], Node | None] = attrgetter("_node")
"""The history, as far as it is up to date."""

view_of: Callable[[Tensor], ViewOf | None] = attrgetter("_view")
"""The tensor's relation to its base, or None if it is no differentiable view."""

grad_of: Callable[[Tensor], Tensor | None] = attrgetter("_grad")
"""The accumulated gradient, read without the warning for non-leaves."""

flag_of: Callable[[Tensor], bool] = attrgetter("_requires_grad")
"""The ``requires_grad`` flag as set by hand; False on results of ops."""

is_inference: Callable[[Tensor], bool] = attrgetter("_inference")
"""True for a tensor made in inference mode."""

version_counter: Callable[[Tensor], list[int]] = attrgetter("_version_counter")
"""The version, in a list of one that views and detached aliases share."""

alias_type: Callable[[Tensor], type[Tensor]] = attrgetter("_plain")
"""The class of an alias of the tensor: `Tensor`, or ZeroTensor's."""

hooks_of: Callable[[Tensor], Any] = attrgetter("_hooks")
"""The hooks of the present history, or None."""

observed_state: Callable[[Tensor], tuple[Any, ...]] = attrgetter(
    "_array", "_view", "_retains", "_node", "_requires_grad", "_grad", "_output_nr", "_version_counter"
)
"""What a tensor shows after each step, in one call: it is read of every tensor."""

_SLOTS = [name for name in Tensor.__slots__ if not name.startswith("__")]


def set_flag(x: Tensor, flag: bool) -> None:
    """Set the ``requires_grad`` flag."""
    x._requires_grad = flag


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


def become(x: Tensor, other: Tensor) -> None:
    """Take over all of another tensor's state."""
    for name in _SLOTS:
        setattr(x, name, getattr(other, name))
