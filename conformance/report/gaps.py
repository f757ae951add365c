"""The gaps that a check leaves, in words: rules that were not held, what was not run, what is not printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.report import words
from conformance.report.value import Report, RuleResult, Status

LISTED, REASONS = 20, 4
"""The number of rules, and of reasons, that a short list names for each status."""

ALL_RULES = "--all-rules"

ADAPTER = "adapter"
"""The label of what is wrong with the adapter."""


def not_exercised(report: Report) -> list[str]:
    """Return what nothing reached in this check, with the reason: rules, programs that move between devices,
    and those left when it ended.
    """
    reasons = _by_reason(report, Status.NOT_EXERCISED)
    return programs_not_run(report) + [f"rules ({why}): {', '.join(rules)}" for why, rules in reasons.items()]


def programs_not_run(report: Report) -> list[str]:
    """Return which programs were not run, and why."""
    _, _, lacking = report.device.partition(" (")
    moving = [f"programs that move between devices, on {report.device}"] if lacking else []
    return ([f"{report.unrun:,} programs ({report.ended})"] if report.unrun else []) + moving


def status_counts(report: Report, rules: Sequence[RuleResult]) -> list[str]:
    """Return how many of the rules have each status of the report; nothing where none has."""
    return [str(report.count(status, rules) or "") for status in report.statuses]


def rules_by_status(report: Report, *, short: bool) -> Iterator[tuple[str, str]]:
    """Give the rules that were not held, by status and reason; chapters that are listed whole go by name.

    A short list ends in a number, and counts what is unsupported instead of naming it.
    """
    for status in report.statuses[1:]:
        reasons = list(_by_reason(report, status).items())
        if short and status is Status.UNSUPPORTED:
            yield status, _counted_reasons(reasons)
            continue
        left = LISTED if short else len(report.rules)
        for index, (why, rules) in enumerate(reasons[: REASONS if short else None]):
            names = _by_chapter(report, rules)
            listed, left = _first(names, left), max(left - len(names), 0)
            yield ("" if index else status), (f"{why}: {listed}" if why else listed)
        if others := sum(len(rules) for _, rules in reasons[REASONS:] if short):
            yield "", f"{words.counted(others, 'rule')} for other reasons: {ALL_RULES}"


def _counted_reasons(reasons: Sequence[tuple[str, list[str]]]) -> str:
    """Return the most frequent reasons, each with its number of rules."""
    counts: Counter[str] = Counter()
    for why, rules in reasons:
        counts[why.partition(":")[0]] += len(rules)
    first = [f"{why} ({count})" for why, count in counts.most_common(REASONS)]
    others = counts.total() - sum(count for _, count in counts.most_common(REASONS))
    rest = [f"other reasons ({others}): {ALL_RULES}"] if others else []
    return f"{words.counted(counts.total(), 'rule')}: {', '.join(first + rest)}"


def _by_reason(report: Report, status: Status) -> dict[str, list[str]]:
    """Return the rules of a status by the reason given: the reason of the most rules first, and of the rules
    those that explain most.
    """
    reasons: dict[str, list[str]] = {}
    for rule in sorted(report.rules.values(), key=lambda rule: -rule.explains):
        if rule.status is status:
            reasons.setdefault(rule.why, []).append(rule.id)
    return dict(sorted(reasons.items(), key=lambda reason: -len(reason[1])))


def _by_chapter(report: Report, rules: Sequence[str]) -> dict[str, int]:
    """Return names with the number of rules each stands for: a chapter's if it is there whole."""
    sizes = Counter(rule.chapter for rule in report.rules.values())
    listed = Counter(rule.partition("/")[0] for rule in rules)
    names: dict[str, int] = {}
    for rule in rules:
        chapter = rule.partition("/")[0]
        whole = listed[chapter] == sizes[chapter] > 1
        names[f"{chapter}/*" if whole else rule] = sizes[chapter] if whole else 1
    return names


def _first(names: dict[str, int], count: int) -> str:
    """Return the first names, and how many rules the others stand for."""
    first = list(names)[:count]
    others = sum(list(names.values())[count:])
    if not others:
        return ", ".join(first)
    if not first:
        return f"{words.counted(others, 'rule')}: {ALL_RULES}"
    return f"{', '.join(first)} and {others} more: {ALL_RULES}"


def left_out(report: Report, first: int, file: Path | None) -> Iterator[tuple[str, str]]:
    """Give what was not run, what was found and is not printed, with where to read it (the ``file`` that was
    written, if any), and what is wrong with the adapter.
    """
    where = f"see {file}" if file else "--json FILE writes them"
    for programs in programs_not_run(report):
        yield "not run", programs
    if report.elsewhere:
        yield "elsewhere", f"{words.finding_counts(report.elsewhere)}: {where}"
    for found, what, plural in ((report.told, "finding", "s"), (report.unknown_crashes, "crash", "es")):
        if (more := len(found) - first) > 0:
            yield "more", f"{words.counted(more, what, plural)}: {where}, --findings {len(found)} prints them"
    for known in (*words.known_divergences(report), *words.known_crashes(report)):
        yield "on record", known
    for expected in words.by_design(report)[:LISTED]:
        yield "by design", expected
    if (more := len(report.expected) - LISTED) > 0:
        yield "by design", f"{words.counted(more, 'expectation')} more: {where}"
    for unmet in words.unmet(report):
        yield "not found", unmet
    for complaint in report.broken:
        yield ADAPTER, complaint
