"""The crashes on record: each still happens on the torch at hand, and only what is on record is excused."""

from __future__ import annotations

import pytest

from conformance.adapters import load
from conformance.adapters.isolated import run_isolated
from conformance.known import Known, issue_of, records
from conformance.text import from_text


@pytest.mark.parametrize("record", records(), ids=lambda record: record.issue)
def test_a_crash_on_record_still_happens(record: Known):
    """A stale record fails here: it would excuse a crash that nobody has looked at."""
    program = from_text(record.program)
    version = load(record.side).version
    trace = run_isolated(program, record.side, "end")
    crash = next((seen.crash for seen in trace.observations if seen.crash is not None), None)
    operations = [step.op for step in program]
    known = None if crash is None else issue_of(operations, record.side, version, crash)
    assert (record.issue if record.speaks_of(version) else None) == known


@pytest.mark.parametrize(
    ("operations", "side", "version", "error"),
    [
        (["view", "mul_", "register_hook"], "mine", "2.13.0", "SIGSEGV"),
        (["view", "mul_", "register_hook"], "torch", "2.15.0", "SIGSEGV"),
        (["view", "mul_", "register_hook"], "torch", "2.13.0", "SIGABRT"),
        (["mul_", "view", "register_hook"], "torch", "2.13.0", "SIGSEGV"),
        (["view", "mul_", "backward"], "torch", "2.13.0", "SIGSEGV"),
    ],
)
def test_what_is_not_on_record_is_not_excused(operations, side, version, error):
    """Another side, a fixed version, another signal, another order or another call is an unknown crash."""
    assert issue_of(operations, side, version, error) is None


def test_the_recorded_shape_is_recognized():
    """The issue is found whatever lies between the steps it needs."""
    operations = ["torch.ones", "mul", "view", "add", "__imul__", "sum", "register_hook"]
    assert (
        issue_of(operations, "torch", "2.13.0+cpu", "SIGSEGV")
        == "https://github.com/pytorch/pytorch/issues/196459"
    )
