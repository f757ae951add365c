"""Indexing by function: ``index_put``, ``put``, and parts of a tensor replaced."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from reference_impl.base.rules import hold_back
from reference_impl.base.session import STATE
from reference_impl.core.tensor import Tensor, wrap


def _places(name: str, x: Tensor, indices: Sequence[Any]) -> dict[int, Tensor]:
    """The index tensors by their places; a mask takes as many dimensions as it has."""
    if not isinstance(indices, (tuple, list)):
        raise TypeError(
            f"{name}(): argument 'indices' (position 1) must be tuple of Tensors, not "
            f"{type(indices).__name__}"
        )
    found: dict[int, Tensor] = {}
    at = 0
    for index in indices:
        if not isinstance(index, Tensor):
            raise TypeError(
                f"expected Tensor as element {len(found)} in argument 0, but got {type(index).__name__}"
            )
        found[at] = index
        at += index.ndim if index.dtype.numpy.kind == "b" else 1
    if not found and x.ndim:
        found[0] = wrap(np.arange(x.shape[0]))
    return found


def index_put(x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """``x`` with values put, or added, at the places that indices name together."""
    given = _places("index_put", x, indices)
    return x._index_put(values, *given.values(), places=tuple(given), accumulate=accumulate)


def index_put_(x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False) -> Tensor:
    """Put values, or add them, at the places that indices name together."""
    given = _places("index_put_", x, indices)
    return x._index_put_(values, *given.values(), places=tuple(given), accumulate=accumulate)


def filling(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let ``index_fill`` take a tensor of one element, which may require grad."""

    @functools.wraps(function)
    def fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
        if not isinstance(value, Tensor):
            return function(x, dim, index, value)
        if value.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value.ndim} dimension(s)."
            )
        written = function.__name__.endswith("_")
        fill_by = x._index_fill_tensor_ if written else x._index_fill_tensor
        return fill_by(index, value, dim=dim)

    return fill


def reducing(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let ``scatter`` warn, once, that a tensor is better reduced by ``scatter_reduce``."""

    @functools.wraps(function)
    def scatter(*given: Any, **named: Any) -> Tensor:
        of_tensor = "reduce" in named and isinstance(named.get("src", given[-1]), Tensor)
        if of_tensor and (STATE.warn_always or _OLDER not in STATE.warned):
            STATE.warned.add(_OLDER)
            hold_back(functools.partial(warnings.warn, _OLDER, UserWarning, stacklevel=4))
        return function(*given, **named)

    return scatter


_OLDER = (
    "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future "
    "PyTorch release. Use torch.scatter_reduce instead for more reduction options."
)

BOTH: dict[str, Any] = {"index_put": index_put, "index_put_": index_put_}
"""Functions that are methods too, by name."""
