"""PyTorch behind the plain contract: the functions that `conformance.adapters` asks for, and no more."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import reduce
from typing import Any

import torch

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.operations import function_of
from conformance.program import Step
from specs.fact import GRAD_FACTS, refused
from specs.rule import classify

READINGS: dict[str, Callable[[torch.Tensor], Any]] = {
    "value": lambda x: x.tolist(),
    "dtype": lambda x: str(x.dtype).removeprefix("torch."),
    "shape": lambda x: list(x.shape),
    "device": lambda x: str(x.device),
    "is_leaf": lambda x: x.is_leaf,
    "requires_grad": lambda x: x.requires_grad,
    "retains_grad": lambda x: x.retains_grad,
    "grad_fn": lambda x: x.grad_fn and x.grad_fn.name(),
    "output_nr": lambda x: x.output_nr,
    "is_view": lambda x: x._is_view(),
    "version": lambda x: x._version,
    "grad": lambda x: None if x.grad is None else {fact: READINGS[fact](x.grad) for fact in GRAD_FACTS},
}


class PlainTorch:
    """Does a step by its text; subclasses leave something out."""

    name, version = "plain torch", str(torch.__version__)
    capabilities = Capabilities()

    def start(self) -> None:
        torch.set_num_threads(1)
        torch.set_grad_enabled(True)
        warnings.simplefilter("ignore")

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        args, kwargs = operands
        function = function_of(step.op, torch)
        if function is None:
            raise NotImplementedError(f"there is no {step.op}")
        return function(*args, **kwargs)

    def facts(self, session: None, value: torch.Tensor) -> dict[str, Any]:
        return {fact: self._read(reading, value) for fact, reading in READINGS.items()}

    def _read(self, reading: Callable[[torch.Tensor], Any], value: torch.Tensor) -> Any:
        try:
            return reading(value)
        except RuntimeError as error:
            return refused(self.refusal(error) or "")

    def refusal(self, error: BaseException) -> str | None:
        return classify(type(error).__name__, str(error))

    def mode(self, session: None, name: str) -> Any:
        word, _, flag = name.partition("(")
        manager = reduce(getattr, word.split("."), torch)
        return manager(flag == "True)") if flag else manager()

    def saving(self, session: None, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
        return torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def dtype(self, name: str) -> torch.dtype:
        found: torch.dtype = getattr(torch, name)
        return found


adapter = PlainTorch()
