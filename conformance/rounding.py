"""The rounding tier: which values of a program may be off by a few units in the last place, and by how many.

Everything else is exact by construction and compared with `==`. Here lives the forward taint from operations
that round (the ops declare it) to the names and grads downstream of them, and the bound itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any

from conformance.program import Program, Step, binds, is_assignment, reads

GROWTH = 16
"""A value downstream of rounding may be off by this many times the largest bound of a single application."""

EPSILON = {"float64": 2.0**-52, "complex128": 2.0**-52, "float32": 2.0**-23, "complex64": 2.0**-23,
           "float16": 2.0**-10, "bfloat16": 2.0**-7}  # fmt: skip


@cache
def rounding_ops() -> Mapping[str, int]:
    """The ops that round, by public name, with the ULP bound of one application."""
    from specs import ops

    return {
        name: max(op.ulp for op in found)
        for name, found in ops.load().items()
        if not all(o.exact for o in found)
    }


def base(op: str) -> str:
    """The declared op behind a step's operation: `mul_`, `__imul__` and `torch.mul` are all `mul`."""
    from specs.ops import OPERATORS

    name = OPERATORS.get(op) or op.rpartition(".")[2]
    return name.removesuffix("_")


def writes_in_place(step: Step) -> bool:
    """Whether a step may change what other names show, as far as its operation's name tells."""
    op = step.op
    if op.startswith("__"):
        return op.startswith("__i") or op == "__setitem__"
    return op.endswith("_") or is_assignment(op)


class Rounding:
    """What may be off, step by step; worked out at once, looked up by name."""

    def __init__(self, program: Program, ops: Mapping[str, int] | None = None) -> None:
        ops = rounding_ops() if ops is None else ops
        self._names: list[frozenset[str]] = []
        self._grads: list[bool] = []
        bound = 0
        tainted: set[str] = set()
        known: set[str] = set()
        grads = False
        for step in program.steps:
            known.update(binds(step))
            own = ops.get(base(step.op))
            if own is not None:
                bound = max(bound, own)
            upstream = own is not None or any(name in tainted for name in reads(step))
            if "grad" in step.op or "backward" in step.op:
                grads = grads or bool(tainted)
                upstream = upstream or (grads and not is_assignment(step.op))
            if upstream:
                if writes_in_place(step) or "backward" in step.op:
                    tainted.update(known)
                    grads = True  # a grad may be what was written
                else:
                    tainted.update(binds(step))
            self._names.append(frozenset(tainted))
            self._grads.append(grads)
        self.ulp = GROWTH * bound

    def of(self, step: int, name: str) -> int:
        """By how many ULPs the value of `name` may be off after `step`; 0 means exact."""
        return self.ulp if name in self._names[step] else 0

    def of_grads(self, step: int) -> int:
        """By how many ULPs grads may be off after `step`."""
        return self.ulp if self._grads[step] else 0


def near(x: Any, y: Any, ulp: int, dtype: str) -> bool:
    """Whether nested numbers are equal (NaN to NaN), or at most `ulp` units of the larger (or of 1) off."""
    if isinstance(x, list) or isinstance(y, list):
        if not (isinstance(x, list) and isinstance(y, list)) or len(x) != len(y):
            return False
        return all(near(a, b, ulp, dtype) for a, b in zip(x, y, strict=True))
    if x == y:
        return True
    if isinstance(x, complex) and isinstance(y, complex):
        return near(x.real, y.real, ulp, dtype) and near(x.imag, y.imag, ulp, dtype)
    if not (isinstance(x, float) and isinstance(y, float)):
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    return abs(x - y) <= ulp * EPSILON.get(dtype, 0.0) * max(abs(x), abs(y), 1.0)
