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
from conformance.execution.runner import DENSITIES
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.state.choices import Prng
from conformance.grading.campaign import Chunk, Sums
from conformance.grading.participants import Participants, judged
from conformance.program.parsing import parse

FOLDER = Path(__file__).parents[1] / "adapters"
PROGRAMS = 75
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


started = {}
"""The adapters whose processes run, by their names."""


@pytest.fixture(scope="module", autouse=True)
def _one_process_a_way():
    """Have the process of each way stay for the next test of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.adapters.remote.isolated", lambda: True)
        yield
        for adapter in started.values():
            adapter.close()


def adapter_of(spec):
    """Load an adapter, whose process ends with the last test here."""
    started[spec] = load(spec)
    return started[spec]


@pytest.mark.parametrize("way", WAYS)
def test_torch_conforms_in_each_program_by_every_way(way, drawn):
    """A divergence of torch on record is agreement by any other way; nothing ends a comparison early."""
    adapter = adapter_of(WAYS[way])
    claimed = capabilities(adapter).refusals
    for expected, torch, decision in drawn:
        trace = as_claimed(run(expected.program, adapter, expected.density), expected, claimed)
        assert judged(expected, trace, torch).decision is Decision.AGREE, expected.program
        assert decision in (Decision.AGREE, Decision.KNOWN)


ASSERTS = """
a = torch.tensor(-1.0, requires_grad=True)
b, c = Lazy.apply(a)
b **= 3.0
b.backward(inputs=[c, a])
c.relu_()
"""
ASSERTS_WHEN_READ = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.view_as_complex(a)
with torch.inference_mode():
    with torch.enable_grad():
        b.add_(b)
"""
DIES = """
import os
import signal
import sys

sys.path.insert(0, {folder!r})
from plain_torch import PlainTorch


class Dies(PlainTorch):
    name = "dies"

    def perform(self, session, step, operands):
        if step.op == "relu_":
            os.kill(os.getpid(), signal.SIGSEGV)
        return super().perform(session, step, operands)


adapter = Dies()
"""
UNTOUCHED = """
a = torch.tensor(2.0, requires_grad=True)
b = a.mul(2.0)
c = b.mul(3.0)
del b
c.relu_()
"""


@pytest.mark.parametrize("program", [ASSERTS, ASSERTS_WHEN_READ], ids=["a step", "a reading"])
@pytest.mark.parametrize("way", ["--isolated", "stdio"])
def test_a_crash_of_torch_on_record_is_known_where_torch_runs_elsewhere(way, program):
    """It is no difference."""
    tally = tally_of(WAYS[way], program)
    assert {(crash.side, crash.known is not None) for crash in tally.crashes} == {(WAYS[way], True)}
    assert tally.totals.crashed == len(tally.crashes)
    assert not tally.findings


def test_nobody_else_is_excused_by_a_crash_of_torch_on_record():
    """An implementation under another name that dies where torch does has a finding."""
    tally = tally_of(WAYS["the plain contract"], ASSERTS)
    assert not tally.crashes
    assert {finding.line for finding in tally.findings} == {"c.relu_()"}


@pytest.fixture(scope="module")
def dying(tmp_path_factory):
    """The name of an adapter that dies of relu_()."""
    mine = tmp_path_factory.mktemp("dying") / "dies.py"
    mine.write_text(DIES.format(folder=str(FOLDER)))
    adapter_of(str(mine))
    return str(mine)


@pytest.mark.parametrize("density", DENSITIES)
def test_nothing_before_a_death_is_taken_for_a_difference(density, dying):
    """The steps before it are run again without the rest, and looked at as in the whole program."""
    first = Participants(dying, "reference").judged(parse(UNTOUCHED), density).found.first
    assert (first.step, first.fact) == (4, "outcome")


def tally_of(spec, program):
    """Judge one program by the reference."""
    adapter_of(spec)
    sums = Sums(Chunk(spec, "reference", "prng", 0, 0, 1))
    sums.program(0, Drawn(parse(program), "each", "exact"))
    return sums.tally()
