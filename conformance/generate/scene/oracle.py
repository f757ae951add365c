"""What the guide asks of the implementation it draws beside, and that on top of a `Runner`.

Running steps is the runner's business, reading raw state the adapter's (``peek``); no fact is observed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from conformance.execution.run import PLAIN, Runner
from conformance.execution.trace import Observation
from conformance.program import Step
from specs.memory import dense

Peek = tuple[tuple[int, ...], str, bool, bool]
"""Raw state of one tensor: shape, dtype by name, requires_grad, is_leaf; never brought up to date by
looking.
"""

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

    def peek(self, value: Any) -> Peek:
        """Raw state of a tensor."""

    def array(self, name: str) -> Any:
        """The elements of the tensor bound to ``name`` as an array, read raw; None if they cannot be read."""

    def memory(self, name: str) -> Any:
        """The array whose memory tells what shares it with what, or None where that cannot be told."""

    def place(self, value: Any) -> str:
        """The device that a tensor is on."""

    def window(self, name: str) -> tuple[int, int]:
        """Where a tensor begins in its memory, and how many elements that has; (0, 0) if nobody can tell."""

    def block(self, name: str) -> int:
        """How many elements the block of memory has that a tensor fills; 0 if it is not known to fill one."""

    def grads(self, unnamed: bool = False) -> list[Any]:
        """The arrays of all grads, with those of leaves whose names are gone if told so, where memory can be
        told.
        """

    def stepped(self, name: str) -> list[tuple[Any, Any]]:
        """Of what the optimizer writes to while it reads the grad, the arrays of both, where memory can be
        told. With weight decay or momentum it reads what it has made of the grad.
        """


class Beside:
    """The oracle that a runner is; an adapter with ``peek(value) -> Peek`` is guided without being observed.

    NB: without ``peek`` the public attributes are read, which regenerates stale views: programs stay sound,
    but what they observe is then not only what they say.
    """

    __slots__ = ("_memory", "env", "peek", "step", "steps")

    def __init__(self, runner: Runner) -> None:
        self.env = runner.env
        self.step = runner.step
        self.steps = runner.steps
        self.peek: Callable[[Any], Peek] = getattr(runner.adapter, "peek", attributes)
        self._memory = getattr(runner.adapter, "memory", lambda value: None)

    def array(self, name: str) -> Any:
        value = self.env[name]
        memory = self._memory(value)
        if memory is not None:
            return memory
        try:
            return np.asarray(value.tolist())
        except RuntimeError:
            return None

    def memory(self, name: str) -> Any:
        return self._memory(self.env[name])

    def place(self, value: Any) -> str:
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
        leaves = self._leaves() if unnamed else ()
        grads = (getattr(value, "_grad", None) for value in (*self.env.values(), *leaves))
        return [self._memory(grad) for grad in grads if type(grad) not in NO_TENSOR]

    def _leaves(self) -> set[Any]:
        """The leaves that a backward from what is live may fill, as raw histories lead to them."""
        views = [getattr(value, "_view", None) for value in self.env.values()]
        bases = (view.base for view in views if view is not None)
        met: set[Any] = set()
        stack: list[Any] = [getattr(value, "_node", None) for value in (*self.env.values(), *bases)]
        while stack:
            node = stack.pop()
            if node is not None and node not in met:
                met.add(node)
                stack += [target for target, _ in node.edges]
        return {node.variable for node in met if hasattr(node, "variable")}

    def stepped(self, name: str) -> list[tuple[Any, Any]]:
        groups = getattr(self.env.get(name), "param_groups", ())
        plain = (group for group in groups if not (group["weight_decay"] or group["momentum"]))
        held = ((x, getattr(x, "_grad", None)) for group in plain for x in group["params"])
        pairs = ((self._memory(x), self._memory(grad)) for x, grad in held if type(grad) not in NO_TENSOR)
        return [(array, grad) for array, grad in pairs if array is not None and grad is not None]


def attributes(value: Any) -> Peek:
    """A peek through public attributes, for implementations that show nothing raw."""
    try:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), value.requires_grad, value.is_leaf
    except RuntimeError:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), True, False
