"""What a check found, as a value, and its two forms: ``as_json`` for machines, ``terminal`` for people.

How the value comes about lives in ``conformance.grading``.
"""

from __future__ import annotations

from conformance.report.value import Crash, Finding, Report, RuleResult, Status, Subject, Totals, Verdict

__all__ = ["Crash", "Finding", "Report", "RuleResult", "Status", "Subject", "Totals", "Verdict"]
