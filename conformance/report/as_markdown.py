"""The report as Markdown as GitHub renders it, short enough for the summary of a CI job: verdict, counts,
what was not exercised, chapters, and the first divergences and crashes. The words stand in
``conformance.report.words``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from conformance.report import gaps, words
from conformance.report.areas import table_of_scores
from conformance.report.value import Report, Status

_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$&]")
_TICKS = re.compile("`+")


def render(report: Report, first: int = 3) -> str:
    """The document that ``--markdown`` writes, with the ``first`` divergences and crashes in full; the same
    report gives the same bytes.
    """
    return "\n".join(_lines(report, first)) + "\n"


def _lines(report: Report, first: int) -> Iterator[str]:
    yield from (f"## {_plain(words.verdict(report))}", "", _plain(words.title(report)), "")
    yield from _table(("", ""), ((label, _plain(text)) for label, text in words.counts(report).items()))
    yield from _list("On record", words.known_divergences(report))
    yield from _list("Adapter", report.broken)
    yield from _list("Not exercised", gaps.not_exercised(report))
    yield from ("### Score", "")
    heading, *areas = table_of_scores(report.rules.values())
    yield from _table(heading, areas)
    yield from ("### Rules", "")
    yield from _table(("chapter", *report.statuses), _chapters(report))
    yield from _list("Rules that did not hold", _failed(report))
    yield from _list("By design", words.by_design(report))
    yield from _list("Expected, and not found", words.unmet(report))
    yield from _heading("Divergences", len(report.told), first)
    for finding in report.told[:first]:
        yield from (f"#### {_plain(words.heading(finding))}", "")
        rows = words.divergence(finding)
        yield from _table(("", ""), ((_plain(label), _code(text)) for label, text in rows))
        yield from _script(finding.script)
    yield from _heading("Crashes", len(report.crashes), first)
    for crash in words.unknown_first(report.crashes)[:first]:
        yield from (f"#### {_plain(words.heading(crash))}", "")
        yield from (_plain(f"{words.death(crash)}: {words.on_record(crash)}"), "")
        yield from _script(crash.script)


def _chapters(report: Report) -> Iterator[tuple[str, ...]]:
    """Of each chapter, and of all, how many rules stand where."""
    for chapter, rules in groupby(report.rules.values(), key=lambda rule: rule.chapter):
        yield (chapter, *gaps.status_counts(report, list(rules)))
    yield ("**all**", *gaps.status_counts(report, list(report.rules.values())))


def _failed(report: Report) -> Iterator[str]:
    for label, rules in gaps.rules_by_status(report, short=False):
        if label in (Status.BROKEN, Status.SUSPECT, Status.FLAKY):
            yield f"{label}: {rules}"


def _heading(title: str, count: int, first: int) -> Iterator[str]:
    if count:
        yield from (f"### {title} (the first {first} of {count:,})" if count > first else f"### {title}", "")


def _list(title: str, items: Iterable[str]) -> Iterator[str]:
    listed = [f"- {_plain(item)}" for item in items]
    if listed:
        yield from (f"### {title}", "", *listed, "")


def _table(header: Iterable[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    names = list(header)
    for row in (names, ["---"] * len(names), *rows):
        yield f"| {' | '.join(row)} |"
    yield ""


def _script(script: str) -> Iterator[str]:
    fence = _ticks(script, least=3)
    yield from (f"{fence}python", script.rstrip("\n"), fence, "")


def _plain(text: str) -> str:
    """The text as it reads, in a line or a cell: nothing in it is markup."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(text.split()))


def _code(text: str) -> str:
    """The text as code in a cell."""
    if not text:
        return ""
    line = " ".join(text.splitlines()).replace("|", r"\|")
    fence = _ticks(line, least=1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def _ticks(text: str, least: int) -> str:
    """More backticks than the text has in a row."""
    return "`" * max([least, *(len(found) + 1 for found in _TICKS.findall(text))])
