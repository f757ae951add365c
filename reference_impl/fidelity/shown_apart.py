"""Views with memory of their own: conjugates, which PyTorch computes only when they are read.

Both arrays show one memory: after a write to either the other is computed anew.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reference_impl.base.device import on, place_of
from reference_impl.base.session import STATE
from reference_impl.core.apply import call_view
from reference_impl.core.kernel import Kernel
from reference_impl.core.views import geometry_of
from specs.op import Op


def runner_for(op: Op) -> Callable[..., Any] | None:
    """The function that runs an op whose view has memory of its own, or None."""
    return _call if op.shown_apart else None


def _call(kernel: Kernel, operands: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
    out = call_view(kernel, operands, attributes)
    source, made = operands[0], out._array
    out._storage = made if STATE.place is None else on(place_of(source), made)
    pairs, key = STATE.shown_apart, id(made)
    pairs[key] = source._array, weakref.ref(made, lambda _: pairs.pop(key, None)), source._storage
    if out._view is not None:
        before = source._view
        steps = () if before is None else before.replay or (geometry_of(source),)
        out._view.replay = (*steps, kernel.op.name)
    return out


def spread(written: np.ndarray) -> None:
    """Show a write to ``written`` in each array that shows the same memory."""
    pairs = [*STATE.shown_apart.values()]  # the collector may drop some of them meanwhile
    waiting = [(source, made) for source, kept, _ in pairs if (made := kept()) is not None]
    changed = [written]
    while changed:
        at, left = changed.pop(), []
        for source, made in waiting:
            if np.may_share_memory(at, made):
                np.conjugate(made, out=source)
                changed.append(source)
            elif np.may_share_memory(at, source):
                np.conjugate(source, out=made)
                changed.append(made)
            else:
                left.append((source, made))
        waiting = left


def memory_shown(storage: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the memory that PyTorch shows where this one lies apart, and how many bytes in it begins."""
    offset = 0
    while (pair := STATE.shown_apart.get(id(storage))) is not None and pair[1]() is storage:
        source, _, storage = pair
        offset += source.ctypes.data - storage.ctypes.data
    return storage, offset
