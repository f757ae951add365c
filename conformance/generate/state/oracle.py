"""What the guide asks of the implementation it draws beside, and that on top of a `Runner`.

A `Runner` runs the steps and the adapter reads raw state (``raw_*``); no fact is observed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from conformance.execution.run import PLAIN, Runner
from conformance.execution.trace import Observation
from conformance.program import Step
from specs.memory import dense

RawState = tuple[tuple[int, ...], str, bool, bool]
"""Shape, dtype by name, requires_grad and is_leaf of one tensor, read without regenerating its history."""

NO_TENSOR = PLAIN | {list, tuple}
"""Types of what a name may be bound to that is no tensor."""


class Oracle(Protocol):
    """A running implementation: executes steps one by one and shows raw state without observing it."""

    env: dict[str, Any]
    """The implementation's own values by name, tensors or not."""
    steps: list[Step]
    """The steps run so far."""

    def step(self, step: Step) -> Observation:
        """Run one step, for better or worse."""

    def raw_state(self, value: Any) -> RawState:
        """Raw state of a tensor."""

    def array(self, name: str) -> Any:
        """The elements of the tensor bound to ``name`` as an array, read raw; None if they cannot be read."""

    def memory(self, name: str) -> Any:
        """The array whose memory tells what shares it with what, or None where that cannot be told."""

    def device_of(self, value: Any) -> str:
        """The device that a tensor is on."""

    def window(self, name: str) -> tuple[int, int]:
        """Where a tensor begins in its memory, and how many elements that has; (0, 0) if nobody can tell."""

    def block(self, name: str) -> int:
        """How many elements the block of memory has that a tensor fills; 0 if it is not known to fill one."""

    def grads(self, unnamed: bool = False) -> list[Any]:
        """The arrays of all grads, with those of leaves whose names are gone if told so, where memory can be
        told.
        """

    def optimizer_updates(self, name: str) -> list[tuple[Any, Any]]:
        """Of what the optimizer writes to while it reads the grad, the arrays of both, where memory can be
        told. With weight decay or momentum it reads what it has made of the grad.
        """


class RunnerOracle:
    """The oracle that a runner is; an adapter with ``raw_state`` is guided without being observed.

    NB: without ``raw_state`` the public attributes are read, which regenerates stale views: programs stay
    sound, but what they observe is then not only what they say.
    """

    __slots__ = ("_array", "_grad", "_leaves", "env", "raw_state", "step", "steps")

    def __init__(self, runner: Runner) -> None:
        self.env = runner.env
        self.step = runner.step
        self.steps = runner.steps
        adapter = runner.adapter
        self.raw_state: Callable[[Any], RawState] = getattr(adapter, "raw_state", attributes)
        self._array = getattr(adapter, "raw_array", lambda value: None)
        self._grad = getattr(adapter, "raw_grad", lambda value: None)
        self._leaves = getattr(adapter, "raw_leaves", lambda values: ())

    def array(self, name: str) -> Any:
        value = self.env[name]
        array = self._array(value)
        if array is not None:
            return array
        try:
            return np.asarray(value.tolist())
        except RuntimeError:
            return None

    def memory(self, name: str) -> Any:
        return self._array(self.env[name])

    def device_of(self, value: Any) -> str:
        return str(value.device)

    def window(self, name: str) -> tuple[int, int]:
        value = self.env[name]
        try:
            return value.storage_offset(), value.untyped_storage().nbytes() // value.element_size()
        except (AttributeError, RuntimeError):
            return 0, 0

    def block(self, name: str) -> int:
        array = self.memory(name)
        return array.size if array is not None and dense(array) else 0

    def grads(self, unnamed: bool = False) -> list[Any]:
        leaves = self._leaves(self.env.values()) if unnamed else ()
        grads = map(self._grad, (*self.env.values(), *leaves))
        return [self._array(grad) for grad in grads if grad is not None]

    def optimizer_updates(self, name: str) -> list[tuple[Any, Any]]:
        groups = getattr(self.env.get(name), "param_groups", ())
        plain = (group for group in groups if not (group["weight_decay"] or group["momentum"]))
        held = ((x, self._grad(x)) for group in plain for x in group["params"])
        pairs = ((self._array(x), self._array(grad)) for x, grad in held if grad is not None)
        return [(array, grad) for array, grad in pairs if array is not None and grad is not None]


def attributes(value: Any) -> RawState:
    """Read the same from public attributes, for implementations that show nothing raw."""
    try:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), value.requires_grad, value.is_leaf
    except RuntimeError:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), True, False
