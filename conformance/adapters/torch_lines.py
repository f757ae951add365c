"""Looking at real torch while a script runs on it: facts of tensors by name, and given random numbers.

Public attributes are read only where reading changes nothing: a view whose base was written to is left alone.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import torch
from torch._C._functorch import is_functorch_wrapped_tensor

from conformance.adapters.reference_state import FEW

KIND = torch.Tensor
SHAPELESS = torch.nn.parameter.UninitializedTensorMixin
DRAWING = ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal",
           "bernoulli", "multinomial", "poisson")  # fmt: skip
DRAWING_METHODS = ("uniform_", "normal_", "log_normal_", "exponential_", "geometric_", "cauchy_", "random_",
                   "bernoulli_", "bernoulli", "multinomial")  # fmt: skip


class Numbered:
    """Numbers of tensors that last while they live."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, int]] = {}
        self.made: dict[int, int] = {}
        self.versions: dict[int, int] = {}
        """The version of each view when it was first seen."""
        self.memories: dict[int, int] = {}

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

    def of_memory(self, x: torch.Tensor) -> int:
        """Return the number of the memory that a tensor lies in; a negative one where that is not known."""
        if is_functorch_wrapped_tensor(x) or x.layout is not torch.strided:
            return -id(x)
        return self.memories.setdefault(x.untyped_storage()._cdata, len(self.memories) + 1)


def version_of(x: torch.Tensor) -> int | None:
    """Return the version, None in inference mode."""
    return None if x.is_inference() else x._version


def state_of(x: torch.Tensor, numbers: Numbered, step: int) -> dict[str, Any]:
    """Return the facts of a tensor as `conformance.explanation.value.TensorState` has them."""
    number = numbers.of(x, step)
    base = x._base if x._is_view() else None
    stale = base is not None and numbers.versions[number] != version_of(x)
    # Within a transform of torch.func, a tensor is what it is at that transform's level alone.
    stale = stale or is_functorch_wrapped_tensor(x)
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
        "storage": numbers.of_memory(x), "counter": 0, "made": numbers.made[number],
    }  # fmt: skip


def elements(x: torch.Tensor) -> Any:
    """The elements as nested lists, or None beyond a few."""
    if (
        x.numel() > FEW
        or x.is_quantized
        or x.layout is not torch.strided
        or is_functorch_wrapped_tensor(x)
        or x.is_meta
    ):
        return None
    with torch.no_grad():
        return x.detach().tolist()


class GivenNumbers:
    """Random numbers that were drawn elsewhere: torch's random functions return those, in order."""

    def __init__(self, draws: list[tuple[list[int], list[Any]]]) -> None:
        self.draws, self.depth, self.lost = deque(draws), 0, ""
        self.losing: Callable[[], None] = lambda: None
        """Called when torch draws for the first time what cannot be given to it."""
        for name in DRAWING:
            _put_everywhere(name, self._giving(getattr(torch, name)))
        for name in DRAWING_METHODS:
            setattr(torch.Tensor, name, self._giving(getattr(torch.Tensor, name)))
        for name in ("empty", "empty_like", "empty_strided"):
            setattr(torch, name, _zeroed(getattr(torch, name)))
        torch.Tensor.new_empty = _zeroed(torch.Tensor.new_empty)
        functional = torch.nn.functional
        functional.dropout = self._dropping(functional.dropout, lambda x: x.ndim)
        torch.dropout = self._dropping(torch.dropout, lambda x: x.ndim)
        functional.dropout1d = self._dropping(functional.dropout1d, lambda x: 2 if x.ndim > 2 else 1)
        functional.dropout2d = self._dropping(functional.dropout2d, lambda x: 2)
        functional.dropout3d = self._dropping(functional.dropout3d, lambda x: 2)
        for name in ("alpha_dropout", "feature_alpha_dropout"):
            setattr(functional, name, self._losing(getattr(functional, name), _drops_alpha))
        functional.rrelu = self._losing(
            functional.rrelu, lambda input, lower=0.125, upper=1 / 3, training=False, *_: training
        )
        functional.scaled_dot_product_attention = self._losing(
            functional.scaled_dot_product_attention,
            lambda query, key, value, attn_mask=None, dropout_p=0.0, *_: dropout_p,
        )
        for name in ("_standard_gamma", "_sample_dirichlet", "binomial"):
            setattr(torch, name, self._losing(getattr(torch, name), lambda *_: True))
        for layer in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU):
            layer.forward = self._losing(layer.forward, lambda self, *_: self.dropout and self.training)

    def _dropping(self, dropout: Callable[..., Any], kept: Callable[[torch.Tensor], int]) -> Any:
        """Return a dropout that takes its factors from what was drawn: by element, or of as many leading
        dimensions as ``kept`` says. torch's own multiplies by such factors too.
        """

        @functools.wraps(dropout)
        def dropped(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
            if not training or not 0 < p <= 1:
                return dropout(input, p, training, inplace)
            shape = [*input.shape[: kept(input)], *(1,) * (input.ndim - kept(input))]
            given = self._next(shape)
            if given is None:
                return dropout(input, p, training, inplace)
            noise = torch.tensor(given, dtype=input.dtype, device=input.device).reshape(shape)
            return input.mul_(noise) if inplace else input.mul(noise)

        return dropped

    def _losing(self, function: Callable[..., Any], drops: Callable[..., Any]) -> Any:
        """Return a function that draws where nothing can be given to it, if ``drops`` says so of its
        arguments: from there on the numbers are not those of the reference.
        """
        taken = inspect.signature(drops).parameters

        @functools.wraps(function)
        def losing(*args: Any, **kwargs: Any) -> Any:
            if drops(*args, **{name: value for name, value in kwargs.items() if name in taken}):
                self._lose(f"{function.__qualname__.removeprefix('_VariableFunctionsClass.')}()")
            return function(*args, **kwargs)

        return losing

    def _next(self, shape: list[int]) -> list[Any] | None:
        if self.draws and self.draws[0][0] == shape and not self.lost:
            values = self.draws.popleft()[1]
            return [complex(v) if isinstance(v, str) else v for v in values]  # JSON has no complex numbers
        self._lose("draw that the reference did not make")
        return None

    def _lose(self, what: str) -> None:
        if not self.lost:
            self.lost = what
            self.losing()

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


def _put_everywhere(name: str, giving: Any) -> None:
    """Replace a function of torch in each of its modules that has imported it."""
    function = getattr(torch, name)
    for key, module in list(sys.modules.items()):
        if names_here(key) and vars(module).get(name) is function:
            setattr(module, name, giving)


def _drops_alpha(input: torch.Tensor, p: float = 0.5, training: bool = False, *_: Any) -> bool:
    return p > 0 and training


def _zeroed(function: Callable[..., torch.Tensor]) -> Any:
    """Return a function that gives zeros, as the reference does, where torch gives what the memory holds."""

    @functools.wraps(function)
    def zeroed(*args: Any, **kwargs: Any) -> torch.Tensor:
        out = function(*args, **kwargs)
        with torch.no_grad():
            out.data.zero_()
        return out

    return zeroed


def has_cuda() -> bool:
    """Tell whether torch finds a CUDA device."""
    return torch.cuda.is_available()


def names_here(value: str) -> bool:
    """Tell whether a module is torch's."""
    return value == "torch" or value.startswith("torch.")
