"""``torch.nn.functional.embedding_bag``, which `functional` has: its checks, and the op behind them."""

from __future__ import annotations

import numpy as np

from reference_impl.base.not_modelled import NotModelled, refuse_unless_default
from reference_impl.core.access import array_of
from reference_impl.core.tensor import Tensor, wrap_beside
from specs.ops.bags import largest


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Put together the rows of each bag of indices, by their sum, mean or maximum."""
    _need_shapes(input, weight, per_sample_weights)
    if input.ndim == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}"
            )
        starts = np.arange(0, input.numel(), input.shape[1], dtype=array_of(input).dtype)
        offsets, include_last_offset = wrap_beside(input, starts), False
        input = input.reshape(-1)
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    elif offsets.ndim != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    _need_mode(mode, sparse, scale_grad_by_freq, per_sample_weights)
    given = {"max_norm": max_norm, "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    defaults = {"max_norm": None, "scale_grad_by_freq": False, "sparse": False}
    refuse_unless_default("nn.functional.embedding_bag", given, **defaults)
    padding = _padding(padding_idx, len(array_of(weight)))
    _need_dtypes(input, offsets, weight, per_sample_weights)
    _need_range(array_of(input), array_of(offsets), len(array_of(weight)), include_last_offset)
    how = {"padding": padding, "last": include_last_offset}
    if per_sample_weights is not None:
        return weight._weighted_embedding_bag(input, offsets, per_sample_weights, **how)
    rows = np.zeros((0, 0), np.int64)
    if mode == "max":
        rows = largest(array_of(weight), array_of(input), array_of(offsets), padding, include_last_offset)
    return weight._embedding_bag(input, offsets, wrap_beside(input, rows), mode=mode, **how)


def _need_shapes(input: Tensor, weight: Tensor, factors: Tensor | None) -> None:
    if factors is not None and input.shape != factors.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({factors.shape}) is not None, then it must have the same "
            f"shape as the input ({input.shape})"
        )
    if weight.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndim}")
    if input.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")


def _need_mode(mode: str, sparse: bool, by_freq: bool, factors: Tensor | None) -> None:
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )


def _padding(padding_idx: int | None, rows: int) -> int | None:
    """Return the row that counts for nothing, counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
            f"{padding_idx}"
        )
    return padding_idx % rows


def _need_dtypes(input: Tensor, offsets: Tensor, weight: Tensor, factors: Tensor | None) -> None:
    for name, given, allowed in (
        ("indices", input, ("torch.int64", "torch.int32")),
        ("indices", offsets, ("torch.int64", "torch.int32")),
        ("weight", weight, ("torch.float16", "torch.bfloat16", "torch.float32", "torch.float64")),
    ):
        if str(given.dtype) not in allowed:
            scalars = "Long, Int" if name != "weight" else "Half, BFloat16, Float, Double"
            raise RuntimeError(
                f"Expected tensor for argument #1 '{name}' to have one of the following scalar types: "
                f"{scalars}; but got {given.type()} instead (while checking arguments for embedding_bag)"
            )
    if factors is not None and factors.dtype is not weight.dtype:
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type {weight.type()} does not equal {factors.type()} (while checking "
            "arguments for embedding_bag)"
        )


def _need_range(index: np.ndarray, offsets: np.ndarray, rows: int, last: bool) -> None:
    if last and not len(offsets):
        raise RuntimeError("include_last_offset: number of offset should be at least 1")
    if len(offsets) and offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
            f"0. However, got {offsets[0]}"
        )
    if len(offsets) and offsets[-1] > len(index):
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {len(index)} but got offsets[-1] of "
            f"{offsets[-1]}"
        )
    wrong = np.flatnonzero((index < 0) | (index >= rows))
    if wrong.size:
        raise RuntimeError(
            f"Index {wrong[0]} of input takes value {index[wrong[0]]} which is not in the valid range "
            f"[0, {rows})"
        )
    if (np.diff(offsets) < 0).any():
        raise NotModelled("nn.functional.embedding_bag with offsets that decrease")
    if last and offsets[-1] < len(index):
        raise NotModelled("nn.functional.embedding_bag with indices behind the last offset")
