"""Holds two traces of one program against each other, fact by fact.

The result is data; no English is made here, and nobody is blamed (`judge` does that). Values are compared
with `==` (so zero equals minus zero) and NaN equals NaN; what an operation that rounds has reached, within
the bound that `tolerance.bounds` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from conformance.comparison.tolerance.bounds import Perturbed, RoundingBounds, Tolerance, near, within_reach
from conformance.execution.trace import DONE, Calls, Crashed, Observation, Trace, Unsupported
from specs.fact import FACTS, GRAD_FACTS, POSITION, TOPOLOGY, UNSEEN

_VALUE, _GRAD, _GRAD_VALUE = POSITION["value"], POSITION["grad"], GRAD_FACTS.index("value")


@dataclass(frozen=True, slots=True)
class Divergence:
    """One difference: at `step`, about `name` (None: the step itself), in `fact`.

    `fact` is one of FACTS or TOPOLOGY, `grad.<fact>`, `outcome`, `warnings`, or `bound` (the kind of thing
    the name is bound to).
    `because` are the rules that fired where the expected value came about; `downstream` marks what
    follows an earlier difference.
    """

    step: int
    name: str | None
    fact: str
    expected: Any
    actual: Any
    because: tuple[str, ...] = ()
    downstream: bool = False


@dataclass(slots=True, unsafe_hash=True)
class Agree:
    """No difference in `compared` facts, with `unseen` more that one side does not show.

    NB: not frozen, as a trace is not.
    """

    compared: int
    unseen: int = 0

    @property
    def vacuous(self) -> bool:
        """Agreement over nothing is a finding, never a pass."""
        return self.compared == 0


@dataclass(frozen=True, slots=True)
class Diverge:
    """At least one difference, the first one first."""

    divergences: tuple[Divergence, ...]
    compared: int
    unseen: int = 0

    @property
    def first(self) -> Divergence:
        return self.divergences[0]


@dataclass(frozen=True, slots=True)
class Incomparable:
    """The traces agree up to `step` and cannot be compared from there on."""

    why: str
    step: int
    compared: int = 0
    unseen: int = 0


Comparison = Agree | Diverge | Incomparable


class _Comparing:
    """The counts and differences of one comparison in progress."""

    def __init__(
        self, expected: Trace, actual: Trace, rounding: Mapping[str, int] | None, perturbed: Perturbed | None
    ) -> None:
        self.compared = self.unseen = 0
        self.found: list[Divergence] = []
        self.partial = not (expected.complete and actual.complete)
        self._expected = expected
        self._rounding_ops, self._perturbed = rounding, cache(perturbed) if perturbed else lambda: ()
        self._rounding: RoundingBounds | None = None
        self._near: dict[tuple[str, bool], tuple[Any, Any, Tolerance]] = {}

    @property
    def rounding(self) -> RoundingBounds:
        """The error bounds of values; worked out when the first values differ."""
        if self._rounding is None:
            self._rounding = RoundingBounds(self._expected, self._rounding_ops)
        return self._rounding

    def step(self, index: int, expected: Observation, actual: Observation) -> bool:
        """Compare one step; False where nothing after it can be compared."""
        wanted, facts, warnings, _, calls = expected
        got, found, warned, _, called = actual
        if wanted is not DONE or got is not DONE:
            if type(wanted) is Unsupported or type(got) is Unsupported:
                return False
            if wanted != got or type(wanted) is Crashed:
                self.differ(index, None, "outcome", wanted, got, expected)
            if type(wanted) is Crashed or type(got) is Crashed:
                self.compared += 1
                return True
        self.compared += 1
        if (warnings or warned) and warnings is not None and warned is not None:
            if warnings != warned:
                self.differ(index, None, "warnings", warnings, warned, expected)
            self.compared += bool(warnings)
        if calls is None or called is None:
            self.unseen += 1
        elif calls or called:
            if calls != called:
                self.calls(index, expected, calls, called)
            self.compared += len(calls)
        if not self.partial and facts == found:
            count = 0
            for seen in facts.values():
                count += len(seen)
                if seen[-1] is UNSEEN:  # a grad that nobody read
                    count -= 1
                    self.unseen += 1
            self.compared += count
        else:
            self.facts(index, expected, actual)
        return True

    def facts(self, index: int, expected: Observation, actual: Observation) -> None:
        found = actual.facts
        for name, wanted in expected.facts.items():
            got = found.get(name)
            if wanted == got:
                hidden = wanted.count(UNSEEN) if self.partial else wanted[-1] is UNSEEN
                self.unseen += hidden
                self.compared += len(wanted) - hidden
                continue
            if got is None or len(got) != len(wanted):
                self.compared += 1
                self.differ(index, name, "bound", kind(wanted), kind(got), expected)
                continue
            for fact, x, y in zip(FACTS, wanted, got, strict=False):
                if x is UNSEEN or y is UNSEEN:
                    self.unseen += 1
                    continue
                self.compared += 1
                if x == y:
                    continue
                if fact == "value":
                    if not self.value_near(index, name, x, y):
                        self.differ(index, name, fact, x, y, expected)
                elif fact == "grad":
                    self.grad(index, name, x, y, expected)
                else:
                    self.differ(index, name, fact, x, y, expected)
        for name, got in actual.facts.items():
            if name not in expected.facts:
                self.compared += 1
                self.differ(index, name, "bound", kind(None), kind(got), expected)

    def value_near(self, index: int, name: str, x: Any, y: Any, of_grad: bool = False) -> bool:
        """Tell whether values of a name, or of its grad, are near; they may be those of an earlier step."""
        bound = self.rounding.of_grad(index, name) if of_grad else self.rounding.of(index, name)
        one, other, bounded = self._near.get((name, of_grad), (None, None, None))
        if bounded is bound and one == x and other == y:
            return True
        if near(x, y, bound):
            self._near[name, of_grad] = x, y, bound
            return True
        moved = self.moved(index, name, _value_of_grad if of_grad else _value)
        return within_reach(x, y, moved())

    def near(self, x: Any, y: Any, bound: Tolerance, moved: Callable[[], list[Any]]) -> bool:
        """Tell whether values are as near as the bound says, or as perturbing ``moved`` the first.

        It moves nothing that is exact. By elements that nobody draws, as thirds, other ops round as well.
        """
        return near(x, y, bound) or within_reach(x, y, moved())

    def moved(self, index: int, name: str, of: Callable[[Any], Any]) -> Callable[[], list[Any]]:
        """Return a function that gives a name's value, or its grad's, in each perturbed run."""
        return lambda: [of(trace[index].facts.get(name)) for trace in self._perturbed()]

    def calls(self, index: int, expected: Observation, wanted: Calls, got: Calls) -> None:
        """Calls of the program's functions: which, in which order, and with what."""

        def moved() -> list[Any]:
            return [trace[index].calls for trace in self._perturbed()]

        alike = len(wanted) == len(got) and all(
            a[0] == b[0] and self._alike(partial(self.rounding.of_call, index, a[0]), a, b, _items(moved, at))
            for at, (a, b) in enumerate(zip(wanted, got, strict=True))
        )
        if not alike:
            self.differ(index, None, "calls", wanted, got, expected)

    def _alike(self, bound: Callable[[], Tolerance], x: Any, y: Any, moved: Callable[[], list[Any]]) -> bool:
        """Tell whether functions were given the same: nothing, gradients, or tuples of those."""
        if x == y or x is UNSEEN or y is UNSEEN:
            return True
        if not (isinstance(x, tuple) and isinstance(y, tuple)) or len(x) != len(y):
            return False
        if _is_grad(x) and (isinstance(x[0], str) or x[0] is UNSEEN):
            seen = [a is not UNSEEN and b is not UNSEEN for a, b in zip(x, y, strict=True)]
            return all(
                a == b or (i == _GRAD_VALUE and self.near(a, b, bound(), _items(moved, i)))
                for i, (a, b) in enumerate(zip(x, y, strict=True))
                if seen[i]
            )
        pairs = enumerate(zip(x, y, strict=True))
        return all(self._alike(bound, a, b, _items(moved, at)) for at, (a, b) in pairs)

    def grad(self, index: int, name: str, wanted: Any, got: Any, expected: Observation) -> None:
        """Grads that are not equal as they stand; one side may have none, or refuse to show it."""
        if not (_is_grad(wanted) and _is_grad(got)):
            self.differ(index, name, "grad", wanted, got, expected)
            return
        for fact, x, y in zip(GRAD_FACTS, wanted, got, strict=True):
            if x is UNSEEN or y is UNSEEN:
                self.unseen += 1
            elif x == y:
                continue
            elif fact != "value" or not self.value_near(index, name, x, y, of_grad=True):
                self.differ(index, name, f"grad.{fact}", x, y, expected)

    def topology(self, last: int, expected: Trace, actual: Trace) -> None:
        """Compare the topology at the end, if all else agrees."""
        hung, found = expected.topology or {}, actual.topology or {}
        if hung == found:
            unseen = [fact is UNSEEN for facts in hung.values() for fact in facts].count(True)
            self.compared += len(TOPOLOGY) * len(hung) - unseen
            self.unseen += unseen
            return
        hidden = (UNSEEN,) * len(TOPOLOGY)
        for name, wanted in hung.items():
            for fact, x, y in zip(TOPOLOGY, wanted, found.get(name, hidden), strict=True):
                if x is UNSEEN or y is UNSEEN:
                    self.unseen += 1
                    continue
                self.compared += 1
                if x != y:
                    self.differ(last, name, fact, x, y, expected[last])

    def differ(self, step: int, name: str | None, fact: str, x: Any, y: Any, expected: Observation) -> None:
        first = self.found[0] if self.found else None
        downstream = first is not None and (step > first.step or first.fact == "outcome")
        because = tuple(sorted(expected.fired))
        self.found.append(Divergence(step, name, fact, plain(x), plain(y), because, downstream))


def compare(
    expected: Trace,
    actual: Trace,
    rounding: Mapping[str, int] | None = None,
    perturbed: Perturbed | None = None,
) -> Comparison:
    """Compare two traces of the same program.

    `rounding` maps operations that round to the ULP bound of one application; by default the ops say so
    themselves. `perturbed` tells how far values move that are farther apart than that.
    """
    one, other = expected.program, actual.program
    if one is not other and one != other and repr(one) != repr(other):  # NaN from another process equals none
        raise ValueError("the traces are of different programs")
    if actual.loose:
        actual = _as_looked_at(actual, expected)
    state = _Comparing(expected, actual, rounding, perturbed)
    for index, (x, y) in enumerate(zip(expected.observations, actual.observations, strict=True)):
        if not state.step(index, x, y):
            if state.found:
                break
            stopped = next(o.outcome for o in (y, x) if type(o.outcome) is Unsupported)
            return Incomparable(stopped.why, index, state.compared, state.unseen)
    if expected.topology is not None and actual.topology is not None and not state.found:
        state.topology(len(expected) - 1, expected, actual)
    if state.found:
        return Diverge(tuple(state.found), state.compared, state.unseen)
    return Agree(state.compared, state.unseen)


def _as_looked_at(actual: Trace, expected: Trace) -> Trace:
    """Return a trace that shows the names which the expected one shows: those left out are unseen."""
    pairs = zip(actual.observations, expected.observations, strict=True)
    seen = (
        got._replace(
            facts={name: got.facts.get(name, (UNSEEN,) * len(x)) for name, x in wanted.facts.items()}
        )
        for got, wanted in pairs
    )
    return replace(actual, observations=tuple(seen), loose=False)


def kind(seen: tuple[Any, ...] | None) -> str:
    """Return in a word the kind of value that a name is bound to."""
    if seen is None:
        return "unbound"
    if len(seen) == 1:
        return "None" if seen[0] is None else type(seen[0]).__name__
    return "tensor"


def plain(value: Any) -> Any:
    """A fact's value in plain tuples (sizes are tuples of a class of their own)."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(plain, value))
    return value


def _items(of: Callable[[], list[Any]], at: int) -> Callable[[], list[Any]]:
    """The items at one place of tuples; None where there is no such place."""
    return lambda: [x[at] if isinstance(x, tuple) and len(x) > at else None for x in of()]


def _value(facts: tuple[Any, ...] | None) -> Any:
    return facts[_VALUE] if facts and len(facts) == len(FACTS) else None


def _value_of_grad(facts: tuple[Any, ...] | None) -> Any:
    grad: Any = facts[_GRAD] if facts and len(facts) == len(FACTS) else None
    return grad[_GRAD_VALUE] if _is_grad(grad) else None


def _is_grad(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == len(GRAD_FACTS)
