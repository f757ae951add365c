"""Mutations of the reference's source: what is changed, what is drawn, and what notices a change."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.mutations.changes import REFERENCE, Mutation, mutations, unchanged
from benchmarks.mutations.record import Record, Score, survivors_on_record
from benchmarks.mutations.sample import STRATA, sample
from benchmarks.mutations.trial import Result, trial
from benchmarks.mutations.witnesses import Witnesses, witnesses

TEXT = '''
def told(x: int, *names: str) -> int:
    """A function."""
    if x < 2 and names:
        refuse("chapter/rule", why="few")
    if x > 5:
        by("chapter/one")
    elif not x:
        by("chapter/none")
    else:
        by("chapter/rest")
    if x > 6 and not by("chapter/other"):
        x = 6
    if names is None:
        refuse_by("chapter/rule")
        x = 7
    return call(x - 1, flag=True)
'''
WORDS = [
    "if x < 2 and names -> negated",
    "x < 2 and names -> and/or",
    "x < 2 and names -> without part 1",
    "x < 2 and names -> without part 2",
    "x < 2 -> compared otherwise",
    "2 -> 3",
    "refuse('chapter/rule', why='few') -> left out",
    "if x > 6 and (not by('chapter/other')) -> negated",
    "x > 6 and (not by('chapter/other')) -> and/or",
    "not by('chapter/other') -> without sign",
    "if names is None -> negated",
    "names is None -> compared otherwise",
    "refuse_by('chapter/rule') -> left out",
    "return call(x - 1, flag=True) -> None",
    "call(x - 1, flag=True) -> without flag",
    "x - 1 -> another sign",
    "1 -> 2",
    "True -> False",
]


def first_of(file: str, function: str) -> Mutation:
    """The first mutation of a function."""
    return next(each for each in mutations(REFERENCE / file) if each.function == function)


@pytest.fixture(scope="module")
def given() -> Witnesses:
    """The cases of two chapters and a few programs."""
    return witnesses(5, chapters=("leaf", "mode"))


def test_conditions_signs_and_statements_are_changed(tmp_path: Path) -> None:
    """Docstrings, types and the words of a message stay as they are; so does what runs without a rule."""
    file = tmp_path / "told.py"
    file.write_text(TEXT, encoding="utf-8")
    assert WORDS == [each.words for each in mutations(file)]


def test_each_part_gives_its_share() -> None:
    """Each file of a part gives at least one mutation, and the same seed the same ones."""
    drawn = sample(3)
    assert STRATA == Counter(each.id.partition("/")[0] for each in drawn)
    assert [each.id for each in sample(3)] == [each.id for each in drawn]
    assert len({each.id for each in drawn}) == len(drawn)
    core = {path for path in (REFERENCE / "core").glob("*.py") if mutations(path)}
    assert core == {each.path for each in drawn if each.path.parent.name == "core"}


def test_the_reference_as_it_is_survives(given: Witnesses) -> None:
    """Nothing notices what is not changed, though all is imported anew."""
    assert trial(unchanged(), given).alive


@pytest.mark.parametrize(
    ("file", "function"), [("core/tensor.py", "Tensor.is_leaf"), ("base/modes.py", "_Mode.__exit__")]
)
def test_a_change_is_noticed_by_a_case(file: str, function: str, given: Witnesses) -> None:
    """The first case that fails is named."""
    result = trial(first_of(file, function).made(), given)
    assert "case" == result.kind
    assert result.what.partition("/")[0] in ("leaf", "mode")


def alone(kind: str, given: Witnesses) -> Witnesses:
    """The witnesses of a kind."""
    return replace(given, listed=tuple(each for each in given.listed if each.kind == kind))


def test_a_change_is_noticed_by_a_program(given: Witnesses) -> None:
    """A program is compared with what the reference gave before."""
    result = trial(first_of("core/graph.py", "AccumulateGrad.apply").made(), alone("program", given))
    assert "program" == result.kind


def test_a_change_of_what_nothing_runs_survives(given: Witnesses) -> None:
    """No case of these chapters writes through a view."""
    assert trial(first_of("core/as_strided.py", "as_strided_backward").made(), alone("case", given)).alive


def test_excused_survivors_do_not_count() -> None:
    """Survivors that are equivalent count for nothing, gaps count, and others are told."""
    found = {"a": "case", "b": "program", "c": "alive", "d": "alive", "e": "alive", "f": "import"}
    record = Record(results={id: Result(kind) for id, kind in found.items()})
    reasons = {"equivalent": {"c": "the same"}, "unseen": {}, "gap": {"d": "not drawn"}}
    score = Score.of([*found, "not tried"], record, reasons)
    assert score == Score(tried=6, noticeable=5, by_cases=2, noticed=3, unlisted=("e",))


def test_survivors_on_record_can_be_made() -> None:
    """Each names a change of the source as it is now, and has a reason."""
    reasons = {id: why for listed in survivors_on_record().values() for id, why in listed.items()}
    files = {id.partition(":")[0] for id in reasons}
    known = {each.id for file in files for each in mutations((REFERENCE / file).with_suffix(".py"))}
    assert set() == reasons.keys() - known
    assert all(len(why) > 10 for why in reasons.values())
