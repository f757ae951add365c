"""The derivatives that a run computes, and the page that tells them."""

from __future__ import annotations

from collections import Counter

import reference_impl as torch
from benchmarks.derivatives.__main__ import count
from benchmarks.derivatives.counting import Cell, counting
from benchmarks.derivatives.page import DTYPES, PAGE, rows
from conformance.generate.guide import swarm
from conformance.generate.guide.vocabulary import Recipes
from conformance.generate.state.choices import Prng
from conformance.generate.state.features import ALL, DERIVATIVES


def test_first_and_second_derivatives_are_told_apart() -> None:
    """A backward computes first derivatives; one through what it recorded computes second ones."""
    counts: Counter[Cell] = Counter()
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x.exp() + x).sum()
    with counting(counts):
        (g,) = torch.autograd.grad(y, x, torch.tensor(1.0, requires_grad=True), create_graph=True)
        assert {("exp", "float32", 1), ("add", "float32", 1), ("sum_all", "float32", 1)} == set(counts)
        g.sum().backward()
    assert counts["exp", "float32", 2] == 1
    assert counts["sum_all", "float32", 2] == 1
    assert counts["mul", "float32", 1] == 0, "what a formula records is no first derivative of its own"


def test_the_dtype_is_that_of_the_operand() -> None:
    """The size of a complex number has a derivative by a complex operand."""
    counts: Counter[Cell] = Counter()
    with counting(counts):
        torch.tensor([3 + 4j], requires_grad=True).abs().sum().backward()
    assert counts["abs", "complex64", 1] == 1


def test_nothing_is_counted_outside() -> None:
    """Leaving the block leaves the reference as it was."""
    counts: Counter[Cell] = Counter()
    with counting(counts):
        pass
    torch.tensor(1.0, requires_grad=True).exp().backward()
    assert not counts


def test_the_page_has_a_row_for_each_op_that_programs_call() -> None:
    """None is left out, whatever its counts."""
    text = PAGE.read_text(encoding="utf-8")
    assert [] == [key for key in rows(Counter()) if f"\n| `{key}` |" not in text]


def test_a_group_of_programs_differentiates_each_op_in_each_dtype() -> None:
    """Some 60 of its programs compute both derivatives of a dozen ops or more in each dtype."""
    numbers = [number for number in range(1300) if features(number) & DERIVATIVES][:60]
    counts: Counter[Cell] = Counter()
    for number in numbers:
        count(counts, 1, number, number + 1)
    reached = {at: {key for key, *where in counts if tuple(where) == at} for at in CELLS}
    assert {} == {at: len(keys) for at, keys in reached.items() if len(keys) < 12}


CELLS = [(dtype, order) for dtype in DTYPES for order in (1, 2)]


def features(number: int) -> int:
    """The features of a program of seed 1."""
    choices = Prng(1, number)
    next(choices.words)  # the density comes first
    return swarm.draw_features(choices, sum(ALL))


def test_numbers_come_first_in_calls_that_need_no_keyword():
    """So the operands are drawn from the domain of the very overload that the call reaches."""
    drawn = Recipes(lambda name: True).number_first
    assert {each.op.domain["y"] for each in drawn if each.spelled == "torch.div"} == {"power_of_two"}
    assert len({each.spelled for each in drawn}) == len(drawn)
