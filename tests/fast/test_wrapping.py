"""Scripts that are shown within a width still run."""

from __future__ import annotations

import ast

import pytest

from conformance.adapters import load
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.program.parsing import parse
from conformance.program.printing import script
from conformance.report.wrapping import runnable
from specs.case import cases

WIDTHS = (80, 70)


def meaning(text: str) -> str:
    """The syntax tree, without docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                value.value = "".join(value.value.split())
    return ast.dump(tree)


@pytest.mark.parametrize("width", WIDTHS)
def test_programs_are_the_same_within_a_width(width):
    """Broken lines parse back to the same program; only what has no comma in it stays wider."""
    for number in range(150):
        program = draw(Prng(5, number), load("reference")).program
        notes = {0: [f"# torch: {[0.1] * 60}"]}
        shown = runnable(script(program, refused=range(3), notes=notes), width)
        assert program == parse(shown)
        assert [] == [line for line in shown.splitlines() if len(line) > width]


@pytest.mark.parametrize("width", WIDTHS)
def test_cases_mean_the_same_within_a_width(width):
    for case in cases():
        shown = runnable(case.text, width)
        assert meaning(case.text) == meaning(shown)


def test_a_comment_behind_a_long_line_goes_before_it():
    assert "# a reason\nx = f(1,\n    2)\n" == runnable("x = f(1, 2)  # a reason\n", 10)


def test_what_is_no_python_stays_as_it_is():
    assert "x = (" + "y" * 90 == runnable("x = (" + "y" * 90, 80)
