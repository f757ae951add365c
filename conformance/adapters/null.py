"""An implementation that is wrong on purpose: all is a scalar leaf without grad, and nothing is refused.

It keeps the adapter contract, computes nothing, and must score about nothing: what it passes, the suite does
not test.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from conformance.adapters.capabilities import Capabilities
from conformance.program import REST, Step


class Nothing:
    """A value that holds nothing."""


class Null:
    """The adapter of nothing."""

    name = "null"
    version = "0"
    capabilities = Capabilities()

    def start(self) -> None:
        """Nothing to begin."""

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        names = [name for name in step.out if name != REST]
        return tuple(Nothing() for _ in names) if len(names) > 1 else Nothing()

    def facts(self, session: None, value: Nothing) -> dict[str, Any]:
        return {
            "value": 0.0,
            "dtype": "float64",
            "shape": (),
            "device": "cpu",
            "is_leaf": True,
            "requires_grad": False,
            "retains_grad": False,
            "grad_fn": None,
            "output_nr": 0,
            "is_view": False,
            "version": 0,
            "grad": None,
        }

    def refusal(self, error: BaseException) -> None:
        """No exception of nothing obeys a rule."""

    def mode(self, session: None, name: str) -> AbstractContextManager[None]:
        return nullcontext()


def load() -> Null:
    """The adapter of nothing."""
    return Null()
