"""Comparisons, and ops that choose between operands by comparing them."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.active_rules import by
from specs.errors import need_kernel, refuse
from specs.kind import Mask, Number, OptNumber, Tensor
from specs.op import composite, op
from specs.ops.helpers import larger, smaller


def _ordered(name, compare, x, y):
    """The result of an order comparison; shapes are checked before dtypes."""
    result = compare(x, y)
    need_kernel(name, x, "c")
    return result


@op(dtypes="bool", layout=("x", "y"))
def gt(x: Tensor, y):
    """``x > y``."""
    return _ordered("gt", np.greater, x, y)


@op(dtypes="bool", layout=("x", "y"))
def lt(x: Tensor, y):
    """``x < y``."""
    return _ordered("lt", np.less, x, y)


@op(dtypes="bool", layout=("x", "y"))
def ge(x: Tensor, y):
    """``x >= y``."""
    return _ordered("ge", np.greater_equal, x, y)


@op(dtypes="bool", layout=("x", "y"))
def le(x: Tensor, y):
    """``x <= y``."""
    return _ordered("le", np.less_equal, x, y)


@op(dtypes="bool", layout=("x", "y"), with_array=lambda x, array: x.eq(x._of_array(array)))
def eq(x: Tensor, y):
    """``x == y``."""
    return np.equal(x, y)


@op(dtypes="bool", layout=("x", "y"))
def ne(x: Tensor, y):
    """``x != y``."""
    return np.not_equal(x, y)


# -- written in place --------------------------------------------------------------------------------
def _into(name, compare):
    """The forms of a comparison that overwrite ``x`` with ones and zeros of its own dtype."""
    facts: dict[str, Any] = {
        "internal": True,
        "inplace": "only",
        "name": f"{name}_",
        "dtypes": "keep",
        "complex": True,
    }
    node = f"{name.capitalize()}Backward"

    def with_number(x: Tensor, y: Number):
        """``x`` overwritten with whether the comparison holds."""
        return compare(x, y)

    def with_tensor(x: Tensor, y: Tensor):
        """``x`` overwritten with whether the comparison holds."""
        return compare(x, y)

    with_number.__name__, with_tensor.__name__ = f"{name}_number_", f"{name}_tensor_"
    return (
        op(node=f"{node}0", **facts)(with_number).wrt(x=lambda g, x_shape: g.new_zeros(x_shape)),
        op(node=f"{node}1", **facts)(with_tensor).wrt(
            x=lambda g, x_shape: g.new_zeros(x_shape), y=lambda g, y_shape: g.new_zeros(y_shape)
        ),
    )


IN_PLACE = {made.key: made for base in (gt, lt, ge, le, eq, ne) for made in _into(base.name, base.body)}
"""By key: ``gt_number_``, ``gt_tensor_``, ..."""
globals().update(IN_PLACE)  # an op is found by being a module's attribute


@op(internal=True, dtypes="bool", layout=("x", "y"), beside_first=True)
def _logical_and(x: Tensor, y: Tensor):
    """Elementwise ``and``."""
    return np.logical_and(x, y)


@composite(name="where", complex=True, grows="keeps", jumps=True, often=4, casts_out=False)
def where_else_number(condition: Mask, x: Tensor, y: Number):
    """``x`` where the condition holds, else a number."""
    return _lifted(x, y)._where(condition, y)


@composite(name="where", complex=True, grows="keeps", jumps=True, often=4, casts_out=False)
def where_number(condition: Mask, x: Number, y: Tensor):
    """A number where the condition holds, else ``y``."""
    y = _lifted(y, x)
    chosen = y.new_zeros(()).add(x) if isinstance(x, complex) else y.new_full((), x)
    return chosen._where(condition, y)


def _lifted(x, number):
    """``x`` in the dtype that it has together with a number; a cast to integers is not recorded."""
    if x.is_floating_point() or x.is_complex():
        return x
    dtype = x.new_zeros(()).add(number).dtype
    return x if dtype == x.dtype else x.to(dtype)


@op(
    node="WhereBackward0",
    complex=True,
    grows="keeps",
    jumps=True,
    often=4,
    on_cpu=("condition", "x", "y"),
    casts_out=False,
)
def where(condition: Mask, x, y):
    """``x`` where the condition holds, else ``y``; saves the condition only."""
    return where_values.body(condition, x, y)


@op(internal=True, name="_where", node="WhereBackward0", on_cpu=("condition", "x", "y"))
def where_values(condition: Mask, x, y):
    """The choice itself, for formulas as well."""
    if condition.dtype != np.bool_:
        refuse("op/where-condition", dtype=condition.dtype)
    return np.where(condition, x, y)


for choosing in (where, where_values):
    choosing.wrt(
        x=lambda g, condition: g._where(condition, 0),
        y=lambda g, condition: g.new_zeros(()).where(condition, g),
    )


def need_order(name, x):
    """Refuse complex numbers."""
    if x.dtype.kind == "c":
        refuse("op/complex-extreme", name=name)


def _half(g, x, y):
    """The gradient where neither operand is larger: ties share it evenly."""
    return g.div_scalar(2).where(x.eq(y), g)


@op(node="MaximumBackward0", tries=("ties",), grows="keeps", jumps=True, often=4)
def maximum(x: Tensor, y: Tensor):
    """The larger of each pair; a tie's gradient is shared."""
    need_order("maximum", x)
    return larger(x, y)


maximum.wrt(
    x=lambda g, x, y: _half(g, x, y).masked_fill_(x.lt(y), 0),
    y=lambda g, x, y: _half(g, x, y).masked_fill_(x.gt(y), 0),
)


@op(node="MinimumBackward0", tries=("ties",), grows="keeps", jumps=True)
def minimum(x: Tensor, y: Tensor):
    """The smaller of each pair; a tie's gradient is shared."""
    need_order("minimum", x)
    return smaller(x, y)


minimum.wrt(
    x=lambda g, x, y: _half(g, x, y).masked_fill_(x.gt(y), 0),
    y=lambda g, x, y: _half(g, x, y).masked_fill_(x.lt(y), 0),
)


def _bounded(x, min, max):
    """``x`` within bounds; a bound of a higher category than the tensor decides the dtype."""
    given = [bound for bound in (min, max) if bound is not None]
    if not given:
        refuse("op/clamp-bounds")
    need_kernel("clamp", x, "c")
    need_kernel("clamp_scalar", x, "b" if all(isinstance(bound, bool) for bound in given) else "")
    if x.dtype.kind in "biu" and any(isinstance(bound, float) for bound in given):
        x = x.astype(np.float32)
    if x.dtype.kind == "u":  # a negative bound wraps around
        min, max = (b if b is None else np.asarray(b).astype(x.dtype) for b in (min, max))
    if min is not None:
        x = larger(x, min)
    return x if max is None else smaller(x, max)


@op(
    node="ClampBackward1", dtypes="keep", wide=True, layout=("x",), tries=("ties",), grows="keeps", jumps=True
)
def clamp(x: Tensor, *, min: OptNumber = None, max: OptNumber = None):
    """``x`` held between two numbers, either of which may be None; a rule says if a bound gets a gradient."""
    return _bounded(x, min, max)


@op(
    inplace="only",
    node="ClampBackward1",
    dtypes="keep",
    wide=True,
    layout=("x",),
    tries=("ties",),
    grows="keeps",
    jumps=True,
)
def clamp_(x: Tensor, *, min: OptNumber = None, max: OptNumber = None):
    """``clamp`` in place, which cannot change the dtype."""
    out = _bounded(x, min, max)
    if out.dtype.kind != x.dtype.kind:
        refuse("write/result-dtype", got=out.dtype, want=x.dtype, case="clamp")
    return out


def _clamp_backward(g, x, min, max):
    strictly = by("op/clamp-stops-at-bounds")
    above, below = (x.gt, x.lt) if strictly else (x.ge, x.le)
    inside = below(max) if min is None else above(min)
    if min is not None and max is not None:
        inside = inside.mul(below(max))
    return g.where(inside, g.new_zeros(()))


clamp.wrt(x=_clamp_backward)
clamp_.wrt(x=_clamp_backward)
