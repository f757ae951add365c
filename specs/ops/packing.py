"""Sequences of different lengths, padded and packed."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.kind import Bool, IntList, Tensor
from specs.op import op


@op(
    internal=True,
    node="PackPaddedSequenceBackward0",
    dtypes="keep",
    torch_names={"x": "input"},
    complex_history=False,
    kernel="_pack_padded_sequence",
)
def _pack_padded(x: Tensor, *, counts: IntList, batch_first: Bool) -> Any:
    """The first ``counts[t]`` elements of each time step, one step after the other."""
    steps = np.swapaxes(x, 0, 1) if batch_first else x
    return np.concatenate([steps[t, :count] for t, count in enumerate(counts)])


def _unpacked(g: Any, x_shape: tuple[int, ...], counts: tuple[int, ...], batch_first: bool) -> Any:
    shape = (x_shape[1], x_shape[0], *x_shape[2:]) if batch_first else tuple(x_shape)
    out, at = g.new_zeros(shape), 0
    for t, count in enumerate(counts):
        out.select(0, t).narrow(0, 0, count).copy_(g.narrow(0, at, count))
        at += count
    return out.transpose(0, 1) if batch_first else out


_pack_padded.wrt(x=_unpacked)
