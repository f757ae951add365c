"""The status of each rule where some differences are by design.

A rule that only they break is expected not to hold; what else it would be is for ``rule_status``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.grading.by_design import Settled
from conformance.grading.causes import by_cause
from conformance.grading.rule_status import rule_statuses
from conformance.grading.tally import Tally
from conformance.report.value import RuleResult, Status, Witnessed

FAILED = (Status.BROKEN, Status.SUSPECT, Status.FLAKY)
BY_DESIGN = "it is by design"


def standing(
    rules: Sequence[str], tally: Tally, settled: Settled, witnessed: Sequence[Witnessed], limited: bool
) -> dict[str, RuleResult]:
    """Return the result of each rule: without what is by design it must have failed to be broken."""
    by_rule = {rule: [result for result in witnessed if rule in result.rules] for rule in rules}
    left = by_cause(settled.left)
    everything = replace(tally, findings=(*left, *settled.by_design))
    found = rule_statuses(rules, everything, by_rule, limited)
    if not settled.by_design:
        return found
    excused = {finding.where.removeprefix("case ") for finding in settled.by_design if finding.is_of_case}
    kept = {
        rule: [result for result in results if not (result.broken and result.case in excused)]
        for rule, results in by_rule.items()
    }
    without = rule_statuses(rules, replace(tally, findings=left), kept, limited)
    return {rule: _of_both(found[rule], without[rule], settled) for rule in rules}


def _of_both(found: RuleResult, left: RuleResult, settled: Settled) -> RuleResult:
    """Return the result of a rule by all that was found, and by what is left without what is by design."""
    if left.status in FAILED:
        return found if found.status in FAILED else replace(found, status=left.status, why=left.why)
    if found.status not in FAILED:
        return found
    entries = [met.entry for met in settled.expected]
    named = [entry for entry in entries if entry.rule == found.id]
    reason = next((entry.reason for entry in named if entry.reason), BY_DESIGN)
    return replace(found, status=Status.EXPECTED, why=reason)
