"""Bugs planted in real torch: each is found, and the rule that it breaks is the one convicted.

A sixth of them each time, of those that are no exact absence of a rule a sixteenth; all of them under the
profile ``soak``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conformance import check
from conformance.adapters import load
from conformance.grading.cases import run_cases
from conformance.report import Report, Status
from conformance.report.value import Witnessed
from specs.case import Case, cases

ADAPTERS = Path(__file__).parents[1] / "adapters"
sys.path.append(str(ADAPTERS))

import planted_more  # noqa: E402, F401 - registers bugs
from planted import BUGS  # noqa: E402
from planting import MORE  # noqa: E402

RARE = {"flag_of_a_non_leaf_dropped": 800, "hooks_in_reverse": 300}
"""Programs that it takes to meet a bug that few programs meet."""
NAMED_BY_PROGRAMS = {
    "tensors_are_packed_twice": "saved_hooks/pack-and-unpack",
    "reshape_always_copies": "view/reshape-copies-when-it-must",
    "functions_may_be_differentiated_twice": "double/create-graph-records",
    "retain_grad_on_a_leaf_refused": "requires_grad/flag-at-creation",
}
"""Bugs whose rule only cases can show, with the rule that programs name instead."""
OTHERS = 5
"""The most other rules that may be blamed with it."""
SOAKING = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
TRIED = [("planted", bug) for bug in BUGS][:: 1 if SOAKING else 6]
TRIED_MORE = [("planted_more", bug) for bug in MORE][:: 1 if SOAKING else 16]

MISTOLD_BY_CASES = {
    "hooks_of_all_are_called_for_each": "calls alone tell them apart, in a case about what is missing",
    "expand_copies": "its writes are no longer refused, by four rules, and other views share memory",
    "outer_saved_hooks_are_called_too": "what is packed is given to two blocks: packing is blamed",
}
"""Everyday bugs of which cases convict another rule, and why."""
MISTOLD_BY_PROGRAMS = {
    "functions_save_copies": "one program shows it, in which a view was saved",
    "hooks_of_leaves_run_before_accumulation": "they run in a call of grad(), too: its rule is blamed first",
    "leaves_share_their_first_grads": "one program shows it, and no rule without which memory is shared so",
    "retained_grads_accumulate_in_place": "one program shows it, in which a grad required grad",
    "roots_are_filled": "without the rule every result would retain its grad, views left out",
    "once_differentiable_ignored": "without the rule its results would have no history, as under no_grad",
    "roots_are_walked_one_by_one": "one program shows it, by which of two refusals comes first",
}
"""The same of programs alone."""
RARELY_MET_BY_PROGRAMS = {
    "flags_obey_no_grad",
    "gradients_for_numbers_are_dropped",
    "hooks_of_all_are_called_for_each",
    "hooks_on_plain_tensors_allowed",
    "materialize_grads_ignored",
    "modes_stay_after_an_error",
    "outer_saved_hooks_are_called_too",
    "results_of_hooks_are_broadcast",
    "state_is_not_detached",
    "surplus_gradients_are_dropped",
    "writes_cast_their_result",
    "zero_grad_makes_new_zeros",
}
"""Everyday bugs that 200 programs may not meet: cases do."""
FINDINGS = 12
"""The most findings that one bug comes to; mostly it is one."""


def of_each(bugs: list[tuple[str, str]]) -> pytest.MarkDecorator:
    """Parametrise a test by the bugs."""
    return pytest.mark.parametrize("planted", bugs, indirect=True, ids=lambda bug: bug[1])


@pytest.fixture(autouse=True, scope="module")
def _found_by_processes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ADAPTERS))
        yield


@pytest.fixture(scope="module")
def planted(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    """A bug, and the name of its adapter, whose process is started once for the tests of it."""
    module, bug = request.param
    spec = f"{module}:having.{bug}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("conformance.adapters.remote.isolated", lambda: True)
        load(spec)
    yield bug, spec
    load(spec).close()


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do here what processes do that may die: torch lives in a process of its own anyway."""

    def done(work: Callable[[Any], Any], items: Iterable[Any], **_: Any) -> Iterator[Any]:
        return map(work, items)

    monkeypatch.setattr("conformance.grading.cases.survive", done)
    monkeypatch.setattr("conformance.grading.chunks.survive", done)


@cache
def _of_the_reference() -> dict[str, Witnessed]:
    chosen = [case for case in cases() if case.holds_for(load("reference").torch)]
    return {result.case: result for result in run_cases("reference", chosen, 1)}


@pytest.fixture(autouse=True)
def _reference_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference, which is right each time, runs the cases once for all bugs."""

    def run(side: str, chosen: Iterable[Case], workers: int, **options: Any) -> Iterator[Witnessed]:
        if side == "reference":
            return iter([_of_the_reference()[case.id] for case in chosen])
        return run_cases(side, chosen, workers, **options)

    monkeypatch.setattr("conformance.grading.check.run_cases", run)


def convicts(report: Report, *rules: str) -> None:
    """Assert that one of the rules is broken, or the first suspect, and that few others are blamed, too."""
    blamed = report.broken_rules
    assert report.exit_code == 1
    broken = any(report.rules[rule].status is Status.BROKEN for rule in rules)
    assert broken or blamed[:1] in [(rule,) for rule in rules], blamed
    assert len(set(blamed) - set(rules)) <= OTHERS, blamed


@of_each(TRIED)
def test_cases_convict_the_rule_that_a_bug_breaks(planted: tuple[str, str]) -> None:
    """Everything else that fails is put down to it."""
    bug, spec = planted
    report = check(spec, against="reference", programs=0, workers=1)
    convicts(report, BUGS[bug][0])


@of_each(TRIED)
def test_programs_alone_find_the_rule_that_a_bug_breaks(planted: tuple[str, str]) -> None:
    """Without cases the programs that differ name it."""
    bug, spec = planted
    programs = RARE.get(bug, 200)
    options = {"programs": programs, "source": "prng", "cases": False, "workers": 1}
    report = check(spec, against="reference", **options)
    convicts(report, NAMED_BY_PROGRAMS.get(bug, BUGS[bug][0]))


@of_each(TRIED_MORE)
def test_cases_convict_a_rule_that_an_everyday_bug_breaks(planted: tuple[str, str]) -> None:
    """Also where it is no exact absence of a rule, but for a few that are on record."""
    bug, spec = planted
    report = check(spec, against="reference", programs=0, workers=1)
    if bug in MISTOLD_BY_CASES:
        with pytest.raises(AssertionError):
            convicts(report, *MORE[bug][0])
    else:
        convicts(report, *MORE[bug][0])


@of_each(TRIED_MORE)
def test_programs_alone_tell_of_an_everyday_bug(planted: tuple[str, str]) -> None:
    """In few findings; what programs may not meet, or cannot tell, is on record."""
    bug, spec = planted
    programs = RARE.get(bug, 200)
    options = {"programs": programs, "source": "prng", "cases": False, "workers": 1}
    report = check(spec, against="reference", **options)
    assert len(report.findings) <= FINDINGS
    if not report.findings:
        assert 0 == report.exit_code
        assert bug in RARELY_MET_BY_PROGRAMS
    elif bug in MISTOLD_BY_PROGRAMS:
        with pytest.raises(AssertionError):
            convicts(report, *MORE[bug][0])
    else:
        convicts(report, *MORE[bug][0])


def test_one_difference_in_nearly_all_programs_is_one_finding() -> None:
    """Its rule is broken; of the programs what else they show is compared."""
    options = {"programs": 60, "source": "prng", "cases": False, "workers": 1}
    report = check(str(ADAPTERS / "keeping_grads.py"), against="reference", **options)
    convicts(report, "grad/only-leaves-are-filled")
    assert ("grad/only-leaves-are-filled",) == report.findings[0].explained_by
    assert report.totals.diverge >= 50
    assert len(report.findings) <= 2


def test_nearly_all_everyday_bugs_are_told_right() -> None:
    """By cases, and by programs if these meet them; what is on record is a bug here."""
    recorded = {*MISTOLD_BY_CASES, *MISTOLD_BY_PROGRAMS, *RARELY_MET_BY_PROGRAMS, *RARE}
    assert recorded <= {*BUGS, *MORE}
    assert len(MISTOLD_BY_CASES) <= len(MORE) * 0.05
    assert len(MISTOLD_BY_PROGRAMS) <= len(MORE) * 0.15
    assert len(RARELY_MET_BY_PROGRAMS) <= len(MORE) * 0.2
