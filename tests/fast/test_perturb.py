"""Perturbing moves the inexact results of ops, and nothing else."""

from __future__ import annotations

import pytest

from conformance.comparison.tolerance.perturb import perturbed
from conformance.program.parsing import parse

LEAVES = "a = torch.tensor([1.0, 2.0])\nc = torch.tensor([complex(2.0, 3.0)])\n"


@pytest.mark.parametrize(
    ("step", "moves"), [("a.mul(a)", False), ("a.sin()", True), ("c.mul(c)", False), ("c.div(3)", True)]
)
def test_what_is_not_exact_is_moved(step: str, moves: bool) -> None:
    """A complex number is exact where both its parts are."""
    traces = perturbed(parse(f"import torch\n{LEAVES}b = {step}\n"), "end")
    assert moves == (len({str(trace.observations[-1].facts["b"][0]) for trace in traces}) > 1)


def test_parts_of_a_complex_number_are_moved_apart() -> None:
    """Each part is rounded by itself, so that the angle of what nearly cancels is any."""
    traces = perturbed(parse(f"import torch\n{LEAVES}b = c.div(3)\n"), "end")
    (value,) = zip(*(trace.observations[-1].facts["b"][0] for trace in traces), strict=True)
    assert len({number.real / number.imag for number in value}) > 1


def test_what_an_operand_may_cancel_is_moved_by_units_of_the_operand() -> None:
    """The rest may be any small number."""
    norm = "torch.nn.functional.layer_norm(torch.tensor([[-1.0, 2.0]]), (2,), torch.full((2,), 3.0), b)"
    traces = perturbed(parse(f"import torch\nb = torch.full((2,), 3.0)\nc = {norm}\n"), "end")
    left, _ = zip(*(trace.observations[-1].facts["c"][0][0] for trace in traces), strict=True)
    assert max(map(abs, left)) < 1e-4
    assert max(left) - min(left) > max(map(abs, left)) / 10
