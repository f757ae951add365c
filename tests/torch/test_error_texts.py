"""Errors as explain shows them are torch's: class, and first line of the text."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

import failing_calls

pytest.importorskip("torch", reason="needs torch")

CALLS = Path(__file__).with_name("failing_calls.txt")
SECTIONS = failing_calls.sections(CALLS)


@cache
def said_by(which):
    """The words of each call on torch, or on the reference."""
    return failing_calls.answers(failing_calls.__file__, which, CALLS)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_failing_call_says_what_torch_says(section):
    """Of shapes, indices, dtypes, arguments, names, modules, optimizers, autograd and data."""
    torch, ours = said_by("torch"), said_by("reference")
    calls = SECTIONS[section]
    assert [] == [call for call in calls if torch[call] is None]
    assert {call: torch[call] for call in calls} == {call: ours[call] for call in calls}
