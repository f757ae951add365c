"""Counts of elements in bins, and the bins that elements belong to; without derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reference_impl.base import dtypes
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor
from reference_impl.fidelity.batched import marking
from reference_impl.namespace.meeting import meeting
from reference_impl.namespace.non_differentiable import tensor_of, underivable
from specs.dtype_names import scalar_type
from specs.errors import need_kernel


def _array(x: Any) -> Any:
    return array_of(x) if isinstance(x, Tensor) else x


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """Count each non-negative integer, or sum the weights that stand beside it."""
    need_kernel("bincount", array_of(x), "bfcV")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if x.ndim != 1 or (array_of(x) < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights.shape != x.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    counted = np.bincount(array_of(x), _array(weights), minlength)
    if not isinstance(weights, Tensor):
        return tensor_of(counted)
    given = array_of(weights).dtype
    kept = given if given == np.float32 else counted.dtype
    return underivable(tensor_of(counted.astype(kept)), weights, "bincount")


def _need_side(right: bool, side: str | None) -> None:
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right "
            "was True"
        )


@marking
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, right: bool = False, side: str | None = None,
    sorter: Tensor | None = None, out_int32: bool = False,
) -> Tensor:  # fmt: skip
    """The insertion indices of elements in a sorted vector, or in that of each row."""
    order = array_of(sorted_sequence)
    _need_side(right, side)
    if not order.ndim:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if sorter is not None:
        if sorter.shape != sorted_sequence.shape:
            raise RuntimeError(
                "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
                f"{list(order.shape)}and got sorter tensor {list(sorter.shape)}"
            )
        if sorter.dtype is not dtypes.int64:
            raise RuntimeError(
                "torch.searchsorted(): sorter must be a tensor of long dtype but got dtype "
                f"{scalar_type(sorter)}"
            )
        order = np.take_along_axis(order, array_of(sorter), -1)
    at: Any = "right" if right or side == "right" else "left"
    wanted, kind = _array(input), np.int32 if out_int32 else np.int64
    if np.size(wanted):
        need_kernel("searchsorted_out", np.result_type(order, wanted), "bc")
    if order.ndim == 1:
        return tensor_of(np.searchsorted(order, wanted, at).astype(kind))
    if order.shape[:-1] != wanted.shape[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
            f"boundaries tensor and input value tensor must match, but we got boundaries tensor "
            f"{list(order.shape)} and input value tensor {list(wanted.shape)}"
        )
    count = math.prod(order.shape[:-1])
    lines = (x.reshape(count, x.shape[-1]) for x in (order, wanted))
    found = [np.searchsorted(line, row, at) for line, row in zip(*lines, strict=True)]
    return tensor_of(np.array(found, kind).reshape(wanted.shape))


@marking
def bucketize(input: Any, boundaries: Tensor, *, right: bool = False, out_int32: bool = False) -> Tensor:
    """The index of the bucket of each element, between sorted boundaries."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, input, right=right, out_int32=out_int32)


def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count elements in equal-width bins; elements outside the bins are ignored."""
    array = array_of(x)
    need_kernel("histogram", array, "biuc")
    if bins < 1:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    ends = (float(array.min()), float(array.max())) if min == max == 0 and array.size else (min, max)
    if ends[0] > ends[1]:
        raise RuntimeError("torch.histc: max must be larger than min")
    if not np.isfinite(ends).all():
        raise RuntimeError(f"torch.histc: range of [{ends[0]:g}, {ends[1]:g}] is not finite")
    return tensor_of(np.histogram(array, bins, ends)[0].astype(array.dtype))


BOTH: dict[str, Any] = {"bincount": meeting(bincount), "histc": histc}
"""Functions that are methods too, by name."""

FUNCTIONS: dict[str, Any] = {"searchsorted": meeting(searchsorted), "bucketize": meeting(bucketize)}
"""Functions that are not methods, by name."""
