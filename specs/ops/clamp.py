"""Elements held within bounds: ``clamp_min``, ``clamp_max``, and ``clamp`` by tensors.

``clamp`` by numbers is in ``comparison``. Releases differ in who gets the gradient of an element on a bound;
a bound that is a tensor may get some of it. Generated programs do not call these (``internal``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.active_rules import by
from specs.errors import need_kernel, refuse
from specs.kind import Bool, Scalar, Tensor
from specs.op import Op, op
from specs.ops.helpers import larger, smaller


# -- one bound -------------------------------------------------------------------------------------
def _promoted(name: str, x: np.ndarray, bound: Any) -> tuple[np.ndarray, Any]:
    """The elements and a number that bounds them, in the dtype of both."""
    need_kernel("clamp", np.asarray(bound), "c")
    if isinstance(bound, bool):
        need_kernel(f"{name}_scalar", x, "b")
    if isinstance(bound, float) and x.dtype.kind in "biu":
        x = x.astype(np.float32)
    elif isinstance(bound, int) and not isinstance(bound, bool) and x.dtype.kind == "b":
        x = x.astype(np.int64)
    return x, np.asarray(bound).astype(x.dtype)


_ONE_BOUND: dict[str, Any] = {"internal": True, "inplace": True, "dtypes": "keep", "wide": True, "lacks": "c"}


@op(node="ClampMinBackward0", **_ONE_BOUND)
def clamp_min(x: Tensor, min: Scalar) -> Any:
    """``x``, or ``min`` where that is larger."""
    return larger(*_promoted("clamp_min", x, min))


@op(node="ClampMaxBackward0", **_ONE_BOUND)
def clamp_max(x: Tensor, max: Scalar) -> Any:
    """``x``, or ``max`` where that is smaller."""
    return smaller(*_promoted("clamp_max", x, max))


def _keep_dtype(bounded: Op) -> None:
    """Have the in-place form refuse a bound that would change the dtype."""
    form = bounded.in_place
    assert form is not None

    def write(x: Any, **bound: Any) -> Any:
        out = bounded.body(x, **bound)
        if out.dtype != x.dtype:
            refuse("write/result-dtype", got=out.dtype, want=x.dtype, case="clamp")
        return out

    form.body = write


_keep_dtype(clamp_min)
_keep_dtype(clamp_max)


def _inside(above: Any, at_least: Any) -> Any:
    """The elements that count as inside of a bound that is a number."""
    return above() if by("op/clamp-stops-at-bounds") else at_least()


clamp_min.wrt(x=lambda g, x, min: g.where(_inside(lambda: x.gt(min), lambda: x.ge(min)), g.new_zeros(())))
clamp_max.wrt(x=lambda g, x, max: g.where(_inside(lambda: x.lt(max), lambda: x.le(max)), g.new_zeros(())))


@op(
    batched_write="inplace arithmetic",
    internal=True,
    inplace=True,
    name="clamp_min",
    node="ClampMinBackward1",
    lacks="c",
    kernel="maximum",
)
def clamp_min_tensor(x: Tensor, min: Tensor) -> Any:
    """``x``, or ``min`` where that is larger."""
    return larger(x, min)


@op(
    batched_write="inplace arithmetic",
    internal=True,
    inplace=True,
    name="clamp_max",
    node="ClampMaxBackward1",
    lacks="c",
    kernel="minimum",
)
def clamp_max_tensor(x: Tensor, max: Tensor) -> Any:
    """``x``, or ``max`` where that is smaller."""
    return smaller(x, max)


def _shared(g: Any, old: Any, nothing: Any, half: Any) -> Any:
    """The gradient, without the elements ``nothing`` and with half of the elements ``half``.

    Releases that do not share it keep the elements ``old``.
    """
    if not by("op/clamp-stops-at-bounds"):
        return g.where(old, g.new_zeros(()))
    return g.div_scalar(2).where(half, g).masked_fill_(nothing, 0)


clamp_min_tensor.wrt(
    x=lambda g, x, min: _shared(g, x.ge(min), x.lt(min), x.eq(min)),
    min=lambda g, x, min: _shared(g, x.lt(min), x.gt(min), x.eq(min)),
)
clamp_max_tensor.wrt(
    x=lambda g, x, max: _shared(g, x.le(max), x.gt(max), x.eq(max)),
    max=lambda g, x, max: _shared(g, x.gt(max), x.lt(max), x.eq(max)),
)


# -- two bounds, of which one may be missing -------------------------------------------------------
@op(internal=True, inplace=True, node="ClampBackward0", batched_write="aten::clamp_")
def _clamp_between(x: Tensor, min: Tensor, max: Tensor, *, lower: Bool, upper: Bool) -> Any:
    """``x`` held between two tensors; the stand-in for a missing bound is ignored."""
    need_kernel("clamp", x, "c")
    need_kernel("clamp_tensor", x, "b" if lower and upper else "")
    held = larger(x, min) if lower else x
    return smaller(held, max) if upper else held


def _both(one: Any, other: Any) -> Any:
    return one._logical_and(other)


def _wrt_x(g: Any, x: Any, min: Any, max: Any, lower: bool, upper: bool) -> Any:
    if not upper:
        return _shared(g, x.ge(min), x.lt(min), x.eq(min))
    if not lower:
        return _shared(g, x.le(max), x.gt(max), x.eq(max))
    at_one = _both(x.eq(min).add(x.eq(max)), min.lt(max))
    return _shared(g, _both(x.ge(min), x.le(max)), x.lt(min).add(x.gt(max)), at_one)


def _wrt_min(g: Any, x: Any, min: Any, max: Any, lower: bool, upper: bool) -> Any:
    if not upper:
        return _shared(g, x.lt(min), x.gt(min), x.eq(min))
    apart = min.lt(max)
    below, at_bound = _both(x.lt(min), min.le(max)), _both(x.eq(min), apart)
    # NB: before gradients were shared, where the bounds meet neither got one from below.
    return _shared(g, _both(x.lt(min), apart), below.add(at_bound).eq(0), at_bound)


def _wrt_max(g: Any, x: Any, min: Any, max: Any, lower: bool, upper: bool) -> Any:
    if not lower:
        return _shared(g, x.gt(max), x.lt(max), x.eq(max))
    above, at_bound = x.gt(max), _both(x.eq(max), min.lt(max))
    crossed = max.lt(min)
    beyond = _both(above, min.le(max)).add(crossed)
    return _shared(g, above.add(crossed), beyond.add(at_bound).eq(0), at_bound)


_clamp_between.wrt(x=_wrt_x, min=_wrt_min, max=_wrt_max)
