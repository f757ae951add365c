"""In-place forms of ops that programs call in the other form alone; they share body, formulas and facts."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from specs.errors import need_kernel
from specs.kind import Dim, Tensor
from specs.op import Op, op
from specs.ops.complex import conj
from specs.ops.elementwise import sgn
from specs.ops.gamma import polygamma_of
from specs.ops.helpers import without_derivative
from specs.ops.numbers import heaviside, ldexp
from specs.ops.reduce import cumprod
from specs.ops.ternary import addbmm, addmm, addmv, addr, baddbmm


def _written(form: Op, node: str = "", **facts: Any) -> Op:
    @wraps(form.body)
    def write(*given: Any, **how: Any) -> Any:
        return form.body(*given, **how)

    name = form.name.lstrip("_")
    write.__name__ = f"_{name}_in_place"
    facts = {"name": f"{name}_", "node": node or form.node, "dtypes": form.dtypes} | facts
    made = op(inplace="only", internal=True, **facts)(write)
    return made.wrt(**{operand: formula.fn for operand, formula in form.formulas.items()})


addmm_written, addmv_written, baddbmm_written = _written(addmm), _written(addmv), _written(baddbmm)
addbmm_written = _written(addbmm)
addr_written = _written(addr, name="_addr_", dtypes="same")  # its vectors do not fit its target
ldexp_written, sgn_written = _written(ldexp), _written(sgn)
heaviside_written = _written(heaviside).wrt(**dict.fromkeys("xy", without_derivative("heaviside_")))
polygamma_written = _written(polygamma_of, "PolygammaBackward1")


@op(name="cumprod_", node="CumprodBackward0", inplace="only", dtypes="accumulate", internal=True)
def cumprod_written(x: Tensor, dim: Dim) -> Any:
    """Running products along a dimension; there is no kernel for booleans."""
    need_kernel("cumprod_out", x, "b")
    return cumprod.body(x, dim)


cumprod_written.wrt(**{name: formula.fn for name, formula in cumprod.formulas.items()})


@op(name="conj_physical_", node="ConjPhysicalBackward1", inplace="only", dtypes="keep", internal=True)
def conj_physical_written(x: Tensor) -> Any:
    """The conjugates, in the same memory."""
    return np.conjugate(x)


conj_physical_written.wrt(x=lambda g: conj(g))


@op(node="ConjPhysicalBackward0", dtypes="keep", internal=True)
def _conj_physical(x: Tensor) -> Any:
    """The conjugates, in memory of their own."""
    return np.conjugate(x)


_conj_physical.wrt(x=lambda g: conj(g))
