"""The report of a check as a value, and its forms: ``as_json`` and ``as_junit`` for machines, ``as_markdown``
and ``terminal`` for people, whose ``words`` they share. ``findings`` makes the findings in it.

How the value comes about lives in ``conformance.grading``.
"""

from __future__ import annotations

from conformance.report.value import Crash, Finding, Report, RuleResult, Status, Subject, Totals, Verdict

__all__ = ["Crash", "Finding", "Report", "RuleResult", "Status", "Subject", "Totals", "Verdict"]
