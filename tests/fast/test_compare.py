"""Comparison finds each kind of difference, counts what it compared, and never passes on nothing."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from typing import Any

import pytest

from conformance import adapters
from conformance.comparison.compare import Agree, Diverge, Incomparable, compare
from conformance.comparison.judge import Decision, judge
from conformance.comparison.tolerance.bounds import NO_TOLERANCE, near, within_reach
from conformance.comparison.tolerance.perturb import perturbed
from conformance.execution.run import run
from conformance.execution.trace import Crashed, Observation, Refused, Trace, Unsupported
from conformance.program.parsing import parse
from specs.fact import FACTS, GRAD_FACTS, POSITION, TOPOLOGY, UNSEEN

PROGRAM = parse(
    "a = torch.tensor([1.0, 2.0], requires_grad=True)\nb = a.mul(a)\nb.retain_grad()\n"
    "c = b.sum()\nc.backward()\na.add_(1.0)\ng = a.grad\n"
)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return run(PROGRAM, adapters.load("reference"))


def changed(trace: Trace, step: int, name: str, fact: str, value: Any) -> Trace:
    """The trace with one fact replaced."""
    seen = trace[step]
    facts = list(seen.facts[name])
    facts[POSITION[fact]] = value
    return with_step(trace, step, seen._replace(facts={**seen.facts, name: tuple(facts)}))


def with_step(trace: Trace, step: int, seen: Observation) -> Trace:
    return replace(trace, observations=(*trace.observations[:step], seen, *trace.observations[step + 1 :]))


def test_a_trace_agrees_with_itself(trace: Trace) -> None:
    """Every step and every fact of every live name is counted, also after a journey between processes."""
    steps = len(trace)
    facts = [fact for seen in trace.observations for facts in seen.facts.values() for fact in facts]
    unseen = sum(fact is UNSEEN for fact in facts)
    assert 0 < unseen < len(facts) // 10
    assert trace.topology is not None
    together = len(TOPOLOGY) * len(trace.topology)
    agree = Agree(steps + len(facts) - unseen + together, unseen)
    assert agree == compare(trace, trace)
    assert agree == compare(trace, pickle.loads(pickle.dumps(trace)))


def test_a_number_that_is_none_equals_itself_after_a_journey() -> None:
    """NaN in a program that comes from another process is another NaN."""
    here = run(parse("a = torch.tensor(float('nan'))\nb = a.mul(float('nan'))\n"), adapters.load("reference"))
    there = pickle.loads(pickle.dumps(here))
    assert here.program != there.program
    assert isinstance(compare(here, there), Agree)


@pytest.mark.parametrize("fact", TOPOLOGY)
def test_how_tensors_hang_together_is_compared(trace: Trace, fact: str) -> None:
    """Changing any one of the facts read in the end is found, and told of the last step."""
    assert trace.topology is not None
    wired = [
        ("other" if name == fact else value)
        for name, value in zip(TOPOLOGY, trace.topology["b"], strict=True)
    ]
    found = compare(trace, replace(trace, topology={**trace.topology, "b": tuple(wired)}))
    assert isinstance(found, Diverge)
    assert [(len(trace) - 1, "b", fact, "other")] == [
        (d.step, d.name, d.fact, d.actual) for d in found.divergences
    ]
    assert isinstance(compare(trace, replace(trace, topology=None)), Agree)


@pytest.mark.parametrize("fact", FACTS)
def test_every_fact_is_compared(trace: Trace, fact: str) -> None:
    """Changing any one fact is found, named, and placed."""
    found = compare(trace, changed(trace, 2, "b", fact, "other"))
    assert isinstance(found, Diverge)
    assert [(2, "b", fact, "other", False)] == [
        (d.step, d.name, d.fact, d.actual, d.downstream) for d in found.divergences
    ]


def test_each_fact_of_a_grad_is_compared(trace: Trace) -> None:
    """A grad that differs says in what."""
    grad, at = trace[4].facts["a"][POSITION["grad"]], GRAD_FACTS.index("requires_grad")
    found = compare(trace, changed(trace, 4, "a", "grad", (*grad[:at], True, *grad[at + 1 :])))
    assert isinstance(found, Diverge)
    assert "grad.requires_grad" == found.first.fact
    found = compare(trace, changed(trace, 4, "a", "grad", None))
    assert isinstance(found, Diverge)
    assert "grad" == found.first.fact


def test_later_differences_are_downstream(trace: Trace) -> None:
    """The first divergence comes first; what follows in later steps is marked."""
    found = compare(trace, changed(changed(trace, 1, "a", "is_leaf", False), 4, "a", "is_leaf", False))
    assert isinstance(found, Diverge)
    assert [(1, False), (4, True)] == [(d.step, d.downstream) for d in found.divergences]
    assert found.first.because == tuple(sorted(trace[1].fired))


def test_refusals_are_compared_by_rule(trace: Trace) -> None:
    """Refusals differ by rule, not by wording, and the state after a refusal is compared too."""
    refused = trace[5].outcome
    assert isinstance(refused, Refused)
    same = with_step(trace, 5, trace[5]._replace(outcome=Refused(refused.rule, "in other words")))
    assert isinstance(compare(trace, same), Agree)
    other = compare(trace, with_step(trace, 5, trace[5]._replace(outcome=Refused("write/overlap-refused"))))
    assert isinstance(other, Diverge)
    assert "outcome" == other.first.fact
    after = compare(trace, changed(trace, 5, "a", "version", 1))
    assert isinstance(after, Diverge)
    assert 5 == after.first.step


def test_a_crash_equals_nothing(trace: Trace) -> None:
    """Two crashes are never equal, even if they look alike."""
    crashed = with_step(trace, 6, trace[6]._replace(outcome=Crashed("SIGSEGV")))
    assert isinstance(compare(trace, crashed), Diverge)
    assert isinstance(compare(crashed, crashed), Diverge)


def test_bindings_are_compared(trace: Trace) -> None:
    """A tensor, None and nothing at all are three different things."""
    none = trace[6]._replace(facts={**trace[6].facts, "g": (None,)})
    found = compare(trace, with_step(trace, 6, none))
    assert isinstance(found, Diverge)
    assert ("bound", "tensor", "None") == (found.first.fact, found.first.expected, found.first.actual)
    gone = trace[6]._replace(facts={k: v for k, v in trace[6].facts.items() if k != "g"})
    found = compare(trace, with_step(trace, 6, gone))
    assert isinstance(found, Diverge)
    assert "unbound" == found.first.actual
    found = compare(with_step(trace, 6, gone), trace)
    assert isinstance(found, Diverge)
    assert ("unbound", "tensor") == (found.first.expected, found.first.actual)


def test_unseen_facts_are_counted_apart(trace: Trace) -> None:
    """A fact that one side does not show is neither an agreement nor a difference."""
    partial = replace(changed(trace, 2, "b", "is_view", UNSEEN), complete=False)
    whole, found = compare(trace, trace), compare(trace, partial)
    assert isinstance(whole, Agree)
    assert Agree(whole.compared - 1, whole.unseen + 1) == found


def test_unsupported_ends_the_comparison(trace: Trace) -> None:
    """An unsupported step ends the comparison; a difference found before still counts."""
    stopped = with_step(trace, 3, trace[3]._replace(outcome=Unsupported("no sum")))
    found = compare(trace, stopped)
    assert isinstance(found, Incomparable)
    assert ("no sum", 3) == (found.why, found.step)
    assert isinstance(compare(trace, changed(stopped, 1, "a", "is_leaf", False)), Diverge)


def test_nan_equals_nan_and_zero_minus_zero() -> None:
    """Values are compared as numbers."""
    nan = float("nan")
    assert near([nan, 0.0], [float("nan"), -0.0], NO_TOLERANCE)
    assert not near([nan], [1.0], NO_TOLERANCE)
    assert near(complex(nan, 1.0), complex(nan, 1.0), NO_TOLERANCE)
    assert not near([1.0], [1.0, 1.0], NO_TOLERANCE)


def test_judgement_blames_the_right_side(trace: Trace) -> None:
    """Reference and torch agree against the implementation, or the suite is at fault, or torch died."""
    torch = replace(trace, adapter="torch")
    wrong = replace(changed(trace, 2, "b", "is_leaf", True), adapter="wrong")
    crashed = with_step(torch, 3, trace[3]._replace(outcome=Crashed("SIGSEGV")))
    assert Decision.AGREE is judge(trace, replace(trace, adapter="right"), torch).decision
    assert Decision.NONCONFORMANCE is judge(trace, wrong, torch).decision
    assert Decision.NONCONFORMANCE is judge(trace, wrong).decision
    assert Decision.SUITE is judge(trace, trace, wrong).decision
    assert Decision.CRASH is judge(trace, crashed, crashed).decision
    assert Decision.CRASH is judge(trace, trace, crashed).decision
    assert judge(trace, wrong, torch).because == tuple(sorted(trace[2].fired))


def test_agreement_over_nothing_is_a_finding() -> None:
    """A comparison of no steps passes nobody."""
    empty = Trace(parse("x = torch.ones(2)\n"), "nobody", "each", ())
    assert Decision.VACUOUS is judge(empty, empty).decision


MAGNIFIED = """
import torch

a = torch.tensor([[-4.0, -3.0], [4.0, 1.0]], requires_grad=True)
b = 10 ** a
d = a.tanh()
e, = torch.autograd.grad(d, a, b)
b.backward(e)
"""


def test_what_is_magnified_may_be_as_far_off_as_shaking_moves_it():
    """1 - tanh(4) ** 2 is wrong in its fifth digit, and so is everything computed from it."""
    program = parse(MAGNIFIED)
    seen = run(program, adapters.load("reference"))
    moved = perturbed(program, "each")
    for off, agrees in ((1e-5, True), (1e-2, False)):
        other = _with_grad(seen, lambda value, off=off: [value[0], [value[1][0] * (1 + off), value[1][1]]])
        assert isinstance(compare(seen, other), Diverge)
        assert isinstance(compare(seen, other, perturbed=lambda: moved), Agree) is agrees


@pytest.mark.parametrize(
    ("x", "y", "moved", "alike"),
    [
        (-20.2, -math.inf, (math.nan, -21.0), True),  # a logarithm of what cancelled
        (-math.inf, -20.2, (math.nan, -21.0), True),
        (-math.inf, math.nan, (math.nan, math.nan), True),
        (-20.2, -math.inf, (-20.1, -20.3), False),
        (math.inf, -math.inf, (math.inf, math.inf), False),
        (math.nan, 1.0, (math.nan, math.nan), False),
        (3e7, math.inf, (-7e5, 7e7), True),  # a reciprocal of it
        (4e14, math.inf, (2e11, 2e15), True),  # and its square
        (3e7, math.inf, (3.1e7, 2.9e7), False),
        (1e-17, math.inf, (-1e-17, 2e-17), False),
        (3e7, 3e9, (-7e5, 7e7), False),
    ],
)
def test_what_shaking_takes_over_an_edge_need_not_be_finite(x, y, moved, alike):
    """If rounding decides whether a number is finite, or how large it is, the other side may be infinite."""
    assert within_reach([x, 2.0], [y, 2.0], [[each, 2.0] for each in moved]) is alike
    assert not within_reach(x, None, moved)


@pytest.mark.parametrize(
    ("y", "moved", "alike"),
    [
        (1, (0, 1), True),
        (1, (0, 0), False),
        (2, (0, 1), False),
        (1, (), False),
        (True, (0, 1), False),
        (1, (0.0, 1.0), False),
    ],
)  # fmt: skip
def test_an_integer_is_one_that_rounding_makes_of_a_number(y, moved, alike):
    """A number just below 1 that is cut off may be 0 or 1, if perturbing shows both."""
    assert within_reach(0, y, moved) is alike


@pytest.mark.parametrize(
    ("scale", "off", "agrees"), [("3", 1e-7, True), ("3", 1e-5, False), ("4", 1e-7, False), ("4", 0.0, True)]
)
def test_thirds_may_be_off_by_what_rounding_does_and_quarters_not_at_all(scale, off, agrees):
    """Though no op here is declared to round."""
    text = "import torch\na = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    program = parse(f"{text}b = a.div({scale}).sum()\nb.backward()\n")
    seen, moved = run(program, adapters.load("reference")), perturbed(program, "each")
    other = _with_grad(seen, lambda value: [value[0], value[1] * (1 + off)])
    assert isinstance(compare(seen, other, perturbed=lambda: moved), Agree) is agrees


def test_nothing_exact_is_perturbed():
    """Perturbing leaves a program without rounding as it is."""
    program = parse(
        "import torch\na = torch.tensor([1.5, -2.0], requires_grad=True)\n(a * a).sum().backward()\n"
    )
    seen = run(program, adapters.load("reference"))
    assert all(seen.observations == other.observations for other in perturbed(program, "each"))


def _with_grad(trace: Trace, change: Any) -> Trace:
    """The trace with another value of the grad of `a` in the end."""
    last = trace[len(trace) - 1]
    facts = last.facts["a"]
    grad = facts[POSITION["grad"]]
    at = GRAD_FACTS.index("value")
    grad = (*grad[:at], change(grad[at]), *grad[at + 1 :])
    told = {**last.facts, "a": (*facts[: POSITION["grad"]], grad, *facts[POSITION["grad"] + 1 :])}
    return replace(trace, observations=(*trace.observations[:-1], last._replace(facts=told)))
