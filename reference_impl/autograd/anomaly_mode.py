"""Anomaly mode: nodes remember where they were made, and a backward that fails, or gives nan, tells it."""

from __future__ import annotations

import sys
import traceback
import warnings
from typing import Any

import numpy as np

from reference_impl.base.rules import by, refuse_by, warn
from reference_impl.base.session import STATE
from reference_impl.core.graph import Grads, Node, RunningTask

__all__ = ["detect_anomaly", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_detect_anomaly"]


class _Watch:
    """What is done while the mode is on."""

    def __init__(self, check_nan: bool) -> None:
        self.check_nan = check_nan

    def made(self, node: Node) -> None:
        """Take note of a new node."""
        STATE.made_at[node] = "".join(traceback.format_stack()[:-2])
        if STATE.evaluating:
            STATE.made_by[node] = STATE.evaluating[-1]

    def watch(self, node: Node, arrived: Grads, task: RunningTask) -> Grads:
        """Run a node; say where it came from if that fails."""
        STATE.evaluating.append(node)
        try:
            outputs = node.apply(arrived, task)
            if self.check_nan or not by("anomaly/nan-may-pass"):
                for index, g in enumerate(outputs):
                    if g is not None and np.isnan(g._array).any():
                        refuse_by("anomaly/nan-refused", name=node.name(), index=index)
        except Exception:
            if by("anomaly/tells-where"):
                _tell(node)
            raise
        finally:
            STATE.evaluating.pop()
        return outputs


def _tell(node: Node) -> None:
    """Warn of what failed, and of the nodes in whose backward it was made."""
    trace = STATE.made_at.get(node)
    if trace is None:
        known = "No forward pass information available, as anomaly mode was off then."
    else:
        known = f"Traceback of forward call that caused the error:\n{trace}"
    _warn(f"Error detected in {node.name()}. {known}")
    child = node
    while child in STATE.made_by:
        parent = STATE.made_by[child]
        trace = STATE.made_at.get(parent)
        known = "No forward pass information available." if trace is None else f"It was made here:\n{trace}"
        _warn(f"Previous calculation that led to {child.name()}: {parent.name()}. {known}")
        child = parent


def _warn(text: str) -> None:
    """Warn; what must not be raised beside the error itself is printed."""
    try:
        warnings.warn(text, UserWarning, stacklevel=3)
    except UserWarning as raised:
        print(raised, file=sys.stderr)


def is_anomaly_enabled() -> bool:
    """Whether the mode is on."""
    return STATE.anomaly is not None


def is_anomaly_check_nan_enabled() -> bool:
    """Whether nan is looked for when the mode is on."""
    return STATE.anomaly is None or STATE.anomaly.check_nan


class set_detect_anomaly:
    """Switches the mode at once; as a block it gives back what was."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = STATE.anomaly
        STATE.anomaly = _Watch(check_nan) if mode else None

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None:
        STATE.anomaly = self._before


class detect_anomaly:
    """In the block, nodes remember where they were made, and nan ends a backward (with ``check_nan``)."""

    def __init__(self, check_nan: bool = True) -> None:
        self._watch = _Watch(check_nan)
        self._before: Any = None
        warn("anomaly/is-slow-warns")

    def __enter__(self) -> None:
        self._before = STATE.anomaly
        STATE.anomaly = self._watch

    def __exit__(self, *_: object) -> None:
        STATE.anomaly = self._before
