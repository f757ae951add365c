"""The facts that rules decide are on record, and are still what a mutant changes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.kills import measure
from specs.rule import DECIDABLE, RULES, load_decides

PROGRAMS = 120


def test_an_unknown_fact_is_refused(tmp_path: Path) -> None:
    """The file names facts that are compared, and no others."""
    file = tmp_path / "decides.toml"
    file.write_text('"leaf/op-result-is-no-leaf" = ["is_leaf", "colour"]\n', encoding="utf-8")
    with pytest.raises(ValueError, match="decides colour, which is no fact"):
        load_decides(file)


def test_rules_on_record_are_rules() -> None:
    """Every rule on record is in force, and decides something."""
    assert set(load_decides()) <= set(RULES)
    assert all(facts and set(facts) <= set(DECIDABLE) for facts in load_decides().values())


def test_nearly_every_rule_about_tensors_decides_facts() -> None:
    """A rule that a program can witness shows in a fact, but for a few that cases see otherwise."""
    silent = [rule.id for rule in RULES.values() if rule.in_programs and not rule.decides]
    assert len(silent) <= 10, silent


def test_a_sample_measures_the_same() -> None:
    """No mutant is first told apart in a fact that its rule is not on record as deciding."""
    found = measure(RULES, PROGRAMS)
    assert len(found) >= 150
    surplus = {rule: facts - set(RULES[rule].decides) for rule, facts in found.items()}
    assert {} == {rule: facts for rule, facts in surplus.items() if facts}
