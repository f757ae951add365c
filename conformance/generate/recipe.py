"""How one overload of an op is drawn: which operands, which attribute values, what comes of it.

Read off the op declarations once, with tables per operand shapes filled as they are needed. Picking live
tensors and emitting steps is the business of ``maths``, ``views`` and ``writes``.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from conformance.generate import bounds
from conformance.generate.arguments import NUMBERS, OMIT, combinations, thin
from conformance.generate.plain import Plain, shapes_of
from specs.domain import AVOIDANCES, DOMAINS
from specs.op import Op

Shape = tuple[int, ...]

METHOD_ONLY = frozenset(
    [
        "view",
        "expand",
        "getitem",
        "setitem",
        "view_as",
        "reshape_as",
        "expand_as",
        "sum_to_size",
        "contiguous",
        "to",
        "double",
        "float",
    ]
)
"""Public ops that exist as methods but not as functions of the namespace."""

WIDTH = 40
"""How many calls a table of fitting arguments keeps."""
MOST_DIMS, MOST_ELEMENTS = 3, 16
"""Results larger than this are not drawn: they would show nothing new, and every new shape costs new
tables.
"""
OFTEN = 7
"""How many calls as a method stand beside one as a function."""

INTEGRAL = frozenset(
    [
        "add",
        "sub",
        "mul",
        "neg",
        "maximum",
        "minimum",
        "sum",
        "gt",
        "lt",
        "ge",
        "le",
        "eq",
        "ne",
        "clone",
        "where",
        "copy",
        "zero",
        "fill",
        "getitem",
        "setitem",
    ]
)
LOGICAL = frozenset(["add", "mul", "sum", "eq", "ne", "clone", "where", "copy", "zero", "getitem"])
"""Ops drawn on integers and on bools; the others differ there in ways that have nothing to do with
autograd.
"""


class Call(NamedTuple):
    """One way to call an op on operands of given shapes: its spelling, the other arguments, and how many
    results it gives.

    ``given`` are all attributes by name, ``spread`` says that a tuple was passed as single ints, as only
    methods allow. ``pattern`` is None where the operands come first; else the arguments in order, an `At`
    standing for an operand.
    """

    op: str
    tail: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]
    outs: int
    given: tuple[tuple[str, Any], ...]
    spread: bool = False
    pattern: tuple[Any, ...] | None = None


class At(int):
    """The place of operand number so and so in a pattern."""


class Recipe:
    """One overload under one spelling: ``spelled`` is the step's op, ``reflected`` wants a number for
    the other operand.
    """

    def __init__(self, op: Op, spelled: str, reflected: bool = False) -> None:
        self.op = op
        self.spelled = spelled
        self.name = op.name.rstrip("_")
        self.reflected = reflected
        self.rebinds = spelled.startswith("__i") and op.mutates
        self.view = bool(op.view)
        self.multi = op.view == "multi"
        self.mutates = op.mutates
        self.exact = op.exact
        self.dtypes = "fc" if op.complex else "f"
        if self.name in INTEGRAL or self.view:
            self.dtypes += "i"
        if self.name in LOGICAL or self.view:
            self.dtypes += "b"
        self.grow = bounds.GROWTH.get(self.name, bounds._contracts)
        self.jumps = self.name in bounds.JUMPS
        self.attributes = tuple(a for a in op.attributes if a.kind.name != "assigned")
        assigned = tuple(a.name for a in op.attributes if a.kind.name == "assigned")
        self.names = op.names + assigned
        self.first = self.names.index("x") if "x" in self.names else 0
        self.kinds = (*(operand.kind.name for operand in op.operands), *("either" for _ in assigned))
        self.others = tuple(at for at in range(len(self.kinds)) if at != self.first)
        self.binary = len(self.others) == 1 and self.kinds[self.others[0]] in ("either", "tensor")
        self.numeric = self.binary and self.kinds[self.others[0]] == "either"
        self._variadic = {a.name: a.kind.variadic for a in self.attributes}
        self.same = op.dtypes == "same"
        lead = op.order[: len(self.names)] == self.names
        self.interleaved = not lead
        self.domains = tuple(self._domain(name) for name in self.names)
        self.choosy = any(self.domains) or bool(op.avoid)
        self.avoid = tuple(AVOIDANCES[name] for name in op.avoid)
        self.numbers = tuple(self._numbers(at) for at in range(len(self.kinds)))
        self._tables: dict[tuple[Shape | None, ...], tuple[Call, ...]] = {}
        self._loose: dict[tuple[Shape | None, ...], tuple[Call, ...]] = {}
        self.torch = (
            None if self.name in METHOD_ONLY or op.mutates or spelled[0] == "_" else f"torch.{spelled}"
        )
        if self.first:
            self.torch = None

    def _domain(self, name: str) -> Any:
        domain = self.op.domain if isinstance(self.op.domain, str) else self.op.domain.get(name, "any")
        return None if domain == "any" else DOMAINS[domain]

    def _numbers(self, at: int) -> tuple[Any, ...]:
        domain = self.domains[at]
        numbers: tuple[Any, ...] = NUMBERS
        if self.name == "pow" and at != self.first:
            numbers = (2, 2.0, 3, 1, 0, 3.0, 1.0)
        return tuple(n for n in numbers if domain is None or domain.holds(n))

    def admits(self, values: list[Any], attributes: dict[str, Any]) -> bool:
        """Whether raw operand values lie in the op's domain and meet none of its avoidances."""
        try:
            for value, domain in zip(values, self.domains, strict=True):
                if domain is not None and not domain.holds(value):
                    return False
            return not any(avoidance.meets(tuple(values), attributes) for avoidance in self.avoid)
        except (ValueError, IndexError, TypeError):  # arguments that are refused anyway
            return False

    # -- tables ----------------------------------------------------------------------------------

    def calls(self, shapes: tuple[Shape | None, ...]) -> tuple[Call, ...]:
        """The calls that fit operands of these shapes (None: a number), simplest first; empty if none
        does.
        """
        found = self._tables.get(shapes)
        if found is None:
            fitting = thin([c for c in self._all(shapes) if c.outs >= 0], WIDTH)
            found = self._tables[shapes] = self._with_functions(fitting)
        return found

    def loose(self, shapes: tuple[Shape | None, ...]) -> tuple[Call, ...]:
        """Calls the op refuses, or those that fit if it refuses none: for drawing without regard to
        validity.
        """
        found = self._loose.get(shapes)
        if found is None:
            wrong = thin([c._replace(outs=1) for c in self._all(shapes) if c.outs == -1], WIDTH)
            found = self._loose[shapes] = wrong or self.calls(shapes)
        return found

    def _with_functions(self, calls: tuple[Call, ...]) -> tuple[Call, ...]:
        """The calls, about one in eight also as a function of the namespace."""
        functions = tuple(c._replace(op=self.torch) for c in calls[::8] if not c.spread) if self.torch else ()
        return (
            (*calls * (OFTEN // len(calls)), *functions)
            if functions and len(calls) < OFTEN
            else calls + functions
        )

    def _all(self, shapes: tuple[Shape | None, ...]) -> list[Call]:
        attributes = self.attributes
        operands = tuple(self._operand(at, shape) for at, shape in enumerate(shapes))
        if not attributes:
            return [self._call((), operands)]
        if self.spelled[0] == "_" and not attributes[0].required:
            return [self._call((OMIT,) * len(attributes), operands)]
        rows = combinations(tuple(a.kind.name for a in attributes), shapes[self.first] or ())
        kept = [
            row
            for row in rows
            if all(v is not OMIT or not a.required for v, a in zip(row, attributes, strict=True))
        ]
        return [self._call(row, operands) for row in kept]

    def _call(self, row: tuple[Any, ...], operands: tuple[Any, ...]) -> Call:
        """The call with these attribute values; ``outs`` is -1 if the op refuses it, -2 if it gives too
        much.
        """
        op = self.op
        given = {a.name: v for a, v in zip(self.attributes, row, strict=True)}
        attributes = {
            a.name: a.kind.read(v) if (v := given[a.name]) is not OMIT else a.default for a in self.attributes
        }
        assigned = dict(zip(self.names[len(op.names) :], operands[len(op.names) :], strict=True))
        results = shapes_of(op, operands[: len(op.names)], attributes | assigned)
        outs = -1 if results is None else max(1, len(results))
        if results and (len(results[0]) > MOST_DIMS or prod(results[0]) > MOST_ELEMENTS):
            outs = -2
        order = (self.names[self.first], *(n for n in op.order if n != self.names[self.first]))
        positional: list[Any] = []
        keywords: list[tuple[str, Any]] = []
        spread = False
        for name in order:
            if name in self.names:
                positional.append(At(self.names.index(name)))
            elif given[name] is OMIT:
                keywords.append(("", None))
            elif self._variadic[name] and sum(map(abs, _flat(given[name]))) % 2 and not keywords:
                positional.extend(given[name])
                spread = True
            elif keywords or name not in self._leading(order):
                keywords.append((name, given[name]))
            else:
                positional.append(given[name])
        kwargs = tuple((n, v) for n, v in keywords if n)
        whole = tuple(attributes.items())
        if self.interleaved:
            return Call(self.spelled, (), kwargs, outs, whole, spread, tuple(positional))
        tail = tuple(v for v in positional if not isinstance(v, At))
        return Call(self.spelled, tail, kwargs, outs, whole, spread)

    def _leading(self, order: tuple[str, ...]) -> set[str]:
        """Attributes that are passed by position: the required ones, and the first that is not."""
        required = {a.name for a in self.attributes if a.required}
        kinds = {a.name: a.kind.name for a in self.attributes}
        rest = [n for n in order if n in kinds and n not in required]
        return required | {n for n in rest[:1] if kinds[n] not in ("bool", "scale", "dtype")}

    def _operand(self, at: int, shape: Shape | None) -> Any:
        kind = self.kinds[at]
        if kind == "number" or shape is None:
            return 2
        dtype = {"mask": np.bool_, "indices": np.int64}.get(kind, np.float64)
        return Plain(np.zeros(shape, dtype) if kind == "indices" else np.ones(shape, dtype))


def _flat(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (0,)
