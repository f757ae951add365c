"""Functional libraries by record and replay: graded on values alone, second derivatives too."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.adapters import load, load_here
from conformance.comparison.compare import Agree, Diverge, Incomparable, compare
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.program.parsing import parse
from specs.fact import FACTS, UNSEEN

ADAPTER = Path(__file__).parents[1] / "adapters" / "replayed.py"


@pytest.fixture(scope="module")
def replayed():
    sys.path.insert(0, str(ADAPTER.parent))
    yield load_here(str(ADAPTER))
    sys.path.remove(str(ADAPTER.parent))


def test_drawn_programs_agree_on_values(replayed):
    """No fact but a value, a dtype and a shape is shown of anything."""
    derivatives = 0
    for number in range(70):
        drawn = draw(Prng(2, number), load("reference"), replayed.capabilities)
        trace = run(drawn.program, replayed, drawn.density)
        assert isinstance(compare(drawn.trace, trace), Agree | Incomparable)
        derivatives += sum(step.op == "torch.autograd.grad" for step in drawn.program)
        for seen in trace.observations:
            for facts in seen.facts.values():
                assert {UNSEEN} == {f for n, f in zip(FACTS, facts, strict=True) if n not in FACTS[:3]}
    assert derivatives > 30


X = "x = torch.tensor(2.0, requires_grad=True)\ny = x.mul(x)\nz = y.mul(x)\n"
PROGRAMS = {
    "a result and what it is made of": X + "g, h = torch.autograd.grad(z, [x, y])",
    "one input twice": X + "g, h = torch.autograd.grad(z, [x, x])",
    "a second derivative": X + "g, = torch.autograd.grad(z, x, create_graph=True)\n"
    "h, = torch.autograd.grad(g, x)",
    "two roots, weighted": X + "w = torch.tensor(3.0)\ng, = torch.autograd.grad([z, x], x, [w, w])",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_a_derivative_is_as_pytorch_has_it(replayed, text):
    program = parse(text)
    found = compare(run(program, load("reference")), run(program, replayed))
    assert isinstance(found, Agree)


def test_what_replay_cannot_tell_is_unsupported(replayed):
    """A derivative of a derivative with respect to what lies on its way is not made up."""
    second = "g, = torch.autograd.grad(z, x, create_graph=True)\nh, = torch.autograd.grad(g, y)"
    program = parse(X + second)
    found = compare(run(program, load("reference")), run(program, replayed))
    assert isinstance(found, Incomparable)
    assert "what lies between" in found.why


def test_a_wrong_derivative_shows(replayed, monkeypatch):
    """Values are the library's own, from first to last."""
    right = replayed._derivative
    monkeypatch.setattr(replayed, "_derivative", lambda *given: [g * 2 for g in right(*given)])
    program = parse(PROGRAMS["a second derivative"])
    found = compare(run(program, load("reference")), run(program, replayed))
    assert isinstance(found, Diverge)
    assert ("g", "value", 24.0) == (found.first.name, found.first.fact, found.first.actual)


def test_keywords_of_an_operation_narrowed_to_none_are_not_drawn_by_position(replayed):
    """`sum()` is a sum without a dim, however the dim is given."""
    for number in range(70):
        drawn = draw(Prng(4, number), load("reference"), replayed.capabilities)
        assert all(len(step.args) == 1 for step in drawn.program if step.op == "sum")
