"""An implementation as a table: a function for each operation, a reading for each fact.

What is claimed follows from the table. An operation is claimed with the keywords that its function takes, as
a method, in the namespace and by its operators; a fact is claimed if it has a reading. The contract itself is
in `conformance.adapters`.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from conformance.adapters.capabilities import Capabilities
from conformance.execution.claims import known_ops
from conformance.program import Step
from specs import ops
from specs.fact import GRAD_FACTS, UNSEEN

Functions = Mapping[str, Callable[..., Any] | None]
"""By name; None takes out what would follow from another entry."""


class Table:
    """The adapter of a table. A reading that returns UNSEEN shows nothing; that of ``grad`` returns None or a
    tensor, of which the facts ``of_grads`` are read.
    """

    def __init__(
        self,
        name: str,
        version: str,
        functions: Functions,
        readings: Mapping[str, Callable[..., Any]],
        *,
        dtypes: Iterable[str] = ("float64",),
        features: Iterable[str] = (),
        refusals: str = "none",
        shapes: str = "any",
        modes: Mapping[str, Callable[..., Any]] | None = None,
        rules: Mapping[str, str] | None = None,
        dtype: Callable[[str], Any] = str,
        of_grads: Iterable[str] = GRAD_FACTS,
        lacks: Iterable[str] = (),
    ) -> None:
        ops.load()
        self.name, self.version, self.dtype = name, version, dtype
        spelled = [(op, f) for each, f in functions.items() if f for op, f in _spellings(each, f)]
        self._functions = {op: f for op, f in (*spelled, *functions.items()) if f is not None}
        self._functions = {op: f for op, f in self._functions.items() if functions.get(op, f) is not None}
        self._of_grads = [fact for fact in of_grads if fact in readings]
        self._readings, self._modes, self._rules = readings, modes or {}, rules or {}
        self._lacks = tuple(lacks)
        self.capabilities = Capabilities(
            ops=frozenset(_claim(op, function) for op, function in self._functions.items()),
            shapes=shapes,
            dtypes=frozenset(dtypes),
            features=frozenset(features),
            facts=tuple(readings),
            refusals=refusals,
        )

    def start(self) -> None:
        """Nothing to begin."""

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        if step.op not in self._functions:
            raise NotImplementedError(f"{self.name} has no {step.op}")
        args, kwargs = operands
        result = self._functions[step.op](*args, **kwargs)
        return tuple(result) if type(result) is list and step.out else result

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        seen = {fact: reading(value) for fact, reading in self._readings.items()}
        grad = seen.get("grad")
        if grad is not None and grad is not UNSEEN:
            seen["grad"] = self.gradient(grad)
        return {fact: each for fact, each in seen.items() if each is not UNSEEN}

    def gradient(self, grad: Any) -> tuple[Any, ...]:
        """Return the facts of a gradient, also of one that a hook is given."""
        return tuple(self._readings[fact](grad) if fact in self._of_grads else UNSEEN for fact in GRAD_FACTS)

    def mode(self, session: None, name: str) -> AbstractContextManager[Any]:
        if name not in self._modes:
            raise NotImplementedError(f"{self.name} has no {name}")
        return self._modes[name]()

    def lacks(self, error: BaseException) -> bool:
        """Tell whether the words of an error say that something is not there."""
        return any(words in str(error) for words in self._lacks)

    def refusal(self, error: BaseException) -> str | None:
        """Return the rule whose words an error has."""
        return next((rule for words, rule in self._rules.items() if words in str(error)), None)


def _spellings(op: str, function: Callable[..., Any]) -> Iterable[tuple[str, Callable[..., Any]]]:
    """The spellings of an operation, each with the function that does it; operators are Python's own."""
    yield op, function
    if f"torch.{op}" in known_ops():
        yield f"torch.{op}", function
    for dunder in ops.OPERATORS:
        if ops.OPERATORS[_forward(dunder)] == op:
            yield dunder, _operator(dunder)


def _operator(dunder: str) -> Callable[..., Any]:
    """Python's operator of a special method, with the operands of a reflected one in their own order."""
    own = getattr(operator, _forward(dunder))
    return own if _forward(dunder) == dunder else lambda x, y, /: own(y, x)


def _forward(dunder: str) -> str:
    """The special method of the same operator whose receiver comes first."""
    return dunder.replace("__r", "__", 1)


def _claim(op: str, function: Callable[..., Any]) -> str:
    """An operation, narrowed to the keywords that its function takes."""
    try:
        parameters = inspect.signature(function).parameters
    except ValueError:  # of a function in C that does not say
        return f"{op}()"
    return f"{op}({', '.join(name for name in known_ops().get(op, ()) if name in parameters)})"
