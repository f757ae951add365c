"""Activations whose slope is learned, or drawn for each element. Generated programs do not call these.

As in PyTorch, the operand is one of the gradient's operands, also where that does not depend on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.demands import one_dtype
from specs.kind import Tensor
from specs.op import op

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 16, "layout": ()}


@op(node="PreluKernelBackward0", dtypes="same", lacks="biuc", kernel="prelu", **_FACTS)
def _prelu(x: Tensor, weight: Tensor) -> Any:
    """``x`` where it is positive, else a learned multiple of it."""
    return np.where(x > 0, x, weight * x)


_PRELU_BACK: dict[str, Any] = {"node": "PreluKernelBackwardBackward0", "dtypes": "same", **_FACTS}


@op(**_PRELU_BACK)
def _prelu_backward(dy: Tensor, here: Tensor, weight: Tensor) -> Any:
    """The gradient of the operand."""
    return np.where(here > 0, dy, weight * dy)


@op(**_PRELU_BACK)
def _prelu_weight_backward(dy: Tensor, here: Tensor, weight: Tensor) -> Any:
    """The gradient of the multiple, before that of the elements that share it is added up."""
    return np.where(here > 0, dy.dtype.type(0), dy * here)


_prelu.wrt(
    x=one_dtype("x", "weight", "g", case="iterated")(lambda g, x, weight: g._prelu_backward(x, weight)),
    weight=one_dtype("x", "g", case="iterated")(lambda g, x, weight: g._prelu_weight_backward(x, weight)),
)
_prelu_backward.wrt(
    dy=lambda g, here, weight: g._where(here.ge(0), g.mul(weight)),
    here=lambda g, here_shape: g.new_zeros(here_shape),
    weight=lambda g, dy, here: dy.mul(g).masked_fill(here.ge(0), 0),
)
_prelu_weight_backward.wrt(
    dy=lambda g, here: g.mul(here).masked_fill(here.ge(0), 0),
    here=lambda g, dy, here: g.mul(dy).masked_fill(here.ge(0), 0),
    weight=lambda g, weight_shape: g.new_zeros(weight_shape),
)


@op(internal=True, node="RreluWithNoiseBackward0", dtypes="keep", wide=True, layout=("x",), into="x")
def _rrelu(x: Tensor, noise: Tensor) -> Any:
    """``x`` times what was drawn where it is not positive, and times one elsewhere."""
    return x * noise


@op(internal=True, node="RreluWithNoiseBackwardBackward0", dtypes="keep", wide=True, into="dy")
def _rrelu_backward(dy: Tensor, here: Tensor, noise: Tensor) -> Any:
    """The gradient of that."""
    return dy * noise


_rrelu.wrt(x=lambda g, noise, x: g._rrelu_backward(x, noise))
_rrelu_backward.wrt(dy=lambda g, here, noise: g._rrelu_backward(here, noise), here=lambda g: g.zeros_like())


@op(name="_rrelu_", node="RreluWithNoiseBackward1", inplace="only", internal=True, dtypes="keep", wide=True)
def rrelu_written(x: Tensor, noise: Tensor) -> Any:
    """The same in place: its backward reads the result, and may, since slopes are positive."""
    return x * noise


rrelu_written.wrt(x=lambda g, noise, out: g._rrelu_backward(out, noise))
