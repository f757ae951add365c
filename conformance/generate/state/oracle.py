"""The oracle: the running implementation that a program is drawn beside.

A `Runner` runs the steps, and the adapter reads raw state (``raw_*``). No fact is observed here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from conformance.execution.claims import DTYPES, asked, judges, lacking_of, met_within
from conformance.execution.runner import Runner
from conformance.execution.shown import PLAIN
from conformance.execution.trace import UNBOUND, Observation, Refused
from conformance.program import Ref, Step
from specs.memory import dense

RawState = tuple[tuple[int, ...], str, bool, bool]
"""Shape, dtype by name, requires_grad and is_leaf of one tensor, read without regenerating its history."""

NO_TENSOR = PLAIN | {list, tuple}
"""Types of values that are not tensors."""


class Oracle(Protocol):
    """A running implementation: runs steps one by one and shows raw state without observing it."""

    env: dict[str, Any]
    """The implementation's own values by name, tensors or not."""
    steps: list[Step]
    """The steps run so far."""

    def step(self, step: Step) -> Observation:
        """Run one step; it may be refused."""

    def raw_state(self, value: Any) -> RawState:
        """Read a tensor's raw state."""

    def array(self, name: str) -> Any:
        """Read the elements of a tensor as an array; None if they cannot be read."""

    def memory(self, name: str) -> Any:
        """Return the array in whose memory a tensor lies; None if it is not known."""

    def device_of(self, value: Any) -> str:
        """Return the device of a tensor."""

    def window(self, name: str) -> tuple[int, int]:
        """Return a tensor's storage offset and the size of its storage in elements; (0, 0) if not known."""

    def block(self, name: str) -> int:
        """Return the number of elements of a dense tensor; 0 if it is not known to be dense."""

    def grads(self, unnamed: bool = False) -> list[Any]:
        """Return the arrays of all grads that are known; ``unnamed``: also of leaves without a name."""

    def optimizer_updates(self, name: str) -> list[tuple[Any, Any]]:
        """Return the arrays of the parameters that an optimizer writes while it reads their grads.

        Each comes with the array of its grad. Parameters with weight decay or momentum are left out: the
        optimizer reads a tensor computed from their grad instead.
        """


class RunnerOracle:
    """An oracle on top of a `Runner`; an adapter with ``raw_state`` is not observed while a program is drawn.

    Without ``raw_state`` public attributes are read, which regenerates stale views: the programs stay valid,
    but drawing them may have changed what they observe.
    """

    __slots__ = ("_array", "_grad", "_leaves", "_step", "env", "raw_state", "steps")

    def __init__(self, runner: Runner) -> None:
        self.env = runner.env
        self._step = runner.step
        self.steps = runner.steps
        adapter = runner.adapter
        self.raw_state: Callable[[Any], RawState] = getattr(adapter, "raw_state", attributes)
        self._array = getattr(adapter, "raw_array", lambda value: None)
        self._grad = getattr(adapter, "raw_grad", lambda value: None)
        self._leaves = getattr(adapter, "raw_leaves", lambda values: ())

    def step(self, step: Step) -> Observation:
        return self._step(step)

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


class LimitedOracle(RunnerOracle):
    """An oracle that runs no step which an implementation of these capabilities lacks.

    ``beyond`` are the steps that turned out to need more: their result has a shape or dtype that is not
    claimed, or they were refused where no refusals are judged.
    """

    __slots__ = ("_bounded", "_lacking", "_limits", "_within", "beyond")

    def __init__(self, runner: Runner, limits: Any) -> None:
        super().__init__(runner)
        self._limits = limits
        self._lacking, self._within = asked(limits), met_within(limits)
        self._bounded = limits.shapes == "scalar" or not limits.dtypes >= DTYPES
        self.beyond: set[int] = set()

    def step(self, step: Step) -> Observation:
        if self._lacking(step):
            return _NOT_RUN
        seen = self._step(step)
        if (type(seen[0]) is Refused and not judges(self._limits, step)) or (
            self._bounded and self._exceeds(step)
        ):
            self.beyond.add(len(self.steps) - 1)
        return seen

    def _exceeds(self, step: Step) -> bool:
        """True if an operand or result of the step is now more than is claimed."""
        _, args, _, out, _ = step
        names = (args[0].name, *out) if args and type(args[0]) is Ref else out
        env, raw_state, within = self.env, self.raw_state, self._within
        for name in names:
            value = env.get(name)
            kind = type(value)
            # NB: the type is asked, not the value, since reading the flag of a view may fire a rule.
            if kind not in NO_TENSOR and hasattr(kind, "requires_grad"):
                shape_and_dtype = raw_state(value)[:2]
                if shape_and_dtype not in within:
                    if lacking_of(self._limits, *shape_and_dtype):
                        return True
                    within.add(shape_and_dtype)
        return False


_NOT_RUN = Observation(UNBOUND, {})


def attributes(value: Any) -> RawState:
    """Read the same from public attributes, for implementations without ``raw_state``."""
    try:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), value.requires_grad, value.is_leaf
    except RuntimeError:
        return tuple(value.shape), str(value.dtype).removeprefix("torch."), True, False
