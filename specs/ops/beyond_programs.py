"""Functions that scripts call now and then: generated programs do not (``internal``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from specs.kind import Mask, Number, Scalar, Tensor
from specs.op import Op, op
from specs.ops.comparison import need_order
from specs.ops.complex import conj
from specs.ops.helpers import without_derivative
from specs.ops.linear import dot

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 4}


@op(node="FmaxBackward0", **_FACTS)
def fmax(x: Tensor, y: Tensor) -> Any:
    """The larger of each pair, the number beside a NaN; of a tie, the first one gets the gradient."""
    need_order("fmax", x)
    return np.fmax(x, y)


@op(node="FminBackward0", **_FACTS)
def fmin(x: Tensor, y: Tensor) -> Any:
    """The smaller of each pair, the number beside a NaN; of a tie, the first one gets the gradient."""
    need_order("fmin", x)
    return np.fmin(x, y)


fmax.wrt(
    x=lambda g, x, y: g.masked_fill(x.ge(y).logical_or(y.ne(y)).logical_not(), 0),
    y=lambda g, x, y: g.masked_fill(x.ge(y).logical_or(y.ne(y)), 0),
)
fmin.wrt(
    x=lambda g, x, y: g.masked_fill(x.le(y).logical_or(y.ne(y)).logical_not(), 0),
    y=lambda g, x, y: g.masked_fill(x.le(y).logical_or(y.ne(y)), 0),
)


@op(batched_write="broadcast", node="CopysignBackward0", dtypes="float", inplace=True, **_FACTS, lacks="c")
def copysign(x: Tensor, y: Tensor) -> Any:
    """``x`` with the sign of ``y``."""
    return np.copysign(x, y)


def _copysign_backward(g: Any, x: Any, out: Any) -> Any:
    return g.mul(out.div(x).masked_fill(x.eq(0), 0))


copysign.wrt(x=_copysign_backward, y=lambda g: g.detach().zeros_like())


@op(name="copysign", node="CopysignBackward1", dtypes="float", inplace=True, **_FACTS, lacks="c")
def copysign_number(x: Tensor, y: Number) -> Any:
    """``x`` with the sign of a number."""
    return np.copysign(x, y)


copysign_number.wrt(x=_copysign_backward)


@op(node="NextafterBackward0", inplace=True, iterates=False, wide=False, **_FACTS, lacks="biuc")
def nextafter(x: Tensor, y: Tensor) -> Any:
    """The next number of the dtype on the way from ``x`` to ``y``."""
    return np.nextafter(x, y)


nextafter.wrt(x=lambda g, x, y: g._where(x.ne(y), 0), y=lambda y: y.zeros_like())


@op(node="FrexpBackward0", dtypes="keep", **_FACTS)
def _mantissa(x: Tensor, exponent: Tensor) -> Any:
    """The factor by which two to the ``exponent`` is ``x``."""
    return np.frexp(x)[0]


_mantissa.wrt(x=lambda g, exponent: g.div(exponent.exp2()))


@op(
    node="FakeQuantizePerTensorAffineCachemaskBackward0",
    dtypes="keep",
    lacks="biuc",
    kernel="fake_quantize_tensor_cachemask_kernel_type_handling",
    **_FACTS,
)
def _fake_quantize(
    x: Tensor, mask: Mask, *, scale: Scalar, zero_point: Scalar, low: Scalar, high: Scalar
) -> Any:
    """``x`` rounded to steps of ``scale`` within a range of steps; ``mask``: where it is in that."""
    steps = np.rint(x / x.dtype.type(scale)) + zero_point
    found = (np.clip(steps, low, high) - zero_point) * x.dtype.type(scale)
    return found.astype(x.dtype, copy=False)


_fake_quantize.wrt(x=lambda g, mask: g.mul(mask))


# -- exponential units in place, which save their result ---------------------------------------------
def _elu(x: Tensor, *, alpha: Scalar, scale: Scalar, inner: Scalar) -> Any:
    """``scale * x`` above zero, ``alpha * scale * (exp(inner * x) - 1)`` below."""
    return np.where(x > 0, x * scale, alpha * scale * np.expm1(np.minimum(x, 0) * inner)).astype(x.dtype)


def _elu_backward(g: Any, out: Any, alpha: float, scale: float, inner: float) -> Any:
    below = g.mul_scalar(inner).mul(out.add_scalar(alpha * scale))
    return g.mul_scalar(scale)._where(out.gt(0), below)


def _in_place(name: str, node: str) -> Op:
    def write(x: Tensor, *, alpha: Scalar, scale: Scalar, inner: Scalar) -> Any:
        return _elu(x, alpha=alpha, scale=scale, inner=inner)

    write.__name__, write.__doc__ = name.strip("_"), _elu.__doc__
    made = op(name=name, node=node, inplace="only", dtypes="float", lacks="biuc", kernel="elu", **_FACTS)(
        write
    )
    made.wrt(x=_elu_backward)
    return made


elu_written, celu_written = _in_place("_elu_", "EluBackward1"), _in_place("_celu_write_", "CeluBackward1")


# -- products ---------------------------------------------------------------------------------------
@op(node="VdotBackward0", dtypes="same", internal=True, complex=True)
def _vdot(x: Tensor, y: Tensor) -> Any:
    """Inner product of two vectors, of which the first is conjugated."""
    return dot.body(np.conj(x) if x.dtype.kind == "c" else x, y)


_vdot.wrt(x=lambda g, y: conj(g).mul(y), y=lambda g, x: g.mul(x))


# -- attention ---------------------------------------------------------------------------------------
@op(node="AliasBackward0", dtypes="float", **_FACTS)
def _fused(x: Tensor) -> Any:
    """An operand of a kernel that PyTorch cannot differentiate twice."""
    return x.copy()


@op(node="torch::autograd::NotImplemented", dtypes="float", **_FACTS)
def _fused_backward(dy: Tensor) -> Any:
    """The gradient that such a kernel gives its operand."""
    return dy.copy()


_fused.wrt(x=lambda g: g._fused_backward())
_fused_backward.wrt(dy=without_derivative("_scaled_dot_product_flash_attention_for_cpu_backward"))
