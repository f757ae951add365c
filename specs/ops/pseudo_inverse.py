"""The pseudo-inverse of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.kind import Tensor
from specs.op import op
from specs.ops.linalg import need_matrix


@op(internal=True, node="LinalgPinvBackward0", dtypes="keep", exact=False, ulp=64, layout=())
def _linalg_pinv(x: Tensor) -> Any:
    """The pseudo-inverse of each matrix; saves its result."""
    need_matrix("linalg.pinv", x)
    return np.ascontiguousarray(np.linalg.pinv(x, rcond=max(x.shape[-2:]) * np.finfo(x.dtype).eps))


def pinv_backward(g: Any, x: Any, out: Any) -> Any:
    """The gradient of a matrix, of that of its pseudo-inverse."""
    turned, flipped = out.mH, g.mH
    if x.shape[-2] <= x.shape[-1]:
        inner = flipped.matmul(out)
        after = inner.matmul(turned)
        found = out.matmul(inner).mH.neg().add(after).sub(x.matmul(out).matmul(after))
        return found.add(turned.matmul(out).matmul(flipped.sub(inner.matmul(x))))
    inner = out.matmul(flipped)
    before = turned.matmul(inner)
    found = inner.matmul(out).mH.neg()
    found = found.add(flipped.sub(x.matmul(inner)).matmul(out).matmul(turned))
    return found.add(before).sub(before.matmul(out).matmul(x))


_linalg_pinv.wrt(x=pinv_backward)
