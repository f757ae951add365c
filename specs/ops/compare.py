"""Comparisons, and ops that choose between operands by comparing them."""

from __future__ import annotations

import numpy as np

from specs.kind import Mask, OptNumber, Tensor
from specs.op import op
from specs.refusal import refuse


@op(dtypes="bool")
def gt(x: Tensor, y):
    """``x > y``."""
    return np.greater(x, y)


@op(dtypes="bool")
def lt(x: Tensor, y):
    """``x < y``."""
    return np.less(x, y)


@op(dtypes="bool")
def ge(x: Tensor, y):
    """``x >= y``."""
    return np.greater_equal(x, y)


@op(dtypes="bool")
def le(x: Tensor, y):
    """``x <= y``."""
    return np.less_equal(x, y)


@op(dtypes="bool")
def eq(x: Tensor, y):
    """``x == y``."""
    return np.equal(x, y)


@op(dtypes="bool")
def ne(x: Tensor, y):
    """``x != y``."""
    return np.not_equal(x, y)


@op(node="WhereBackward0")
def where(condition: Mask, x, y):
    """``x`` where the condition holds, else ``y``; saves the condition only."""
    if condition.dtype != np.bool_:
        refuse("op/where-condition", dtype=condition.dtype)
    return np.where(condition, x, y)


where.wrt(
    x=lambda g, condition: g.where(condition, 0),
    y=lambda g, condition: g.new_zeros(()).where(condition, g),
)


def _half(g, x, y):
    """The gradient where neither operand is larger: ties share it evenly."""
    return g.div_scalar(2).where(x.eq(y), g)


@op(node="MaximumBackward0")
def maximum(x: Tensor, y: Tensor):
    """The larger of each pair; a tie's gradient is shared."""
    return np.maximum(x, y)


maximum.wrt(
    x=lambda g, x, y: _half(g, x, y).masked_fill_(x.lt(y), 0),
    y=lambda g, x, y: _half(g, x, y).masked_fill_(x.gt(y), 0),
)


@op(node="MinimumBackward0")
def minimum(x: Tensor, y: Tensor):
    """The smaller of each pair; a tie's gradient is shared."""
    return np.minimum(x, y)


minimum.wrt(
    x=lambda g, x, y: _half(g, x, y).masked_fill_(x.gt(y), 0),
    y=lambda g, x, y: _half(g, x, y).masked_fill_(x.lt(y), 0),
)


def _bounded(extreme, x, bound):
    """One side of a clamp; a bound of a higher category than the tensor's decides the dtype, as a number
    does.
    """
    if isinstance(bound, float) and x.dtype.kind in "bi":
        x = x.astype(np.float32)
    return extreme(x, bound)


@op(inplace=True, node="ClampBackward1", dtypes="keep", layout=("x",))
def clamp(x: Tensor, *, min: OptNumber = None, max: OptNumber = None):
    """``x`` held between two numbers, either of which may be None; on a bound the gradient passes."""
    if min is None and max is None:
        refuse("op/clamp-bounds")
    if min is not None:
        x = _bounded(np.maximum, x, min)
    return x if max is None else _bounded(np.minimum, x, max)


def _clamp_backward(g, x, min, max):
    inside = x.le(max) if min is None else x.ge(min)
    if min is not None and max is not None:
        inside = inside.mul(x.le(max))
    return g.where(inside, g.new_zeros(()))


clamp.wrt(x=_clamp_backward)
