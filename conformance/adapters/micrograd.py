"""Karpathy's micrograd behind the adapter contract: scalars, a dozen operations, and `backward`.

What it cannot see is left out: every Value requires grad, and a grad of 0 says no more than that nothing
arrived.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from importlib.metadata import version as installed
from typing import Any

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.errors import AdapterError
from conformance.program import Step
from specs.fact import GRAD_FACTS, UNSEEN

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "pow": operator.pow, "neg": operator.neg, "relu": lambda x: x.relu(), "backward": lambda x: x.backward(),
}  # fmt: skip
_OPERATORS = ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__",
              "__truediv__", "__rtruediv__", "__pow__", "__neg__")  # fmt: skip
_OPS = frozenset(["torch.tensor", *_FUNCTIONS, *_OPERATORS])


class Micrograd:
    """The adapter of `micrograd.engine.Value`."""

    name = "micrograd"
    capabilities = Capabilities(
        ops=_OPS,
        shapes="scalar",
        dtypes=frozenset(["float64"]),
        features=frozenset(),
        facts=("value", "dtype", "shape", "is_leaf", "grad"),
    )

    def __init__(self, value: type, version: str) -> None:
        self._value, self.version = value, version

    def start(self) -> None:
        """Nothing to begin: micrograd has no state of its own."""

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        args, kwargs = operands
        if step.op == "torch.tensor":
            if not kwargs.get("requires_grad") or not isinstance(args[0], (int, float)):
                raise NotImplementedError("micrograd has nothing but scalars that require grad")
            return self._value(float(args[0]))
        if kwargs or step.op not in _OPS or isinstance(args[0], (int, float)):
            raise NotImplementedError(f"micrograd has no such {step.op}")
        if step.op in ("pow", "__pow__") and not isinstance(args[1], (int, float)):
            raise NotImplementedError("micrograd has no powers but of numbers")
        if step.op in _FUNCTIONS:
            return _FUNCTIONS[step.op](*args)
        return getattr(args[0], step.op)(*args[1:])

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        leaf = not value._prev
        seen = {"value": float(value.data), "dtype": "float64", "shape": (), "is_leaf": leaf}
        if leaf and value.grad != 0:
            grad = {"value": float(value.grad), "dtype": "float64", "shape": ()}
            seen["grad"] = tuple(grad.get(fact, UNSEEN) for fact in GRAD_FACTS)
        return seen

    def refusal(self, error: BaseException) -> None:
        """micrograd refuses nothing by rule."""


def load() -> Micrograd:
    """The installed micrograd; raises AdapterError where there is none."""
    try:
        from micrograd.engine import Value
    except ImportError as error:
        raise AdapterError(f"micrograd cannot be imported ({error})", "pip install micrograd") from None
    return Micrograd(Value, installed("micrograd"))
