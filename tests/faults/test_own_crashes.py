"""A process that dies as the suite leaves rules out of its reference is the fault of nobody else."""

from __future__ import annotations

import pytest

from conformance.execution.isolate import Died
from conformance.grading import chunks
from conformance.grading.campaign import Chunk
from conformance.grading.tally import Tally
from conformance.program.parsing import parse
from conformance.report.value import Verdict

PROGRAM = parse("a = torch.ones(2, requires_grad=True)")


@pytest.fixture
def sides(monkeypatch):
    """Return a function: who is blamed if so many processes die without a rule, and so many with all."""

    def blamed(leaving_out: int, whole: int) -> list[str]:
        deaths = {True: leaving_out - 1, False: whole}

        def survive(work, items, **_):
            (chunk,) = items
            kind = bool(chunk.unconfirmed)
            deaths[kind] -= 1
            yield Tally() if deaths[kind] < 0 else Died("SIGABRT", PROGRAM, 0)

        monkeypatch.setattr(chunks, "survive", survive)
        monkeypatch.setattr(chunks, "_death_again", lambda died, side: None)
        rules = frozenset(["grad/accumulates"])
        chunk = Chunk("reference", "torch", "prng", 0, first=0, count=100, unconfirmed=rules)
        tally = chunks._surviving(chunk, Died("SIGABRT", PROGRAM, 0), lambda chunk: Tally())
        assert {Verdict.BROKEN_SUITE} >= {crash.blames for crash in tally.crashes}
        return [crash.side for crash in tally.crashes]

    return blamed


def test_a_death_that_comes_only_as_rules_are_left_out_is_the_suites_own(sides):
    """The chunk is worked through again with every rule in force, and lives."""
    assert ["suite"] == sides(leaving_out=2, whole=0)


def test_a_death_that_comes_with_every_rule_in_force_is_torchs(sides):
    """Rules that were left out before have no part in it."""
    assert ["torch"] == sides(leaving_out=2, whole=2)


def test_a_death_that_is_not_seen_again_is_nobodys(sides):
    """It came from outside."""
    assert [] == sides(leaving_out=1, whole=0)
