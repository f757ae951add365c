"""Powers. The overloads differ in whether base and exponent are tensors, as in torch's schemas."""

from __future__ import annotations

import cmath
import math

import numpy as np

from specs import inference_alone as alone
from specs.errors import refuse
from specs.kind import Number, Tensor
from specs.op import composite, op
from specs.ops.complex import conj


def _complex_power(x, exponent):
    """The power of complex numbers, at zero as C++ has it: by the logarithm, so that 0 ** 0 is nan."""
    power = np.power(x, exponent)
    zero = np.equal(x, 0)
    return np.where(zero, np.exp(exponent * np.log(np.where(zero, x, 1))), power) if np.any(zero) else power


def _power(x, exponent):
    """The power; a negative power of an integer is what integer division makes of it."""
    if (x if isinstance(x, np.ndarray) else exponent).dtype.kind == "b":
        np.broadcast_shapes(np.shape(x), np.shape(exponent))  # that is refused first
        refuse("op/no-kernel", name="pow", dtype="bool")
    if np.result_type(x, exponent).kind not in "biu" or not np.any(np.less(exponent, 0)):
        return (
            _complex_power(x, exponent) if np.result_type(x, exponent).kind == "c" else np.power(x, exponent)
        )
    upwards = np.power(x, np.abs(exponent))
    return np.where(np.greater_equal(exponent, 0) | (np.abs(x) == 1), upwards, 0)


@op(
    inplace=True,
    name="pow",
    node="PowBackward1",
    real=True,
    complex="rounds by logarithm",
    tries=("zero to powers", "powers of zero", "whole"),
    domain={"x": "positive"},
    exact=False,
    ulp=4,
    grows="raises",
    often=4,
)
def pow_tensor(x: Tensor, exponent: Tensor):
    """Tensor to a tensor's power; the result is saved besides both operands."""
    return _power(x, exponent)


def _wrt_base(g, x, exponent):
    slope = g.mul(conj(exponent.mul(x.pow(exponent.sub_scalar(1)))))
    return g.new_zeros(()).where(exponent.eq(0), slope)


def _wrt_exponent(g, x, exponent, out):
    flat = x.eq(0)._logical_and(_not_negative(exponent))
    if x.dtype != exponent.dtype:
        x = x.to(x.detach().mul(exponent.detach()).dtype)
    slope = conj(out.mul(x.log()))
    return g.mul(g.new_zeros(()).where(flat, slope))


def _not_negative(exponent):
    """The exponents that are real and not negative: zero to their power does not depend on them."""
    if exponent.is_complex():
        return exponent.imag.eq(0)._logical_and(exponent.real.ge(0))
    return exponent.ge(0)


pow_tensor.wrt(x=_wrt_base, exponent=_wrt_exponent)


@op(
    inplace=True,
    name="pow",
    node="PowBackward0",
    real=True,
    complex="rounds on CUDA",  # which takes powers by logarithms
    tries=("a zero",),
    layout=("x",),
    avoid=("inexact_power",),
    grows="raises",
    often=4,
    alone=alone.power,
)
def pow_scalar(x: Tensor, exponent: Number):
    """Tensor to a number's power; refuses integers to a negative one."""
    if x.dtype.kind in "biu" and exponent < 0:
        refuse("op/integer-negative-power")
    if exponent == -0.5 and x.dtype.kind == "f":
        return 1 / np.sqrt(x)  # of a negative infinity, too, it is no number
    return np.power(x, exponent)


pow_scalar.wrt(
    x=lambda g, x, exponent: (
        x.new_zeros(x.shape)
        if exponent == 0
        else g.mul(conj(x.pow(exponent - 1.0).mul_scalar(exponent * 1.0)))
    ),
)


@op(
    name="rpow",
    node="PowBackward2",
    layout=(),
    exact=False,
    ulp=4,
    real=True,
    complex="rounds by logarithm",
    tries=("a zero", "whole"),
    domain={"x": "moderate", "base": "positive"},
    grows="explodes",
    alone=alone.power_of_number,
)
def rpow_number(x: Tensor, base: Number):
    """A number to a tensor's power: ``2 ** x`` calls it. Saves its result."""
    return np.array(_power(base, x), order="C")


def _wrt_exponent_of_number(g, x, base, out):
    if base == 0:
        return g.mul(g.new_zeros(()).where(_not_negative(x), conj(out.mul_scalar(-math.inf))))
    if out.is_complex():
        return g.mul(conj(out.mul_scalar(cmath.log(base))))
    return g.mul(out.mul_scalar(math.log(base) if base > 0 else math.nan))


rpow_number.wrt(x=_wrt_exponent_of_number)


@composite(
    name="rpow",
    complex="rounds by logarithm",
    tries=("zero to powers", "powers of zero"),
    exact=False,
    ulp=4,
    domain={"x": "moderate", "base": "positive"},
    grows="explodes",
    aliases="never",
)
def rpow_tensor(x: Tensor, base: Tensor):
    """``base ** x`` of two tensors."""
    return base.pow(x)


@composite(
    name="pow",
    complex="rounds by logarithm",
    tries=("a zero",),
    exact=False,
    ulp=4,
    domain={"base": "positive", "exponent": "moderate"},
    grows="raises",
    often=4,
    aliases="never",
)
def pow_base(base: Number, exponent: Tensor):
    """``2 ** x``, in the function's form."""
    return exponent.rpow(base)


@composite(complex=True, tries=("a zero",), grows="squares", aliases="never")
def square(x: Tensor):
    """``x ** 2``."""
    return x.pow(2)
