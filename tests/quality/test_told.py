"""Findings over mutants of all chapters name the knocked-out rule first, at the right line, and are few."""

from __future__ import annotations

from benchmarks.blame import figures, in_turn, told_of

RULES, PROGRAMS, MOST = 24, 400, 8


def test_findings_about_a_sample_of_mutants_are_told_right() -> None:
    """The same figures as of ``python -m benchmarks.blame``, of fewer rules on fewer programs."""
    told = [one for rule in in_turn(1)[:RULES] if (one := told_of(rule, PROGRAMS, 1, MOST)) is not None]
    found = figures(told)
    amiss = [one for one in told if one.rank != 0 or not one.right or one.kinds > 1]
    assert found["mutants noticed"] >= RULES * 0.6
    assert found["rule in because"] >= 0.95, amiss
    assert found["rule first in because"] >= 0.9, amiss
    assert found["at the right line"] >= 0.9, amiss
    assert found["kinds, median"] == 1
    assert found["kinds, most"] <= 3, amiss
