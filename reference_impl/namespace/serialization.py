"""``copy.deepcopy``, pickle, ``save`` and ``load``."""

from __future__ import annotations

import copy
import pickle
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from reference_impl.base.device import find_device, making_on, place_of
from reference_impl.base.rules import by, refuse_by
from reference_impl.core.access import (
    array_of,
    grad_of,
    is_inference,
    set_flag,
    set_memory,
    share_hooks,
    storage_of,
)
from reference_impl.core.inplace import bump
from reference_impl.core.tensor import Tensor, wrap


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """Copy a leaf with its flag and grad; tensors that share memory share it among the copies too."""
    if self.grad_fn is not None:
        refuse_by("copy/deepcopy-of-a-result-refused")
    if id(self) not in memo:
        own = storage_of(self)
        storage = memo.get(id(own))
        if storage is None:
            storage = memo[id(own)] = own.copy(order="K")
        copied = wrap(_same_window(array_of(self), own, storage))
        set_memory(copied, array_of(copied), storage)
        memo[id(self)] = copied
        if not is_inference(copied) and by("copy/deepcopy-counts-one"):
            bump(copied)
        set_flag(copied, self.requires_grad)
        if by("copy/deepcopy-takes-the-grad-along"):
            grad = copy.deepcopy(grad_of(self), memo)
            if grad is not None:
                copied.grad = grad  # what the copy's own `grad_dtype` would refuse is refused
        if not by("copy/deepcopy-drops-hooks"):
            share_hooks(copied, self)
    return memo[id(self)]


def _same_window(array: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The window of ``array`` on ``old``, taken on ``new``."""
    if array is old:
        return new
    if new.strides != old.strides:
        return array.copy(order="K")  # the old memory had gaps, which the copy lacks
    if not array.size:  # numpy may let an empty array begin anywhere
        return as_strided(new, array.shape, array.strides)
    offset = array.__array_interface__["data"][0] - old.__array_interface__["data"][0]
    return np.ndarray(array.shape, array.dtype, new, offset, array.strides)


def _reduced(self: Tensor, protocol: Any) -> Any:
    """Pickle elements, flag and device; ``copy.copy`` comes this way too, as in PyTorch."""
    return _rebuilt, (array_of(self), self.requires_grad, str(place_of(self)))


def _rebuilt(array: np.ndarray, requires_grad: bool, place: str) -> Tensor:
    with making_on(find_device(place)):
        out = wrap(array)
    if not is_inference(out) and by("copy/pickle-counts-one"):
        bump(out)
    if by("copy/pickle-keeps-the-flag"):
        set_flag(out, requires_grad)
    return out


def save(obj: Any, f: Any) -> None:
    """Pickle ``obj`` to a path or an open file.

    NB: the format is pickle's, not PyTorch's.
    """
    with _opened(f, "wb") as file:
        pickle.dump(obj, file)


def load(f: Any, map_location: Any = None, *, weights_only: bool = True, **_: Any) -> Any:
    """Load what `save` wrote.

    Unpickling runs code: load only from sources that you trust, whatever ``weights_only`` says.
    """
    with _opened(f, "rb") as file:
        return pickle.load(file)


def _opened(f: Any, mode: str) -> AbstractContextManager[Any]:
    return Path(f).open(mode) if isinstance(f, (str, Path)) else nullcontext(f)


METHODS: dict[str, Any] = {"__deepcopy__": _deepcopy, "__reduce_ex__": _reduced}
"""Methods by name."""
