"""``torch.profiler``, where nothing is measured: scripts run as they do without it, and tables are empty."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Iterable
from contextlib import ContextDecorator
from pathlib import Path
from typing import Any

from reference_impl.namespace.missing import loading


class ProfilerActivity(enum.Enum):
    """Parts of a machine that could be measured."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3
    HPU = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """Deeds of a profiler in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class _Nothing(list[Any]):
    """The events of a profile: none."""

    total_average = self_cpu_time_total = 0

    def table(self, *how: Any, **named: Any) -> str:
        """Return a line in the place of a table."""
        return "(the reference measures nothing)"

    def export_chrome_trace(self, path: str) -> None:
        """Write a trace without events."""
        Path(path).write_text(json.dumps({"traceEvents": list(self)}), encoding="utf-8")


class profile:
    """A profile of what runs in its block, or between ``start()`` and ``stop()``. NB: it measures nothing."""

    def __init__(
        self,
        *settings: Any,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        **more: Any,
    ) -> None:
        self.schedule = schedule or (lambda step: ProfilerAction.RECORD)
        self.on_trace_ready = on_trace_ready
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.profiler = self

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End; whoever wants the trace gets this profile."""
        if self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._hand_on()

    def step(self) -> None:
        """Count a step; where a cycle of the schedule ends, whoever wants the trace gets this profile."""
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._hand_on()

    def _hand_on(self) -> None:
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def key_averages(self, *how: Any, **named: Any) -> _Nothing:
        """Return no events."""
        return _Nothing()

    events = function_events = key_averages

    def table(self, *how: Any, **named: Any) -> str:
        """Return a line in the place of a table."""
        return _Nothing().table()

    def export_chrome_trace(self, path: str) -> None:
        """Write a trace without events."""
        _Nothing().export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write a file without stacks."""
        Path(path).write_text("", encoding="utf-8")

    def add_metadata(self, key: str, value: str) -> None:
        """Do nothing."""

    add_metadata_json = add_metadata


class record_function(ContextDecorator):
    """A name for what runs in a block."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args

    def __enter__(self) -> record_function:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """Return what a profiler does in each step. Raises AssertionError for negative numbers, or no step."""
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError("Invalid profiler schedule arguments")
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0 or (repeat and step // length >= repeat):
            return ProfilerAction.NONE
        at = step % length
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[Any], None]:
    """Return a function that takes a profile and writes nothing."""
    return lambda profile: None


def supported_activities() -> Iterable[ProfilerActivity]:
    """Return the CPU alone."""
    return {ProfilerActivity.CPU}


__getattr__ = loading(__name__)
