"""The reference taken for a functional library: operations on plain values, and derivatives of functions."""

from __future__ import annotations

from typing import Any

import reference_impl as torch
from conformance.adapters.capabilities import Capabilities
from conformance.adapters.replay import Replayed
from conformance.program import Step

FUNCTIONS = {
    "add": lambda x, y: x + y,
    "mul": lambda x, y: x * y,
    "sub": lambda x, y: x - y,
    "exp": lambda x: x.exp(),
    "sin": lambda x: x.sin(),
    "sum": lambda x: x.sum(),
    "unbind": lambda x: x.unbind(),
}


class Functions:
    """Single operations, as a library offers them."""

    name, version = "functions", "1"
    capabilities = Capabilities(
        ops=frozenset(["torch.tensor", "add()", "mul()", "sub()", "exp()", "sin()", "sum()"]),
        dtypes=frozenset(["float64"]),
        features=frozenset(),
    )

    def start(self) -> None: ...

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        (first, *rest), kwargs = operands
        if step.op == "torch.tensor":
            return torch.tensor(first, dtype=torch.float64)
        return FUNCTIONS[step.op](first, *rest, **kwargs)

    def facts(self, session: None, value: Any) -> dict[str, Any]:
        return {"value": value.tolist(), "shape": tuple(value.shape), "is_leaf": True}

    def refusal(self, error: BaseException) -> None: ...


def derivative(function: Any, at: tuple[Any, ...], cotangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Differentiate a function, as a library that traces its arguments does."""
    inside = [x * 1 if x.requires_grad else x.detach().requires_grad_() for x in at]
    given = zip(function(*inside), cotangents, strict=True)
    pairs = [(y, torch.ones_like(y) if g is None else g) for y, g in given if y.requires_grad]
    outputs, cotangents = zip(*pairs, strict=True)
    return torch.autograd.grad(outputs, inside, cotangents, create_graph=True, allow_unused=True)


adapter = Replayed(Functions(), derivative)
