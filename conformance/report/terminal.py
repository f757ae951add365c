"""The reports for people: a scorecard by chapter and rule, then the first divergences with a because and a
script; and the programs that come out otherwise for being looked at.

Only words and layout; what they say stands in ``conformance.report.value``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from conformance.report.value import Crash, Finding, Observed, Replayed, Report, RuleResult, Status, Verdict

STYLES = {
    Status.HELD: "green",
    Status.BROKEN: "bold red",
    Status.SUSPECT: "yellow",
    Status.FLAKY: "magenta",
    Status.UNSUPPORTED: "cyan",
    Status.NOT_EXERCISED: "dim",
}
VERDICTS = {
    Verdict.CONFORMS: ("bold green", "conforms"),
    Verdict.NONCONFORMANCE: ("bold red", "does not conform"),
    Verdict.BROKEN_ADAPTER: ("bold red", "broken adapter: it could not be graded"),
    Verdict.BROKEN_SUITE: (
        "bold red",
        "broken suite: the reference and torch disagree, nobody else is blamed",
    ),
}
BLAMES = {
    Verdict.NONCONFORMANCE: "the implementation differs",
    Verdict.BROKEN_SUITE: "the suite is at fault",
    Verdict.BROKEN_ADAPTER: "the adapter is at fault",
}


def show(report: Report, console: Console, *, first: int = 3, rules: bool = True) -> None:
    """Print the scorecard, the ``first`` divergences and crashes, and the verdict."""
    console.print(scorecard(report, rules=rules))
    for finding in report.findings[:first]:
        console.print(divergence(finding))
    for crash in [*report.unknown_crashes, *(c for c in report.crashes if c.known)][:first]:
        console.print(crashed(crash))
    for rule, programs in report.known.items():
        console.print(Text(f"on record: torch departs from {rule} in {programs:,} programs", style="dim"))
    for complaint in report.broken:
        console.print(Text(f"adapter: {complaint}", style="red"))
    console.print(summary(report), soft_wrap=True)


def scorecard(report: Report, *, rules: bool = True) -> Table:
    """One row a chapter and, below it, one a rule; the columns count rules by status."""
    table = Table(
        title=f"{report.subject.name} {report.subject.version} against {report.against}", title_style="bold"
    )
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


def divergence(finding: Finding, title: str | None = None) -> RenderableType:
    """One divergence: what was expected and seen, why, and the script that shows it under torch."""
    facts = Table.grid(padding=(0, 2))
    facts.add_row("at", f"[bold]{escape(finding.line)}[/bold]")
    facts.add_row("fact", escape(f"{finding.name}.{finding.fact}" if finding.name else finding.fact))
    facts.add_row(escape(finding.sides[0]), f"[green]{escape(finding.expected)}[/green]")
    facts.add_row(escape(finding.sides[1]), f"[red]{escape(finding.actual)}[/red]")
    facts.add_row("because", escape(", ".join(finding.because)) or "[dim]no rule fired there[/dim]")
    if finding.downstream:
        facts.add_row("downstream", f"{finding.downstream} later differences follow from it")
    if finding.alike > 1:
        facts.add_row("alike", f"{finding.alike} programs differ in this way")
    blame = "flaky: a repetition differed" if finding.flaky else BLAMES.get(finding.blames, "")
    title = title or f"{finding.where}: {blame}"
    return Panel(Group(facts, _script(finding.script)), title=title, title_align="left")


def crashed(crash: Crash) -> RenderableType:
    """One crash: which side, what it died of, and whether that is on record."""
    known = (
        Text(f"known: {crash.known}", style="dim") if crash.known else Text("not on record", style="bold red")
    )
    alike = f" ({crash.alike} programs)" if crash.alike > 1 else ""
    body = Group(Text(f"{crash.error}{alike}"), known, _script(crash.script))
    return Panel(body, title=f"{crash.where}: {crash.side} crashed", title_align="left")


def _script(script: str) -> RenderableType:
    return Padding(
        Syntax(script.rstrip("\n"), "python", theme="ansi_dark", background_color="default"), (1, 0, 0, 2)
    )


def summary(report: Report) -> RenderableType:
    """The counts that say how much the verdict rests on, and the verdict."""
    t = report.totals
    share = f"{t.error_steps / t.steps:.1%}" if t.steps else "none"
    known = sum(crash.alike for crash in report.crashes if crash.known)
    departed = f"{t.known:,} diverge as is on record, " if t.known else ""
    lines = [
        f"cases      {report.cases.get('held', 0)} held, {report.cases.get('broken', 0)} broken, "
        f"{report.cases.get('unsupported', 0)} unsupported",
        f"programs   {t.programs:,}: {t.agree:,} agree, {t.diverge:,} diverge, {departed}"
        f"{t.incomparable:,} incomparable, {t.crashed:,} crashed" + (f" ({known:,} known)" if known else ""),
        f"steps      {t.steps:,}, of them refused {share}",
        f"facts      {t.compared:,} compared, {t.unseen:,} unseen",
        *(
            map(_recording, report.recordings)
            if report.recordings
            else [f"seed       {report.seed}, source {report.source}, device {report.device}"]
        ),
        "versions   " + ", ".join(f"{name} {version}" for name, version in report.versions.items()),
    ]
    if report.times:
        lines.append("times      " + ", ".join(f"{name} {s:.1f} s" for name, s in report.times.items()))
    style, words = VERDICTS[report.verdict]
    return Group(Text("\n".join(lines)), Text(f"\n{report.subject.name} {words}", style=style))


def _recording(used: Replayed) -> str:
    """A recording that took torch's place: where it comes from, and how much of it was used."""
    device = ", ".join(filter(None, (used.device, used.device_name, used.driver and f"driver {used.driver}")))
    stale = f", {used.stale:,} of another text: record again" if used.stale else ""
    return (
        f"recorded   torch {used.torch} ({device}): {used.cases:,} cases, {used.programs:,} programs{stale}"
    )


def show_observed(found: Observed, console: Console) -> None:
    """Print each kind of program that comes out otherwise for being looked at, what is unexplained, and the
    counts.
    """
    for kind in found.kinds:
        others = f" and {kind.alike - 1:,} more" if kind.alike > 1 else ""
        console.print(divergence(replace(kind, alike=1), title=f"{kind.where}{others}: explained"))
    for finding in found.unexplained:
        console.print(divergence(finding, title=f"{finding.where}: unexplained"))
    for crash in (*found.unknown_crashes, *(c for c in found.crashes if c.known)):
        console.print(crashed(crash))
    for complaint in found.broken:
        console.print(Text(complaint, style="red"))
    t = found.totals
    known = sum(crash.alike for crash in found.crashes if crash.known)
    lines = [
        f"programs   {t.programs:,}: {t.agree:,} come out alike however they are looked at, "
        f"{t.known + t.diverge:,} do not, {t.incomparable:,} incomparable, {t.crashed:,} crashed"
        + (f" ({known:,} known)" if known else ""),
        f"explained  {t.known:,}, of {len(found.kinds)} kinds; {t.diverge:,} unexplained",
        f"facts      {t.compared:,} compared",
        f"seed       {found.seed}, source {found.source}",
        "versions   " + ", ".join(f"{name} {version}" for name, version in found.versions.items()),
    ]
    console.print(Text("\n".join(lines)), soft_wrap=True)
