"""The page to step through a script: one file that asks for nothing else, not even Graphviz.

`page.html` is its frame, `page.css` its looks, `page.js` its conduct; Graphviz's build in JavaScript lays out
its pictures. What the page shows is put together here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from typing import Any

from conformance.explanation.as_json import as_json
from conformance.explanation.pictures.dot import statements
from conformance.explanation.pictures.moments import Moment, moments
from conformance.explanation.pictures.palette import recoloured, variables
from conformance.explanation.pictures.scene import Scene, scene_of
from conformance.explanation.pictures.shown import change_shown, cut, short, shown
from conformance.explanation.pictures.source import coloured
from conformance.explanation.pictures.svg import ENGINE, FONT
from conformance.explanation.value import ExecutedLine, Mishap, Story
from specs.rule import RULES

_ROW_ENDS = re.compile("(?<=</tr>)")

MOST = 300
"""The most steps of a page."""
LONGEST = 2000
"""The most characters of a message, a printed text or a line."""


def as_page(found: Story, line: int | None = None) -> str:
    """Return the page, which opens at the last step of ``line``, or at the first step."""
    listed = moments(found)
    kept = _kept(listed)
    told: Story = found
    if len(kept) < len(listed):
        numbers = {moment.step.number for moment in kept}
        told = replace(found, steps=tuple(step for step in found.steps if step.number in numbers))
        told = replace(told, steps=tuple(map(_pruned, told.steps)))
    start = next((at for at in reversed(range(len(kept))) if kept[at].line == line), 0)
    view = _View(kept).form(found)
    view["start"] = start
    left_out = len(listed) - len(kept)
    parts = {
        "title": escape(cut(found.script, 60)),
        "light": variables(False),
        "dark": variables(True),
        "style": _own("page.css") + recoloured() + f"\nsvg.graph text{{font-family:{FONT}}}",
        "ending": _ending(found, left_out, len(listed)),
        "source": "".join(_source(found, kept)),
        "legend": _own("legend.html"),
        "text": escape(cut(str(found), 100_000)),
        "explanation": _embedded(as_json(told)),
        "view": _embedded(view),
        "engine": _own(ENGINE),
        "script": _own("page.js"),
    }
    return re.sub(r"<!--(\w+)-->", lambda mark: parts[mark[1]], _own("page.html"))


def _own(name: str) -> str:
    return (files(__package__) / name).read_text("utf-8")


def _embedded(value: Any) -> str:
    """Return JSON that no text in it can end."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return text.replace("</", "<\\/").replace("<!", "\\u003c!")


def _kept(listed: Sequence[Moment]) -> list[Moment]:
    """Return the moments of a page: of a long run those that matter, and of the rest the first and last."""
    if len(listed) <= MOST:
        return list(listed)
    first = {at for at, m in enumerate(listed) if m.mishaps or m.step.passes <= 2}
    rest = [at for at in range(len(listed)) if at not in first]
    chosen = sorted(first)[: MOST - MOST // 4]
    room = MOST - len(chosen)
    chosen += rest[: room // 2] + rest[len(rest) - (room - room // 2) :]
    return [listed[at] for at in sorted({*chosen, len(listed) - 1})]


def _pruned(step: ExecutedLine) -> ExecutedLine:
    """Return a step without the nodes that nothing leads to any more."""
    known = step.graph()
    known |= {run.node: step.nodes[run.node] for run in step.ran if run.node in step.nodes}
    return replace(step, nodes=known)


def _ending(found: Story, left_out: int, of: int) -> str:
    notes = [found.note] if found.note else []
    if left_out:
        notes.append(
            f"{of - left_out:,} of {of:,} steps are shown: the first passes of each line, errors "
            "and warnings, and the end"
        )
    return "".join(f'<p class="note">{escape(cut(note, LONGEST))}</p>' for note in notes)


def _source(found: Story, kept: Sequence[Moment]) -> Iterator[str]:
    """Give the lines of the script, those that ran as links, with what went wrong below them."""
    ran = {moment.line for moment in kept}
    mishaps = [mishap for moment in kept for mishap in moment.mishaps]
    for at, text in enumerate(coloured([cut(line, LONGEST) for line in found.source]), 1):
        inner = f'<span class="no">{at}</span><code>{text or " "}</code>'
        inner = f'<a href="#" draggable="false">{inner}</a>' if at in ran else f"<div>{inner}</div>"
        yield f'<li data-line="{at}">{inner}'
        for mishap in dict.fromkeys(mishap for mishap in mishaps if mishap.line == at):
            yield _mishap(found, mishap)
        yield "</li>"


def _mishap(found: Story, mishap: Mishap) -> str:
    kind = "warning" if mishap.kind.endswith("Warning") else "error"
    parts = [f"<p><strong>{escape(mishap.kind)}</strong> {escape(cut(mishap.message, LONGEST))}</p>"]
    if mishap.tensors:
        parts.append(f"<p>It is about <code>{escape(', '.join(mishap.tensors))}</code>.</p>")
    if mishap.rule:
        statement = escape(RULES[mishap.rule].statement)
        parts.append(f'<p>{statement} <code class="rule">{escape(mishap.rule)}</code></p>')
    if mishap.sentence:
        parts.append(f"<p>{escape(mishap.sentence)}</p>")
    if mishap.causes:
        lines = (
            f'<a href="#" data-to="{line}">line {line}</a> '
            f"<code>{escape(cut(found.text_of(line), 80))}</code>"
            for line in mishap.causes
        )
        parts.append(f"<p>Caused by {', '.join(lines)}.</p>")
    if mishap.cure:
        parts.append(f'<p class="cure"><strong>Cure</strong> {escape(mishap.cure)}</p>')
    return f'<div class="mishap {kind}" role="note">{"".join(parts)}</div>'


def _told(mishap: Mishap) -> dict[str, Any]:
    return {
        "kind": mishap.kind,
        "message": cut(mishap.message, LONGEST),
        "rule": mishap.rule,
        "statement": RULES[mishap.rule].statement if mishap.rule else "",
        "sentence": mishap.sentence,
        "causes": list(mishap.causes),
        "cure": mishap.cure,
    }


class _View:
    """The contents of a page, with equal parts held once."""

    def __init__(self, kept: Sequence[Moment]) -> None:
        self.kept = kept
        self.statements: dict[str, int] = {}
        self.fragments: dict[str, int] = {}
        self.boxes: dict[str, int] = {}

    def form(self, found: Story) -> dict[str, Any]:
        """Return it as JSON."""
        listed = [self._moment(moment) for moment in self.kept]
        rules = dict.fromkeys(rule for moment in listed for rule in moment["because"])
        return {
            "moments": listed,
            "statements": [
                [self.fragments.setdefault(part, len(self.fragments)) for part in _ROW_ENDS.split(text)]
                for text in self.statements
            ],
            "fragments": list(self.fragments),
            "boxes": [json.loads(box) for box in self.boxes],
            "rules": {rule: RULES[rule].statement for rule in rules if rule in RULES},
        }

    def _moment(self, moment: Moment) -> dict[str, Any]:
        step = moment.step
        scene = scene_of(moment)
        drawn = statements(moment) if scene.tensors or scene.nodes else ()
        return {
            "line": moment.line,
            "pass": step.passes,
            "function": step.function,
            "changes": [change_shown(step, change) for change in step.changes] if moment.own else [],
            "because": list(moment.because),
            "printed": cut(step.printed, LONGEST) if moment.own else "",
            "mishaps": [_told(mishap) for mishap in moment.mishaps],
            "way": [
                [short(step.nodes[run.node].name), [cut(shown(g)) for g in run.grads]]
                for run in step.ran[:MOST]
                if run.node in step.nodes
            ],
            "boxes": self._boxes(scene),
            "leftOut": scene.left_out,
            "dot": [self.statements.setdefault(part, len(self.statements)) for part in drawn],
        }

    def _boxes(self, scene: Scene) -> list[int]:
        forms = (
            json.dumps([
                box.title, box.kind, box.refused,
                [[fact.label, "\n".join(fact.lines), fact.changed] for fact in box.facts],
            ])
            for box in sorted(scene.tensors, key=lambda box: (box.title == "(unnamed)", box.number))
        )  # fmt: skip
        return [self.boxes.setdefault(form, len(self.boxes)) for form in forms]
