"""How one overload of an op is drawn: which operands, which attribute values, what comes of it.

Read off the op declarations once; the calls on operands of given shapes are in a ``table`` each. Picking live
tensors and emitting steps is the business of ``maths`` and ``writes``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from conformance.generate.ops import magnitude
from conformance.generate.ops.arguments import EXPONENTS, NUMBERS, OMIT, combinations
from conformance.generate.ops.call_table import REFUSED, TOO_MUCH, At, Call, Table
from conformance.generate.ops.shape_inference import Plain, run, shapes_of
from conformance.generate.state.tensor_info import TensorInfo
from specs.domain import AVOIDANCES, DOMAINS
from specs.op import Op

Shape = tuple[int, ...]
Row = tuple[Any, ...]

MOST_DIMS, MOST_ELEMENTS = 3, 16
"""Results larger than this are not drawn: they would show nothing new, and every new shape costs new
tables.
"""
OFTEN = 7
"""How many calls as a method stand beside one as a function."""

SETTLED = frozenset(["inexact_power", "inexact_count"])
"""Avoidances that no values can meet: by the dtypes and numbers drawn, and by the calls in the tables."""

KINDS = {"i": np.int64, "b": np.bool_, "c": np.complex128}
"""Kinds of dtypes besides floats, which every op takes."""
PROBES: tuple[tuple[Shape, Shape], ...] = (
    ((2, 2), (2, 2)), ((2,), (2,)), ((2, 2), (2,)), ((2, 2, 2), (2, 2, 2)),
)  # fmt: skip
"""Shapes of the first operand and of the others on which an op shows which dtypes it takes."""


class Recipe:
    """One overload under one spelling: ``spelled`` is the step's op, ``reflected`` wants a number for
    the other operand. ``function`` says that the op is drawn as a function of the namespace, too.
    """

    def __init__(
        self, op: Op, spelled: str, reflected: bool = False, supports: Callable[[str], bool] = bool
    ) -> None:
        self.op = op
        self.spelled = spelled
        self.name = op.name.rstrip("_")
        self.reflected = reflected
        self.rebinds = spelled.startswith("__i") and op.mutates
        self.mutates = op.mutates
        self.casts = op.mutates and op.dtypes != "keep"  # what it writes, if the dtypes allow it
        self.exact = op.exact
        self.grow = magnitude.GROWTH[op.grows]
        self.jumps = op.jumps
        self.attributes = tuple(a for a in op.attributes if a.kind.name != "assigned")
        assigned = tuple(a.name for a in op.attributes if a.kind.name == "assigned")
        self.names = op.names + assigned
        self.first = self.names.index("x") if "x" in self.names else 0
        self.kinds = (*(operand.kind.name for operand in op.operands), *("either" for _ in assigned))
        self.others = tuple(at for at in range(len(self.kinds)) if at != self.first)
        self.indexed = "indices" in self.kinds or "mask" in self.kinds
        self.binary = len(self.others) == 1 and self.kinds[self.others[0]] in ("either", "tensor")
        self.same = op.dtypes == "same"
        self.interleaved = op.order[: len(self.names)] != self.names
        self.domains = tuple(self._domain(name) for name in self.names)
        self.avoid = tuple(AVOIDANCES[name] for name in op.avoid if name not in SETTLED)
        self.checks_values = any(self.domains) or bool(self.avoid)
        self.numbers = tuple(self._numbers(at) for at in range(len(self.kinds)))
        self._order = (self.names[self.first], *(n for n in op.order if n != self.names[self.first]))
        self._leading = self._by_position()
        self._tables: dict[tuple[Shape | None, ...], Table] = {}
        function = f"torch.{spelled}"
        self.torch = (
            function
            if op.function and not (op.mutates or spelled[0] == "_" or self.first) and supports(function)
            else None
        )
        self.multi = op.view == "multi"
        self.view = bool(op.view) or self._aliases()

    @cached_property
    def refused(self) -> str:
        """The kinds of dtypes that the op refuses."""
        return "".join(letter for letter in KINDS if self._refuses(letter))

    @cached_property
    def dtypes(self) -> str:
        """The kinds of dtypes it takes besides floats; complex only if its formulas hold for it."""
        known = "ibc" if self.op.complex else "ib"
        return "".join(letter for letter in known if letter not in self.refused)

    def suits(self, x: TensorInfo, unchecked: bool = False) -> bool:
        """Whether the op takes a tensor of that dtype, or refuses it and that is what is wanted."""
        return x.kind == "f" or x.kind in self.dtypes or (unchecked and x.kind in self.refused)

    def _refuses(self, letter: str) -> bool:
        op = self.op
        if letter == "b" and op.dtypes == "numeric":
            return True
        for first, other in PROBES:
            shapes = tuple(
                None if kind == "number" else first if at == self.first else other
                for at, kind in enumerate(self.kinds)
            )
            call = self.table(shapes).fit(0)
            if call is not None:
                operands = tuple(self._operand(at, s, KINDS[letter]) for at, s in enumerate(shapes))
                return self._results(operands, dict(call.given)) is None
        return False

    def _domain(self, name: str) -> Any:
        domain = self.op.domain if isinstance(self.op.domain, str) else self.op.domain.get(name, "any")
        return None if domain == "any" else domain

    def _numbers(self, at: int) -> tuple[Any, ...]:
        domain = self.domains[at]
        numbers: tuple[Any, ...] = NUMBERS
        if "inexact_power" in self.op.avoid and at != self.first:
            numbers = EXPONENTS
        return tuple(n for n in numbers if domain is None or _lies_in(n, domain))

    def _by_position(self) -> frozenset[str]:
        """Attributes that are passed by position: the required ones, and the first that is not."""
        required = {a.name for a in self.attributes if a.required}
        kinds = {a.name: a.kind.name for a in self.attributes}
        rest = [n for n in self._order if n in kinds and n not in required]
        return frozenset(required | {n for n in rest[:1] if kinds[n] not in ("bool", "scale", "dtype")})

    def _aliases(self) -> bool:
        """Whether a composite may give its operand's memory under another name, found out by running it."""
        if not self.op.composite or self.mutates or set(self.kinds) != {"tensor"}:
            return False
        shape = (2, 2)
        operands = tuple(_sample(shape, kind) for kind in self.kinds)
        table = self.table((shape,) * len(operands))
        for at in range(table.size):
            call = table.fit(at)
            results = run(self.op, operands, dict(call.given)) if call is not None else ()
            for one in results if isinstance(results, tuple | list) else (results,):
                if isinstance(one, Plain) and np.shares_memory(one.array, operands[0].array):
                    return True
        return False

    def admits(self, operands: list[Any], attributes: dict[str, Any]) -> bool:
        """Whether raw operands, arrays and numbers, lie in the op's domain and meet no avoidance."""
        for operand, domain in zip(operands, self.domains, strict=True):
            if domain is not None and not _lies_in(operand, domain):
                return False
        try:
            return not any(avoidance.meets(tuple(operands), attributes) for avoidance in self.avoid)
        except (ValueError, IndexError, TypeError):  # arguments that are refused anyway
            return False

    # -- tables ----------------------------------------------------------------------------------

    def table(self, shapes: tuple[Shape | None, ...]) -> Table:
        """The calls on operands of these shapes (None: a number), simplest first."""
        found = self._tables.get(shapes)
        if found is None:
            found = self._tables[shapes] = self._open(shapes)
        return found

    def takes(self, shapes: tuple[Shape | None, ...]) -> bool:
        """Whether operands of these shapes fit, as far as is told by the simplest calls."""
        if self.same:  # as a rule a matter of ranks alone, of which there are fewer
            ranks = tuple((2,) * len(shape or ()) for shape in shapes)
            if ranks != shapes and self.table(ranks).fit(0) is None:
                return False
        return self.table(shapes).fit(0) is not None

    def _open(self, shapes: tuple[Shape | None, ...]) -> Table:
        rows = self._rows(shapes)
        operands = tuple(self._operand(at, shape) for at, shape in enumerate(shapes))
        known = _known(self.op.body, self.mutates, shapes)

        def work(at: int) -> Call:
            row, spelled = rows[at]
            key = tuple(map(id, row))
            if key not in known:
                known[key] = self._outs(operands, self._attributes(row))
            return self._call(row, spelled, known[key])

        return Table(len(rows), work)

    def _rows(self, shapes: tuple[Shape | None, ...]) -> list[tuple[Row, str]]:
        """Attribute values to try, each with a spelling: one in eight is a function of the namespace."""
        attributes = self.attributes
        rows: list[Row]
        if not attributes:
            rows = [()]
        elif self.spelled[0] == "_" and not attributes[0].required:
            rows = [(OMIT,) * len(attributes)]
        else:
            kinds = tuple(a.kind.name for a in attributes)
            required = tuple(a.required for a in attributes)
            rows = fitting_rows(kinds, required, shapes[self.first] or ())
        methods = [(row, self.spelled) for row in rows]
        if self.torch is None:
            return methods
        functions = [(row, self.torch) for row in rows[::OFTEN]]
        return methods * max(1, OFTEN // len(rows)) + functions

    def _attributes(self, row: Row) -> dict[str, Any]:
        """All attributes, as the op's body wants them."""
        return {
            a.name: a.default if value is OMIT else a.kind.read(value)
            for a, value in zip(self.attributes, row, strict=True)
        }

    def _call(self, row: Row, spelled: str, outs: int) -> Call:
        """The call with these attribute values, which gives so many results."""
        given = {a.name: value for a, value in zip(self.attributes, row, strict=True)}
        positional: list[Any] = []
        keywords: list[tuple[str, Any]] = []
        omitted = False
        variadic = (
            {a.name for a in self.attributes if a.kind.variadic} if not spelled.startswith("torch.") else ()
        )
        for name in self._order:
            if name in self.names:
                positional.append(At(self.names.index(name)))
            elif given[name] is OMIT:
                omitted = True
            elif omitted or keywords or name not in self._leading:
                keywords.append((name, given[name]))
            elif name in variadic and sum(map(abs, _flat(given[name]))) % 2:
                positional.extend(given[name])
            else:
                positional.append(given[name])
        whole = tuple(self._attributes(row).items())
        if self.interleaved:
            return Call(spelled, (), tuple(keywords), outs, whole, tuple(positional))
        tail = tuple(v for v in positional if not isinstance(v, At))
        return Call(spelled, tail, tuple(keywords), outs, whole)

    def _outs(self, operands: tuple[Any, ...], attributes: dict[str, Any]) -> int:
        """How many results a call gives, if it is one to be drawn."""
        results = self._results(operands, attributes)
        if results is None:
            return REFUSED
        if results and (len(results[0]) > MOST_DIMS or prod(results[0]) > MOST_ELEMENTS):
            return TOO_MUCH
        if "inexact_count" in self.op.avoid and AVOIDANCES["inexact_count"].meets(
            tuple(o.array for o in operands), attributes
        ):
            return TOO_MUCH
        return max(1, len(results))

    def _results(self, operands: tuple[Any, ...], attributes: dict[str, Any]) -> tuple[Shape, ...] | None:
        """The shapes of a call's results, or None if it is refused."""
        count = len(self.op.names)
        assigned = dict(zip(self.names[count:], operands[count:], strict=True))
        return shapes_of(self.op, operands[:count], attributes | assigned)

    def _operand(self, at: int, shape: Shape | None, dtype: Any = np.float64) -> Any:
        kind = self.kinds[at]
        return 2 if kind == "number" or shape is None else _sample(shape, kind, dtype)


def _lies_in(operand: Any, domain: str) -> bool:
    """Whether all values lie in a domain; the same few come up again and again."""
    values = operand.ravel().tolist() if isinstance(operand, np.ndarray) else (operand,)
    return all(_holds(domain, value) for value in values)


@lru_cache(maxsize=4096)
def _holds(domain: str, value: Any) -> bool:
    return bool(DOMAINS[domain].holds(value))


@cache
def _known(body: Any, mutates: bool, shapes: tuple[Shape | None, ...]) -> dict[tuple[int, ...], int]:
    """How many results a body gives on operands of these shapes, by the identities of the attribute values.

    All spellings of an op share what is known, and the values come from the same lists.
    """
    return {}


@cache
def _sample(shape: Shape, kind: str, dtype: Any = np.float64) -> Plain:
    """A stand-in operand of that shape; nobody writes to it."""
    dtype = {"mask": np.bool_, "indices": np.int64}.get(kind, dtype)
    return Plain(np.zeros(shape, dtype) if kind == "indices" else np.ones(shape, dtype))


@cache
def fitting_rows(kinds: tuple[str, ...], required: tuple[bool, ...], shape: Shape) -> list[Row]:
    """The combinations of attribute values that leave out nothing that is needed."""
    return [
        row
        for row in combinations(kinds, shape)
        if all(value is not OMIT or not needed for value, needed in zip(row, required, strict=True))
    ]


def _flat(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (0,)
