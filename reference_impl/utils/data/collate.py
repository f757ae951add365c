"""Collating: a list of samples becomes a batch."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from reference_impl.base.dtypes import float64
from reference_impl.base.rules import by
from reference_impl.core.tensor import Tensor
from reference_impl.namespace import composite
from reference_impl.namespace.factories import as_tensor, tensor

_TEXT = re.compile(r"[SaUO]")
_REFUSED = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "


def default_convert(data: Any) -> Any:
    """Turn the arrays in nested containers into tensors; what knows no tensor is left alone."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (np.ndarray, np.generic)):
        return data if _TEXT.search(data.dtype.str) else as_tensor(data)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(value) for value in data]
    return data


def default_collate(batch: Any) -> Any:
    """Stack samples along a new first dimension, within tuples, lists and dicts as they are nested."""
    first = batch[0]
    if isinstance(first, Tensor):
        return composite.stack(batch, 0) if by("nn/batches-are-stacked") else first
    if isinstance(first, np.ndarray):
        if _TEXT.search(first.dtype.str):
            raise TypeError(_REFUSED + str(first.dtype))
        return composite.stack([as_tensor(x) for x in batch], 0)
    if isinstance(first, np.generic):
        return as_tensor(np.array(batch))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(default_collate, zip(*batch, strict=True)))
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(samples) for samples in zip(*batch, strict=True)]
    raise TypeError(_REFUSED + str(type(first)))
