"""What PyTorch leaves to what lies in its memory: the reference says so instead of guessing, and no more than
that is left unsaid.
"""

from __future__ import annotations

import pytest

from conformance.comparison.judge import Finding
from conformance.grading.campaign import Sides
from conformance.program.parsing import parse

GAPS = """import torch
b = torch.tensor(2.0, requires_grad=True)
c = torch.tensor([[-2.0, 0.0, 2.0], [3.0, 3.0, -2.0]])
d = c[:, 0].detach()
"""


@pytest.mark.parametrize(
    ("step", "finding"),
    [
        ("e = d.as_strided((4,), (1,))\ne.add_(b)", Finding.INCOMPARABLE),
        ("e = d.as_strided((2,), (3,))\ne.add_(b)", Finding.AGREE),
        ("e = d.as_strided((2,), (3,))\ne.mul_(b)", Finding.AGREE),
        ("d.mul_(b)\ne = d.as_strided((4,), (1,))\ne.cumsum_(0)", Finding.INCOMPARABLE),
        ("d.mul_(b)\ne = d.as_strided((4,), (1,))\ne.mul_(3)", Finding.AGREE),
        ("d.mul_(b)\ne = d.as_strided((2,), (3,))\ne.cumsum_(0)", Finding.AGREE),
    ],
)
def test_the_gradient_of_what_lies_between_a_base_s_elements(step: str, finding: Finding) -> None:
    """Nobody wrote it, and what the write added is given the sum of it."""
    judgement, _, _ = Sides("reference", "torch").judged(parse(f"{GAPS}{step}\ne.backward(e)\n"), "each")
    assert judgement.finding is finding
