"""A picture as DOT, the language of Graphviz."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise

from conformance.explanation.pictures.moments import Moment
from conformance.explanation.pictures.palette import LIGHT
from conformance.explanation.pictures.scene import Fact, Link, NodeBox, Scene, TensorBox, scene_of
from conformance.explanation.pictures.shown import cut, printable
from conformance.explanation.value import Story

INK, PAPER, FAINT = LIGHT["ink"], LIGHT["paper"], LIGHT["faint"]
RED, WAY, NEW, NODE = LIGHT["refused"], LIGHT["way"], LIGHT["new"], LIGHT["node"]

ROW = 5
"""The most tensors beside each other outside the graph."""

_STYLE = {
    "grad_fn": f'style=solid, color="{INK}", arrowhead=vee',
    "fills": f'style=dashed, color="{INK}", arrowhead=vee',
    "saved": f'style=dotted, color="{FAINT}", arrowhead=odot, constraint=false',
    "view": f'style=dashed, color="{FAINT}", arrowhead=empty, constraint=false',
    "memory": f'style=dotted, color="{FAINT}", dir=none, constraint=false',
}


def as_dot(found: Story, moment: Moment, headed: bool = True) -> str:
    """Return the picture of a moment as DOT, headed with its line and rules or not."""
    heading = heading_of(found, moment) if headed else ()
    return "\n".join(["digraph {", *statements(moment, heading), "}", ""])


def heading_of(found: Story, moment: Moment) -> list[str]:
    """Return the lines above a picture: the line of the script, the rules behind it, what went wrong."""
    passes = f"  (pass {moment.step.passes})" if moment.step.passes > 1 else ""
    lines = [f"line {moment.line}: {cut(printable(found.text_of(moment.line)), 90)}{passes}"]
    if moment.because:
        told = f"because {', '.join(moment.because)}"
        lines += textwrap.wrap(told, 100, subsequent_indent="  ", break_on_hyphens=False)
    for mishap in moment.mishaps:
        lines.append(cut(printable(f"{mishap.kind}: {mishap.message}"), 110))
        if mishap.rule:
            lines.append(f"rule {mishap.rule}")
        if mishap.causes:
            lines.append(f"caused by {', '.join(f'line {line}' for line in mishap.causes)}")
    return lines


def statements(moment: Moment, heading: Sequence[str] = ()) -> Iterator[str]:
    """Give the statements of a picture, one a line; equal parts of two pictures are equal lines."""
    scene = scene_of(moment)
    yield 'graph [rankdir=BT, bgcolor="transparent", nodesep=0.3, ranksep=0.45];'
    yield 'graph [fontname="Courier", fontsize=12];'
    yield 'node [shape=plain, fontname="Courier", fontsize=11];'
    yield f'edge [fontname="Courier", fontsize=10, arrowsize=0.7, color="{INK}"];'
    if scene.left_out:
        heading = [*heading, f"{scene.left_out} more tensors and nodes are not drawn"]
    if heading:
        told = "".join(f'{escape(line)}<br align="left"/>' for line in heading)
        yield f"labelloc=t; labeljust=l; label=<{told}>;"
    apart = list(_apart(scene))
    yield from (told for told in map(_tensor, scene.tensors) if told not in apart)
    yield from (_node(node) for node in scene.nodes)
    yield from filter(None, apart)
    yield from _beside(scene)
    yield from _edges(scene)
    yield from (_link(link) for link in scene.links)


def _apart(scene: Scene) -> Iterator[str]:
    """The tensors outside the graph, and the leaves that no op has used, each kind in rows of its own."""
    used = {link.source for link in scene.links if link.kind == "grad_fn"}
    used |= {link.target for link in scene.links if link.kind == "fills"}
    outside = [box for box in scene.tensors if box.kind == "outside"]
    unused = [box for box in scene.tensors if box.kind != "outside" and box.number not in used]
    below: list[TensorBox] = []
    alone = "their nodes are not drawn" if scene.left_out else "no graph leads here"
    for name, label, boxes in (
        ("unused", alone, unused),
        ("outside", "outside the graph", outside),
    ):
        boxes.sort(key=lambda box: box.number)
        if not boxes:
            continue
        yield f'subgraph cluster_{name} {{ label="{label}"; fontsize=10; class="{name}";'
        yield f'fontcolor="{FAINT}"; color="{FAINT}"; style="dashed,rounded";'
        yield from (_tensor(box) for box in boxes)
        yield "}"
        rows = [boxes[at : at + ROW] for at in range(0, len(boxes), ROW)]
        for upper, lower in pairwise(rows):
            yield from (_above(upper[at], box) for at, box in enumerate(lower))
        if below:
            yield _above(below[0], boxes[0])
        below = rows[-1]
        yield from (_under(box, scene) for box in rows[0][:1])


def _above(upper: TensorBox, lower: TensorBox) -> str:
    return f"t{lower.number} -> t{upper.number} [style=invis];"


def _under(box: TensorBox, scene: Scene) -> str:
    """Place a tensor below the graph, if there is one."""
    fed = {target for node in scene.nodes for target, _ in node.edges}
    ends = (node for node in scene.nodes if node.number not in fed)
    return next((f"t{box.number} -> n{node.number} [style=invis];" for node in ends), "")


def _beside(scene: Scene) -> Iterator[str]:
    """Each tensor stands beside its node."""
    outside = {box.number for box in scene.tensors if box.kind == "outside"}
    placed: set[int] = set()
    for link in scene.links:
        tensor, node = (link.target, link.source) if link.kind == "fills" else (link.source, link.target)
        if link.kind in ("grad_fn", "fills") and tensor not in outside | placed:
            placed.add(tensor)
            yield f"{{ rank=same; t{tensor}; n{node}; }}"


def _edges(scene: Scene) -> Iterator[str]:
    order = {node.number: node.order for node in scene.nodes}
    for node in scene.nodes:
        for at, (target, nr) in enumerate(node.edges):
            if target is None or target < 0:
                continue
            ran = 0 < node.order < order[target]
            mark = (
                f'color="{WAY}", fontcolor="{WAY}", penwidth=2.4, class="edge way"' if ran else 'class="edge"'
            )
            yield f'n{node.number}:e{at}:n -> n{target} [label=" {nr} ", {mark}];'


def _link(link: Link) -> str:
    ends = {"grad_fn": "tn", "fills": "nt", "saved": "nt"}.get(link.kind, "tt")
    marks = [_STYLE[link.kind], f'class="{link.kind}{" way" * link.marked}{" refused" * link.refused}"']
    if link.label and link.kind != "saved":
        marks.append(f'label=" {escape(link.label)} ", fontcolor="{FAINT}"')
    if link.marked:
        marks.append(f'color="{WAY}", penwidth=2.4')
    if link.refused:
        marks.append(f'color="{RED}", penwidth=2')
    return f"{ends[0]}{link.source} -> {ends[1]}{link.target} [{', '.join(marks)}];"


def _tensor(box: TensorBox) -> str:
    head = f'<td colspan="2" bgcolor="{LIGHT[box.kind]}"><b>{escape(cut(box.title, 40))}</b></td>'
    rows = "".join(map(_row, box.facts))
    changed = any(fact.changed for fact in box.facts)
    classes = f"tensor {box.kind}{' changed' * changed}{' refused' * box.refused}"
    table = _table(head, rows, INK, box.refused)
    return f't{box.number} [id="tensor-{box.number}", class="{classes}", label=<{table}>];'


def _node(node: NodeBox) -> str:
    order = f"{node.order}. " if node.order else ""
    wide = max(2, len(node.edges))
    head = f'<td colspan="2"><b>{escape(order + cut(node.title, 40))}</b></td>'
    rows = "".join(map(_row, node.facts))
    if node.edges:
        cells = "".join(
            f'<td port="e{at}" border="0">{_edge_text(target)}</td>'
            for at, (target, _) in enumerate(node.edges)
        )
        inner = f'<table border="0" cellborder="0" cellspacing="0" cellpadding="2"><tr>{cells}</tr></table>'
        if wide > 12:
            inner = f"{len(node.edges)} edges"
        head = f'<td colspan="2">{inner}</td></tr><tr>{head}'
    classes = f"node{' way' * bool(node.order)}{' refused' * node.refused}"
    rim = WAY if node.order else INK
    extra = f' style="rounded" bgcolor="{NODE}"'
    table = _table(head, rows.replace(f' bgcolor="{PAPER}"', ""), rim, node.refused, extra)
    return f'n{node.number} [id="node-{node.number}", class="{classes}", label=<{table}>];'


def _edge_text(target: int | None) -> str:
    return "None" if target is None else "&#8230;" if target < 0 else "&#9675;"


def _table(head: str, rows: str, rim: str, refused: bool, extra: str = "") -> str:
    border = f'border="2" color="{RED}"' if refused else f'border="1" color="{rim}"'
    return (
        f'<table {border}{extra} cellborder="0" cellspacing="0" cellpadding="3"><tr>{head}</tr>{rows}</table>'
    )


def _row(fact: Fact) -> str:
    told = '<br align="left"/>'.join(escape(cut(line)) for line in fact.lines)
    if len(fact.lines) > 1:
        told += '<br align="left"/>'
    ink = f'<font color="{RED}">{told}</font>' if fact.refused else told
    strong = f"<b>{ink}</b>" if fact.changed or fact.refused else ink
    back = NEW if fact.changed else PAPER
    label = f'<font color="{FAINT}">{escape(fact.label)}</font>'
    cell = f'<td align="left" balign="left" bgcolor="{back}">'
    return f"<tr>{cell}{label}</td>{cell}{strong}</td></tr>"
