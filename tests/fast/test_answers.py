"""The answer of a check: of a selection of rules, of nothing at all, and of what differs elsewhere."""

from __future__ import annotations

from dataclasses import replace

import pytest

import conformance
from conformance.grading.check import reported
from conformance.grading.selection import ALL, NothingSelected, select, select_for
from conformance.grading.tally import Tally
from conformance.report import RuleResult, Status, Subject, Totals, Verdict, as_junit, words
from conformance.report.value import Ending, Witnessed
from reports import CRASH, FINDING, report
from specs.rule import RULES

OTHER = replace(FINDING, because=("view/shares-storage",), alike=2)
CASE = replace(FINDING, where="case view/a_case", because=("view/shares-storage",), alike=1)
NONE = {"leaf/op-result-is-no-leaf": RuleResult("leaf/op-result-is-no-leaf")}
CUT_SHORT = {"unrun": 3, "ended": Ending.INTERRUPTED}
LEAVES = {"selection": "leaf/*"}


@pytest.mark.parametrize(
    ("verdict", "said", "changed"),
    [
        (0, "mine conforms", {}),
        (0, "mine conforms as far as leaf/*", LEAVES),
        (1, "mine conforms as far as leaf/*; 2 programs differ elsewhere", LEAVES | {"elsewhere": (OTHER,)}),
        (
            1,
            "mine conforms as far as leaf/*; 2 programs and 1 case differ elsewhere",
            LEAVES | {"elsewhere": (OTHER, CASE)},
        ),
        (1, "mine conforms as far as leaf/*; 1 case differs elsewhere", LEAVES | {"elsewhere": (CASE,)}),
        (
            1,
            "mine does not conform as far as leaf/*; 2 programs differ elsewhere",
            LEAVES | {"findings": (FINDING,), "elsewhere": (OTHER,)},
        ),
        (3, "mine: nothing was exercised: no case held, and no program told a rule apart", {"rules": NONE}),
        (
            3,
            "mine: nothing was exercised: no case held, and no program told a rule apart",
            {"totals": Totals(), "cases": {}},
        ),
        (1, "mine does not conform", {"rules": NONE, "findings": (FINDING,)}),
        (
            130,
            "mine conforms, as far as it was run: it was interrupted",
            CUT_SHORT,
        ),
        (
            130,
            "mine: nothing was exercised: no case held, and no program told a rule apart, "
            "as far as it was run: it was interrupted",
            {"rules": NONE} | CUT_SHORT,
        ),
    ],
)
def test_the_verdict_says_how_far_it_goes(verdict, said, changed):
    """A difference is never passed over because of what was asked for, and nothing is no conformance."""
    value = report(**changed)
    assert (verdict, said) == (value.exit_code, words.verdict(value))


def test_a_stale_suite_is_told_wherever_it_shows():
    """If the reference and torch disagree elsewhere, the suite is blamed and nobody else."""
    value = report(**LEAVES, elsewhere=(replace(OTHER, blames=Verdict.BROKEN_SUITE),))
    assert Verdict.BROKEN_SUITE == value.verdict
    assert words.verdict(value).startswith("mine broken suite")


def test_what_differs_elsewhere_fails_in_junit():
    assert 'testsuite name="elsewhere"' in as_junit.render(report(**LEAVES, elsewhere=(OTHER,)))


def test_findings_about_other_rules_are_set_apart():
    """A finding is about the rules that explain it, or else about those behind the expected value."""
    explained = replace(
        FINDING, because=(*OTHER.because, *FINDING.because), explained_by=OTHER.because, ops=("x",)
    )
    other = replace(OTHER, fact="version", line="b.add_(1)", ops=("y",))
    tally = Tally(findings=(FINDING, other, explained))
    held = [Witnessed("leaf/a_case", FINDING.because, "held")]

    def findings(selection, rules):
        found = reported(
            conformance.adapters.load("reference"),
            tally,
            held,
            rules,
            selection,
            subject=Subject("mine", "1"),
            against="torch",
            seed=0,
            source="prng",
            device="cpu",
            versions={},
        )
        return found.findings, found.elsewhere

    everything, none = findings(ALL, RULES)
    assert (8, ()) == (sum(finding.alike for finding in everything), none)
    found, elsewhere = findings("leaf/*", list(FINDING.because))
    assert [FINDING.because] == [finding.because for finding in found]
    assert 5 == sum(finding.alike for finding in elsewhere)


@pytest.mark.parametrize(
    ("glob", "nearest"),
    [("leef/*", "leaf/*"), ("leaf", "leaf/*"), ("veiw/shares-storage", "view/shares-storage")],
)
def test_a_glob_that_selects_nothing_names_the_nearest(glob, nearest):
    with pytest.raises(
        NothingSelected, match=f"no rule matches .* did you mean '{nearest.replace('*', '.')}'"
    ):
        select(glob)


def test_a_selection_that_holds_for_no_release_is_an_error_too():
    newest = [rule.id for rule in RULES.values() if rule.since == "2.15"]
    with pytest.raises(ValueError, match=r"holds for torch 2\.11"):
        select_for(newest[0], "2.11")


def test_check_refuses_an_empty_selection():
    """It raises ValueError before anything runs."""
    with pytest.raises(ValueError, match="did you mean 'leaf/"):
        conformance.check("null", rules="leef/*", programs=5)


def test_a_crash_is_never_narrowed_away():
    assert 4 == report(**LEAVES, crashes=(CRASH,)).exit_code


def test_all_statuses_are_shown_that_occur():
    assert [Status.HELD, Status.NOT_EXERCISED] == report().statuses
