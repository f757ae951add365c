"""Explained scripts print what they print under torch: the expressions of ``printed.txt``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import failing_calls
import printed

pytest.importorskip("torch", reason="needs torch")

EXPRESSIONS = Path(__file__).with_name("printed.txt")
SECTIONS = failing_calls.sections(EXPRESSIONS)


@cache
def printed_by(which):
    """The text of each expression's value on torch, or on the reference."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, printed.__file__, which, str(EXPRESSIONS)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("section", SECTIONS)
def test_an_expression_prints_what_torch_prints(section):
    """Tensors, named results, modules, optimizers, what they hold, data and distributions."""
    torch, ours = printed_by("torch"), printed_by("reference")
    expressions = SECTIONS[section]
    assert [] == [text for text in expressions if torch[text].startswith("refused")]
    assert {text: torch[text] for text in expressions} == {text: ours[text] for text in expressions}
