"""An explanation as text: the lines of the script in order, each told once, with what changed and why."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from conformance.explanation.value import Change, ExecutedLine, Mishap, Story
from conformance.explanation.words import at, fact_in_words, in_print, names, stated_by
from specs.rule import RULES

WIDTH = 80
MOST_PRINTED = 4
"""The lines of output that are shown for a line of the script."""


@dataclass
class Piece:
    """A run of text with the style in which a terminal shows it."""

    text: str
    style: str = ""


@dataclass
class _Group:
    """Changes alike in kind: the names that they are about, and the passes in which they came."""

    facts: tuple[str, ...]
    because: tuple[str, ...]
    names: list[str]
    passes: list[int] = field(default_factory=list)
    last: tuple[str, ...] = ()


def told(found: Story, width: int = WIDTH) -> str:
    """Return the whole explanation as text."""
    return "".join(piece.text for piece in pieces(found, width)).strip("\n")


def pieces(found: Story, width: int = WIDTH) -> Iterator[Piece]:
    """Give the explanation piece by piece, newlines included."""
    stated: dict[str, int] = {}
    by_line: dict[int, list[ExecutedLine]] = defaultdict(list)
    for step in found.steps:
        by_line[step.line].append(step)
    troubled: dict[int, list[Mishap]] = defaultdict(list)
    for mishap in found.mishaps:
        troubled[mishap.line].append(mishap)
    for line in sorted(by_line.keys() | troubled.keys()):
        body = list(_body(found, line, by_line[line], stated, width))
        body += [p for m in troubled[line] for p in _short(found, m)]
        if body:
            yield Piece(f"{line:>4}  ", "dim")
            yield Piece(f"{_cut(found.text_of(line), width - 6)}\n", "bold")
            yield from body
    for mishap in found.mishaps:
        if found.ending != "not modelled" or mishap is not found.error:
            yield Piece("\n")
            yield from mishap_pieces(found, mishap, width)
    if found.note:
        yield Piece("\n" + textwrap.fill(found.note, width) + "\n", "yellow")
    if found.ending == "finished" and not any(step.names or step.printed for step in found.steps):
        yield Piece("The script made no tensor that a name reaches.\n")


def _body(
    found: Story, line: int, steps: Sequence[ExecutedLine], stated: dict[str, int], width: int
) -> Iterator[Piece]:
    """Give what a line did: groups of changes with their rules, new names of old tensors, and output."""
    for group in _groups(steps):
        yield from _group(group, len(steps) > 1, width)
        yield from _rules(group.because, line, stated, width)
    yield from _aliases(found, steps, width)
    yield from _dropped(found, steps, width)
    printed = [text for step in steps for text in step.printed.splitlines()]
    for text in printed[:MOST_PRINTED]:
        yield Piece(f"      prints {_cut(text, width - 13)}\n", "cyan")
    if len(printed) > MOST_PRINTED:
        yield Piece(f"      ... {len(printed) - MOST_PRINTED} more lines of output\n", "cyan")


def _groups(steps: Sequence[ExecutedLine]) -> list[_Group]:
    """Gather the changes of a line's passes: tensors that changed alike, and passes that did the same."""
    groups: dict[tuple[object, ...], _Group] = {}
    for step in steps:
        by_name: dict[str, list[Change]] = defaultdict(list)
        for change in step.changes:
            by_name[change.name].append(change)
        alike: dict[tuple[object, ...], _Group] = {}
        for name, changes in by_name.items():
            facts = tuple(fact_in_words(change, step) for change in changes)
            because = tuple(dict.fromkeys(r for change in _order(changes) for r in change.because[:1]))
            key = (facts, because)
            alike.setdefault(key, _Group(facts, because, [])).names.append(name)
        for group in alike.values():
            kinds = tuple((c.fact, _sort(c)) for c in by_name[group.names[0]])
            known = groups.setdefault((tuple(group.names), kinds, group.because), group)
            known.passes.append(step.passes)
            known.last = group.facts
    return list(groups.values())


def _order(changes: Sequence[Change]) -> list[Change]:
    """Put the facts that people ask for first."""
    rank = ("grad", "is_leaf", "requires_grad", "grad_fn")
    return sorted(changes, key=lambda c: rank.index(c.fact) if c.fact in rank else len(rank))


def _sort(change: Change) -> object:
    """Return what of a change must be equal for two passes to count as alike."""
    if change.fact in ("grad", "version", "value", "base", "memory"):
        return change.after is None, change.before is None
    return change.after


def _group(group: _Group, repeated: bool, width: int) -> Iterator[Piece]:
    first, *more = group.passes
    when = f"in pass {first}, " if repeated and first > 1 else ""
    text = when + ", ".join(group.facts)
    if more:
        span = f"pass {more[0]}" if len(more) == 1 else f"passes {more[0]} to {more[-1]}"
        if more != list(range(more[0], more[-1] + 1)):
            span = f"{len(more)} more passes"
        end = ", ".join(now for was, now in zip(group.facts, group.last, strict=True) if was != now)
        text += f"; likewise in {span}{f', at last {end}' if end else ''}"
    yield Piece(_wrapped(f"{names(group.names)}: ", text, width))


def _rules(because: Sequence[str], line: int, stated: dict[str, int], width: int) -> Iterator[Piece]:
    """The rules behind a group, at most three: what they state where it was not said before."""
    for rule in because[:3]:
        if rule in stated:
            continue
        stated[rule] = line
        yield Piece(_wrapped("  because ", f"{stated_by(rule)} ({rule})", width), "green")
    known = [rule for rule in because[:3] if stated[rule] != line]
    if known:
        yield Piece(_wrapped("  because of ", ", ".join(known), width), "green")


def _aliases(found: Story, steps: Sequence[ExecutedLine], width: int) -> Iterator[Piece]:
    """New names of tensors that go by another name still."""
    for step in steps[:1]:
        before = found.steps[step.number - 1].names if step.number else {}
        for name, number in step.names.items():
            if before.get(name) == number or number not in before.values() or "." in name or "[" in name:
                continue
            other = next((n for n in step.named(number) if n != name and before.get(n) == number), None)
            if other and "." not in other:
                yield Piece(_wrapped(f"{name}: ", f"another name of {other}, the same tensor", width))


def _dropped(found: Story, steps: Sequence[ExecutedLine], width: int) -> Iterator[Piece]:
    """The leaves without a name that a backward of the line filled."""
    for step, run in ((first, run) for first in steps[:1] for run in first.ran):
        node = step.nodes.get(run.node)
        state = step.tensors.get(node.variable or 0) if node else None
        if node and state and state.is_leaf and state.grad is not None and not step.named(state.number):
            made = next((s.line for s in found.steps if s.number >= state.made), 0)
            where = f" of line {made}" if made else ""
            text = f"the gradient {in_print(state.grad_value)} went to a leaf{where} that nothing names"
            yield Piece(_wrapped("", text, width), "yellow")


def _short(found: Story, mishap: Mishap) -> Iterator[Piece]:
    verb, _, colour = _sort_of(found, mishap)
    yield Piece(f"      {verb}: see below\n", colour)


def _sort_of(found: Story, mishap: Mishap) -> tuple[str, str, str]:
    """Return what the line does, what that is called, and its colour."""
    if mishap in found.warnings:
        return "warns", "warning", "yellow"
    if mishap in found.caught:
        return "fails, which the script catches", "error caught", "red"
    return "fails", "error", "red"


def mishap_pieces(found: Story, mishap: Mishap, width: int = WIDTH) -> Iterator[Piece]:
    """An error or a warning: torch's words, the tensors, the rule, what caused it, and the cure."""
    _, kind, colour = _sort_of(found, mishap)
    yield Piece(f"{kind} at {at(found, mishap.line)}\n", f"bold {colour}")
    message = " ".join(mishap.message.split())
    yield Piece(_wrapped("  ", f"{mishap.kind}: {message}".rstrip(": "), width, 2), colour)
    if mishap.tensors:
        yield Piece(_wrapped("  tensor   ", names(mishap.tensors), width, 0))
    if mishap.rule:
        text = f"{RULES[mishap.rule].statement} ({mishap.rule})"
        yield Piece(_wrapped("  rule     ", text, width, 0), "green")
    if mishap.sentence:
        yield Piece(_wrapped("  here     ", mishap.sentence, width, 0))
    for number, line in enumerate(mishap.causes[:3]):
        yield Piece(_wrapped("  caused at " if not number else "  and at   ", at(found, line), width, 0))
    if mishap.again:
        passes = "another pass" if mishap.again == 1 else f"{mishap.again} more passes"
        yield Piece(_wrapped("  again    ", f"in {passes} of this line", width, 0))
    if mishap.cure:
        yield Piece(_wrapped("  cure     ", mishap.cure, width, 0), "bold")


def _wrapped(head: str, text: str, width: int, indent: int = 6) -> str:
    lead = " " * (indent + len(head) - len(head.lstrip()))
    hang = " " * min(indent + max(len(head), 4), 16) if head.strip() else " " * (indent + 2)
    if head.strip().endswith(":"):
        hang = " " * (indent + 4)
    return (
        textwrap.fill(
            head.lstrip() + text,
            width,
            initial_indent=lead,
            subsequent_indent=hang,
            break_on_hyphens=False,
            break_long_words=False,
        )
        + "\n"
    )


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 3, 1)] + "..."


def mishap_told(found: Story, mishap: Mishap) -> str:
    """Return an error or a warning as text."""
    return "".join(piece.text for piece in mishap_pieces(found, mishap)).rstrip("\n")
