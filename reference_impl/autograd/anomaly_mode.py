"""Anomaly mode: nodes record where they were made; a backward that fails or yields NaN reports it."""

from __future__ import annotations

import sys
import traceback
import warnings
from functools import partial
from typing import Any

import numpy as np

from reference_impl.base.rules import by, hold_back, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.access import array_of
from reference_impl.core.graph import Grads, Node, RunningTask
from reference_impl.core.graph_task import GraphTask

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_detect_anomaly"]


class _Watch:
    """The mode while it is on: `STATE.anomaly`."""

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def made(self, node: Node) -> None:
        """Record the stack trace and the parent of a new node."""
        STATE.made_at[node] = "".join(traceback.format_stack()[:-2])
        if STATE.evaluating:
            STATE.made_by[node] = STATE.evaluating[-1]

    def watch(self, node: Node, arrived: Grads, task: RunningTask) -> Grads:
        """Run a node; what is made meanwhile was made by it."""
        STATE.evaluating.append(node)
        try:
            return node.apply(arrived, task)
        finally:
            STATE.evaluating.pop()

    def look_for_nan(self, node: Node, outputs: Grads, task: GraphTask) -> None:
        """Look for nan in what a node gives, once that has been validated and has passed its hooks."""
        if not task.keep_graph and by("backward/frees-saved"):
            node.release_variables()  # before it is looked for nan
        if not self.check_nan and by("anomaly/nan-may-pass"):
            return
        for index, g in enumerate(outputs):
            if g is not None and np.isnan(array_of(g)).any():
                refuse_by("anomaly/nan-refused", name=node.name(), index=index)

    def failed(self, node: Node) -> None:
        """Warn with the trace of the creation of a node that failed, or whose gradients were refused."""
        if by("anomaly/tells-where"):
            _tell(node)


def _tell(node: Node) -> None:
    """Warn with the trace of a failed node, and of the nodes in whose backward it was made."""
    _tell_of(node, "Error detected in {name}. Traceback of forward call that caused the error:\n{trace}")
    while node in STATE.made_by:
        node = STATE.made_by[node]
        _tell_of(
            node,
            "\n\nPrevious calculation was induced by {name}. "
            "Traceback of forward call that induced the previous calculation:\n{trace}",
        )


def _tell_of(node: Node, text: str) -> None:
    """Warn with the trace of one node, in PyTorch's words."""
    trace = STATE.made_at.get(node)
    if trace is None:
        text = (
            "Error detected in {name}. No forward pass information available. "
            "Enable detect anomaly during forward pass for more information."
        )
    hold_back(partial(_warn, text.format(name=node.name(), trace=trace)))


def _warn(text: str) -> None:
    """Warn; print a warning that is turned into an error, since another error is being raised."""
    try:
        warnings.warn(text, UserWarning, stacklevel=3)
    except UserWarning as raised:
        print(raised, file=sys.stderr)


def is_anomaly_enabled() -> bool:
    """Return True if the mode is on."""
    return STATE.anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Return True if the mode checks for NaN when it is on."""
    return STATE.anomaly is None or STATE.anomaly.check_nan


class set_detect_anomaly:
    """Switch the mode at once; as a context manager, restore it at the end."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = STATE.anomaly
        STATE.anomaly = _Watch(check_nan) if mode else None

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        STATE.anomaly = self._before


class detect_anomaly:
    """In the block, nodes record where they were made, and with ``check_nan`` a NaN ends backward."""

    def __init__(self, check_nan: bool = True) -> None:
        self._watch = _Watch(check_nan)
        self._before: Any = STATE.anomaly
        warn("anomaly/is-slow-warns")

    def __enter__(self) -> None:
        STATE.anomaly = self._watch

    def __exit__(self, *_: object) -> None:
        STATE.anomaly = self._before
