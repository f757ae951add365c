"""The status of each rule after a check, from what cases and findings say of it together.

Cases and findings come from `cases` and `campaign`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.grading.tally import Tally
from conformance.report.value import Finding, RuleResult, Status, Verdict, Witnessed


def rule_statuses(
    rules: Iterable[str], tally: Tally, witnessed: Mapping[str, Sequence[Witnessed]], limited: bool
) -> dict[str, RuleResult]:
    """Return the result of each rule, in the order given; ``limited``: the implementation says that it cannot
    do everything.

    A case that fails convicts the rules it names. A divergence makes the rules behind its expected value
    suspect, but for those that a case clears; where a convicted rule explains it, or cases clear them all,
    see below.
    """
    rules = tuple(rules)
    convicted = {rule for rule in rules if any(case.broken for case in witnessed.get(rule, ()))}
    cleared = {rule for rule in rules if _held(witnessed.get(rule, ())) and rule not in convicted}
    suspect, flaky = _suspects(tally.findings, convicted, cleared)
    return {
        rule: RuleResult(
            rule,
            status,
            fired=tally.fired.get(rule, 0),
            compared=tally.compared.get(rule, 0),
            cases=len(witnessed.get(rule, ())),
            cases_failed=sum(case.broken for case in witnessed.get(rule, ())),
            why=_why(status, witnessed.get(rule, ())),
        )
        for rule in rules
        for status in [_status(rule, tally, witnessed.get(rule, ()), convicted, suspect, flaky, limited)]
    }


def _held(cases: Sequence[Witnessed]) -> bool:
    return any(case.held for case in cases)


def _suspects(
    findings: Iterable[Finding], convicted: set[str], cleared: set[str]
) -> tuple[set[str], set[str]]:
    """The rules under suspicion, and those whose only contradiction did not repeat.

    A convicted rule explains a divergence that names it. Else the rules no case has cleared are suspect, or
    all of them where cases clear each: together they did not hold.
    """
    suspect: set[str] = set()
    flaky: set[str] = set()
    for finding in findings:
        named = set(finding.because)
        if finding.flaky:
            flaky |= named - cleared or named
        elif finding.blames is not Verdict.CONFORMS and not named & convicted:
            suspect |= named - cleared or named
    return suspect, flaky - suspect


def _status(
    rule: str,
    tally: Tally,
    cases: Sequence[Witnessed],
    convicted: set[str],
    suspect: set[str],
    flaky: set[str],
    limited: bool,
) -> Status:
    if rule in convicted:
        return Status.BROKEN
    if rule in suspect:
        return Status.SUSPECT
    if rule in flaky:
        return Status.FLAKY
    if _held(cases) or tally.compared.get(rule):
        return Status.HELD
    if any(case.not_exercised for case in cases):
        return Status.NOT_EXERCISED
    if limited or any(case.unsupported for case in cases):
        return Status.UNSUPPORTED
    return Status.NOT_EXERCISED


def _why(status: Status, cases: Sequence[Witnessed]) -> str:
    """Return why a rule is unsupported or not exercised, as its first such case says; else nothing."""
    if status is Status.UNSUPPORTED:
        said = (case.why for case in cases if case.unsupported and case.why)
        return next(said, "the adapter lacks what the rule speaks of")
    if status is Status.NOT_EXERCISED:
        said = (case.why for case in cases if case.not_exercised and case.why)
        return next(said, "no case and no program reached it")
    return ""
