"""`torch.func.vjp`, by record and replay: functional torch against its own `torch.autograd.grad`."""

from __future__ import annotations

from typing import Any

import torch

from conformance.adapters.capabilities import Capabilities
from conformance.adapters.operations import function_of
from conformance.adapters.replay import SHOWN, Replayed
from conformance.execution.claims import known_ops
from conformance.program import Step
from specs import ops
from specs.fact import refused


def _computes(op: str) -> bool:
    return op.removeprefix("torch.") in ops.ALL or op in ops.OPERATORS


class Operations:
    """Torch's operations on plain tensors, one by one."""

    name, version = "torch.func", str(torch.__version__)

    def __init__(self) -> None:
        ops.load()
        made = {*(f"torch.{name}(dtype, requires_grad)" for name in ("tensor", "ones", "zeros")), "detach"}
        computing = frozenset(op for op in known_ops() if _computes(op))
        self.capabilities = Capabilities(ops=computing | made, facts=SHOWN, features=frozenset(["detach"]))

    def start(self) -> None:
        torch.set_num_threads(1)

    def perform(self, session: None, step: Step, operands: tuple[tuple[Any, ...], dict[str, Any]]) -> Any:
        function = function_of(step.op, torch)
        if function is None:
            raise NotImplementedError(f"torch has no {step.op}")
        args, kwargs = operands
        return function(*args, **kwargs)

    def facts(self, session: None, value: torch.Tensor) -> dict[str, Any]:
        dtype = str(value.dtype).removeprefix("torch.")
        return {"value": _read(value), "dtype": dtype, "shape": tuple(value.shape)}

    def dtype(self, name: str) -> Any:
        return getattr(torch, name)


def _read(value: torch.Tensor) -> Any:
    """The elements, unless they are zeros without memory, which torch does not read."""
    try:
        return value.tolist()
    except RuntimeError as error:
        if "unallocated storage" not in str(error):
            raise
        return refused("op/zeros-are-not-read")


def derivative(function: Any, at: Any, cotangents: Any) -> Any:
    """Gradients at a place, by `torch.func.vjp`."""
    results, pull = torch.func.vjp(function, *at)
    given = zip(results, cotangents, strict=True)
    return pull(tuple(torch.ones_like(r) if c is None else c for r, c in given))


def vjp() -> Replayed:
    """The adapter."""
    return Replayed(Operations(), derivative)
