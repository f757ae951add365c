"""Extension points: functions through which the core asks about what its plain account leaves out.

Each function here is the core's own answer. `fidelity` puts another in its place with `fill`, to imitate
the rarer conduct of PyTorch. Call them through the module (``extension_points.on_failure(...)``); never
import one by name, which would miss the replacement. `core_alone` undoes the replacements for a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from reference_impl.base.not_modelled import NotModelled

F = TypeVar("F", bound=Callable[..., Any])

# -- making tensors ---------------------------------------------------------------------------------


def construct(*given: Any, **named: Any) -> Any:
    """Return a tensor as PyTorch's old constructor makes it of sizes, or of a sequence."""
    raise TypeError("Tensor() takes no arguments")


# -- gradients -------------------------------------------------------------------------------------


def input_metadata(tensor: Any) -> Any:
    """Return the metadata of the gradients of ``tensor``: a tuple of shape and dtype."""
    return tensor._array.shape, tensor._array.dtype


def grad_dtype(dtype: Any, got: np.dtype) -> np.dtype:
    """Return the dtype that a gradient of dtype ``got`` is cast to where metadata says ``dtype``."""
    return dtype


def match_device(g: Any, metadata: Any) -> Any:
    """Return a gradient on the device of its metadata."""
    return g


def can_steal(grads: list[Any], leaf: Any, num_expected_refs: int) -> bool:
    """Return whether the first gradient may itself become the ``grad`` of a leaf that has none."""
    return False


def clone_obey_contract(g: Any, leaf: Any) -> Any:
    """Return a copy of a gradient that is laid out as the ``grad`` of ``leaf``."""
    return g.new_empty(g.shape).copy_(g)


def on_accumulated(leaf: Any) -> None:
    """Note that a gradient was added to the ``grad`` of ``leaf``."""


def accumulate(buffer: list[Any], nr: int, g: Any) -> None:
    """Add a gradient to another in an input buffer."""
    buffer[nr] = buffer[nr].add(g)


# -- the course of a backward ----------------------------------------------------------------------


def on_evaluate(node: Any, task: Any) -> None:
    """Note that gradients for a node are there, and that it may run."""


def on_apply(node: Any) -> None:
    """Note that a node runs now, after its hooks."""


def on_arrival(task: Any, node: Any, target: Any, g: Any, total: Any, last: bool) -> None:
    """Note that ``node`` gave ``target`` a gradient ``g``, which makes ``total`` there; ``last``: that it
    waits for no other.
    """


def on_hook_call() -> None:
    """Note that the running node calls a hook."""


def on_failure(task: Any) -> None:
    """Note that a backward raised; may raise `Unspecified` instead."""


# -- running ops -----------------------------------------------------------------------------------


def runner_for(op: Any, types: tuple[type, ...]) -> Callable[..., Any] | None:
    """Choose the function that runs an op on operands of these types; None leaves the choice to the core."""
    return None


def plan_with_out(name: str, planned: Callable[..., Any], count: int, names: tuple[str, ...]) -> Any:
    """Plan a call with an ``out=``: ``count`` positional arguments, and keywords of these names."""
    raise NotModelled(f"torch.{name}(out=...)")


def run_on_devices(execute: Callable[..., Any], kernel: Any, operands: Any, attributes: Any) -> Any:
    """Run an op while there is memory of a device other than the CPU."""
    return execute(kernel, operands, attributes)


def write(plain: Callable[..., None], kernel: Any, operands: Any, attributes: Any) -> None:
    """Compute an in-place op and store its result in operand 0, as ``plain`` does."""
    plain(kernel, operands, attributes)


def offset_of_window(tensor: Any, size: Any, stride: Any, offset: int | None) -> int:
    """The offset in the storage at which a window of that geometry starts; may refuse it."""
    found: int = tensor.storage_offset() if offset is None else offset
    return found


def check_covered(geometry: Any, base: Any) -> None:
    """Note that a gradient is read through a strided geometry whose base has that other one."""


# -- tensors ---------------------------------------------------------------------------------------


def zero_gradient(like: Any) -> Any:
    """The zeros that a formula gives for a gradient that is zero everywhere."""
    return like.new_zeros(tuple(like.shape))


def on_unpack(saved: Any, unpacked: Any) -> None:
    """A saved result is unpacked within a transform."""


def on_data(tensor: Any, new: Any) -> None:
    """Note that a tensor's data is about to be assigned within a transform; may refuse."""


def on_read(tensor: Any, how: str = "tolist") -> None:
    """Note that Python is about to read elements, for tolist, deepcopy or pickle (``how``); may refuse."""


def on_numpy(tensor: Any) -> None:
    """Note that numpy is about to share a tensor's memory; may refuse."""


# -- the rest is machinery -------------------------------------------------------------------------

_filled: dict[str, Callable[..., Any]] = {}
on_switch: list[Callable[[], object]] = []
"""Functions that forget what was chosen by an extension point, called when the core is left alone or not."""


def fill(function: F) -> F:
    """Put ``function`` in place of the extension point of its name."""
    name = function.__name__
    if name not in _DEFAULTS:
        raise TypeError(f"the core has no extension point {name!r}")
    present = filled(name)
    _filled[name] = function
    if globals()[name] is present:  # else the core is alone at the moment
        globals()[name] = function
    return function


def filled(name: str) -> Callable[..., Any]:
    """Return the function in the place of an extension point, also while the core is alone."""
    return _filled.get(name, _DEFAULTS[name])


@contextmanager
def core_alone() -> Iterator[None]:
    """Run the block on the core alone: every extension point at its default."""
    _switch(_DEFAULTS)
    try:
        yield
    finally:
        _switch(_filled)


def _switch(functions: dict[str, Callable[..., Any]]) -> None:
    globals().update(functions)
    for forget in on_switch:
        forget()


_DEFAULTS = {
    name: value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__
    and name not in ("fill", "filled", "core_alone", "_switch")
}
