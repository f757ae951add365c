"""The sum of gradients that reach a node by several paths: its layout, its dtype, and the memory it is in."""

from __future__ import annotations

import numpy as np

from reference_impl.base.device import ambient_for
from reference_impl.base.quietly import quietly
from reference_impl.base.rules import by
from reference_impl.base.session import STATE
from reference_impl.core.extension_points import fill
from reference_impl.core.input_buffer import InputBuffer
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.grad_stealing import storage_is_unique, use_count
from reference_impl.fidelity.zero_tensor import ZeroTensor
from specs.layout import as_torch_lays_out
from specs.memory import dense


@fill
def accumulate(buffer: InputBuffer, nr: int, g: Tensor) -> None:
    """Add a gradient to another in an input buffer."""
    if STATE.enabled or not _dtypes_differ(buffer[nr], g):
        buffer[nr] = _sum(buffer[nr], g)
    elif use_count(buffer) == 1 and _can_be_written(buffer[nr]) and by("grad/sums-into-the-first"):
        buffer[nr].add_(g)  # type: ignore[union-attr]
    else:
        buffer[nr] = buffer[nr].add(g)  # type: ignore[union-attr]


def _dtypes_differ(x: Tensor | None, y: Tensor) -> bool:
    """Return whether two gradients differ in dtype: a leaf whose ``grad_dtype`` is None takes any."""
    assert x is not None
    return x._array.dtype is not y._array.dtype


def _can_be_written(x: Tensor | None) -> bool:
    """Return whether it has memory, and no other tensor would change with this one."""
    assert x is not None
    return type(x) is not ZeroTensor and storage_is_unique(x) and x._view is None and dense(x._array)


def _sum(old: Tensor | None, new: Tensor) -> Tensor:
    """Return the sum, laid out as PyTorch does."""
    assert old is not None
    # Complex numbers that are not finite are not simply added, see the op.
    if STATE.enabled or old._array.dtype.kind == "c" or ZeroTensor in (type(old), type(new)):
        return old.add(new)
    both = (old._array, new._array)
    if STATE.devices:
        STATE.place = ambient_for(old)
    return wrap(as_torch_lays_out(np.asarray((np.add if STATE.silent else _added)(*both)), both))


@quietly
def _added(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.add(x, y)
