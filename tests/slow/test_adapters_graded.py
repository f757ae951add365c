"""Not claimed is not convicted: implementations that do as PyTorch does, as far as they go, conform."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import pytest

from conformance import adapters
from conformance.grading.campaign import Chunk, judge_chunk
from conformance.grading.cases import run_case_on
from conformance.grading.check import despite_divergence
from conformance.report.value import BROKEN, HELD
from specs.case import cases

FOLDER = Path(__file__).parents[1] / "adapters"
PROGRAMS = 40

LEAST_HELD = {
    "torch_shaped": 600,
    "plain_torch": 500,
    "without_inplace": 300,
    "without_optim_and_nn": 500,
    "float32_only": 400,
    "scalars_only": 30,
    "other_errors": 500,
    "without_errors": 250,
    "blind": 1,
}
"""The adapters, and how many cases they hold at least: what is claimed is judged."""


@pytest.fixture(params=LEAST_HELD)
def named(request: pytest.FixtureRequest) -> str:
    """The name of each adapter."""
    return str(request.param)


@pytest.fixture(autouse=True)
def _warnings_as_they_were():
    with warnings.catch_warnings():
        yield


def test_no_case_breaks(named: str) -> None:
    """A case holds, or the adapter has said that it lacks what the case needs."""
    adapter, release = adapters.load(str(FOLDER / f"{named}.py")), adapters.load("reference").torch
    chosen = [case for case in cases() if case.holds_for(release)]
    results = [(case, run_case_on(case, adapter)) for case in chosen]
    judged = [despite_divergence(r, named) if c.departed_by(release) else r for c, r in results]
    assert [] == [(r.case, r.line, r.why, r.adapter) for r in judged if r.status == BROKEN or r.adapter]
    assert LEAST_HELD[named] <= Counter(r.status for r in judged)[HELD]


@pytest.mark.parametrize("against", ["reference", "torch"])
def test_no_program_diverges(named: str, against: str) -> None:
    """Programs keep to what is claimed, and what is not there ends the comparison."""
    tally = judge_chunk(Chunk(str(FOLDER / f"{named}.py"), against, "prng", 3, 0, PROGRAMS))
    assert () == tally.broken
    assert [] == [(f.where, f.line, f.fact, f.expected, f.actual) for f in tally.findings]
    assert 0 == tally.totals.crashed
    assert tally.totals.agree + tally.totals.known >= PROGRAMS // 2
    foreign = [why for why in tally.incomparable if named != "without_optim_and_nn"]
    assert [] == foreign, "something was drawn that the adapter does not claim"
