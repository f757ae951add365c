"""The reports for people: a scorecard by chapter and rule, then the first divergences with a because and a
script; and the programs whose result depends on how they are observed.

Only layout and colour; the words stand in ``conformance.report.words``, what they say in
``conformance.report.value``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import groupby

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from conformance.report import words
from conformance.report.value import Crash, Finding, Observed, Report, RuleResult, Status, Verdict

STYLES = {
    Status.HELD: "green",
    Status.BROKEN: "bold red",
    Status.SUSPECT: "yellow",
    Status.FLAKY: "magenta",
    Status.UNSUPPORTED: "cyan",
    Status.BLOCKED: "blue",
    Status.NOT_EXERCISED: "dim",
}


def print_report(report: Report, console: Console, *, first: int = 3, rules: bool = True) -> None:
    """Print the scorecard, the ``first`` divergences and crashes, and the verdict."""
    console.print(scorecard(report, rules=rules))
    for finding in report.findings[:first]:
        console.print(divergence_panel(finding))
    for crash in words.unknown_first(report.crashes)[:first]:
        console.print(crash_panel(crash))
    for departure in words.known_divergences(report):
        console.print(Text(f"on record: {departure}", style="dim"))
    for unexercised in words.not_exercised(report):
        console.print(Text(f"not exercised: {unexercised}", style="dim"))
    for complaint in report.broken:
        console.print(Text(f"adapter: {complaint}", style="red"))
    console.print(summary(report), soft_wrap=True)


def scorecard(report: Report, *, rules: bool = True) -> Table:
    """One row a chapter and, below it, one a rule; the columns count rules by status."""
    table = Table(title=words.title(report), title_style="bold")
    table.add_column("chapter / rule", no_wrap=True)
    for status in Status:
        table.add_column(str(status), justify="right", style=STYLES[status])
    table.add_column("fired", justify="right")
    table.add_column("compared", justify="right")
    for chapter, group in groupby(report.rules.values(), key=lambda rule: rule.chapter):
        members = list(group)
        _count_row(table, Text(chapter, style="bold"), members)
        for rule in members if rules else ():
            marks = ["\N{BULLET}" if rule.status is status else "" for status in Status]
            name = Text("  " + rule.id.partition("/")[2], style=STYLES[rule.status])
            table.add_row(name, *marks, f"{rule.fired:,}", f"{rule.compared:,}")
        table.add_section()
    _count_row(table, Text("all", style="bold"), report.rules.values())
    return table


def _count_row(table: Table, name: Text, rules: Iterable[RuleResult]) -> None:
    members = list(rules)
    counts = [sum(rule.status is status for rule in members) for status in Status]
    table.add_row(name, *(str(n) if n else "" for n in counts), "", "", style="bold")


def divergence_panel(finding: Finding, title: str | None = None) -> RenderableType:
    """One divergence: what was expected and seen, why, and the script that shows it under torch."""
    styles = {"at": "bold", finding.sides[0]: "green", finding.sides[1]: "red"}
    if not finding.because:
        styles["because"] = "dim"
    facts = Table.grid(padding=(0, 2))
    for label, said in words.divergence(finding):
        facts.add_row(escape(label), Text(said, style=styles.get(label, "")))
    return Panel(
        Group(facts, _script(finding.script)), title=title or words.heading(finding), title_align="left"
    )


def crash_panel(crash: Crash) -> RenderableType:
    """One crash: which side, what it died of, and whether that is on record."""
    record = Text(words.on_record(crash), style="dim" if crash.known else "bold red")
    body = Group(Text(words.death(crash)), record, _script(crash.script))
    return Panel(body, title=words.heading(crash), title_align="left")


def _script(script: str) -> RenderableType:
    return Padding(
        Syntax(script.rstrip("\n"), "python", theme="ansi_dark", background_color="default"), (1, 0, 0, 2)
    )


def summary(report: Report) -> RenderableType:
    """The counts that say how much the verdict rests on, and the verdict."""
    style = "bold green" if report.verdict is Verdict.CONFORMS else "bold red"
    return Group(_labelled(words.counts(report)), Text(f"\n{words.verdict(report)}", style=style))


def _labelled(rows: Mapping[str, str]) -> Text:
    return Text("\n".join(f"{label:<10} {said}" for label, said in rows.items()))


def print_observed(found: Observed, console: Console) -> None:
    """Print each kind of program that depends on how it is observed, what is unexplained, and the
    counts.
    """
    for kind in found.kinds:
        others = f" and {kind.alike - 1:,} more" if kind.alike > 1 else ""
        console.print(divergence_panel(replace(kind, alike=1), title=f"{kind.where}{others}: explained"))
    for finding in found.unexplained:
        console.print(divergence_panel(finding, title=f"{finding.where}: unexplained"))
    for crash in words.unknown_first(found.crashes):
        console.print(crash_panel(crash))
    for complaint in found.broken:
        console.print(Text(complaint, style="red"))
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
    console.print(_labelled(rows), soft_wrap=True)
