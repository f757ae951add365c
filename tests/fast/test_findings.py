"""A finding is made in one place, and its script shows under torch what differs."""

from __future__ import annotations

from conformance.comparison.compare import Diverge, Divergence
from conformance.comparison.judge import Decision, Judgement
from conformance.program.parsing import parse
from conformance.report import Verdict, findings

PROGRAM = parse("x = torch.ones(2)\nx.backward()\ny = x.mul(2.0)\n")


def judgement(decision: Decision, *sides: str) -> Judgement:
    """A judgement of `y.is_leaf`, which the first side says is true and the second denies."""
    first = Divergence(2, "y", "is_leaf", True, False)
    later = Divergence(3, "y", "is_leaf", True, False, downstream=True)
    return Judgement(decision, Diverge((first, later), 9), (sides[0], sides[1]), ("leaf/rule",))


def test_the_script_prints_the_diverging_fact_where_it_differs():
    """Refused steps are caught, and both values stand beside the print."""
    found = findings.of_judgement("here", PROGRAM, judgement(Decision.NONCONFORMANCE, "torch", "mygrad"), [1])
    assert found.script.endswith("y = x.mul(2.0)\nprint(y.is_leaf)\n# torch: True\n# mygrad: False\n")
    assert "try:\n    x.backward()\nexcept Exception as error:\n" in found.script
    assert ("y = x.mul(2.0)", "y", "is_leaf", 1) == (found.line, found.name, found.fact, found.downstream)
    assert (Verdict.NONCONFORMANCE, ("torch.ones", "backward", "mul")) == (found.blames, found.ops)


def test_torch_gives_the_expected_value_where_the_suite_is_at_fault():
    """The comparison has the reference first, the finding has torch first."""
    found = findings.of_judgement("here", PROGRAM, judgement(Decision.SUITE, "reference", "torch"), [])
    assert (("torch", "reference"), "False", "True") == (found.sides, found.expected, found.actual)
    assert Verdict.BROKEN_SUITE is found.blames
