"""``rules``: list the rules, or show one with its citations, cases and counts. The rules live in
``specs/rules``.
"""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.adapters import load
from conformance.cli.explained import print_rule
from conformance.cli.loading import number_option
from conformance.cli.screen import console
from conformance.cli.trouble import Trouble
from conformance.explanation.search import rules_about
from conformance.grading.selection import NothingSelected, select
from conformance.grading.sources import ever_fired, firings
from conformance.report.terminal import print_code
from specs.case import Case, cases
from specs.rule import Rule


def rules(
    glob: Annotated[
        str, typer.Argument(metavar="GLOB", help="Which rules, e.g. 'view/*', or a question in words.")
    ] = "*",
    programs: Annotated[
        int, number_option("programs", "For one rule: count how often it fires in so many drawn programs.")
    ] = 500,
    never_fired: Annotated[
        bool, typer.Option("--never-fired", help="List those that so many drawn programs never fire.")
    ] = False,
) -> None:
    """List the rules, or show the one that GLOB names: statement, citations, cases as they stand, and
    counts. A GLOB with a blank is a question or a message of torch: the rules that it is about are listed.
    With --never-fired, rules that --programs drawn programs do not reach are listed, each with the reason.
    """
    if " " in glob.strip():
        _answer(glob, console())
        return
    chosen = matching(glob)
    if never_fired:
        _list_never_fired(chosen, console(), programs)
    elif len(chosen) == 1:
        _show(chosen[0], console(), programs)
    else:
        _list(chosen, console())


def matching(glob: str) -> list[Rule]:
    """The rules that a glob selects, in the order of the chapters."""
    try:
        return select(glob)
    except NothingSelected as none:
        raise Trouble(none.problem, none.hint) from none


def _answer(question: str, out: Console) -> None:
    """List the rules that a question is about, the likeliest first."""
    found = rules_about(question)
    if not found:
        raise Trouble("no rule is about that", "say it in PyTorch's terms, or list a chapter: rules 'grad/*'")
    for rule in found:
        print_rule(rule)


def witnesses(rule: str) -> list[Case]:
    """The cases whose docstring names the rule."""
    return [case for case in cases() if rule in case.rules]


def _list(chosen: list[Rule], out: Console) -> None:
    for rule in chosen:
        facts = [f"{len(witnesses(rule.id))} cases", *filter(None, [_kind(rule)])]
        out.print(Text.assemble((rule.id, "bold"), (f"  {', '.join(facts)}", "dim")))
        out.print(Padding(Text(rule.statement), (0, 0, 0, 4)))
    out.print(f"\n{len(chosen)} rules")


def _list_never_fired(chosen: list[Rule], out: Console, programs: int) -> None:
    """List the rules that drawn programs do not reach; cases witness them all the same."""
    here = load("reference").torch
    fired = ever_fired(programs)
    never = [rule for rule in chosen if rule.id not in fired]
    for rule in never:
        out.print(Text.assemble((rule.id, "bold"), (f"  {_why_never(rule, here)}", "dim")))
    out.print(f"\n{len(never)} of {len(chosen)} rules never fire in {programs:,} programs (PRNG, seed 0)")


def _why_never(rule: Rule, torch: str) -> str:
    """Return why a rule may not fire in programs, as far as the rule itself tells."""
    if not rule.holds_for(torch):
        return f"not in force for torch {torch}"
    if rule.id.startswith("device/"):
        return "needs a device"
    return "too rare for so many programs" if rule.in_programs else "library: cases alone need reach it"


def _kind(rule: Rule) -> str:
    return f"refuses ({rule.error})" if rule.refuses else "warns" if rule.warns else ""


def _show(rule: Rule, out: Console, programs: int) -> None:
    found = witnesses(rule.id)
    fired, reached = firings(rule.id, programs)
    facts = Table.grid(padding=(0, 2))
    rows = {
        "states": rule.statement,
        "catches": rule.catches,
        "cure": rule.cure.format(tensor="the tensor") if rule.cure else "",
        "kind": _kind(rule),
        "level": rule.level,
        "torch": f">={rule.since}" + (f", <{rule.until}" if rule.until else ""),
        "depends": ", ".join(rule.depends),
        "torch does": f"{rule.departs.what} (torch{rule.departs.torch}; {rule.departs.issue})"
        if rule.departs
        else "",
        "cites": "\n".join(rule.cites),
        "says": rule.says,
        "wordings": "\n".join(f"torch{wording.torch}: {wording.pattern}" for wording in rule.wordings),
        "fires": f"{fired:,} times in {reached:,} of {programs:,} drawn programs (PRNG, seed 0)"
        if programs
        else "",
        "cases": str(len(found)),
    }
    for heading, words in rows.items():
        if words:
            facts.add_row(Text(heading, style="dim"), Text(words))
    out.print(Text(rule.id, style="bold"), facts, sep="\n")
    helpers = dict.fromkeys(helper for case in found for helper in case.helpers)
    for text in (*helpers, *(case.text for case in found)):
        out.print()
        print_code(text, out, indent=2)
