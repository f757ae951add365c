"""Elementwise arithmetic, sign and absolute value.

Functions are in ``functions`` and ``unary``; comparisons and choices between operands are in ``comparison``.

Internal ops whose names end in ``_scalar`` are torch's ``.Scalar`` overloads. Formulas written in C++ reach
them when they multiply by a plain number; Python's operators first wrap a number into a 0-d tensor.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from specs import inference_alone as alone
from specs.errors import need_kernel, refuse
from specs.kind import Number, Scale, Tensor, Wrapped
from specs.layout import empty_strided
from specs.op import composite, op
from specs.ops.complex import conj
from specs.ops.helpers import scaled, times


@op(
    batched_write="broadcast",
    inplace=True,
    node="AddBackward0",
    real=True,
    complex=True,
    grows="adds",
    often=(4, 4),
    zero="addition",
)
def add(x: Tensor, y, *, alpha: Scale = 1):
    """``x + alpha * y``; saves nothing."""
    return np.add(x, scaled(y, alpha, x))


@op(name="add", node="AddBackward0", real=True, complex=True, grows="adds", often=4, zero="addition")
def add_to_number(x: Wrapped, y: Tensor, *, alpha: Scale = 1):
    """``2 + y``, in the function's form."""
    return np.add(x, scaled(y, alpha, y))


for adding in (add, add_to_number):
    adding.wrt(x=lambda g: g, y=lambda g, alpha: times(g, conj(alpha)))


_DIFFERENCE: dict[str, Any] = {"dtypes": "numeric", "real": True, "complex": True, "grows": "adds"}


@op(
    batched_write="inplace arithmetic",
    inplace=True,
    node="SubBackward0",
    often=4,
    zero="subtraction",
    **_DIFFERENCE,
)
def sub(x: Tensor, y, *, alpha: Scale = 1):
    """``x - alpha * y``; saves nothing."""
    return np.subtract(x, scaled(y, alpha, x))


@op(name="sub", node="SubBackward0", often=4, zero="subtraction", **_DIFFERENCE)
def sub_from_number(x: Wrapped, y: Tensor, *, alpha: Scale = 1):
    """``2 - y``, in the function's form; Python's operator calls ``rsub``."""
    return np.subtract(x, scaled(y, alpha, y))


for subtracting in (sub, sub_from_number):
    subtracting.wrt(x=lambda g: g, y=lambda g, alpha: times(g.neg(), conj(alpha)))


@op(node="RsubBackward0", name="rsub", layout=("y", "x"), **_DIFFERENCE)
def rsub(x: Tensor, y: Tensor, *, alpha: Scale = 1):
    """``y - alpha * x``."""
    return np.subtract(y, scaled(x, alpha, x))


rsub.wrt(x=lambda g, alpha: times(g.neg(), conj(alpha)), y=lambda g: g)


@op(node="RsubBackward1", name="rsub", alone=alone.number_minus, **_DIFFERENCE)
def rsub_scalar(x: Tensor, y: Number, *, alpha: Scale = 1):
    """A number minus a tensor: ``2 - x`` calls it."""
    return np.subtract(y, scaled(x, alpha, x))


rsub_scalar.wrt(x=lambda g, alpha: times(g.neg(), conj(alpha)))


@op(
    batched_write="inplace arithmetic",
    inplace=True,
    node="MulBackward0",
    real=True,
    complex=True,
    grows="multiplies",
    often=(4, 4),
    factor="y",
    zero="product",
)
def mul(x: Tensor, y):
    """Product; each operand is saved for the other's gradient."""
    return np.multiply(x, y)


@op(name="mul", node="MulBackward0", real=True, complex=True, grows="multiplies", often=4, zero="product")
def mul_number(x: Wrapped, y: Tensor):
    """``2 * y``, in the function's form."""
    return np.multiply(x, y)


for multiplying in (mul, mul_number):
    multiplying.wrt(x=lambda g, y: g.mul(conj(y)), y=lambda g, x: g.mul(conj(x)))


@op(internal=True, real=True, node="MulBackward1", factor="y", zero="passes", alone=alone.with_tensor("mul"))
def mul_scalar(x: Tensor, y: Number):
    """Product with a number, inside formulas."""
    return np.multiply(x, y)


mul_scalar.wrt(x=lambda g, y: g.mul_scalar(conj(y)))


def _quotient(x, y):
    """``x / y``; ``x`` may be the number that a function was given first, which hooks never pack."""
    return x.div(y) if hasattr(x, "div") else type(y).div(x, y)


_QUOTIENT: dict[str, Any] = {"dtypes": "float", "complex": True, "domain": {"y": "power_of_two"}}


@op(
    batched_write="inplace arithmetic",
    inplace=True,
    node="DivBackward0",
    real=True,
    grows="divides",
    factor="y",
    zero="quotient",
    **_QUOTIENT,
)
def div(x: Tensor, y):
    """True quotient; the divisor is always saved, the dividend for the divisor's gradient."""
    return np.true_divide(x, y)


@op(name="div", node="DivBackward0", real=True, grows="divides", zero="quotient", **_QUOTIENT)
def div_number(x: Wrapped, y: Tensor):
    """``2 / y``, in the function's form; Python's operator calls ``rtruediv``."""
    return np.true_divide(x, y)


def _divisor_backward(g, x, y):
    # The factors in this order: which is made first shows in the order in which their own gradients run.
    factor = conj(_quotient(x, y).div(y))
    return g.neg().mul(factor)


for dividing in (div, div_number):
    dividing.wrt(x=lambda g, y: g.div(conj(y)), y=_divisor_backward)


@op(internal=True, inplace=True, node="DivBackward1", factor="y", alone=alone.with_tensor("div"), **_QUOTIENT)
def div_scalar(x: Tensor, y: Number):
    """Quotient by a real number, inside formulas."""
    return np.true_divide(x, y)


div_scalar.wrt(x=lambda g, y: g.div_scalar(y))


@op(internal=True, node="AddBackward1", alone=alone.with_tensor("add"))
def add_scalar(x: Tensor, y: Number):
    """Sum with a number, inside formulas."""
    return np.add(x, y)


add_scalar.wrt(x=lambda g: g)


@op(internal=True, node="SubBackward1", dtypes="numeric", alone=alone.with_tensor("sub"))
def sub_scalar(x: Tensor, y: Number):
    """Difference from a number, inside formulas."""
    return np.subtract(x, y)


sub_scalar.wrt(x=lambda g: g)


@op(
    inplace=True, node="NegBackward0", dtypes="numeric", complex=True, grows="keeps", often=4, casts_out=False
)
def neg(x: Tensor):
    """``-x``."""
    return np.negative(x)


neg.wrt(x=lambda g: g.neg())


@op(
    inplace=True,
    node="AbsBackward0",
    dtypes="keep",
    layout=("x",),
    complex="rounds",
    tries=("a zero",),
    grows="keeps",
    jumps=True,
    often=5,
    zero="derivative",
    alone=alone.out,
)
def abs(x: Tensor):
    """Absolute value; its derivative at zero is zero.

    NB: PyTorch makes the memory for sizes of complex numbers before it looks for an order of dimensions.
    """
    need_kernel("abs", x, "b")
    if x.dtype.kind == "c" and not x.size:
        return empty_strided(x.shape, tuple(stride // 2 for stride in x.strides), x.real.dtype)
    return np.abs(x)


abs.wrt(x=lambda g, x: g.mul(x.sgn()))


def _abs_in_place(x: np.ndarray) -> Any:
    if x.dtype.kind == "c":
        refuse("op/abs-in-place-is-real", dtype=x.dtype)
    return abs.body(x)


assert abs.in_place is not None
abs.in_place.body = _abs_in_place


@op(internal=True, node="SgnBackward0", casts_out=False)
def sgn(x: Tensor):
    """-1, 0 or 1 by sign; saves operand and result, for complex numbers only.

    It is not public: its every gradient is a ZeroTensor, and torch crashes when part of one is listed.
    """
    if x.dtype.kind == "b":
        return x.copy()
    if x.dtype.kind == "c":
        return np.divide(x, np.abs(x), out=np.zeros_like(x), where=x != 0)
    return np.subtract(np.greater(x, 0).astype(x.dtype), np.less(x, 0).astype(x.dtype))


def _sgn_backward(g, x, out):
    if not x.is_complex():
        return g._without_memory()
    # NB: from the right, as in what compilers make of PyTorch's formula
    twice = x.abs().mul_scalar(2)
    conjugate = conj(g)
    return g.sub(out.mul(out).mul(conjugate)).div(twice).masked_fill_(x.eq(0), 0)


sgn.wrt(x=_sgn_backward)


@op(
    inplace=True,
    node="ReciprocalBackward0",
    dtypes="float",
    complex=True,
    domain="power_of_two",
    grows="inverts",
)
def reciprocal(x: Tensor):
    """``1 / x``; saves its result."""
    return np.reciprocal(x)


def _reciprocal_backward(g: Any, out: Any) -> Any:
    square = conj(out.mul(out))  # NB: first, as in what compilers make of PyTorch's formulas: from the right
    return g.neg().mul(square)


reciprocal.wrt(x=_reciprocal_backward)


@composite(
    complex=True,
    domain={"x": "power_of_two"},
    grows="inverts",
    aliases="never",
    with_array=lambda x, array: x.reciprocal() * array,
)
def rtruediv(x: Tensor, y):
    """``y / x`` as Python writes it: a reciprocal and a product."""
    return x.reciprocal().mul(y)
