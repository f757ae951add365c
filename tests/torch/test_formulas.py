"""Formulas on inputs made from the declarations: first and second derivatives are torch's, in every dtype.

That small changes of the formulas show on these inputs is measured by ``python -m benchmarks.formulas``; a
sample of them is tried here.
"""

from __future__ import annotations

import pytest

from benchmarks.formulas.branches import branches_not_taken, conditions, not_taken_on_record
from benchmarks.formulas.gate import (
    by_function,
    disagreeing,
    killed,
    surveyed_inputs,
    survivors_on_record,
)
from benchmarks.formulas.inputs import VALUES, inputs, recipes
from benchmarks.formulas.measure import RELATIVE
from benchmarks.formulas.mutants import mutants
from benchmarks.formulas.sources import sources

torch = pytest.importorskip("torch")

EVERY = 97
"""One input in so many is compared with torch here; ``--against-torch`` compares all."""
CHANGED = {
    "elementwise:mul wrt x: conj(y) -> not conjugated",
    "elementwise:multiplying wrt x: conj(y) -> not conjugated",
    "comparison:maximum wrt x: ",
    "functions:exp wrt x: ",
    "reduce:_times_others: ",
}
"""The beginnings of the names of mutants that are tried here."""


@pytest.mark.parametrize("dtype", RELATIVE)
def test_derivatives_are_torchs(dtype: str) -> None:
    """Values, gradients and the gradients of those agree, whatever branch the values take."""
    given = [one for at, one in enumerate(inputs(dtype)) if at % EVERY == 0]
    assert len(given) > 30
    assert [] == [str(one) for one, _, _ in disagreeing(torch, given)]


def test_ops_try_known_values() -> None:
    """Each kind of values that an op says its branches need is a row of them."""
    assert {name for recipe in recipes() for name in recipe.op.tries} <= set(VALUES)


def test_changed_formulas_are_noticed() -> None:
    """A formula without its conjugate, a branch or a factor gives other derivatives on some input."""
    reached = by_function(surveyed_inputs(15))
    tried = {
        mutant.id: killed(mutant, reached)
        for source in sources()
        for mutant in mutants(source)
        if mutant.id.startswith(tuple(CHANGED))
    }
    assert len(tried) > 10
    alive = {name for name, noticed in tried.items() if noticed is False}
    assert set() == alive - survivors_on_record().keys()


def test_each_branch_is_taken() -> None:
    """Each condition in a formula is true on some input and false on another, or on record with a reason.

    An op whose formula branches says so in ``tries``, or in the expressions.
    """
    assert [] == branches_not_taken()


def test_a_branch_that_nothing_takes_is_named() -> None:
    """Without the inputs of a formula its branches are named."""
    named = branches_not_taken(lambda: iter(()))
    assert "reduce:_times_others: size == 1: never met" in named


def test_conditions_on_record_have_a_reason() -> None:
    """Each is a condition of a formula."""
    assert not_taken_on_record().keys() <= set(conditions())
    assert all(not_taken_on_record().values())


def test_survivors_on_record_have_a_reason() -> None:
    """Each is a mutant, and says why nobody can notice it."""
    known = {mutant.id for source in sources() for mutant in mutants(source)}
    assert survivors_on_record().keys() <= known
    assert all(survivors_on_record().values())
