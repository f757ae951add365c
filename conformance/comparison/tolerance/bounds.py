"""The rounding tier: error bounds of the values of a program.

Everything is exact by construction and compared with `==`, but for what operations that round (the ops
declare it) have reached. `dataflow` finds what they reached; here that becomes a bound on differences.

Each rounding upstream of a value counts once: as many units in the last place as its op declares (one for an
op that is exact on exact operands alone), in the dtype it was computed in, of the largest element it gave or
of the value itself, whichever is larger. So a float64 value is held within units of float64 unless something
on its way was computed in float32. Where terms cancel, their sizes say how much may be left; a size that was
not seen in time, as those of gradients never are, is taken to be 1 at least.

What comes after a rounding may magnify it, and ops that are exact on what is drawn round in users' programs,
where a third is no sum of halves. So what is farther apart is held against how far the value moves when the
program is run again with every result that is not exact perturbed by what its rounding may be off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple

from conformance.comparison.tolerance.aliasing import EXACT, Rounded, Roundings, numbers_of
from conformance.comparison.tolerance.dataflow import DataFlow
from conformance.comparison.tolerance.facts_after import FactsAfter
from conformance.comparison.tolerance.op_effects import (
    ADAPTIVE,
    ADAPTIVE_ULP,
    CANCELLING_FUNCTIONS,
    NORMALISING_FUNCTIONS,
    ROUNDING_FUNCTIONS,
    base,
    divides_what_is_written,
    dtypes_named,
    leaves_the_cpu,
    makes_complex,
    name_of_op,
    saves_by_hooks,
)
from conformance.comparison.tolerance.sizes import largest_magnitude, scale_of_rows
from conformance.execution.trace import Trace
from conformance.program import Ref, Step, binds, reads
from specs.domain import AVOIDANCES
from specs.fact import POSITION

SLACK = 4
"""The factor by which a value may exceed the sum of several roundings; one alone is held to its own bound.

Measured on drawn programs of the rounding tier, of which many magnify: PyTorch and the reference were at most
0.41 sums apart (3,000 programs). With every function made to be off by nine tenths of what its op declares,
8,000 programs stayed within 3.5 sums, but for four, which came to 5, 8, 8 and 31 (the last a logarithm of
what had nearly cancelled).
"""

UNSEEN_DTYPE = "float32"
"""The dtype that is taken where nobody saw one, unless the program shows or names a coarser one elsewhere."""

EPSILON = {"float64": 2.0**-52, "complex128": 2.0**-52, "float32": 2.0**-23, "complex64": 2.0**-23,
           "float16": 2.0**-10, "bfloat16": 2.0**-7, "int64": 0.0, "int32": 0.0, "int16": 0.0, "int8": 0.0,
           "uint8": 0.0, "bool": 0.0}  # fmt: skip
_REAL, _IMAGINARY = attrgetter("real"), attrgetter("imag")
_VALUE, _DTYPE, _DEVICE = POSITION["value"], POSITION["dtype"], POSITION["device"]


@cache
def rounding_ops() -> Mapping[str, int]:
    """The ops that round, by public name, with the ULP bound of one application."""
    from specs import ops

    declared = {
        name: max(op.ulp for op in found)
        for name, found in ops.load().items()
        if not all(o.exact for o in found)
    }
    return ROUNDING_FUNCTIONS | declared


@cache
def cancelling_functions() -> frozenset[str]:
    """The functions that add an operand last, which may cancel what they have rounded."""
    from specs import ops

    declared = (name for name, found in ops.load().items() if any(op.cancels for op in found))
    return CANCELLING_FUNCTIONS.union(declared)


@cache
def rounding_on_complex(*how: str) -> frozenset[str]:
    """The ops that are exact on real numbers and round on complex ones, everywhere or on CUDA."""
    from specs import ops

    return frozenset(name for name, found in ops.load().items() if any(o.complex in how for o in found))


COMPLEX_ON_CUDA_ULP = 8
"""The ULP bound of ops that round on CUDA alone: it raises complex numbers to powers by their logarithms."""


def is_exact(step: Step) -> bool:
    """Tell whether the overload that the arguments choose is exact on them, though others of its
    name round.
    """
    from specs import ops

    types, keywords = tuple(map(type, step.args)), {name: type(value) for name, value in step.kwargs}
    for op in ops.load().get(base(step.op), ()):
        if op.fits(types, keywords, Ref):
            operands, attributes = op.bind(step.args, dict(step.kwargs))
            rounds = "inexact_power" in op.avoid and AVOIDANCES["inexact_power"].meets(operands, attributes)
            return op.exact and not rounds
    return False


class Term(NamedTuple):
    """One rounding: what it is at magnitude 1, the magnitude it was at, and whether it magnified others.

    Of the functions that round only exponentials give large results, and these are off by their exponent's
    error as often as their logarithm says.
    """

    unit: float
    size: float
    magnifies: bool

    def at(self, magnitude: float) -> float:
        unit, size, magnifies = self
        here = magnitude if magnitude > size else size
        return unit * here * max(1.0, math.log(here)) if magnifies and here else unit * here


class Tolerance(NamedTuple):
    """By how much elements may be off: not at all where nothing was rounded."""

    terms: tuple[Term, ...] = ()

    def at(self, magnitude: float) -> float:
        terms = self.terms
        total = sum([term.at(magnitude) for term in terms])
        return total * SLACK if len(terms) > 1 else total

    def allows(self, off: float, magnitude: float) -> bool:
        """Tell whether an element may be off by so much: the first terms mostly say so."""
        total, slack = 0.0, SLACK if len(self.terms) > 1 else 1
        for term in self.terms:
            total += term.at(magnitude)
            if off <= total * slack:
                return True
        return False


NO_TOLERANCE = Tolerance()


class RoundingBounds:
    """The error bounds of a trace, worked out as far as they are asked for."""

    def __init__(self, trace: Trace, ops: Mapping[str, int] | None = None) -> None:
        self._ops = rounding_ops() if ops is None else ops
        self._trace = trace
        self._adaptive = {name for step in trace.program if step.op in ADAPTIVE for name in binds(step)}
        # NB: a name bound to no tensor shows neither dtype nor device.
        pair = slice(_DTYPE, _DEVICE + 1, _DEVICE - _DTYPE)
        shown = {facts[pair] for seen in trace.observations for facts in seen.facts.values()} - {()}
        self._dtypes = {str(dtype) for dtype, _ in shown}
        # A name that is bound anew before anything is looked at shows neither.
        self._complex = any(dtype.startswith("complex") for dtype in self._dtypes) or any(
            map(makes_complex, trace.program)
        )
        self._there = any(str(device) != "cpu" for _, device in shown) or any(
            map(leaves_the_cpu, trace.program)
        )
        self._flow: DataFlow | None = None
        self._terms: dict[Rounded, Term] = {}
        self._tolerances: dict[Roundings, Tolerance] = {EXACT: NO_TOLERANCE}
        if any(map(self._rounds, trace.program)) or divides_what_is_written(trace.program):
            self._facts = FactsAfter(trace)
            self._flow = DataFlow(trace, self._facts, self._rounds)

    @cached_property
    def _unseen_dtype(self) -> str:
        known = self._dtypes.union((UNSEEN_DTYPE,), *map(dtypes_named, self._trace.program.steps))
        return max(known, key=lambda dtype: EPSILON.get(dtype, 0.0))

    def of(self, step: int, name: str) -> Tolerance:
        """Return the error bound of the value of `name` after `step`."""
        return NO_TOLERANCE if self._flow is None else self._bound(self._flow.value(step, name))

    def of_grad(self, step: int, name: str) -> Tolerance:
        """Return the error bound of the grad of `name` after `step`."""
        return NO_TOLERANCE if self._flow is None else self._bound(self._flow.grad(step, name))

    def of_call(self, step: int, handed_over: int) -> Tolerance:
        """Return the error bound of what a function is given in `step` that an earlier one handed over; with
        hooks on saved tensors that may be whatever was saved.
        """
        if self._flow is None:
            return NO_TOLERANCE
        return self._bound(self._flow.passed(step, saves_by_hooks(self._trace.program[handed_over])))

    def _rounds(self, step: Step) -> bool:
        if step.op == "step":
            return not self._adaptive.isdisjoint(reads(step)[:1])
        if self._complex and (base(step.op) in rounding_on_complex("rounds") or self._rounds_there(step)):
            return True
        return self._name(step) in self._ops and not is_exact(step)

    def _rounds_there(self, step: Step) -> bool:
        return self._there and base(step.op) in rounding_on_complex("rounds on CUDA")

    def _name(self, step: Step) -> str:
        """The op's name, or that of a function beside the op table."""
        function = step.op.rpartition(".")[2]
        if function in ROUNDING_FUNCTIONS:
            return function
        return name_of_op(base(step.op), self._ops)

    def _bound(self, level: Roundings) -> Tolerance:
        found = self._tolerances.get(level)
        if found is None:
            assert self._flow is not None
            roundings = self._flow.roundings
            found = Tolerance(tuple([self._term(roundings[number]) for number in numbers_of(level)]))
            self._tolerances[level] = found
        return found

    def _term(self, rounded: Rounded) -> Term:
        """The term of a rounding, which many values may be asked about."""
        found = self._terms.get(rounded)
        if found is None:
            found = self._terms[rounded] = self._made_of(rounded)
        return found

    def _made_of(self, rounded: Rounded) -> Term:
        assert self._flow is not None
        index, name, gradient, from_exact = rounded
        step = self._trace.program[index]
        adapts = step.op == "step" and self._rounds(step)
        ulp = ADAPTIVE_ULP if adapts else self._ops.get(self._name(step), 0)
        facts = self._facts(index, name)
        dtype, size = (
            (self._unseen_dtype, 1.0) if facts is None else (facts[_DTYPE], largest_magnitude(facts[_VALUE]))
        )
        if self._name(step) in cancelling_functions():
            operands = [self._facts(index, each) for each in reads(step)]
            size = max([size, *(largest_magnitude(each[_VALUE]) for each in operands if each is not None)])
            if self._name(step) in NORMALISING_FUNCTIONS and operands[0] is not None:
                size *= scale_of_rows(step, operands[0][_VALUE])
        if adapts:  # it adds what it has rounded to the parameter, which may cancel it
            before = self._trace[index - 1].facts.get(name)
            size = max(size, 1.0 if before is None else largest_magnitude(before[_VALUE]))
        there = dtype.startswith("complex") and self._rounds_there(step)
        ulp = max(ulp, COMPLEX_ON_CUDA_ULP) if there else ulp
        powers = rounding_on_complex("rounds by logarithm")  # off by more where logarithms are large
        by_logarithm = there or (dtype.startswith("complex") and self._name(step) in powers)
        if gradient or facts is not self._trace[index].facts.get(name):
            size = max(size, 1.0)  # a gradient is not seen, and what was seen later may have been written to
        unit = max(ulp, 1) * EPSILON.get(dtype, EPSILON[UNSEEN_DTYPE])
        return Term(unit, size, by_logarithm or (bool(ulp) and not from_exact))


Perturbed = Callable[[], Sequence[Trace]]
"""Runs the program again, some times, with every rounding off by as much as it may be."""


def near(x: Any, y: Any, bound: Tolerance) -> bool:
    """Tell whether nested numbers are equal (NaN to NaN), or differ by no more than the bound at their
    magnitude.
    """
    if x == y:
        return True
    if isinstance(x, list) or isinstance(y, list):
        if not (isinstance(x, list) and isinstance(y, list)) or len(x) != len(y):
            return False
        return all(map(near, x, y, repeat(bound)))
    if isinstance(x, complex) and isinstance(y, complex):
        return near(x.real, y.real, bound) and near(x.imag, y.imag, bound)
    if not (isinstance(x, float) and isinstance(y, float)):
        return False
    if math.isnan(x) or math.isnan(y):
        return math.isnan(x) and math.isnan(y)
    off = abs(x - y)
    return math.isfinite(off) and bound.allows(off, max(abs(x), abs(y)))


def ulp_distance(x: Any, y: Any, dtype: Any) -> int | None:
    """Return how many units in the last place nested numbers are apart at most; None if one is not finite."""
    if isinstance(x, list) and isinstance(y, list) and len(x) == len(y):
        each = [ulp_distance(a, b, dtype) for a, b in zip(x, y, strict=True)]
        return None if None in each else max(filter(None, each), default=0)
    if near(x, y, NO_TOLERANCE):
        return 0
    if isinstance(x, complex) and isinstance(y, complex):
        return ulp_distance([x.real, x.imag], [y.real, y.imag], dtype)
    if not (isinstance(x, float) and isinstance(y, float) and math.isfinite(x - y)):
        return None
    exponent = math.frexp(max(abs(x), abs(y)))[1] - 1
    unit = math.ldexp(EPSILON.get(dtype) or EPSILON[UNSEEN_DTYPE], exponent)
    return math.ceil(abs(x - y) / unit)


def within_reach(x: Any, y: Any, moved: Sequence[Any]) -> bool:
    """Tell whether nested numbers are equal, or no farther apart than SLACK times what ``moved`` the first.

    A number that is moved over the edge of a function's domain may be any other; one that is moved by its own
    size may be infinite. An integer, made of a number that was rounded, may be any between those it became.
    """
    if isinstance(x, list):
        if not all(isinstance(each, list) and len(each) == len(x) for each in (y, *moved)):
            return False
        return all(within_reach(a, b, others) for a, b, *others in zip(x, y, *moved, strict=True))
    if near(x, y, NO_TOLERANCE):
        return True
    if not all(type(each) is type(x) for each in (y, *moved)):
        return False
    if type(x) is int:
        return min((x, *moved)) <= y <= max((x, *moved))
    if not isinstance(x, (float, complex)):
        return False
    if isinstance(x, complex):
        parts = ([part(each) for each in (x, y, *moved)] for part in (_REAL, _IMAGINARY))
        return all(within_reach(a, b, others) for a, b, *others in parts)
    seen = (x, *moved)
    if _crosses_an_edge(seen) or (not math.isfinite(y) and _nears_a_pole(seen)):
        return True
    reach = max((abs(other - x) for other in moved if math.isfinite(other)), default=0.0)
    return math.isfinite(x - y) and abs(x - y) <= SLACK * reach


def _crosses_an_edge(seen: Sequence[float]) -> bool:
    """Tell whether rounding decides if a number is finite, as in the logarithm of a sum that cancels."""
    finite = list(map(math.isfinite, seen))
    return not all(finite) and (any(finite) or len(set(map(repr, seen))) > 1)


def _nears_a_pole(seen: Sequence[float]) -> bool:
    """Tell whether rounding decides how large a number is, as in the reciprocal of a sum that cancels."""
    if not all(map(math.isfinite, seen)):
        return False
    least = min(map(abs, seen))
    return least > 1 and max(seen) - min(seen) > least
