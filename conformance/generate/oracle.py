"""What the guide asks of the implementation it draws beside, and that on top of a `Runner`.

Running steps is the runner's business, reading raw state the adapter's (``peek``); no fact is observed here.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from conformance.program import Step
from conformance.run import Runner
from conformance.trace import DONE

Peek = tuple[tuple[int, ...], str, bool, bool]
"""Raw state of one tensor: shape, dtype by name, requires_grad, is_leaf; never brought up to date by
looking.
"""


class Oracle(Protocol):
    """A running implementation: executes steps one by one and shows raw state without observing it."""

    def step(self, step: Step) -> bool:
        """Run one step; whether it was done rather than refused."""

    def peek(self, name: str) -> Peek | None:
        """Raw state of the tensor bound to ``name``, or None if none is."""

    def array(self, name: str) -> Any:
        """The elements of the tensor bound to ``name`` as an array, read raw."""

    def memory(self, name: str) -> Any:
        """The array whose memory tells what shares it with what, or None where that cannot be told."""

    def grads(self) -> list[Any]:
        """The arrays of all grads, where memory can be told."""


class Beside:
    """The oracle that a runner is; an adapter with ``peek(value) -> Peek`` is guided without being observed.

    NB: without ``peek`` the public attributes are read, which regenerates stale views: programs stay sound,
    but what they observe is then not only what they say.
    """

    __slots__ = ("_memory", "_peek", "_run", "env", "runner")

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.env = runner.env
        self._run = runner.step
        self._memory = getattr(runner.adapter, "memory", lambda value: None)
        self._peek = getattr(runner.adapter, "peek", None) or attributes

    def step(self, step: Step) -> bool:
        return self._run(step).outcome is DONE

    def peek(self, name: str) -> Peek | None:
        value = self.env.get(name)
        return self._peek(value) if hasattr(value, "requires_grad") else None

    def array(self, name: str) -> Any:
        return np.asarray(self.env[name].tolist())

    def memory(self, name: str) -> Any:
        value = self.env.get(name)
        return self._memory(value) if hasattr(value, "requires_grad") else None

    def grads(self) -> list[Any]:
        grads = (getattr(value, "_grad", None) for value in self.env.values())
        return [self._memory(grad) for grad in grads if hasattr(grad, "requires_grad")]


def attributes(value: Any) -> Peek:
    """A peek through public attributes, for implementations that show nothing raw."""
    try:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), value.requires_grad, value.is_leaf
    except RuntimeError:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), True, False
