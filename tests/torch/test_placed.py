"""Programs that run twice: as they were drawn, and with everything on the device."""

from __future__ import annotations

import re

import pytest

from conformance.adapters import load
from conformance.execution.run import run
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.state.choices import Prng
from conformance.grading.campaign import Chunk, Sums, judge_chunk
from conformance.program import Program
from conformance.program.on_device import relocate
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from conformance.report.value import Verdict
from specs.fact import POSITION

CHUNK = Chunk("torch", "reference", "prng", 0, 0, 20)
needs_device = pytest.mark.skipif(bool(load("torch").lacking), reason=load("torch").lacking)


def there(text: str) -> str | None:
    program = relocate(parse(text))
    return None if program is None else to_text(program)


def test_leaves_are_made_on_the_device():
    """A factory that takes numbers is given the device; one that takes tensors follows them."""
    assert (
        "import torch\n\na = torch.ones(2, requires_grad=True, device='cuda')\nb = torch.tensor(a)\n"
        == there("import torch\na = torch.ones(2, requires_grad=True)\nb = torch.tensor(a)\n")
    )


@pytest.mark.parametrize(
    "line",
    ["b = a.cuda()", "b = a.cpu()", "b = a.to('cuda:1')", "b = torch.zeros(2, device='cpu')"],
)
def test_what_says_where_stays_as_it_is(line):
    """A program that speaks of devices is no program without."""
    assert there(f"import torch\na = torch.ones(2)\n{line}\n") is None


def test_nothing_is_left_on_the_cpu():
    """A drawn program placed on the device has every tensor there, except those from numpy and buffers that
    modules make.
    """
    seen: set[str] = set()
    for index in range(60):
        program = relocate(draw(Prng(3, index), load("reference")).program)
        assert program is not None
        if not {"numpy", "register_buffer"} & set(re.findall(r"\w+", to_text(program))):
            shown = run(program, load("reference"), "end").observations[-1].facts.values()
            seen |= {facts[POSITION["device"]] for facts in shown if len(facts) > 1}
    assert {"cuda:0"} == seen


class Elsewhere(Sums):
    """A campaign in which nothing that is on the device comes to what it comes to on the CPU."""

    def _judged(self, counted_as: str, where: str, drawn: Drawn) -> str:
        self.seen = getattr(self, "seen", {}) | {where: drawn.program}
        self.counts[counted_as] += 1
        return "diverge" if counted_as == "placed" else "agree"


def test_another_verdict_there_is_counted():
    """Each program without a device is judged in both places, and the verdicts are compared."""
    sums = Elsewhere(CHUNK)
    sums.twice = True
    plain = parse("import torch\na = torch.ones(2)\n")
    moving = parse("import torch\na = torch.ones(2)\nb = a.cuda()\n")
    for number, program in enumerate((plain, moving)):
        sums.program(number, Drawn(program, "end", ""))
    assert ["program 0", "program 0 on the device", "program 1"] == list(sums.seen)
    totals = sums.tally().totals
    assert (2, 1, 1) == (totals.programs, totals.placed, totals.otherwise)


def test_without_a_device_nothing_runs_twice():
    """The CPU alone is enough to grade."""
    sums = Elsewhere(CHUNK)
    sums.twice = False
    sums.program(0, Drawn(Program(()), "end", ""))
    assert (1, 0) == (sums.tally().totals.programs, sums.tally().totals.placed)


@needs_device
@pytest.mark.device
def test_programs_come_to_the_same_verdict_on_the_device():
    """Torch on its device is held to the same reference as torch on the CPU."""
    tally = judge_chunk(Chunk("reference", "torch", "prng", 13, 0, 100))
    totals = tally.totals
    assert (100, 0, ()) == (totals.programs, totals.diverge, tally.findings)
    assert totals.placed >= 50
    assert totals.otherwise <= 1 + totals.incomparable
    outcomes = totals.agree + totals.known + totals.incomparable + totals.crashed
    assert totals.programs + totals.placed == outcomes
    assert not any(crash.blames is Verdict.BROKEN_SUITE and crash.known is None for crash in tally.crashes)
