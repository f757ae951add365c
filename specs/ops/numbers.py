"""Numbers in place of NaN and infinities, sums without them, powers of two and step functions; not drawn."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from specs.errors import LARGEST_NUMBERS, need_kernel, refuse
from specs.kind import Bool, Nothing, Number, OptDims, OptNumber, Rounding, Tensor, Wrapped
from specs.op import composite, op
from specs.ops.binary import div_rounded
from specs.ops.complex import conj
from specs.ops.elementwise import div, div_number
from specs.ops.helpers import axes_of, need_divisors, reduced, without_derivative
from specs.ops.reduce import sum_dim

_FACTS: dict[str, Any] = {"internal": True, "exact": False, "ulp": 4}


@op(node="NanToNumBackward0", dtypes="keep", layout=("x",), inplace=True, complex_history=False, **_FACTS)
def nan_to_num(x: Tensor, nan: OptNumber = 0.0, posinf: OptNumber = None, neginf: OptNumber = None) -> Any:
    """Numbers in place of NaN and infinities."""
    if x.dtype.kind not in "fcV":
        return x.copy()
    if x.dtype.kind == "c":
        out = np.empty_like(x)
        out.real, out.imag = (_numbers(part, nan, posinf, neginf) for part in (x.real, x.imag))
        return out
    return _numbers(x, nan, posinf, neginf)


def _numbers(x: np.ndarray, nan: Any, posinf: Any, neginf: Any) -> Any:
    largest = LARGEST_NUMBERS.get(str(x.dtype), sys.float_info.max)
    high, low = largest if posinf is None else posinf, -largest if neginf is None else neginf
    out = np.where(np.isnan(x), x.dtype.type(0.0 if nan is None else nan), x)
    return np.where(np.isposinf(x), x.dtype.type(high), np.where(np.isneginf(x), x.dtype.type(low), out))


nan_to_num.wrt(x=lambda g, x: g.mul(x.detach().isfinite()))


def _without_nan(x: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(x), x.dtype.type(0), x) if x.dtype.kind in "fcV" else x


def _nansum_backward(g: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    spread = sum_dim.formulas["x"].fn(g, tuple(x.shape), dim, keepdim)
    return spread.mul(x.detach().isnan().logical_not())


@op(node="NansumBackward0", dtypes="accumulate", **_FACTS)
def nansum(x: Tensor, dim: OptDims = None, keepdim: Bool = False) -> Any:
    """The sum of what is no NaN."""
    if x.dtype.kind == "c":
        refuse("op/real-only", name="nansum", case="nansum")
    return reduced(np.add, _without_nan(x), axes_of(dim, x.ndim), keepdim)


nansum.wrt(x=_nansum_backward)


@op(node="Logaddexp2Backward0", lacks="biuc", iterates=False, cancels=True, **_FACTS)
def logaddexp2(x: Tensor, y: Tensor) -> Any:
    """The base-2 logarithm of the sum of powers of two."""
    return np.logaddexp2(x, y)


logaddexp2.wrt(
    x=lambda g, x, y: g.div(y.sub(x).rpow(2).add_scalar(1)),
    y=lambda g, x, y: g.div(x.sub(y).rpow(2).add_scalar(1)),
)


@op(node="LdexpBackward0", **_FACTS | {"dtypes": "float"})
def ldexp(x: Tensor, y: Tensor) -> Any:
    """``x`` times a power of two."""
    return x * np.exp2(y)


ldexp.wrt(
    x=lambda g, y: g.mul(conj(y.rpow(2))),
    y=lambda g, out: g.mul(conj(out)).mul_scalar(math.log(2)),
)


@op(node="torch::autograd::NotImplemented", dtypes="same", **_FACTS)
def heaviside(x: Tensor, y: Tensor) -> Any:
    """0 below zero, 1 above it, ``y`` at zero."""
    if "c" in (x.dtype.kind, y.dtype.kind):
        refuse("op/real-only", name="heaviside", case="heaviside")
    if x.dtype != y.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return np.where(x == 0, y, x > 0).astype(x.dtype)  # no number is not above zero


heaviside.wrt(**dict.fromkeys("xy", without_derivative("heaviside")))


@op(node="PolarBackward0", **_FACTS | {"dtypes": "keep", "complex": True, "real": True})
def polar(x: Tensor, angle: Tensor) -> Any:
    """Complex numbers of that size and angle."""
    if {x.dtype.kind, angle.dtype.kind} & set("biucV"):
        refuse("op/complex-is-made-of-floats", case="polar", real=x.dtype, imag=angle.dtype)
    if x.dtype != angle.dtype:
        refuse("op/real-only", name="polar")
    need_kernel("polar", x, "e")
    made = x * np.cos(angle) + 1j * (x * np.sin(angle))
    return made.astype(np.result_type(x.dtype, np.complex64))


polar.wrt(
    x=lambda g, out: g.conj().mul(out.sgn()).real,
    angle=lambda g, out: g.conj().mul(out.mul_scalar(1j)).real,
)


# -- what Python's // and % give -------------------------------------------------------------------
_WITHOUT: dict[str, Any] = {"node": "torch::autograd::NotImplemented", "internal": True}


def _floored(x: np.ndarray, y: Any) -> Any:
    if x.dtype == bool:
        raise NotImplementedError("\"div_floor_cpu\" not implemented for 'Bool'")
    need_kernel("div_floor", x, "c")
    need_divisors(x, y)
    return np.asarray(np.floor_divide(x, y))


@op(name="floor_divide", inplace=True, **_WITHOUT)
def floor_divide_number(x: Tensor, y: Number) -> Any:
    """The quotient rounded down, which has no derivative."""
    return _floored(x, y)


@op(name="floor_divide", inplace=True, **_WITHOUT)
def floor_divide_tensor(x: Tensor, y: Tensor) -> Any:
    """The quotient of two tensors rounded down."""
    return _floored(x, y)


@op(name="floor_divide", **_WITHOUT)
def floor_divide_of_number(x: Wrapped, y: Tensor) -> Any:
    """The quotient of a number rounded down."""
    return _floored(np.asarray(x), y)


@op(**_WITHOUT)
def _rfloor_divide(x: Tensor, y: Number) -> Any:
    """``y`` divided by ``x``, rounded down."""
    return _floored(np.full_like(x, y), x)


@composite(name="_rremainder", internal=True)
def _rremainder_tensor(x: Tensor, y: Tensor) -> Any:
    """The remainder of ``y``, asked for by that name."""
    return y.remainder(x)


@op(**_WITHOUT)
def _rremainder(x: Tensor, y: Number) -> Any:
    """The rest of ``y`` divided by ``x``, with the sign of ``x``."""
    need_divisors(y, x)
    return np.asarray(np.remainder(np.asarray(y, x.dtype), x))


floor_divide_number.wrt(x=without_derivative("floor_divide"))
floor_divide_tensor.wrt(**dict.fromkeys("xy", without_derivative("floor_divide")))
floor_divide_of_number.wrt(y=without_derivative("floor_divide"))
_rfloor_divide.wrt(x=without_derivative("floor_divide"))
_rremainder.wrt(x=without_derivative("remainder"))


# -- forms of divisions ----------------------------------------------------------------------------
@op(internal=True, name="remainder", node="torch::autograd::NotImplemented", lacks="cb")
def remainder_of_number(x: Wrapped, y: Tensor) -> Any:
    """The remainder of a number divided by ``y``, with the sign of ``y``."""
    need_divisors(x, y)
    return np.remainder(x, y)


remainder_of_number.wrt(y=without_derivative("remainder"))


_UNROUNDED: dict[str, Any] = {
    "internal": True, "name": "div", "node": "DivBackward2", "zero": "quotient", "real": True,
    "dtypes": "float",
}  # fmt: skip


@op(inplace=True, **_UNROUNDED)
def div_unrounded(x: Tensor, y, *, rounding_mode: Nothing) -> Any:
    """The quotient as is, asked for as one that is rounded."""
    return np.true_divide(x, y)


@op(**_UNROUNDED)
def div_number_unrounded(x: Wrapped, y: Tensor, *, rounding_mode: Nothing) -> Any:
    """That of a number."""
    return np.true_divide(x, y)


@op(internal=True, name="div", node="DivBackward2", zero="quotient")
def div_number_rounded(x: Wrapped, y: Tensor, *, rounding_mode: Rounding) -> Any:
    """The quotient of a number, rounded so."""
    return div_rounded.body(np.asarray(x), y, rounding_mode=rounding_mode)


div_number_rounded.wrt(x=lambda g, y: g.zeros_like(), y=lambda g, x, y: g.zeros_like())
for unrounded, divided in ((div_unrounded, div), (div_number_unrounded, div_number)):
    unrounded.wrt(**{name: formula.fn for name, formula in divided.formulas.items()})
