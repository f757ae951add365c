"""The reports as JSON; ``report.schema.json`` and ``observed.schema.json`` beside the specs say what is in
them.

The same report gives the same bytes. See ``conformance.execution.json_form`` for programs and traces.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from conformance.report.areas import scores
from conformance.report.expectation import Expectation
from conformance.report.observed import Observed
from conformance.report.value import Report

FORMAT = 1


def report_form(report: Report) -> dict[str, Any]:
    """The report as plain JSON values, in the order in which a person would read them."""
    form: dict[str, Any] = {
        "format": FORMAT,
        "subject": asdict(report.subject),
        "against": report.against,
        "verdict": _verdict(report),
        "exit_code": report.exit_code,
        "selection": report.selection,
        "seed": report.seed,
        "source": report.source,
        "device": report.device,
        "versions": dict(report.versions),
        "totals": asdict(report.totals),
        "cases": dict(report.cases),
        "rules": {rule.id: _rule(rule) for rule in report.rules.values()},
        "scores": {area: score._asdict() for area, score in scores(report.rules.values()).items()},
        "findings": [_blamed(finding) for finding in report.findings],
        "elsewhere": [_blamed(finding) for finding in report.elsewhere],
        "by_design": [_blamed(finding) for finding in report.by_design],
        "expected": [
            _entry(met.entry) | {"programs": met.programs, "cases": met.cases} for met in report.expected
        ],
        "unmet": [_entry(unmet.entry) | {"why": unmet.why} for unmet in report.unmet],
        "crashes": [_blamed(crash) for crash in report.crashes],
        "incomparable": dict(sorted(report.incomparable.items())),
        "known": dict(sorted(report.known.items())),
        "broken": list(report.broken),
        "unrun": report.unrun,
        "recordings": list(map(asdict, report.recordings)),
    }
    if report.times is not None:
        form["times"] = {name: round(seconds, 3) for name, seconds in report.times.items()}
    return form


def render(report: Report) -> str:
    """The JSON document that ``--json`` writes."""
    return json.dumps(report_form(report), indent=2, ensure_ascii=False) + "\n"


def render_observed(found: Observed) -> str:
    """Return the JSON document about programs whose result depends on how they are observed."""
    form = {
        "format": FORMAT,
        "verdict": found.verdict.name.lower().replace("_", " "),
        "exit_code": found.exit_code,
        "seed": found.seed,
        "source": found.source,
        "versions": dict(found.versions),
        "totals": asdict(found.totals),
        "kinds": [_blamed(kind) for kind in found.kinds],
        "unexplained": [_blamed(finding) for finding in found.unexplained],
        "crashes": [_blamed(crash) for crash in found.crashes],
        "broken": list(found.broken),
    }
    return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


def _verdict(report: Report) -> str:
    return "nothing exercised" if report.nothing_exercised else report.verdict.name.lower().replace("_", " ")


def _rule(rule: Any) -> dict[str, Any]:
    form = asdict(rule)
    form.pop("id")
    return form | {"status": str(rule.status)}


def _entry(entry: Expectation) -> dict[str, Any]:
    form = asdict(entry)
    when = {key: form.pop(key) for key in ("version", "device")}
    return form | {"when": when}


def _blamed(entry: Any) -> dict[str, Any]:
    form = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(entry).items()}
    return form | {"blames": entry.blames.name.lower().replace("_", " ")}
