"""Printing explanations: the layout is that of `conformance.explanation.text`, in colour on a terminal."""

from __future__ import annotations

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from conformance.cli.screen import console
from conformance.cli.trouble import Trouble
from conformance.explanation.explanation import Explanation
from conformance.explanation.on_torch import Beside, told_beside
from conformance.explanation.search import rules_saying
from conformance.explanation.text import WIDTH, pieces
from specs.rule import Rule

WIDEST = 110
"""The columns that are used on a wide terminal."""


def print_explanation(found: Explanation) -> None:
    """Print the whole explanation."""
    out = console()
    text = Text()
    for piece in pieces(found, max(min(out.width, WIDEST), WIDTH // 2)):
        text.append(printable(piece.text), style=piece.style)
    text.rstrip()
    while text.plain.startswith("\n"):
        text = text[1:]
    out.print(text, soft_wrap=True)


def print_answer(answer: str) -> None:
    """Print the answer to a question, wrapped; its cure stands out."""
    out = console()
    out.width = min(out.width, WIDEST)
    for paragraph in answer.split("\n"):
        sentence, cure, rest = paragraph.partition("Cure")
        out.print(Text(printable(sentence.rstrip() if cure else sentence)))
        if cure:
            out.print(Text(printable(cure + rest), style="bold"))


def print_beside(beside: Beside) -> None:
    """Print what torch says to an explanation."""
    out = console()
    out.print()
    for line in told_beside(beside):
        out.print(Text(printable(line), style="red" if beside.disagreements else ""))


def print_rules_saying(message: str) -> None:
    """Print the rules by which torch says a message, each with its cure; raises Trouble if none does."""
    found = rules_saying(message)
    if not found:
        raise Trouble("no rule has these words", "paste torch's message, or ask `rules` in words of your own")
    for rule in found:
        print_rule(rule)


def print_rule(rule: Rule) -> None:
    """Print a rule for who met it: what torch says, why, and the cure."""
    out = console()
    out.width = min(out.width, WIDEST)
    out.print(Text(rule.id, style="bold"))
    facts = Table.grid(padding=(0, 2))
    rows = {
        "torch says": f"{rule.error}: {rule.torch_says}" if rule.torch_says else "",
        "because": rule.statement,
        "cure": rule.cure.format(tensor="x") if rule.cure else "",
        "torch": " and ".join(f"{w.torch}: {w.pattern}" for w in rule.wordings)
        if not rule.torch_says
        else "",
    }
    for heading, words in rows.items():
        if words:
            facts.add_row(Text(heading, style="dim"), Text(words))
    out.print(Padding(facts, (0, 0, 1, 2)))


def printable(text: str) -> str:
    """Return text without the control characters that a script may print."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)
