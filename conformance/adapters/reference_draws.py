"""Noting the random numbers that the reference draws for a script, so that torch can be given the same."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import reference_impl
from conformance.adapters.reference_state import TENSOR
from reference_impl.core.access import array_of
from reference_impl.nn import functional, init

FACTORIES = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal",
             "bernoulli", "multinomial", "poisson")  # fmt: skip
"""Functions of the namespace that draw."""
METHODS = ("uniform_", "normal_", "log_normal_", "exponential_", "geometric_", "cauchy_", "random_",
           "bernoulli_", "bernoulli", "multinomial")  # fmt: skip
"""Methods that draw."""
MODULE = ("uniform_", "normal_", "trunc_normal_")
"""Functions of ``nn.init`` that draw, on whichever the others stand."""

Note = Callable[[list[int], list[Any]], None]
"""Called with the shape and the elements, row by row, of each tensor that was drawn."""


class Draws:
    """The numbers drawn while a script runs; of calls within calls, the outermost counts."""

    def __init__(self, note: Note) -> None:
        self.note, self.depth = note, 0
        for name in FACTORIES:
            if hasattr(reference_impl, name):
                self._put_everywhere(name, getattr(reference_impl, name))
        for name in METHODS:
            if name in vars(TENSOR):
                setattr(TENSOR, name, self._noted(getattr(TENSOR, name)))
        for name in MODULE:
            if hasattr(init, name):
                setattr(init, name, self._noted(getattr(init, name)))
        functional.drop_noise = self._noted(functional.drop_noise)

    def _put_everywhere(self, name: str, function: Callable[..., Any]) -> None:
        """Note what a function draws, whichever module of the reference has imported it."""
        noted = self._noted(function)
        for key, module in list(sys.modules.items()):
            if key.partition(".")[0] == "reference_impl" and getattr(module, name, None) is function:
                setattr(module, name, noted)

    def _noted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def drawing(*args: Any, **kwargs: Any) -> Any:
            self.depth += 1
            try:
                out = function(*args, **kwargs)
            finally:
                self.depth -= 1
            if self.depth == 0 and isinstance(out, TENSOR):
                array = array_of(out)
                self.note(list(array.shape), array.ravel().tolist())
            return out

        return drawing
