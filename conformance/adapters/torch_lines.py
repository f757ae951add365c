"""Looking at real torch while a script runs on it: facts of tensors by name, and given random numbers.

Public attributes are read only where reading changes nothing: a view whose base was written to is left alone.
"""

from __future__ import annotations

import functools
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import torch

from conformance.adapters.reference_state import FEW

KIND = torch.Tensor
DRAWING = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal",
           "bernoulli", "multinomial")  # fmt: skip
DRAWING_METHODS = ("uniform_", "normal_", "log_normal_", "exponential_", "geometric_", "cauchy_", "random_",
                   "bernoulli_", "bernoulli", "multinomial")  # fmt: skip


class Numbered:
    """Numbers of tensors that last while they live."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, int]] = {}
        self.made: dict[int, int] = {}
        self.versions: dict[int, int] = {}
        """The version of each view when it was first seen."""

    def of(self, x: torch.Tensor, step: int) -> int:
        """Return the number of a tensor that is seen at a step."""
        found = self.known.get(id(x))
        if found is not None and found[0]() is x:
            return found[1]
        number = len(self.made) + 1
        self.known[id(x)] = weakref.ref(x), number
        self.made[number] = step
        self.versions[number] = version_of(x) or 0
        return number


def version_of(x: torch.Tensor) -> int | None:
    """Return the version, None in inference mode."""
    return None if x.is_inference() else x._version


def state_of(x: torch.Tensor, numbers: Numbered, step: int) -> dict[str, Any]:
    """Return the facts of a tensor as `conformance.explanation.value.TensorState` has them."""
    number = numbers.of(x, step)
    base = x._base if x._is_view() else None
    stale = base is not None and numbers.versions[number] != version_of(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        leaf = None if stale else x.is_leaf
        grad = x.grad if leaf or (leaf is False and x.retains_grad) else None
    node = None if stale or x.grad_fn is None else x.grad_fn.name()
    return {
        "number": number, "value": elements(x), "shape": list(x.shape),
        "dtype": str(x.dtype).removeprefix("torch."), "device": str(x.device), "is_leaf": leaf,
        "requires_grad": None if stale else x.requires_grad,
        "retains_grad": bool(not stale and x.retains_grad), "grad_fn": node, "node": None,
        "output_nr": 0 if stale else x.output_nr, "grad": None if grad is None else numbers.of(grad, step),
        "grad_value": None if grad is None else elements(grad), "version": version_of(x),
        "base": None if base is None else numbers.of(base, step), "stale": stale,
        "storage": 0, "counter": 0, "made": numbers.made[number],
    }  # fmt: skip


def elements(x: torch.Tensor) -> Any:
    """The elements as nested lists, or None beyond a few."""
    if x.numel() > FEW or x.is_quantized or x.layout is not torch.strided:
        return None
    with torch.no_grad():
        return x.detach().tolist()


class GivenNumbers:
    """Random numbers that were drawn elsewhere: torch's random functions return those, in order."""

    def __init__(self, draws: list[tuple[list[int], list[Any]]]) -> None:
        self.draws, self.depth, self.lost = deque(draws), 0, ""
        for name in DRAWING:
            setattr(torch, name, self._giving(getattr(torch, name)))
        for name in DRAWING_METHODS:
            setattr(torch.Tensor, name, self._giving(getattr(torch.Tensor, name)))
        dropout = torch.nn.functional.dropout

        @functools.wraps(dropout)
        def dropped(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
            out = dropout(input, p, training, inplace)
            if training and p:
                self._next(list(out.shape))
                self.lost = self.lost or "dropout"
            return out

        torch.nn.functional.dropout = dropped

    def _next(self, shape: list[int]) -> list[Any] | None:
        if self.draws and self.draws[0][0] == shape and not self.lost:
            return self.draws.popleft()[1]
        self.lost = self.lost or "a draw that the reference did not make"
        return None

    def _giving(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def giving(*args: Any, **kwargs: Any) -> Any:
            self.depth += 1
            try:
                out = function(*args, **kwargs)
            finally:
                self.depth -= 1
            if self.depth == 0 and isinstance(out, torch.Tensor):
                values = self._next(list(out.shape))
                if values is not None:
                    with torch.no_grad():
                        out.data.copy_(torch.tensor(values, dtype=out.dtype).reshape(out.shape))
            return out

        return giving


def names_here(value: str) -> bool:
    """Tell whether a module is torch's."""
    return value == "torch" or value.startswith("torch.")
