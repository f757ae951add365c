"""Recipes: the operands, attribute values and results of one overload of an op.

They are read off the op declarations once; the calls on operands of given shapes are in a ``CallTable`` each.
Tensors are picked and steps emitted in ``steps/call_op``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from conformance.generate.ops import magnitude
from conformance.generate.ops.arguments import DRAWN_NUMBERS, EXPONENTS, OMIT, combinations
from conformance.generate.ops.call_table import NOT_DRAWN, REFUSED, At, Call, CallTable
from conformance.generate.ops.shape_inference import BareArray, call_body, shapes_of
from conformance.generate.state.tensor_info import TensorInfo
from specs.active_rules import set_aside
from specs.domain import AVOIDANCES, DOMAINS
from specs.op import Op

Shape = tuple[int, ...]
Row = tuple[Any, ...]

MOST_DIMS, MOST_ELEMENTS = 3, 16
"""Larger results are not drawn: they would show nothing new, and each new shape costs new tables."""
MOST_TABLES = 4096
"""Tables that are kept, of some kilobytes each: more than a few thousand programs need."""
METHODS_PER_FUNCTION = 7
"""Calls as a method for each as a function of the namespace."""

NEVER_MET = frozenset(["inexact_power", "inexact_count"])
"""Avoidances that no values can meet, given the dtypes and numbers drawn and the calls in the tables."""

KINDS = {"i": np.int64, "b": np.bool_, "c": np.complex128}
"""Kinds of dtypes besides floats, which every op accepts."""
PROBES: tuple[tuple[Shape, Shape], ...] = (
    ((2, 2), (2, 2)), ((2,), (2,)), ((2, 2), (2,)), ((2, 2, 2), (2, 2, 2)),
)  # fmt: skip
"""Shapes of the first operand and of the others, to find the dtypes that an op accepts."""


class Recipe:
    """One overload under one spelling.

    ``spelled`` is the step's op; ``torch``, if not None, its function in the namespace, which is drawn as
    well. ``reflected``: the other operand is a number. ``first`` is the position of the operand that is the
    method's tensor, ``others`` are those of the rest.
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
        self.casts = op.mutates and op.dtypes != "keep"  # to the dtype of its target, if that is allowed
        self.exact = op.exact
        self.exact_on_complex = op.exact and op.complex != "rounds"
        self.grow = magnitude.GROWTH[op.grows]
        self.jumps = op.jumps
        self.overwrites = bool(op.overwrites)
        self.attributes = tuple(a for a in op.attributes if a.kind.name != "assigned")
        assigned = tuple(a.name for a in op.attributes if a.kind.name == "assigned")
        self.names = op.names + assigned
        self.first = self.names.index("x") if "x" in self.names else 0
        self.kinds = (*(operand.kind.name for operand in op.operands), *("either" for _ in assigned))
        self.others = tuple(at for at in range(len(self.kinds)) if at != self.first)
        self.indexed = "indices" in self.kinds or "mask" in self.kinds
        self.binary = len(self.others) == 1 and self.kinds[self.others[0]] in ("either", "tensor")
        self.same_dtype = op.dtypes == "same"
        self.interleaved = op.order[: len(self.names)] != self.names
        self.domains = tuple(self._domain(name) for name in self.names)
        self.avoid = tuple(AVOIDANCES[name] for name in op.avoid if name not in NEVER_MET)
        self.checks_values = any(self.domains) or bool(self.avoid)
        self.numbers = tuple(self._numbers(at) for at in range(len(self.kinds)))
        self._order = (self.names[self.first], *(n for n in op.order if n != self.names[self.first]))
        self._leading = self._by_position()
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
        """The kinds of dtypes that it accepts besides floats; complex only if its formulas hold for it."""
        known = "ibc" if self.op.complex else "ib"
        return "".join(letter for letter in known if letter not in self.refused)

    def accepts(self, x: TensorInfo, unchecked: bool = False) -> bool:
        """True if the op accepts the tensor's dtype; of an unchecked step, also if it refuses it."""
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
            call = self.table(shapes).valid(0)
            if call is not None:
                operands = tuple(self._operand(at, s, KINDS[letter]) for at, s in enumerate(shapes))
                return self._results(operands, dict(call.attributes)) is None
        return False

    def _domain(self, name: str) -> Any:
        domain = self.op.domain if isinstance(self.op.domain, str) else self.op.domain.get(name, "any")
        return None if domain == "any" else domain

    def _numbers(self, at: int) -> tuple[Any, ...]:
        domain = self.domains[at]
        numbers: tuple[Any, ...] = DRAWN_NUMBERS
        if "inexact_power" in self.op.avoid and at != self.first:
            numbers = EXPONENTS
        return tuple(n for n in numbers if domain is None or _lies_in(n, domain))

    def _by_position(self) -> frozenset[str]:
        """Attributes passed by position: the required ones and the first optional one."""
        required = {a.name for a in self.attributes if a.required}
        kinds = {a.name: a.kind.name for a in self.attributes}
        rest = [n for n in self._order if n in kinds and n not in required]
        return frozenset(required | {n for n in rest[:1] if kinds[n] not in ("bool", "scale", "dtype")})

    def _aliases(self) -> bool:
        """True if a composite may return an alias of its operand; found by running it."""
        if not self.op.composite or self.mutates or set(self.kinds) != {"tensor"}:
            return False
        x = _sample((2, 2), "tensor")
        return any(_shows(one, x) for _, one in self._tried(x))

    @cached_property
    def rearranges(self) -> bool:
        """True of a view that may have gaps between elements, or show them in another order or more than
        once.
        """
        tried = self._tried(_sample((2, 2), "tensor")) if self.view and not self.multi else ()
        return any(not one.array.flags.c_contiguous for _, one in tried)

    @cached_property
    def copies_strided(self) -> bool:
        """True if the result is a view of a contiguous operand, but may be a copy of another."""
        if not self.view or not self.op.composite:
            return False
        x = _sample((2, 2), "tensor")
        turned = BareArray(x.array.copy().T)
        views = {at for at, one in self._tried(x) if _shows(one, x)}
        return any(at in views and not _shows(one, turned) for at, one in self._tried(turned))

    def _tried(self, x: BareArray) -> Iterator[tuple[int, BareArray]]:
        """The results of the calls on a tensor and others of its shape, each with the number of its call."""
        operands = tuple(x if at == self.first else _sample(x.shape, k) for at, k in enumerate(self.kinds))
        table = self.table((x.shape,) * len(operands))
        for at in range(table.size):
            call = table.valid(at)
            try:
                with set_aside():
                    results = call_body(self.op, operands, dict(call.attributes)) if call is not None else ()
            except RuntimeError:  # what is valid for a contiguous operand may be refused for another
                continue
            each = results if isinstance(results, tuple | list) else (results,)
            yield from ((at, one) for one in each if isinstance(one, BareArray))

    def allows_values(self, operands: list[Any], attributes: dict[str, Any]) -> bool:
        """True if operands, arrays and numbers, lie in the op's domain and meet no avoidance."""
        for operand, domain in zip(operands, self.domains, strict=True):
            if domain is not None and not _lies_in(operand, domain):
                return False
        try:
            return not any(avoidance.meets(tuple(operands), attributes) for avoidance in self.avoid)
        except (ValueError, IndexError, TypeError):  # arguments that are refused anyway
            return False

    # -- tables ----------------------------------------------------------------------------------

    def table(self, shapes: tuple[Shape | None, ...]) -> CallTable:
        """Return the calls on operands of these shapes (None: a number), simplest first."""
        return _table(self, shapes)

    def fits_shapes(self, shapes: tuple[Shape | None, ...]) -> bool:
        """True if one of the simplest calls accepts operands of these shapes."""
        if self.same_dtype:  # mostly a matter of ranks alone, of which there are fewer
            ranks = tuple((2,) * len(shape or ()) for shape in shapes)
            if ranks != shapes and self.table(ranks).valid(0) is None:
                return False
        return self.table(shapes).valid(0) is not None

    def open_table(self, shapes: tuple[Shape | None, ...]) -> CallTable:
        """Make the table of the calls on operands of these shapes."""
        rows = self._rows(shapes)
        operands = tuple(self._operand(at, shape) for at, shape in enumerate(shapes))
        counts = _counts(self.op.body, self.mutates, shapes)

        def work_out(at: int) -> Call:
            row, spelled = rows[at]
            key = tuple(map(id, row))
            if key not in counts:
                counts[key] = self._count(operands, self._attributes(row))
            return self._call(row, spelled, counts[key])

        return CallTable(len(rows), work_out)

    def _rows(self, shapes: tuple[Shape | None, ...]) -> list[tuple[Row, str]]:
        """Attribute values to try, each with a spelling, one in eight as a function of the namespace."""
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
        functions = [(row, self.torch) for row in rows[::METHODS_PER_FUNCTION]]
        return methods * max(1, METHODS_PER_FUNCTION // len(rows)) + functions

    def _attributes(self, row: Row) -> dict[str, Any]:
        """All attributes, as the op's body takes them."""
        return {
            a.name: a.default if value is OMIT else a.kind.read(value)
            for a, value in zip(self.attributes, row, strict=True)
        }

    def _call(self, row: Row, spelled: str, outs: int) -> Call:
        """The call with these attribute values and ``outs`` results."""
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

    def _count(self, operands: tuple[Any, ...], attributes: dict[str, Any]) -> int:
        """The number of a call's results, or the reason not to draw it."""
        results = self._results(operands, attributes)
        if results is None:
            return REFUSED
        if results and (len(results[0]) > MOST_DIMS or prod(results[0]) > MOST_ELEMENTS):
            return NOT_DRAWN
        if "inexact_count" in self.op.avoid and AVOIDANCES["inexact_count"].meets(
            tuple(o.array for o in operands), attributes
        ):
            return NOT_DRAWN
        return max(1, len(results))

    def _results(self, operands: tuple[Any, ...], attributes: dict[str, Any]) -> tuple[Shape, ...] | None:
        """The shapes of a call's results; None if it is refused."""
        count = len(self.op.names)
        assigned = dict(zip(self.names[count:], operands[count:], strict=True))
        return shapes_of(self.op, operands[:count], attributes | assigned)

    def _operand(self, at: int, shape: Shape | None, dtype: Any = np.float64) -> Any:
        kind = self.kinds[at]
        return 2 if kind == "number" or shape is None else _sample(shape, kind, dtype)


def _shows(one: BareArray, x: BareArray) -> bool:
    """True if a result shows an operand's memory."""
    return np.shares_memory(one.array, x.array)


def _lies_in(operand: Any, domain: str) -> bool:
    """True if all values lie in a domain."""
    values = operand.ravel().tolist() if isinstance(operand, np.ndarray) else (operand,)
    return all(_holds(domain, value) for value in values)


@lru_cache(maxsize=4096)
def _holds(domain: str, value: Any) -> bool:
    return bool(DOMAINS[domain].holds(value))


@lru_cache(maxsize=MOST_TABLES)
def _table(recipe: Recipe, shapes: tuple[Shape | None, ...]) -> CallTable:
    return recipe.open_table(shapes)


@lru_cache(maxsize=MOST_TABLES)
def _counts(body: Any, mutates: bool, shapes: tuple[Shape | None, ...]) -> dict[tuple[int, ...], int]:
    """A cache of `Recipe._count` for operands of these shapes, by the identities of the attribute values.

    All spellings of an op share it, and their attribute values come from the same lists, those of
    `fitting_rows`, which stay for good: there are few shapes of a first operand.
    """
    return {}


@cache
def _sample(shape: Shape, kind: str, dtype: Any = np.float64) -> BareArray:
    """An operand of that shape; it is never written to."""
    dtype = {"mask": np.bool_, "indices": np.int64}.get(kind, dtype)
    return BareArray(np.zeros(shape, dtype) if kind == "indices" else np.ones(shape, dtype))


@cache
def fitting_rows(kinds: tuple[str, ...], required: tuple[bool, ...], shape: Shape) -> list[Row]:
    """Combinations of attribute values with all the required ones."""
    return [
        row
        for row in combinations(kinds, shape)
        if all(value is not OMIT or not needed for value, needed in zip(row, required, strict=True))
    ]


def _flat(value: Any) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, tuple) else (0,)
