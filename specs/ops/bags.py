"""Rows of a table put together by bags of indices, which generated programs do not call.

PyTorch differentiates a bag once: its gradients have nodes that refuse.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.kind import Bool, Count, Indices, OptPosition, Reduction, Tensor
from specs.op import op

_FACTS: dict[str, Any] = {"internal": True, "dtypes": "keep", "wide": True, "exact": False, "ulp": 16}


# -- which rows are in which bag -------------------------------------------------------------------
def _bags(index: np.ndarray, offsets: np.ndarray, padding: int | None, last: bool) -> tuple[Any, Any, int]:
    """The indices that are in a bag, the bag of each, and the number of bags; padding is in none."""
    count = len(offsets) - last
    bags = np.searchsorted(offsets, np.arange(len(index)), side="right") - 1
    kept = (bags < count) & (index != (-1 if padding is None else padding))
    return kept, bags[kept], count


def _counts(bags: np.ndarray, count: int) -> np.ndarray:
    return np.maximum(np.bincount(bags, minlength=count), 1)


def largest(
    weight: np.ndarray, index: np.ndarray, offsets: np.ndarray, padding: int | None, last: bool
) -> np.ndarray:
    """For each bag and column the row with the largest element, the first of several; -1 for an empty bag."""
    kept, bags, count = _bags(index, offsets, padding, last)
    found = np.full((count, weight.shape[1]), -1)
    for bag, row in zip(bags, index[kept], strict=True):
        better = (found[bag] < 0) | (weight[row] > weight[found[bag], np.arange(weight.shape[1])])
        found[bag][better] = row
    return found


def _put_together(weight: np.ndarray, index: np.ndarray, offsets: np.ndarray, scale: Any, **how: Any) -> Any:
    mode, padding, last = how["mode"], how["padding"], how["last"]
    if mode == "max":
        rows = how["rows"]
        return np.where(rows < 0, 0, np.take_along_axis(weight, np.maximum(rows, 0), 0)).astype(weight.dtype)
    kept, bags, count = _bags(index, offsets, padding, last)
    out = np.zeros((count, weight.shape[1]), weight.dtype)
    np.add.at(out, bags, weight[index[kept]] * (1 if scale is None else scale[kept][:, None]))
    return (out / _counts(bags, count)[:, None]).astype(weight.dtype) if mode == "mean" else out


def _shared_out(g: np.ndarray, index: np.ndarray, offsets: np.ndarray, scale: Any, **how: Any) -> Any:
    """The gradient of the table, of that of the bags."""
    out = np.zeros((how["count"], g.shape[1]), g.dtype)
    if how["mode"] == "max":
        bag, column = np.nonzero(how["rows"] >= 0)
        np.add.at(out, (how["rows"][bag, column], column), g[bag, column])
        return out
    kept, bags, count = _bags(index, offsets, how["padding"], how["last"])
    if how["mode"] == "mean":
        g = (g / _counts(bags, count)[:, None]).astype(g.dtype)
    np.add.at(out, index[kept], g[bags] * (1 if scale is None else scale[kept][:, None]))
    return out


# -- the ops ---------------------------------------------------------------------------------------
@op(node="EmbeddingBagBackward0", torch_names={"index": "indices"}, **_FACTS)
def _embedding_bag(
    weight: Tensor, index: Indices, offsets: Indices, rows: Indices, *,
    mode: Reduction, padding: OptPosition, last: Bool,
) -> Any:  # fmt: skip
    """The sum, mean or maximum of the rows of each bag; ``rows`` are those of the maxima."""
    return _put_together(weight, index, offsets, None, mode=mode, padding=padding, last=last, rows=rows)


@op(node="EmbeddingBagBackward0", torch_names={"index": "indices", "scale": "per_sample_weights"}, **_FACTS)
def _weighted_embedding_bag(
    weight: Tensor, index: Indices, offsets: Indices, scale: Tensor, *, padding: OptPosition, last: Bool
) -> Any:
    """The sum of the rows of each bag, each times its factor."""
    return _put_together(weight, index, offsets, scale, mode="sum", padding=padding, last=last)


@op(node="EmbeddingBagBackwardBackward0", **_FACTS)
def _embedding_bag_backward(
    dy: Tensor, index: Indices, offsets: Indices, rows: Indices, *,
    mode: Reduction, padding: OptPosition, last: Bool, count: Count,
) -> Any:  # fmt: skip
    """The gradient of the table."""
    how = {"mode": mode, "padding": padding, "last": last, "rows": rows, "count": count}
    return _shared_out(dy, index, offsets, None, **how)


@op(node="EmbeddingBagBackwardBackward0", **_FACTS)
def _weighted_embedding_bag_backward(
    dy: Tensor, index: Indices, offsets: Indices, scale: Tensor, *,
    padding: OptPosition, last: Bool, count: Count,
) -> Any:  # fmt: skip
    """The gradient of the table whose rows were scaled."""
    return _shared_out(dy, index, offsets, scale, mode="sum", padding=padding, last=last, count=count)


@op(node="torch::autograd::NotImplemented", **_FACTS)
def _embedding_bag_scale_backward(
    dy: Tensor, weight: Tensor, index: Indices, offsets: Indices, *, padding: OptPosition, last: Bool
) -> Any:
    """The gradient of the factors; that of padding is zero."""
    kept, bags, _ = _bags(index, offsets, padding, last)
    out = np.zeros(index.shape, dy.dtype)
    out[kept] = np.sum(dy[bags] * weight[index[kept]], 1)
    return out


# -- gradients -------------------------------------------------------------------------------------
_embedding_bag.wrt(
    weight=lambda g, weight_shape, index, offsets, rows, mode, padding, last: g._embedding_bag_backward(
        index, offsets, rows, mode=mode, padding=padding, last=last, count=weight_shape[0]
    )
)
_weighted_embedding_bag.wrt(
    weight=lambda g, weight_shape, index, offsets, scale, padding, last: g._weighted_embedding_bag_backward(
        index, offsets, scale, padding=padding, last=last, count=weight_shape[0]
    ),
    scale=lambda g, weight, index, offsets, padding, last: g._embedding_bag_scale_backward(
        weight, index, offsets, padding=padding, last=last
    ),
)


def _refuse_table(g: Any) -> Any:
    raise NotImplementedError("the derivative for '_embedding_bag_backward' is not implemented.")


def _refuse_factors(g: Any) -> Any:
    raise RuntimeError("derivative for aten::_embedding_bag_per_sample_weights_backward is not implemented")


_embedding_bag_backward.wrt(dy=_refuse_table)
_weighted_embedding_bag_backward.wrt(dy=_refuse_table, scale=_refuse_table)
_embedding_bag_scale_backward.wrt(dy=_refuse_factors, weight=_refuse_factors)
