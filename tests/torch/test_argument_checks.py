"""Bad arguments are refused as torch refuses them, also without the guards of explanations."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import failing_calls

pytest.importorskip("torch", reason="needs torch")

CALLS = Path(__file__).with_name("bad_arguments.txt")
SECTIONS = failing_calls.sections(CALLS)


@cache
def said_by(which):
    """The class and the first line of each call's exception, on torch or on the reference alone."""
    return failing_calls.answers(failing_calls.__file__, which, CALLS)


def _compared(said):
    """A TypeError's class alone: its text is that of torch's parser, which explanations have.

    Sets print in the order of hashes, which are another process's own.
    """
    kind, text = said
    return kind if kind == "TypeError" else (kind, re.sub(r"\{([^{}:]*)\}", _in_order, text))


def _in_order(members):
    return f"{{{', '.join(sorted(members[1].split(', ')))}}}"


@pytest.mark.parametrize("section", SECTIONS)
def test_bad_arguments_are_refused(section):
    """With torch's class and words."""
    torch, ours = said_by("torch"), said_by("alone")
    calls = SECTIONS[section]
    assert [] == [call for call in calls if torch[call] is None]
    assert [] == [call for call in calls if ours[call] is None]
    assert {call: _compared(torch[call]) for call in calls} == {call: _compared(ours[call]) for call in calls}
