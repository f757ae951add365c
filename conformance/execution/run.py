"""Runs a program on an adapter: `run(program, adapter)` gives a `Trace`."""

from __future__ import annotations

from typing import Any

from conformance.execution.region import trace_of
from conformance.execution.runner import Runner
from conformance.execution.trace import Trace
from conformance.program import Program

__all__ = ["Runner", "run"]


def run(program: Program, adapter: Any, density: str = "each") -> Trace:
    """Run a program from a clean start; all that is live is observed after the last step at any density."""
    if hasattr(adapter, "run_program"):
        trace: Trace = adapter.run_program(program, density)
        return trace
    return trace_of(program, adapter, density)
