"""The bound of the rounding tier: how far values may be off. What is exact is ``test_rounding``."""

from __future__ import annotations

import math

import pytest

from conformance.comparison.tolerance.bounds import (
    NO_TOLERANCE,
    SLACK,
    RoundingBounds,
    Term,
    Tolerance,
    near,
)
from rounding import LEAF, trace

FLOAT64, FLOAT32 = 2.0**-52, 2.0**-23
LEAVES = LEAF + "w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=True)\n"
GRADS = "i = a.sum()\nj = w.sum()\ni.backward()\nj.backward()\n"
EXP = "a = torch.tensor([0.0], dtype=torch.float64, requires_grad=True)\nb = a.exp()\n"


# -- the bound ---------------------------------------------------------------------------------------
def units(text: str, name: str, density: str = "each", at: float = 1.0) -> float:
    """The bound of a name after the last step, with exp off by at most 2 ULPs and nothing else rounding."""
    seen = trace(text, density)
    return RoundingBounds(seen, {"exp": 2}).of(len(seen) - 1, name).at(at)


def grad_units(text: str, name: str) -> float:
    """The bound of a name's grad after the last step, alike."""
    seen = trace(text)
    return RoundingBounds(seen, {"exp": 2}).of_grad(len(seen) - 1, name).at(0.0)


def test_one_rounding_is_held_to_its_own_bound() -> None:
    """Two ULPs of exp are two units of what it gave, for its views too."""
    text = "a = torch.tensor([0.0], dtype=torch.float64)\nb = a.exp()\nc = b.view(1, 1)\n"
    assert 2 * FLOAT64 == units(text, "b") == units(text, "c")
    assert 0.0 == units(text, "a")


def test_each_rounding_on_the_way_counts_once() -> None:
    """An op that is exact on exact operands counts as one unit, a value used twice once."""
    text = "a = torch.tensor([0.0], dtype=torch.float64)\nb = a.exp()\nc = b.mul(b)\n"
    assert SLACK * (2 + 1) * FLOAT64 == units(text, "c")


def test_a_gradient_counts_what_it_passed() -> None:
    """The result that a derivative uses, the derivative, and the gradient where it arrives."""
    text = EXP + "b.backward()\n"
    assert SLACK * (2 + 2 + 1) * FLOAT64 == grad_units(text, "a")
    assert (
        SLACK * (2 + 2 + 1) * FLOAT64 > grad_units(text.replace("[0.0]", "[-1.0]"), "a") > SLACK * 3 * FLOAT64
    )


def test_a_gradient_counts_how_large_it_began() -> None:
    """The error of a derivative is multiplied by the gradient that was passed in."""
    text = EXP + "s = torch.tensor([9.0], dtype=torch.float64)\nb.backward(s)\n"
    assert SLACK * (2 + 2 + 1 + 9) * FLOAT64 == grad_units(text, "a")


def test_a_gradient_that_is_added_to_a_rounded_one_is_rounded() -> None:
    """An exact gradient added to a rounded one gives a rounded grad."""
    text = EXP + "c = a.mul(1.0)\nd = b.data\na.grad = d\nc.backward()\n"
    assert SLACK * (2 + 1) * FLOAT64 == grad_units(text, "a")


def test_a_float64_chain_beside_a_float32_one_keeps_its_bound() -> None:
    """The dtype that counts is the one that something was computed in."""
    text = "a = torch.tensor([0.0], dtype=torch.float64)\nb = torch.tensor([0.0])\nc = a.exp()\nd = b.exp()\n"
    assert (2 * FLOAT64, 2 * FLOAT32) == (units(text, "c"), units(text, "d"))


def test_what_was_cast_up_keeps_the_bound_of_where_it_was_rounded() -> None:
    """A value cast up keeps the bound of its old dtype; one cast down adds that of its new one."""
    text = "a = torch.tensor([0.0])\nb = a.exp()\nc = b.double()\n"
    assert SLACK * (2 * FLOAT32 + FLOAT64) == units(text, "c")
    text = "a = torch.tensor([0.0], dtype=torch.float64)\nb = a.exp()\nc = b.float()\n"
    assert SLACK * (2 * FLOAT64 + FLOAT32) == units(text, "c")


def test_a_dtype_that_nobody_saw_is_taken_for_the_coarsest() -> None:
    """If `.data` is assigned later, the dtype seen at the end is not the earlier one."""
    text = "a = torch.tensor([0.0], dtype=torch.float64)\nb = a.exp()\n"
    assert 2 * FLOAT64 == units(text, "b", "end")
    assert 2 * FLOAT32 == units(text + "c = b.view(1, 1)\ndel b\n", "c", "end")
    assert 2 * FLOAT32 == units(text + "c = b.view(1, 1)\nb.data = a\n", "c", "end")
    assert 2 * FLOAT32 == units(text + "c = b.view(1, 1)\nb = a.clone()\n", "c", "end")
    assert 2 * FLOAT64 == units(text + "c = b.view(1, 1)\ndel b\n", "c", "touched")


def test_a_bound_is_stated_at_a_magnitude() -> None:
    """A bound scales with the value, or with the terms that were rounded if these cancel."""
    text = "a = torch.tensor([8.0], dtype=torch.float64)\nb = a.exp()\nc = b - 2980.0\n"
    assert 2 * FLOAT64 * math.exp(8.0) == pytest.approx(units(text, "b", at=0.0))
    assert 1000 * FLOAT64 < units(text, "c", at=0.0) / SLACK < 10_000 * FLOAT64
    assert 2 * FLOAT64 * 1e-3 > units(text.replace("8.0", "-8.0"), "b", at=0.0)


def test_a_size_that_was_seen_later_may_have_been_larger_before() -> None:
    """A write in between may have left less of it than what is still off."""
    text = "a = torch.zeros(1, dtype=torch.float64)\nb = a.exp()\nb.mul_(0.0009765625)\n"
    assert SLACK * 2 * FLOAT64 < units(text, "b", "end", at=0.0)


def test_an_exponential_magnifies_what_its_exponent_is_off_by() -> None:
    """An exponential multiplies the error by the exponent, and leaves exact operands exact."""
    text = "a = torch.tensor([0.0], dtype=torch.float64)\nb = a.exp()\nc = b.mul(8.0)\nd = c.exp()\n"
    size = math.exp(8.0)
    bound = SLACK * (2 * FLOAT64 * size * 8 + 2 * FLOAT64 * size + FLOAT64 * size)
    assert bound == pytest.approx(units(text, "d", at=size))


def test_no_bound_covers_an_infinity() -> None:
    """No tolerance makes an infinity, another type or a list of another length equal."""
    wide = Tolerance((Term(1.0, 1e300, False),))
    assert near([1.0, math.nan], [2.0, math.nan], wide)
    assert not near(math.inf, 1.0, wide)
    assert not near(1, 2, wide)
    assert not near([1.0], [1.0, 1.0], wide)
    assert not near(1.0, math.nextafter(1.0, 2.0), NO_TOLERANCE)


def test_an_earlier_step_may_be_asked_about_later() -> None:
    """Later steps do not change the bounds of an earlier one."""
    seen = trace("a = torch.ones(2)\nb = a.view(2)\nb.exp_()\n")
    rounding = RoundingBounds(seen)
    assert rounding.of(2, "a").terms
    assert not rounding.of(1, "a").terms
    assert rounding.of(2, "a").terms


@pytest.mark.parametrize("density", ["each", "end"])
def test_a_normalisation_rounds_by_how_much_it_scales_a_row_up(density: str) -> None:
    """Equal elements are scaled most, by the root of the smallest spread that is allowed for. An operand that
    was never seen scales nothing.
    """
    bounds = []
    for row in ("[4.0, 4.0]", "[4.0, -4.0]"):
        text = f"a = torch.tensor({row}, dtype=torch.float64)\nb = torch.nn.functional.layer_norm(a, (2,))\n"
        seen = trace(text + "a = torch.ones(2)\n", density)
        bounds.append(RoundingBounds(seen).of(len(seen) - 1, "b").at(0.0))
    alike = density == "end"
    assert bounds[0] / bounds[1] == pytest.approx(1.0 if alike else 1e5**0.5)


@pytest.mark.parametrize(
    "made",
    [
        "h = torch.tensor(complex(-3.0, 2.0))",
        "h = torch.tensor([1.0]).to(torch.cdouble)",
        "h = torch.fft.fft(torch.tensor([1.0]))",
    ],
)
def test_complex_numbers_count_though_nobody_looked_at_them(made: str) -> None:
    """`abs` rounds complex numbers alone; the name that held them is bound anew before anything is seen."""
    seen = trace(f"{made}\na = h.abs()\nh = torch.ones(())\n", "end")
    assert RoundingBounds(seen).of(len(seen) - 1, "a").terms


def test_real_numbers_stay_exact_though_nobody_looked_at_them() -> None:
    """A name that was bound anew is no reason to take its numbers for complex."""
    seen = trace("h = torch.tensor(-3.0)\na = h.abs()\nh = torch.ones(())\n", "end")
    assert not RoundingBounds(seen).of(len(seen) - 1, "a").terms


def test_a_sum_that_cancels_is_off_by_units_of_what_was_added() -> None:
    """``logaddexp`` adds the larger operand to a logarithm: near zero as much is off as anywhere."""
    seen = trace("a = torch.tensor(-0.5)\nb = torch.tensor(-1.0)\nc = a.logaddexp(b)\n", "each")
    (term,) = RoundingBounds(seen).of(len(seen) - 1, "c").terms
    assert term.size == 1.0
