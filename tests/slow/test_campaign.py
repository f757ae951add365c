"""A campaign that does not run to its end: what goes wrong in the suite itself is told and costs no other
program, and what was found before an interruption stands.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import jsonschema
import pytest

from conformance.adapters import load
from conformance.execution import json_form
from conformance.execution.trace import Refused, Trace
from conformance.generate.guide.guide import Guide
from conformance.grading import check, chunks, participants, reduction
from conformance.grading.campaign import Chunk, judge_chunk
from conformance.grading.tally import Tally
from conformance.program import Program
from conformance.program.shrink import Reduced
from conformance.report import as_json, gaps, words
from conformance.report.value import INTERRUPTED, Subject, Totals, Verdict

PROGRAMS = Chunk("reference", "torch", "prng", 0, 0, 6)


def failing_once(function: Any, at: int) -> Any:
    """The function, whose call of that number raises."""
    return failing(function, {at})


def failing(function: Any, at: Container[int]) -> Any:
    """The function, whose calls of those numbers raise."""
    calls = iter(range(1000))

    def called(*args: Any, **kwargs: Any) -> Any:
        if next(calls) in at:
            raise ValueError("out of step")
        return function(*args, **kwargs)

    return called


def test_a_failure_over_one_program_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """All programs are counted; the failure is a crash of the suite, with the place and the program."""
    whole = judge_chunk(PROGRAMS)
    monkeypatch.setattr(participants, "judge", failing_once(participants.judge, at=2))
    tally = judge_chunk(PROGRAMS)
    (crash,) = tally.crashes
    assert whole.totals.programs == tally.totals.programs
    assert whole.totals.crashed + 1 == tally.totals.crashed
    assert ("suite", Verdict.BROKEN_SUITE, None) == (crash.side, crash.blames, crash.known)
    assert crash.error.startswith("ValueError: out of step (test_campaign.py, line ")
    assert crash.script.startswith("import torch\n")


@pytest.mark.parametrize(("times", "flaky"), [(2, True), (4, False)])
def test_a_difference_that_is_lost_in_reducing(
    times: int, flaky: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A difference seen twice and then no more, as in unwritten memory, is flaky and blames nobody; one that
    the whole program goes on showing is reported as drawn.
    """
    calls = iter(range(1000))

    def judge(reference: Any, actual: Any, torch: Any = None, perturbed: Any = None) -> Any:
        if len(reference) > 1 and next(calls) < times:
            refused = torch[0]._replace(outcome=Refused("not this time"))
            torch = Trace(torch.program, torch.adapter, torch.density, (refused, *torch.observations[1:]))
        return truly(reference, torch if actual is not reference else actual, torch, perturbed)

    truly = participants.judge
    monkeypatch.setattr(participants, "judge", judge)
    monkeypatch.setattr(
        reduction, "shrink_program", lambda program, fails, checks: Reduced(Program(program.steps[:1]), 0)
    )
    tally = judge_chunk(Chunk("reference", "torch", "prng", 0, 0, 1))
    (finding,) = tally.findings
    blames = Verdict.CONFORMS if flaky else Verdict.BROKEN_SUITE
    assert (flaky, blames, ()) == (finding.flaky, finding.blames, tally.crashes)


@pytest.mark.parametrize(("source", "drawn_before"), [("prng", 3), ("hypothesis", 4)])
def test_a_failure_of_drawing_keeps_what_was_drawn(
    source: str, drawn_before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The programs before it count, and the report says at which one no more could be drawn. (Hypothesis
    begins with an example of its own.)
    """
    monkeypatch.setattr(Guide, "end", failing(Guide.end, range(drawn_before, 1000)))
    tally = judge_chunk(Chunk("reference", "torch", source, 0, 0, 6))
    (crash,) = tally.crashes
    assert (3, 0) == (tally.totals.programs, tally.totals.crashed)
    assert "program 3, while it was drawn" == crash.where


def interrupted_after(chunks: int) -> Any:
    """A campaign that finds nothing in so many chunks and is then interrupted."""

    def survive(judge_chunk: Any, items: Any, **_: Any) -> Any:
        for chunk in items[:chunks]:
            yield Tally(totals=Totals(programs=chunk.count, compared=1))
        raise KeyboardInterrupt

    return survive


def test_what_was_found_before_an_interruption_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """The report counts what was run, and says what was not."""
    monkeypatch.setattr(chunks, "survive", interrupted_after(chunks=2))
    tally = chunks.in_chunks(Chunk("reference", "torch", "prng", 0, 0, 1000), 1, lambda *_: None)
    assert (200, 800) == (tally.totals.programs, tally.unrun)
    report = check.reported(
        load("reference"), tally, (), (), selection="*",
        subject=Subject("reference", "1"), against="torch", seed=0, source="prng", device="cpu", versions={},
    )  # fmt: skip
    assert INTERRUPTED == report.exit_code
    assert "interrupted" in words.verdict(report)
    assert "800 programs (it was interrupted)" in gaps.not_exercised(report)
    jsonschema.validate(as_json.report_form(report), json_form.schema("report"))
