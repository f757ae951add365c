"""The status of rules: broken, cleared or suspect. How cases and findings come about is in ``test_cli``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conformance.grading.rule_status import rule_statuses
from conformance.grading.tally import Tally
from conformance.report import Finding, Status, Verdict
from conformance.report.value import BROKEN, HELD, NOT_EXERCISED, UNSUPPORTED, Witnessed
from reports import FINDING


def found(*because: str, flaky: bool = False) -> Finding:
    """A divergence with these rules behind it."""
    blames = Verdict.CONFORMS if flaky else Verdict.NONCONFORMANCE
    return replace(FINDING, blames=blames, because=because, flaky=flaky)


def status(
    cases: dict[str, str], findings: tuple[Finding, ...] = (), confirmed: str = "", limited: bool = False
):
    """The status of the rules ``r/a`` and ``r/b``, given what their cases came to."""
    tally = Tally(findings=findings, confirmed=dict.fromkeys(confirmed.split(), 1))
    witnessed = {rule: [Witnessed("chapter/case", (rule,), came)] for rule, came in cases.items()}
    return [result.status for result in rule_statuses(("r/a", "r/b"), tally, witnessed, limited).values()]


A, B = "r/a", "r/b"
NONE = Status.NOT_EXERCISED


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ([NONE, NONE], {"cases": {}}),
        ([Status.HELD, NONE], {"cases": {A: HELD}}),
        ([Status.HELD, NONE], {"cases": {}, "confirmed": A}),
        ([Status.BROKEN, Status.HELD], {"cases": {A: BROKEN, B: HELD}}),
        ([Status.UNSUPPORTED, NONE], {"cases": {A: UNSUPPORTED}}),
        ([NONE, NONE], {"cases": {A: NOT_EXERCISED}}),
        ([NONE, Status.UNSUPPORTED], {"cases": {A: NOT_EXERCISED}, "limited": True}),
        ([Status.UNSUPPORTED, Status.UNSUPPORTED], {"cases": {}, "limited": True}),
        # A convicted rule explains a divergence that names it.
        ([Status.BROKEN, Status.HELD], {"cases": {A: BROKEN, B: HELD}, "findings": (found(A, B),)}),
        # A case clears its rule, and suspicion falls on the others.
        ([Status.SUSPECT, Status.HELD], {"cases": {B: HELD}, "findings": (found(A, B),)}),
        # Where cases clear every rule named, the first is suspect all the same.
        ([Status.SUSPECT, Status.HELD], {"cases": {A: HELD, B: HELD}, "findings": (found(A, B),)}),
        (
            [Status.FLAKY, Status.HELD],
            {"cases": {B: HELD}, "findings": (found(A, B, flaky=True),), "confirmed": A},
        ),
    ],
)
def test_status(expected, given):
    """A failing case convicts; a divergence makes suspect; a case clears; only what was looked at is held."""
    assert expected == status(**given)


def test_one_case_that_holds_does_not_acquit_a_rule_that_another_convicts():
    """Failures that it explains as exactly are put down to it, and what they witness is blocked."""
    held = Witnessed("r/held", (A,), HELD)
    broken = [
        Witnessed(f"r/broken{n}", rules, BROKEN, explained_by=(A, B))
        for n, rules in enumerate([(A,), ("r/c",), ("r/d",)])
    ]
    witnessed = {A: [held, broken[0]], B: [], "r/c": [broken[1]], "r/d": [broken[2]]}
    results = rule_statuses(tuple(witnessed), Tally(), witnessed, limited=False)
    assert [Status.BROKEN, NONE, Status.BLOCKED, Status.BLOCKED] == [r.status for r in results.values()]


def test_suspects_are_counted_by_their_programs():
    """A rule behind five programs explains five, though they are one finding."""
    results = rule_statuses((A,), Tally(findings=(replace(found(A), alike=5),)), {}, limited=False)
    assert (Status.SUSPECT, 5) == (results[A].status, results[A].explains)


def test_rules_that_nothing_tells_apart_are_broken_together():
    """Without either the reference does the same each time; what explains some of it only is not."""
    findings = (
        replace(found(A, B), explained_by=(A, B)),
        replace(found(A, B, "r/c"), explained_by=("r/c", A, B)),
    )
    results = rule_statuses((A, B, "r/c"), Tally(findings=findings), {}, limited=False)
    assert [Status.BROKEN, Status.BROKEN, NONE] == [r.status for r in results.values()]


def test_a_rule_named_first_counts_more_than_one_named_last_each_time():
    """If none explains a difference, one that decides much is among the last of many findings."""
    findings = [found(A, "r/x", B), found("r/y", "r/z", B), replace(found(A, "r/z", B), where="elsewhere")]
    results = rule_statuses((A, B, "r/y"), Tally(findings=tuple(findings)), {}, limited=False)
    assert [Status.SUSPECT, NONE, Status.SUSPECT] == [r.status for r in results.values()]


def test_a_case_convicts_what_else_explains_the_step_at_which_it_breaks():
    """A warning is missing, and what the call gives is wrong: two rules are broken."""
    broken = Witnessed("r/case", (A, B), BROKEN, explained_by=(A,), beside=((B, "r/c"),))
    results = rule_statuses((A, B), Tally(), {A: [broken], B: [broken]}, limited=False)
    assert [Status.BROKEN, Status.BROKEN] == [r.status for r in results.values()]


@pytest.mark.parametrize("acquitted", [{"cases": {A: HELD}}, {"cases": {}, "confirmed": A}])
def test_a_rule_that_does_just_the_same_is_told_though_it_held_elsewhere(acquitted):
    """A fault may show now and then: rules that only decide the fact are no better suspects."""
    finding = replace(found(A, B), explained_by=(A,))
    a, b = status(findings=(finding,), **acquitted)
    assert a in (Status.SUSPECT, Status.BROKEN)
    assert b is NONE


def test_of_rules_that_do_just_the_same_one_that_held_elsewhere_is_acquitted():
    """The other is told."""
    finding = replace(found(A, B), explained_by=(A, B))
    assert [Status.HELD, Status.BROKEN] == status(findings=(finding,), cases={A: HELD})


def came_to(*, held: tuple[str, ...] = (), **broken: object) -> list[Status]:
    """The status of ``r/a`` and ``r/b``, given how a case of the first broke, and what other cases held."""
    case = Witnessed("r/case", (A,), BROKEN, fired=(A, B), **broken)
    cases = {rule: [Witnessed(f"r/{rule[-1]}", (rule,), HELD)] if rule in held else [] for rule in (A, B)}
    cases[A].append(case)
    results = rule_statuses((A, B), Tally(), cases, limited=False)
    return [result.status for result in results.values()]


def test_a_case_convicts_its_rule_where_it_fails_as_it_does_without_it():
    """At another line the rule is only suspect."""
    assert [Status.BROKEN, NONE] == came_to(alike=(A,))
    assert [Status.SUSPECT, NONE] == came_to()


def test_what_explains_exactly_how_a_case_broke_is_suspect_though_it_held_elsewhere():
    """The rule that the case names is not to blame: it could not be seen."""
    assert [Status.BLOCKED, Status.SUSPECT] == came_to(explained_by=(B,), held=(B,))


def test_a_rule_named_first_that_a_case_breaks_explains_others_though_a_case_held_it():
    """Another case that fails at the same line without it, too, convicts no rule of its own."""
    cases = {
        A: [Witnessed("r/held", (A,), HELD), Witnessed("r/a", (A,), BROKEN, alike=(A,), fired=(A,))],
        B: [Witnessed("r/b", (B,), BROKEN, alike=(A, B), fired=(A, B))],
    }
    results = rule_statuses((A, B), Tally(), cases, limited=False)
    assert [Status.BROKEN, Status.BLOCKED] == [result.status for result in results.values()]
