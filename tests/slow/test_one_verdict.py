"""A program comes to the same verdict by every way in which an implementation can be driven."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conformance.adapters import capabilities, load
from conformance.comparison.judge import Decision
from conformance.comparison.refusals import as_claimed
from conformance.execution.run import run
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.grading.participants import judged

FOLDER = Path(__file__).parents[1] / "adapters"
PROGRAMS = 100
WAYS = {
    "the plain contract": str(FOLDER / "plain_torch.py"),
    "--isolated": "isolated:torch",
    "stdio": f"stdio:{shlex.quote(sys.executable)} -m conformance.adapters.serve torch",
    "run(program)": str(FOLDER / "torch_in_regions.py"),
}


@pytest.fixture(scope="module")
def drawn():
    """Programs with the reference's trace, torch's, and the verdict on torch in this process."""
    pytest.importorskip("torch")
    found = []
    for number in range(PROGRAMS):
        each = draw(Prng(3, number), load("reference"))
        expected = run(each.program, load("reference"), each.density)
        torch = run(each.program, load("torch"), each.density)
        found.append((expected, torch, judged(expected, torch, torch).decision))
    return found


@pytest.mark.parametrize("way", WAYS)
def test_torch_conforms_in_each_program_by_every_way(way, drawn):
    """Known divergences are known by every way, and nothing ends a comparison early."""
    adapter = load(WAYS[way])
    claimed = capabilities(adapter).refusals
    try:
        for expected, torch, decision in drawn:
            trace = as_claimed(run(expected.program, adapter, expected.density), expected, claimed)
            assert decision is judged(expected, trace, torch).decision, expected.program
            assert decision in (Decision.AGREE, Decision.KNOWN)
    finally:
        adapter.close()
