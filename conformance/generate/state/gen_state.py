"""`GenState`: the program drawn so far, its live tensors, and the follow-ups that are scheduled.

Names are made and picked here, and steps emitted. Kinds of step live in ``steps``, the loop that draws them
in ``guide``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from math import isfinite
from typing import Any

import numpy as np

from conformance.execution.trace import DONE
from conformance.generate.state.choices import Choices
from conformance.generate.state.oracle import NO_TENSOR, Oracle
from conformance.generate.state.registry import FOLLOW_UPS
from conformance.generate.state.tensor_info import CAP, Store, TensorInfo
from conformance.program import Step, ref
from specs.domain import AVOIDANCES

FollowUp = Callable[["GenState", Any], bool]
"""Draws a step about a tensor of an earlier step; False if it cannot be drawn."""

Kwargs = tuple[tuple[str, Any], ...]
"""Keyword arguments of a step."""

NAMES = tuple(f"{letter}{tail}" for tail in ("", *range(1, 20)) for letter in "abcdefhijkmnpqrstuvwxyz")

_FOCUS = -6
"""The first of the picks from the focus instead of by age."""
_AGES = (0, 0, 0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 11, *range(-1, _FOCUS - 1, -1))
"""Ages of the tensors to pick; negative ones index the focus."""
_MOST_PENDING = 4

_new: Any = tuple.__new__
"""Makes a ``Step`` of its fields. NB: its own way to make one takes twice as long."""


@lru_cache(maxsize=4096)
def _span(dtype: np.dtype, elements: bytes) -> tuple[int, int] | None:
    """Bits and fractional bits that these elements span; None if they are not all finite.

    Cached by the bytes, because the same gradients are read again and again.
    """
    array = np.frombuffer(elements, dtype)
    parts = (array.real, array.imag) if dtype.kind == "c" else (array,)
    top, unit = 3, 1  # parts of one; a power of two
    for value in {value for part in parts for value in part.tolist()}:
        if not isfinite(value):
            return None
        top = max(top, abs(value))
        if value % 1:
            unit = max(unit, value.as_integer_ratio()[1])
    return int(top).bit_length(), unit.bit_length() - 1


class NotDrawn(Exception):
    """A step has not the tensor that it needs, and may not make it."""


class GenState:
    """A program being drawn beside the oracle that runs it.

    ``below`` and ``pick`` are the source of choices. ``unchecked``: the step is drawn without regard to
    validity. ``rebind``: its result takes a used name, that of ``replaced``. ``mode`` is the nesting of grad
    modes for ``mode_turns`` more turns; recording is off for ``no_grad_turns`` more turns; ``inference``:
    the program has been in inference mode. ``refused`` is the number of steps that the oracle refused.
    ``indices``: there may be tensors of int64. ``tensors`` are those on the current ``device``; ``by_device``
    holds those on each, if the program uses devices. ``modules`` are the modules made so far.
    """

    __slots__ = (
        "always_grad", "below", "by_device", "device", "dtype", "dtypes", "env", "features",
        "float_dtypes", "focus", "full_api", "indices", "inference", "mode", "mode_turns",
        "modules", "names_used", "no_grad_turns", "numbers", "oracle", "pending", "pick",
        "raw_state", "rebind", "refused", "replaced", "rounding", "run", "shapes", "steps", "supports",
        "tensors", "unchecked", "vocabulary",
    )  # fmt: skip

    def __init__(self, choices: Choices, oracle: Oracle) -> None:
        self.below, self.pick = choices.below, choices.pick
        self.oracle = oracle
        self.env = oracle.env
        self.raw_state = oracle.raw_state
        self.run = oracle.step
        self.steps = oracle.steps
        self.device = "cpu"
        self.tensors: list[TensorInfo] = []
        self.by_device: dict[str, list[TensorInfo]] | None = None
        self.focus: list[TensorInfo] = []
        self.pending: list[tuple[FollowUp, Any]] = []
        self.names_used = self.refused = 0
        self.mode: tuple[str, ...] = ()
        self.mode_turns = self.no_grad_turns = 0
        self.unchecked = self.rebind = self.rounding = self.inference = False
        self.replaced: TensorInfo | None = None
        self.modules: list[Any] = []

    shapes: tuple[tuple[int, ...], ...]
    dtype: str
    dtypes: tuple[str, ...]
    float_dtypes: tuple[str, ...]
    features: int
    numbers: bool
    always_grad: bool
    full_api: bool
    indices: bool
    supports: Callable[[str], bool]
    vocabulary: Any

    def close(self) -> None:
        """Break reference cycles, so that nothing is left to the garbage collector."""
        for tensor in self.all_tensors():
            tensor.store.aliases.clear()

    # -- emitting --------------------------------------------------------------------------------

    def emit(self, op: str, args: tuple[Any, ...], kwargs: Kwargs = (), out: Any = ()) -> bool:
        """Append a step and run it; True if the oracle did it."""
        before = len(self.steps)
        done = self.run(_new(Step, (op, args, kwargs, out, self.mode)))[0] is DONE
        if not done:
            self.refused += len(self.steps) - before  # a step beyond the claims is none
        if self.replaced is not None:
            if done:
                self.drop(self.replaced)
            self.replaced = None
        return done

    def fresh_name(self) -> str:
        """Return an unused name."""
        self.names_used += 1
        return NAMES[self.names_used - 1]

    def result_name(self) -> str:
        """Return the name for the next step's result: an unused one, or one to be bound anew."""
        if self.rebind and len(self.tensors) > 3:
            self.replaced = self.pick(self.tensors)
            return self.replaced.name
        self.names_used += 1
        return NAMES[self.names_used - 1]

    def bind(self, name: str, store: Store, parents: tuple[TensorInfo, ...] = ()) -> TensorInfo | None:
        """Record a name just bound; None if it holds no tensor."""
        value = self.env[name]
        if type(value) in NO_TENSOR:
            return None
        tensor = TensorInfo(name, store, parents, self.raw_state(value))
        for parent in parents:
            if parent.freed:
                tensor.freed = True
        store.aliases.append(tensor)
        if self.by_device is None:
            self.tensors.append(tensor)
        else:
            tensor.device = self.oracle.device_of(value)
            self.by_device[tensor.device].append(tensor)
        return tensor

    def bind_measured(self, name: str, parents: tuple[TensorInfo, ...] = ()) -> TensorInfo | None:
        """Record a gradient just bound, with bounds read off its elements; None if it holds no tensor."""
        return None if type(self.env[name]) in NO_TENSOR else self.bind(name, self.measure(name), parents)

    def drop(self, tensor: TensorInfo) -> None:
        """Forget a tensor whose name is deleted or bound anew."""
        tensor.deleted = True
        (self.tensors if self.by_device is None else self.by_device[tensor.device]).remove(tensor)
        tensor.store.aliases.remove(tensor)
        if tensor in self.focus:
            self.focus = [other for other in self.focus if other is not tensor]
        if self.pending:
            self.pending = [scheduled for scheduled in self.pending if scheduled[1] is not tensor]

    def delete_names(self, *names: str) -> None:
        """Emit ``del`` for names that were not recorded; not in a decorated function, where it cannot be."""
        if not (self.mode and self.mode[-1][0] == "@"):
            for name in names:
                self.emit("del", (ref(name),))

    def refresh(self, tensor: TensorInfo) -> None:
        """Read a tensor's raw state again."""
        tensor.update(self.raw_state(self.env[tensor.name]))

    def refresh_aliases(self, tensor: TensorInfo) -> None:
        """Read the raw state of all aliases again, after a write or a flag that may have changed it."""
        for other in tensor.store.aliases:
            self.refresh(other)

    def self_overlapping(self, tensor: TensorInfo) -> bool:
        """Tell if a write may reach an element several times, in an order that torch leaves open.

        That may be an element of the tensor, or of its base, which the write's history goes through.
        """
        if not tensor.store.self_overlapping:
            return False
        for one in (tensor, tensor.base):
            if one is not None:
                array = None if one.deleted else self.oracle.memory(one.name)
                if array is None or AVOIDANCES["self_overlapping_target"].meets((array,), {}):
                    return True
        return False

    # -- devices ---------------------------------------------------------------------------------

    def use_devices(self, devices: Sequence[str]) -> None:
        """Have the program move between these devices."""
        self.by_device = {device: [] for device in devices}
        self.tensors = self.by_device[self.device]

    def switch_device(self, device: str) -> bool:
        """Go on with the tensors on another device; False if there are none or it is the current one."""
        if self.by_device is None or device == self.device or not self.by_device[device]:
            return False
        self.device, self.tensors = device, self.by_device[device]
        self.focus = [tensor for tensor in self.focus if tensor.device == device]
        return True

    def all_tensors(self) -> tuple[TensorInfo, ...]:
        """Return the live tensors on all devices, the latest of each first."""
        lists = [self.tensors] if self.by_device is None else self.by_device.values()
        return tuple(tensor for tensors in lists for tensor in reversed(tensors))

    # -- picking ---------------------------------------------------------------------------------

    def any_tensor(self) -> TensorInfo:
        """Pick a live tensor: mostly a recent one, sometimes one in focus. Raises NotDrawn without any."""
        age = self.pick(_AGES)
        if age < 0:
            if self.focus:
                return self.focus[age % len(self.focus)]
            age -= _FOCUS
        tensors = self.tensors
        if not tensors:
            raise NotDrawn
        return tensors[-1 - age % len(tensors)]

    def find(self, test: Callable[[TensorInfo], Any]) -> TensorInfo | None:
        """Pick a tensor that passes the test, any if the step is unchecked; None if there is none."""
        tensor = self.any_tensor()
        if self.unchecked or test(tensor):
            return tensor
        tensor = self.any_tensor()
        if test(tensor):
            return tensor
        for tensor in reversed(self.tensors):
            if test(tensor):
                return tensor
        return None

    def like(self, tensor: TensorInfo, excluding: TensorInfo | None = None) -> TensorInfo | None:
        """Pick the latest tensor of the same shape and dtype, first of those that need no grad.

        If the step is unchecked, any tensor may be picked.
        """
        if self.unchecked and self.below(2):
            return self.any_tensor()
        found = None
        for other in reversed(self.tensors):
            if other.shape == tensor.shape and other.dtype == tensor.dtype and other is not excluding:
                if not other.requires_grad:
                    return other
                found = found or other
        return found

    # -- bounds ----------------------------------------------------------------------------------

    def fits(self, dtype: str, bits: int, frac: int) -> bool:
        """Tell if values with these bounds stay exact, with room for their gradients."""
        return bits + frac <= CAP.get(dtype, 20)

    def measure(self, name: str) -> Store:
        """Return the store of a gradient, with bounds read off its elements."""
        return Store(*self._bounds(self.oracle.array(name)), True)

    def _bounds(self, elements: Any) -> tuple[int, int, bool]:
        """Bits, fractional bits and inexactness of an array's elements; None stands for unreadable ones."""
        span = None if elements is None else _span(elements.dtype, elements.tobytes())
        return (99, 0, True) if span is None else (*span, self.rounding)

    def remeasure(self, tensor: TensorInfo) -> None:
        """Widen a store's bounds to cover the elements, after a write of unknown values."""
        bits, frac, inexact = self._bounds(self.oracle.array(tensor.name))
        tensor.store.widen(bits, frac, inexact)

    # -- attention -------------------------------------------------------------------------------

    def prioritise(self, tensors: Iterable[TensorInfo]) -> None:
        """Put tensors in focus: they are likelier to be picked next."""
        self.focus = [*[tensor for tensor in tensors if not tensor.deleted], *self.focus][:6]

    def schedule(self, follow_up: FollowUp | str, about: Any) -> None:
        """Schedule a follow-up, by its registered name if it lives in a module that cannot be imported.

        It is drawn soon, or never if the tensor is deleted first.
        """
        if isinstance(about, TensorInfo) and about.deleted:
            return
        draw = FOLLOW_UPS[follow_up] if isinstance(follow_up, str) else follow_up
        self.pending.append((draw, about))
        if len(self.pending) > _MOST_PENDING:
            del self.pending[0]
