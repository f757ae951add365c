"""An explanation as a notebook shows it: the lines with what changed and why, and the last picture.

Its styles are its own: each selector begins with its class, and colours follow the notebook's.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from conformance.explanation.pictures.moments import Moment, moments
from conformance.explanation.pictures.shown import change_shown, cut, printable
from conformance.explanation.pictures.svg import NoLayout, as_svg
from conformance.explanation.value import Mishap, Story
from specs.rule import RULES

MOST = 120
"""The most steps that are told."""
LONGEST = 300
"""The most characters of a fact or a line."""

Label = Callable[[int], str]
"""The words for a line of the script."""

_STYLE = """
.agc-explanation{font-size:14px;line-height:1.5;max-width:72em}
.agc-explanation ol{list-style:none;margin:0;padding:0}
.agc-explanation li{margin:0 0 .5em;padding:0}
.agc-explanation code{font-family:var(--jp-code-font-family,monospace);padding:0}
.agc-explanation code{background:none;color:inherit}
.agc-explanation code,.agc-explanation pre{overflow-wrap:anywhere}
.agc-explanation .agc-line{display:inline-block;min-width:4em;opacity:.75}
.agc-explanation .agc-code{font-weight:600}
.agc-explanation .agc-facts,.agc-explanation .agc-because{padding-left:4em;overflow-wrap:anywhere}
.agc-explanation mark{background:rgba(255,200,0,.28);color:inherit;padding:0 .3em;border-radius:3px}
.agc-explanation .agc-because{opacity:.85;font-size:.93em}
.agc-explanation .agc-mishap{border-left:4px solid #b58900;margin:.5em 0;padding:.25em .75em}
.agc-explanation .agc-mishap{overflow-wrap:anywhere}
.agc-explanation .agc-error{border-color:#d1242f}
.agc-explanation .agc-mishap p{margin:0}
.agc-explanation pre{margin:0;padding-left:4em;background:none;color:inherit;white-space:pre-wrap}
.agc-explanation img{max-width:100%;max-height:48em;border-radius:8px}
.agc-explanation summary{cursor:pointer}
"""


def as_summary(found: Story, first: int = 1, label: Label = "line {}".format) -> str:
    """Return the explanation as HTML for a notebook, from the line ``first`` on."""
    listed = list(_worth_telling(found, first))
    steps = [_step(found, moment, label) for moment in listed]
    if len(steps) > MOST:
        skipped = f"<li>({len(steps) - MOST:,} more steps changed something in between)</li>"
        steps = [*steps[: MOST // 2], skipped, *steps[-MOST // 2 :]]
    parts = [f"<style>{_STYLE}</style><ol>", *steps, "</ol>"]
    if found.note:
        parts.append(f'<div class="agc-mishap">{escape(relabelled(found.note, label))}</div>')
    if listed:
        parts.append(_picture(found, moments(found)[-1], label))
    return f'<div class="agc-explanation">{"".join(parts)}</div>'


def relabelled(text: str, label: Label) -> str:
    """Return a text in which each line of the script goes by its label."""
    return re.sub(r"\bline (\d+)\b", lambda mark: label(int(mark[1])), text)


def as_plain(found: Story, first: int = 1, label: Label = "line {}".format) -> str:
    """Return the same as text."""
    lines: list[str] = []
    for moment in _worth_telling(found, first):
        step = moment.step
        lines.append(f"{label(moment.line)}  {printable(cut(found.text_of(moment.line), LONGEST))}")
        if moment.own:
            for change in step.changes:
                name, fact, _, after = change_shown(step, change)
                lines.append(f"    {name}.{fact} = {cut(after, LONGEST)}")
            lines += [f"    because {RULES[rule].statement} ({rule})" for rule in moment.because]
            lines += [f"    prints {text}" for text in step.printed.splitlines()[:40]]
        for mishap in moment.mishaps:
            lines.append(f"    {mishap.kind}: {mishap.message}")
            if mishap.rule:
                lines.append(f"    {RULES[mishap.rule].statement} ({mishap.rule})")
            if mishap.sentence:
                lines.append(f"    {relabelled(mishap.sentence, label)}")
            lines += [f"    caused by {label(line)} `{found.text_of(line)}`" for line in mishap.causes]
            if mishap.cure:
                lines.append(f"    cure: {mishap.cure}")
    return "\n".join([*lines, *filter(None, [relabelled(found.note, label)])])


def _worth_telling(found: Story, first: int) -> Iterator[Moment]:
    """Give the moments from a line on, without passes that change the same as the one before."""
    last: dict[int, Any] = {}
    for moment in moments(found):
        step = moment.step
        if moment.line < first and not moment.error:
            continue
        alike = [(change.name, change.fact, change.because) for change in step.changes]
        again = step.passes > 1 and (not alike or last.get(step.line) == alike)
        if moment.mishaps or not again:
            last[step.line] = alike
            yield moment


def _step(found: Story, moment: Moment, label: Label) -> str:
    parts = [_heading(found, moment, label)]
    if moment.own:
        parts += _told(moment)
    parts += [_mishap(found, mishap, label) for mishap in moment.mishaps]
    return f"<li>{''.join(parts)}</li>"


def _heading(found: Story, moment: Moment, label: Label) -> str:
    passes = f" <small>pass {moment.step.passes}</small>" if moment.step.passes > 1 else ""
    code = escape(printable(cut(found.text_of(moment.line), LONGEST)))
    return (
        f'<span class="agc-line">{escape(label(moment.line))}</span> '
        f'<code class="agc-code">{code}</code>{passes}'
    )


def _told(moment: Moment) -> Iterator[str]:
    step = moment.step
    for change in step.changes:
        name, fact, _, after = (escape(cut(text, LONGEST)) for text in change_shown(step, change))
        yield f'<div class="agc-facts"><code>{name}.{fact}</code> <mark><code>{after}</code></mark></div>'
    for rule in moment.because:
        statement = escape(RULES[rule].statement)
        yield f'<div class="agc-because">because {statement} <code>({escape(rule)})</code></div>'
    if step.printed:
        yield f"<pre>{escape(cut(step.printed, 2000))}</pre>"


def _mishap(found: Story, mishap: Mishap, label: Label) -> str:
    error = "" if mishap.kind.endswith("Warning") else " agc-error"
    parts = [f"<p><strong>{escape(mishap.kind)}</strong> {escape(cut(mishap.message, 2000))}</p>"]
    if mishap.rule:
        statement = escape(RULES[mishap.rule].statement)
        parts.append(f"<p>{statement} <code>({escape(mishap.rule)})</code></p>")
    if mishap.sentence:
        parts.append(f"<p>{escape(relabelled(mishap.sentence, label))}</p>")
    if mishap.causes:
        lines = (
            f"{escape(label(line))} <code>{escape(cut(found.text_of(line), 80))}</code>"
            for line in mishap.causes
        )
        parts.append(f"<p>Caused by {', '.join(lines)}.</p>")
    if mishap.cure:
        parts.append(f"<p><strong>Cure:</strong> {escape(mishap.cure)}</p>")
    return f'<div class="agc-mishap{error}">{"".join(parts)}</div>'


def _picture(found: Story, moment: Moment, label: Label) -> str:
    """The picture of the last moment as an image, which shares no styles with the notebook."""
    if not moment.step.names and not moment.step.ran:
        return ""
    try:
        svg = as_svg(found, moment, headed=False)
    except NoLayout as missing:
        return f"<p><small>No picture: {escape(str(missing))}.</small></p>"
    data = base64.b64encode(svg.encode()).decode()
    words = f"The graph after {escape(label(moment.line))}"
    image = f'<img alt="{words}" src="data:image/svg+xml;base64,{data}">'
    return f"<details open><summary>{words}</summary>{image}</details>"
