"""Functions whose results have as many elements as they find: those that are not zero, or distinct."""

from __future__ import annotations

from typing import Any

import numpy as np

from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap
from reference_impl.fidelity.batched import check_shape_known
from reference_impl.namespace.non_differentiable import tensor_of, underivable
from specs.errors import need_kernel
from specs.ops.helpers import axes_of, axis_of


def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of non-zero elements: one per row, or one tensor per dimension."""
    check_shape_known(x, "nonzero_numpy" if as_tuple else "nonzero")
    if as_tuple:
        return (x if x.ndim else x.detach().unsqueeze(0)).nonzero().unbind(1)
    return argwhere(x)


def argwhere(x: Tensor) -> Tensor:
    """The indices of non-zero elements, one per row. NB: within vmap their number may not differ."""
    where = np.nonzero(np.atleast_1d(array_of(x)))
    return wrap(np.array(np.stack(where, 1)[:, : x.ndim], np.int64, order="F"))  # as PyTorch lays them out


def count_nonzero(x: Tensor, dim: Any = None) -> Tensor:
    """The number of elements that are not zero."""
    given = () if dim is None else (dim,) if isinstance(dim, int) else dim
    count = np.count_nonzero(array_of(x), axes_of(given, x.ndim) if given else None)
    return tensor_of(np.asarray(count, np.int64, order="C"))


def unique(
    x: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """The sorted distinct elements; on request with the inverse indices and the counts."""
    check_shape_known(x, "_unique2" if dim is None else "unique_dim")
    dim = None if dim is None else axis_of(dim, x.ndim)
    array = array_of(x)
    need_kernel("unique", array, "c")
    distinct, inverse, counts = np.unique(array, return_inverse=True, return_counts=True, axis=dim)
    inverse = inverse.reshape(array.shape if dim is None else -1)
    if dim is not None:  # PyTorch brings the dimension to the front, and back
        distinct = np.moveaxis(np.ascontiguousarray(np.moveaxis(distinct, dim, 0)), 0, dim)
    node = ("_unique2", "Unique2Backward0") if dim is None else ("unique_dim", "UniqueDimBackward0")
    return _chosen(x, node, distinct, (return_inverse, inverse), (return_counts, counts))


def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The elements without consecutive duplicates; on request with the inverse indices and the counts."""
    check_shape_known(x, "unique_consecutive")
    dim = None if dim is None else axis_of(dim, x.ndim)
    array = array_of(x)
    need_kernel("unique", array, "c")
    rows = array.reshape(-1) if dim is None else np.moveaxis(array, dim, 0)
    differs = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
    first = np.concatenate([np.ones(min(len(rows), 1), bool), differs])
    counts = np.diff([*np.flatnonzero(first), len(rows)])
    distinct = rows[first] if dim is None else np.moveaxis(rows[first], 0, dim)
    inverse = (np.cumsum(first) - 1).reshape(array.shape if dim is None else -1)
    node = ("unique_consecutive", "UniqueConsecutiveBackward0")
    return _chosen(x, node, distinct, (return_inverse, inverse), (return_counts, counts))


def _chosen(x: Tensor, node: tuple[str, str], distinct: np.ndarray, *more: tuple[bool, np.ndarray]) -> Any:
    first = underivable(wrap(np.array(distinct, order="K")), x, *node)
    chosen = (tensor_of(array) for wanted, array in more if wanted)
    return (first, *chosen) if any(wanted for wanted, _ in more) else first


BOTH: dict[str, Any] = {
    "nonzero": nonzero, "argwhere": argwhere, "count_nonzero": count_nonzero, "unique": unique,
    "unique_consecutive": unique_consecutive,
}  # fmt: skip
"""Functions that are methods too, by name."""
