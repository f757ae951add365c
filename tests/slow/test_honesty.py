"""No rule is held of which nothing was seen: hiding facts never helps, and wrong facts clear nobody.

Subjects are made of the reference's and of torch's own traces, with facts hidden or changed, so that many can
be tried.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conformance import check
from conformance.adapters import load
from conformance.comparison.compare import Agree, compare
from conformance.execution.case import CaseProgram, parse_case
from conformance.execution.run import run
from conformance.execution.trace import Observation, Trace
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.grading import confirm
from conformance.grading.cases import judge_parsed
from conformance.grading.rule_status import rule_statuses
from conformance.grading.tally import Tally
from conformance.program.parsing import ProgramError
from conformance.report import Report, Status
from conformance.report.value import Witnessed
from graded_here import graded
from specs.case import Case, cases
from specs.fact import FACTS, UNSEEN
from specs.rule import RULES
from together import together

ADAPTERS = Path(__file__).parents[1] / "adapters"
ADAPTERS_PAGE = Path(__file__).parents[2] / "docs" / "adapters.md"
ALL = frozenset((*FACTS, "warnings", "calls", "topology"))
"""Everything that a subject may show beside its refusals."""
PROGRAMS = 30
IN_FORCE = [rule.id for rule in RULES.values() if rule.in_programs]

Change = Callable[[Trace], Trace]


@cache
def case_traces(side: str) -> tuple[tuple[Case, CaseProgram, Trace], ...]:
    """The cases that are programs, and what one side shows of them."""
    adapter, found = load(side), []
    for case in cases():
        if case.holds_for(load("reference").torch) and not case.devices:
            try:
                parsed = parse_case(case)
            except ProgramError:
                continue
            found.append((case, parsed, run(parsed.program, adapter)))
    return tuple(found)


@cache
def drawn(side: str) -> tuple[tuple[Trace, Trace], ...]:
    """The reference's traces of drawn programs, and those of a side that agrees with it."""
    found = []
    for number in range(PROGRAMS):
        one = draw(Prng(3, number), load("reference"))
        trace = one.trace
        assert trace is not None
        shown = trace if side == "reference" else run(one.program, load(side), one.density)
        if isinstance(compare(trace, shown), Agree):
            found.append((trace, shown))
    return tuple(found)


@pytest.fixture(autouse=True)
def _each_mutant_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "without", _without)
    monkeypatch.setattr(confirm, "compare", _compare)


_own = confirm.without
_mutants: dict[tuple[str, int], Trace] = {}
_compared: dict[tuple[int, int], tuple[Trace, Trace, Any]] = {}


def _without(rule: str, trace: Trace) -> Trace:
    key = rule, id(trace)
    if key not in _mutants:
        _mutants[key] = _own(rule, trace)
    return _mutants[key]


def _compare(right: Trace, mutant: Trace) -> Any:
    """Compare two traces once; they are kept with the result, so that no other takes their place."""
    key = id(right), id(mutant)
    if key not in _compared:
        _compared[key] = right, mutant, compare(right, mutant)
    return _compared[key][-1]


@pytest.fixture(scope="module", autouse=True)
def _traces_are_let_go() -> Iterator[None]:
    """Let go of the traces in the end: they make a process slow to fork, and to be searched for garbage."""
    yield
    for kept in (case_traces, drawn, held_of_all):
        kept.cache_clear()
    _mutants.clear()
    _compared.clear()


def held_by_cases(change: Change, side: str = "reference") -> frozenset[str]:
    """The rules that cases hold of a subject that shows a side's traces so changed."""
    witnessed = [judge_parsed(case, parsed, change(trace)) for case, parsed, trace in case_traces(side)]
    by_rule: dict[str, list[Witnessed]] = {rule: [] for rule in IN_FORCE}
    for each in witnessed:
        for rule in by_rule.keys() & set(each.rules):
            by_rule[rule].append(each)
    statuses = rule_statuses(IN_FORCE, Tally(), by_rule, limited=False)
    return frozenset(rule for rule, result in statuses.items() if result.status is Status.HELD)


def held_by_programs(change: Change, side: str = "reference") -> frozenset[str]:
    """The same of drawn programs."""
    confirming = confirm.Confirming(IN_FORCE)
    for trace, shown in drawn(side):
        confirming.program(trace, change(shown), len(trace))
    return frozenset(confirming.confirmed) - frozenset(confirming.lacking)


@cache
def held_of_all(held: Callable[[Change, str], frozenset[str]], side: str) -> frozenset[str]:
    """The same of a subject that shows everything."""
    return held(hiding(frozenset()), side)


def hiding(facts: frozenset[str]) -> Change:
    """A subject that does not show these facts."""
    places = [index for index, fact in enumerate(FACTS) if fact in facts]

    def hidden(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(values) != len(FACTS):
            return values
        shown = list(values)
        for place in places:
            shown[place] = UNSEEN
        return tuple(shown)

    def observed(seen: Observation) -> Observation:
        return seen._replace(
            facts={name: hidden(values) for name, values in seen.facts.items()},
            warnings=None if "warnings" in facts else seen.warnings,
            calls=None if "calls" in facts else seen.calls,
        )

    def change(trace: Trace) -> Trace:
        return replace(
            trace,
            observations=tuple(map(observed, trace.observations)),
            complete=not facts,
            topology=None if "topology" in facts else trace.topology,
        )

    return change


WRONG: dict[str, Callable[[Any], Any]] = {
    "is_leaf": lambda leaf: not leaf,
    "requires_grad": lambda flag: not flag,
    "retains_grad": lambda flag: not flag,
    "shape": lambda shape: (*shape, 1),
    "dtype": lambda dtype: "float16",
    "grad_fn": lambda name: "Backward",
    "version": lambda version: 7,
    "value": lambda value: 1234.5,
    "grad": lambda grad: None if grad else ("float32", (), "cpu", 0.5, False, True, None),
    "is_view": lambda view: not view,
}


def lying(fact: str) -> Change:
    """A subject that shows a fact wrongly, always."""
    place, wrong = FACTS.index(fact), WRONG[fact]

    def changed(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(values) != len(FACTS) or values[place] is UNSEEN:
            return values
        return (*values[:place], wrong(values[place]), *values[place + 1 :])

    def change(trace: Trace) -> Trace:
        observations = (
            seen._replace(facts={name: changed(values) for name, values in seen.facts.items()})
            for seen in trace.observations
        )
        return replace(trace, observations=tuple(observations))

    return change


SUBSETS = [("reference", seed) for seed in range(15)] + [("torch", seed) for seed in range(15, 45)]


@pytest.mark.parametrize("side", ["reference", "torch"])
def test_whoever_shows_everything_holds_nearly_every_rule(side: str) -> None:
    """The measure is not empty: cases that are programs hold most rules, programs a good part."""
    assert len(held_of_all(held_by_cases, side)) >= 250
    assert len(held_of_all(held_by_programs, side)) >= 80


@together("side, seed", SUBSETS, by=lambda row: row[0])
def test_fewer_facts_never_hold_more(side: str, seed: int) -> None:
    """Of two subsets, one in the other, the smaller one holds no rule that the larger one does not."""
    random = Random(seed)
    larger = frozenset(random.sample(sorted(ALL), random.randint(1, len(ALL))))
    smaller = frozenset(random.sample(sorted(larger), random.randint(0, len(larger) - 1)))
    for held in (held_by_cases, held_by_programs):
        of_smaller, of_larger = held(hiding(ALL - smaller), side), held(hiding(ALL - larger), side)
        assert of_smaller <= of_larger <= held_of_all(held, side)


@together("fact", WRONG, by=lambda fact: "reference")
def test_a_wrong_fact_clears_nobody(fact: str) -> None:
    """It holds no more than the same fact hidden, and that no more than the truth."""
    lied, hidden = held_by_cases(lying(fact)), held_by_cases(hiding(frozenset([fact])))
    assert lied <= hidden <= held_of_all(held_by_cases, "reference")


@together("fact", FACTS, by=lambda fact: "reference")
def test_a_rule_that_a_fact_alone_decides_is_not_held_without_it(fact: str) -> None:
    """By programs as by cases: its absence would go unnoticed."""
    alone = {rule for rule in IN_FORCE if RULES[rule].decides == (fact,)}
    change = hiding(frozenset([fact]))
    assert not alone & held_by_programs(change)


CHAPTERS = ("grad", "retain", "version", "view")


def held_in(report: Report, chapters: tuple[str, ...]) -> set[str]:
    return {r.id for r in report.rules.values() if r.status is Status.HELD and r.chapter in chapters}


def test_the_blind_hold_nothing_that_they_do_not_show() -> None:
    """Torch that shows only dtypes conforms, and holds no rule of gradients, versions and views but for those
    without which these programs would have another dtype.
    """
    report = graded(str(ADAPTERS / "blind.py"), programs=40, source="prng")
    assert report.exit_code == 0
    assert held_in(report, CHAPTERS) == {"grad/casts-to-leaf-dtype", "grad/own-dtype"}
    assert all(r.compared <= report.totals.compared for r in report.rules.values())
    lacking = [r.why for r in report.rules.values() if r.id == "grad/accumulates"]
    assert lacking == ["needs g.tolist() == [6.0, 6.0]"]


@pytest.mark.parametrize("adapter", ["blind:refusing", "blind_shaped:adapter"])
def test_who_tells_refusals_holds_rules_that_refusals_show(
    adapter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But none that only values, flags and counters show, also where a torch-shaped adapter hides them by
    its own `facts`.
    """
    monkeypatch.syspath_prepend(str(ADAPTERS))
    report = graded(adapter, programs=40, source="prng")
    held = held_in(report, CHAPTERS)
    assert report.exit_code == 0
    assert "retain/needs-requires-grad" in held
    assert not held & {"grad/accumulates", "retain/fills-grad", "version/write-bumps", "view/shares-storage"}


def graded_as_documented(folder: Path, leaf: str) -> Report:
    """Grade the adapter of docs/adapters.md, which shows values and, in this way, leaves."""
    found = re.search(r"```python\n(# mine.py\n.*?)```", ADAPTERS_PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    own = '"is_leaf": not value._prev'
    assert own in found[1]
    mine = folder / "mine.py"
    mine.write_text(found[1].replace(own, leaf), encoding="utf-8")
    return check(str(mine), against="reference", programs=20, source="prng", workers=1)


def test_the_documented_adapter_holds_what_it_shows(tmp_path: Path) -> None:
    """It shows leaves; grads, versions and detach() it does not show."""
    report = graded_as_documented(tmp_path, '"is_leaf": not value._prev')
    assert report.exit_code == 0
    assert held_in(report, ("leaf",)) == {"leaf/op-result-is-no-leaf"}
    assert held_in(report, (*CHAPTERS, "detach")) == set()


def test_a_misspelt_fact_holds_nothing(tmp_path: Path) -> None:
    """The adapter is broken, and the report names the fact that is meant."""
    report = graded_as_documented(tmp_path, '"is_leef": not value._prev')
    assert report.exit_code == 3
    assert report.count(Status.HELD) == 0
    assert "'is_leef' is no fact, did you mean 'is_leaf'" in report.broken[0]


def test_a_wrong_shape_holds_nothing(tmp_path: Path) -> None:
    """Every program differs, and no rule is held for that."""
    report = graded_as_documented(tmp_path, '"shape": (1,)')
    assert report.exit_code == 1
    assert report.totals.diverge == 20
    assert report.count(Status.HELD) == 0


def test_hiding_does_not_help_the_wrong() -> None:
    """The null adapter computes nothing: it holds no rule of gradients."""
    report = check("null", against="reference", programs=20, source="prng", rules="grad/*", workers=1)
    assert report.exit_code == 1
    assert report.count(Status.HELD) == 0
