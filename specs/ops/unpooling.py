"""The inverse of max pooling, which generated programs do not call: elements at their old positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from specs.kind import Indices, IntList, Tensor
from specs.op import Op, op


def _spread_back(g: Any, x_shape: tuple[int, ...], index: Any, sizes: Any) -> Any:
    lead = tuple(x_shape)[: len(x_shape) - len(sizes)]
    flat = g.contiguous().view((*lead, -1)).gather(-1, index.contiguous().view((*lead, -1)))
    return flat.view(tuple(x_shape))


def _unpool(name: str, node: str) -> Op:
    def spread(x: Tensor, index: Indices, *, sizes: IntList) -> Any:
        """Zeros, with elements at positions of the last dimensions."""
        lead = x.shape[: x.ndim - len(sizes)]
        out = np.zeros((*lead, math.prod(sizes)), x.dtype)
        if index.size and (index.min() < 0 or index.max() >= out.shape[-1]):
            wrong = index[(index < 0) | (index >= out.shape[-1])].reshape(-1)[0]
            told = "x".join(map(str, sizes))
            raise RuntimeError(f"Found an invalid max index: {wrong} (output volumes are of size {told})")
        np.put_along_axis(out, index.reshape((*lead, -1)), x.reshape((*lead, -1)), -1)
        return out.reshape((*lead, *sizes))

    spread.__name__ = name
    made = op(name=name, node=node, internal=True, dtypes="keep", exact=False, lacks="biuc", kernel=name[1:])(
        spread
    )
    made.jvp = lambda dx, index, sizes: getattr(dx, name)(index, sizes=sizes)
    made.wrt(x=_spread_back)
    return made


unpool2, unpool3 = (
    _unpool("_max_unpool2d", "MaxUnpool2DBackward0"),
    _unpool("_max_unpool3d", "MaxUnpool3DBackward0"),
)
