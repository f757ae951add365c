"""Torch is asked once whether a tensor is a leaf and for its node, and shows what it shows if asked twice."""

from __future__ import annotations

import pytest

from conformance.adapters import load
from conformance.execution.isolate import survive
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from specs.fact import DENSITIES

pytest.importorskip("torch", reason="torch is asked")

PROGRAMS = 200


def differs(item: tuple[str, str]) -> bool:
    """Tell whether a program shows other facts if torch is asked twice."""
    text, density = item
    program, torch = parse(text), load("torch")
    traces = []
    for once in (True, False):
        torch.asks_once = once
        trace = run(program, torch, density)
        traces.append(repr([(each.outcome, each.facts) for each in trace.observations]))
    return traces[0] != traces[1]


@pytest.mark.parametrize("density", DENSITIES)
def test_one_question_shows_what_two_show(density):
    """On drawn programs of all kinds; torch does not survive a few, with either."""
    reference = load("reference")
    items = [(to_text(draw(Prng(9, number), reference).program), density) for number in range(PROGRAMS)]
    answers = list(survive(differs, items, chunk=20))
    assert not [item for item, answer in zip(items, answers, strict=True) if answer is True]
    assert sum(answer is False for answer in answers) >= 0.95 * PROGRAMS
