"""Functional libraries by record and replay: what a program does to values is recorded, and a gradient is the
library's derivative of a function that does it again.

So libraries that differentiate functions are graded on values alone: results, `torch.autograd.grad`, and
derivatives of that. There is no `.grad`, no leaf and no version of theirs, and what this adapter would make
up for them would be its own bookkeeping; so none is shown. Its reports are marked as replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from conformance.adapters import capabilities as claimed_by
from conformance.adapters.capabilities import Capabilities
from conformance.program import Step

GRAD = "torch.autograd.grad"
GRAD_CLAIM = f"{GRAD}(grad_outputs, create_graph, retain_graph)"
SHOWN = ("value", "dtype", "shape")
"""The facts that a library's own values have."""

Derivative = Callable[[Callable[..., tuple[Any, ...]], tuple[Any, ...], tuple[Any, ...]], Iterable[Any]]
"""Called with a function of values that gives a tuple of values, where to differentiate it, and a cotangent
for each of those values (None: ones); gives a gradient for each argument.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A value of the library, and how to compute it again: by which call, as its which result."""

    value: Any
    call: Call | Derived | None = None
    number: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A recorded call; its arguments hold recorded values."""

    again: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, ...]]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


Bindings = Mapping[Recorded, Any]
"""The recorded values that stand for others while a function is evaluated."""


@dataclass(frozen=True, slots=True, eq=False)
class Derived:
    """A recorded differentiation, and the values that it was made of."""

    again: Callable[[Bindings], tuple[Any, ...]]
    args: tuple[Any, ...]


class Replayed:
    """The adapter of a functional library, given one that performs single operations on its plain values
    (``start``, ``perform``, ``facts``, as any) and its ``derivative``; ``double``: that of a derivative, too.
    """

    def __init__(self, inner: Any, derivative: Derivative, *, double: bool = True) -> None:
        self._inner, self._derivative = inner, derivative
        self.name, self.version = f"{inner.name} (replayed)", inner.version
        self.capabilities = _without_bookkeeping(claimed_by(inner), double)
        if hasattr(inner, "dtype"):
            self.dtype = inner.dtype

    def start(self) -> Any:
        return self._inner.start()

    def stop(self, session: Any) -> None:
        getattr(self._inner, "stop", lambda session: None)(session)

    def refusal(self, error: BaseException) -> None:
        """Errors are not judged: there is no history to refuse anything by."""

    def facts(self, session: Any, value: Recorded) -> dict[str, Any]:
        seen = self._inner.facts(session, value.value)
        return {fact: seen[fact] for fact in SHOWN if fact in seen}

    def perform(self, session: Any, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        args, kwargs = operands
        if step.op == GRAD:
            return self._grad(*args, **kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key != "requires_grad"}

        def again(values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
            result = self._inner.perform(session, step, (values, named))
            return tuple(result) if isinstance(result, (tuple, list)) else (result,)

        result = self._inner.perform(session, step, (_plain(args), _plain(kwargs)))
        call = Call(again, args, kwargs)
        if isinstance(result, (tuple, list)):
            return tuple(Recorded(value, call, number) for number, value in enumerate(result))
        return Recorded(result, call)

    def _grad(
        self,
        outputs: Any,
        inputs: Any,
        grad_outputs: Any = None,
        retain_graph: Any = None,
        create_graph: bool = False,
    ) -> tuple[Recorded, ...]:
        """Differentiate the outputs, as functions of the inputs; a derivative is a value to go on with, and
        has a history only if the graph is created.
        """
        roots, asked = _listed(outputs), _listed(inputs)
        wanted = tuple(dict.fromkeys(asked))
        given = _listed(grad_outputs) if grad_outputs is not None else (None,) * len(roots)
        if not all(any(_depends(root, x) for root in roots) for x in wanted):
            raise ValueError("an input that the outputs do not depend on")

        def again(within: Bindings) -> tuple[Any, ...]:
            return self._gradients(roots, wanted, given, within)

        call = Derived(again, (roots, wanted, given)) if create_graph else None
        found = self._gradients(roots, wanted, given, {})
        gradients = [Recorded(value, call, number) for number, value in enumerate(found)]
        return tuple(gradients[wanted.index(x)] for x in asked)

    def _gradients(
        self,
        roots: tuple[Recorded, ...],
        wanted: tuple[Recorded, ...],
        given: tuple[Recorded | None, ...],
        within: Bindings,
    ) -> tuple[Any, ...]:
        return tuple(self._gradient(roots, x, given, within) for x in wanted)

    def _gradient(
        self,
        roots: tuple[Recorded, ...],
        x: Recorded,
        given: tuple[Recorded | None, ...],
        within: Bindings,
    ) -> Any:
        """Differentiate with respect to one input; another may be made of it, so each goes by itself."""
        if any(_depends(bound, x) for bound in within if bound is not x):
            raise NotImplementedError("a derivative with respect to what lies between another and its input")
        known = dict(within)
        at = _evaluate(x, within, known)
        cotangents = tuple(None if g is None else _evaluate(g, within, known) for g in given)

        def function(value: Any) -> tuple[Any, ...]:
            bindings = {**within, x: value}
            again = dict(bindings)
            return tuple(_evaluate(root, bindings, again) for root in roots)

        (gradient,) = self._derivative(function, (at,), cotangents)
        return gradient


def _without_bookkeeping(claimed: Capabilities, double: bool) -> Capabilities:
    """The claims that values alone can show, and differentiation of functions."""
    ops = None if claimed.ops is None else frozenset(claimed.ops | {GRAD_CLAIM})
    shown = tuple(fact for fact in SHOWN if fact in claimed.facts)
    features = (claimed.features & {"detach"}) | {"grad_call"} | ({"double"} if double else set())
    return replace(claimed, ops=ops, features=features, facts=shown, refusals="none")


def _listed(given: Any) -> tuple[Any, ...]:
    return tuple(given) if isinstance(given, (tuple, list)) else (given,)


def _plain(given: Any) -> Any:
    """Replace recorded values by the library's own."""
    return _with(given, lambda value: value.value)


def _with(given: Any, of: Callable[[Recorded], Any]) -> Any:
    if isinstance(given, Recorded):
        return of(given)
    if isinstance(given, (tuple, list)):
        return type(given)(_with(each, of) for each in given)
    if isinstance(given, dict):
        return {key: _with(value, of) for key, value in given.items()}
    return given


def _evaluate(value: Recorded, bindings: Bindings, known: dict[Recorded, Any]) -> Any:
    """Compute a value again where others are bound; ``known`` are those bound and those computed already."""
    if value in known:
        return known[value]
    match value.call:
        case None:
            return value.value
        case Derived(again, _):
            results = again(bindings)
        case Call(again, args, kwargs):
            bound = _with((args, dict(kwargs)), lambda each: _evaluate(each, bindings, known))
            results = again(*bound)
    known[value] = results[value.number]
    return known[value]


def _depends(value: Recorded, on: Recorded) -> bool:
    """Tell whether a value was made of another."""
    seen: set[int] = set()
    left = [value]
    while left:
        one = left.pop()
        if one is on:
            return True
        if id(one) not in seen and one.call is not None:
            seen.add(id(one))
            _with((one.call.args, dict(getattr(one.call, "kwargs", {}))), left.append)
    return False
