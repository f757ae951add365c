"""The reports for people: a scorecard by chapter or rule, a score by area, then the first divergences with a
because and a script; and the programs whose result depends on how they are observed.

Only layout and colour; the words stand in ``conformance.report.words``, what they say in
``conformance.report.value``. Nothing is cut: text wraps, and scripts break where Python allows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby, zip_longest
from pathlib import Path
from textwrap import wrap

from rich.console import Console
from rich.rule import Rule as Line
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from conformance.report import gaps, words
from conformance.report.areas import table_of_scores
from conformance.report.observed import Observed
from conformance.report.value import Crash, Finding, Report, Status, Verdict
from conformance.report.wrapping import runnable

STYLES = {
    Status.HELD: "green",
    Status.BROKEN: "bold red",
    Status.BLOCKED: "blue",
    Status.SUSPECT: "yellow",
    Status.FLAKY: "magenta",
    Status.EXPECTED: "bright_cyan",
    Status.UNSUPPORTED: "cyan",
    Status.NOT_EXERCISED: "dim",
}


def print_report(
    report: Report, console: Console, *, first: int = 3, all_rules: bool = False, file: Path | None = None
) -> None:
    """Print the scorecard by chapter, or with ``all_rules`` by rule, the ``first`` divergences and the
    ``first`` crashes that are not on record, and the verdict. ``file`` is where the whole report was written.
    """
    by_chapter = _rules(report) if all_rules else _chapters(report)
    console.print(Text(words.title(report), style="bold"), "", by_chapter, "", _scores(report), "", sep="\n")
    _print_rows(gaps.rules_by_status(report, short=not all_rules), console)
    shown = report.told[:first]
    for finding in shown:
        print_divergence(finding, console)
    for crash in report.unknown_crashes[:first]:
        print_crash(crash, console)
    console.print()
    left_out = gaps.left_out(report, first, file)
    _print_rows([*left_out, *words.counts(report).items()], console, {gaps.ADAPTER: "red"})
    style = "bold green" if report.exit_code == Verdict.CONFORMS else "bold red"
    console.print(Text(f"\n{words.verdict(report)}", style=style))


def _table(*headings: str) -> Table:
    """Return a table without lines whose first column is text, and the others figures."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="right" if index else "left", overflow="fold")
    return table


def _chapters(report: Report) -> Table:
    """Return one row a chapter; the columns count rules by status."""
    table = _table("chapter", *report.statuses)
    for column, status in zip(table.columns[1:], report.statuses, strict=True):
        column.style = STYLES[status]
    for chapter, members in groupby(report.rules.values(), key=lambda rule: rule.chapter):
        table.add_row(chapter, *gaps.status_counts(report, list(members)))
    table.add_row("all", *gaps.status_counts(report, list(report.rules.values())), style="bold")
    return table


def _rules(report: Report) -> Table:
    """Return one row a rule, by chapter."""
    table = _table("rule", "status", "fired", "compared")
    for chapter, members in groupby(report.rules.values(), key=lambda rule: rule.chapter):
        table.add_row(Text(chapter, style="bold"))
        for rule in members:
            name = Text(f" {rule.id.partition('/')[2]}", style=STYLES[rule.status])
            table.add_row(name, str(rule.status), f"{rule.fired:,}", f"{rule.compared:,}")
    return table


def _scores(report: Report) -> Table:
    """Return one row an area: how many of its rules were held, how many are claimed, and all."""
    heading, *rows = table_of_scores(report.rules.values())
    table = _table(*heading)
    for row in rows:
        table.add_row(*row)
    return table


def print_divergence(finding: Finding, console: Console, title: str | None = None) -> None:
    """Print one divergence: what was expected and seen, why, and the script that shows it under torch."""
    _print_heading(title or words.heading(finding), console)
    styles = {"at": "bold", finding.sides[0]: "green", finding.sides[1]: "red"}
    if not finding.because:
        styles["because"] = "dim"
    _print_rows(words.divergence(finding), console, styles)
    _print_script(finding.script, console)


def print_crash(crash: Crash, console: Console) -> None:
    """Print one crash: which side, what it died of, and whether that is on record."""
    _print_heading(words.heading(crash), console)
    console.print(Text(words.plain(words.death(crash))))
    console.print(Text(words.on_record(crash), style="dim" if crash.known else "bold red"))
    _print_script(crash.script, console)


def _print_heading(text: str, console: Console) -> None:
    console.print("", Line(style="dim"), Text(words.plain(text), style="bold"), sep="\n")


def _print_script(script: str, console: Console) -> None:
    """Print a script so that it can be copied: no frame, no padding, nothing cut."""
    console.print()
    print_code(script, console)


def print_code(text: str, console: Console, indent: int = 0) -> None:
    """Print Python within the width of the console, broken so that it still runs."""
    broken = runnable(text, console.width - indent).rstrip("\n")
    shown = Syntax("", "python", theme="ansi_dark", background_color="default").highlight(broken)
    shown.rstrip()
    for line in shown.split("\n"):
        console.print(" " * indent, line, sep="", no_wrap=True, overflow="ignore", crop=False)


def _print_rows(
    rows: Iterable[tuple[str, str]], console: Console, styles: Mapping[str, str] | None = None
) -> None:
    """Print labels with their texts, which wrap beside them."""
    listed = list(rows)
    room = max((len(label) for label, _ in listed), default=0) + 2
    for label, text in listed:
        lines = wrap(words.plain(text), max(console.width - room, 20), break_on_hyphens=False) or [""]
        for name, line in zip_longest([label], lines, fillvalue=""):
            console.print(Text.assemble(name.ljust(room), (line, (styles or {}).get(label, ""))))


def print_observed(found: Observed, console: Console) -> None:
    """Print each kind of program that depends on how it is observed, what is unexplained, and the
    counts.
    """
    for kind in found.kinds:
        others = f" and {kind.alike - 1:,} more" if kind.alike > 1 else ""
        print_divergence(replace(kind, alike=1), console, f"{kind.where}{others}: explained")
    for finding in found.unexplained:
        print_divergence(finding, console, f"{finding.where}: unexplained")
    for crash in words.unknown_first(found.crashes):
        print_crash(crash, console)
    for complaint in found.broken:
        console.print(Text(words.plain(complaint), style="red"))
    t = found.totals
    rows = {
        "programs": f"{t.programs:,}: {t.agree:,} agree however they are observed, "
        f"{t.known + t.diverge:,} do not, {t.incomparable:,} incomparable, "
        + words.crash_count(t.crashed, found.crashes),
        "explained": f"{t.known:,}, of {len(found.kinds)} kinds; {t.diverge:,} unexplained",
        "facts": f"{t.compared:,} compared",
        "seed": f"{found.seed}, source {found.source}",
        "versions": words.versions_line(found.versions),
    }
    console.print()
    _print_rows(rows.items(), console)
