"""Pictures of an explanation: what they show of a moment, as DOT and as SVG."""

from __future__ import annotations

import hashlib
import re
import shutil
from functools import cache
from importlib.resources import files
from xml.etree import ElementTree

import pytest

from conformance.explanation.pictures.dot import as_dot
from conformance.explanation.pictures.moments import moment_at, moments
from conformance.explanation.pictures.scene import scene_of
from conformance.explanation.pictures.shown import change_shown, contents, shown
from conformance.explanation.pictures.svg import ENGINE, as_svg
from explained import explained

STALE = """import torch
a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(3.0, requires_grad=True)
c = a * b
d = torch.tensor(4.0)
e = c * d
f = c * c
e.backward(retain_graph=True)
c += 1
f.backward()
"""


@cache
def story(script=STALE):
    """The explanation of a script; each test reads it alone."""
    return explained(script)


def _scene(line=None, script=STALE):
    return scene_of(moment_at(story(script), line))


def _box(line, title, script=STALE):
    scene = _scene(line, script)
    return next(box for box in (*scene.tensors, *scene.nodes) if box.title == title)


def _facts(box):
    return {fact.label: fact.lines for fact in box.facts}


def test_a_tensor_is_drawn_with_its_facts():
    """Data, grad, grad_fn, is_leaf, requires_grad and version, as the seed documents draw them."""
    expected = {
        "data": ("2.0",), "grad": ("12.0",), "grad_fn": ("None",), "is_leaf": ("True",),
        "requires_grad": ("True",), "version": ("0",),
    }  # fmt: skip
    assert expected == _facts(_box(8, "a"))


def test_tensors_are_leaves_results_or_outside_the_graph():
    """The kind decides the colour; what requires no grad is drawn in a row of its own."""
    kinds = {box.title: box.kind for box in _scene(7).tensors}
    assert {"a": "leaf", "b": "leaf", "c": "result", "d": "outside", "e": "result", "f": "result"} == kinds
    outside = as_dot(story(), moment_at(story(), 7)).split("cluster_outside")[1]
    assert "<b>d</b>" in outside.split("\n}")[0]


def test_the_changed_facts_of_a_line_are_marked():
    """Only what the line changed."""
    changed = {(box.title, fact.label) for box in _scene(9).tensors for fact in box.facts if fact.changed}
    assert {("c", "grad_fn"), ("c", "version")} == changed


def test_a_node_shows_its_edges_with_their_index_and_what_it_saved_at_which_version():
    """A constant has no edge: the node leads to None there."""
    node = next(box for box in _scene(6).nodes if None in [target for target, _ in box.edges])
    assert ("MulBackward0", ("y = d at version 0",)) == (node.title, _facts(node)["saved"])
    product = node.edges[0][0]
    assert [(product, 0), (None, 0)] == list(node.edges)
    assert f"n{node.number}:e0:n -> n{product} [label=" in as_dot(story(), moment_at(story(), 6))


def test_edges_lead_to_the_outputs_of_an_unbind():
    """Each of its outputs has an index, on the tensor's link and on the edge into the node."""
    script = "import torch\na = torch.ones(3, requires_grad=True)\nb, c, d = a.unbind()\ne = b * c * d\n"
    scene = _scene(4, script)
    unbind = _box(4, "UnbindBackward0", script).number
    links = [link for link in scene.links if (link.kind, link.target) == ("grad_fn", unbind)]
    assert ["", "1", "2"] == sorted(link.label for link in links)
    dot = as_dot(story(script), moment_at(story(script), 4))
    assert ["0", "1", "2"] == sorted(re.findall(rf'-> n{unbind} \[label=" (\d)', dot))


def test_the_way_of_the_gradient_is_marked_in_order():
    """Each node that ran has its place and the gradient that arrived; the edges between them are marked."""
    ran = sorted((box for box in _scene(8).nodes if box.order), key=lambda box: box.order)
    assert [
        ("MulBackward0", ("1.0",)),
        ("MulBackward0", ("4.0",)),
        ("AccumulateGrad", ("12.0",)),
        ("AccumulateGrad", ("8.0",)),
    ] == [(box.title, _facts(box)["gradient"]) for box in ran]
    assert 3 == as_dot(story(), moment_at(story(), 8)).count('class="edge way"')


def test_what_caused_a_refusal_is_red():
    """The saved tensor whose version moved on, and the node that wanted it."""
    assert "save/modified-refused" == story().error.rule
    assert _box(10, "c").refused
    red = [box for box in _scene(10).nodes if box.refused]
    assert 1 == len(red)
    assert "x = c at version 0, now 1" in [fact.lines[0] for fact in red[0].facts if fact.refused]
    assert [] == [box.title for box in (*_scene(8).tensors, *_scene(8).nodes) if box.refused]


def test_a_node_says_which_line_freed_what_it_saved():
    """The first of two backwards."""
    script = (
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp().sum()\ny.backward()\ny.backward()\n"
    )
    node = next(box for box in _scene(5, script).nodes if box.refused)
    assert ("ExpBackward0", ("by line 4",)) == (node.title, _facts(node)["freed"])


FUNCTION = """import torch
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x ** 2
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Square.apply(x).exp()
b = torch.zeros(3)
b[:2].mul_(y)
b.sum().backward()
"""


def test_functions_results_and_writes_to_views_show_what_they_save():
    """A Function what it asked to save, exp its own result, by name, and a write to a view its operands."""
    saved = {box.title: _facts(box).get("saved") for box in _scene(14, FUNCTION).nodes}
    assert ("x at version 0",) == saved["SquareBackward"]
    assert ("out = y at version 0",) == saved["ExpBackward0"]
    assert saved["CopySlices"]


def test_a_backward_that_runs_lines_of_the_script_has_one_way():
    """Those of a Function are steps of their own in between."""
    ran = sorted((box for box in _scene(15, FUNCTION).nodes if box.order), key=lambda box: box.order)
    expected = ["SumBackward0", "CopySlices", "ExpBackward0", "SquareBackward", "AccumulateGrad"]
    assert expected == [box.title for box in ran if box.title in expected]


def test_a_view_leads_to_its_base_and_a_detached_tensor_to_the_memory_that_it_shares():
    """They are links of two kinds."""
    script = "import torch\nb = torch.ones(2, 2, requires_grad=True) * 1\nv = b[0]\nd = b.detach()\n"
    scene = _scene(4, script)
    titles = {box.number: box.title for box in scene.tensors}
    found = {(link.kind, titles[link.source], titles[link.target]) for link in scene.links
             if link.kind in ("view", "memory")}  # fmt: skip
    assert {("view", "v", "b"), ("memory", "d", "b")} == found


def test_a_write_through_data_marks_what_it_changed():
    """The values of the other tensor change, and no version of its tells it."""
    script = "import torch\nw = torch.ones(2, requires_grad=True)\nz = w.data\nz.mul_(3)\n"
    step = story(script).at(3)
    shared = [change_shown(step, change) for change in step.changes if change.fact == "memory"]
    assert [["z", "memory", "None", "w"]] == shared
    changed = {fact.label for fact in _box(4, "w", script).facts if fact.changed}
    assert {"data"} == changed


def test_a_graph_that_is_too_large_is_drawn_in_part_and_says_so():
    """The boxes of what the line changed come first."""
    script = (
        "import torch\nxs = [torch.ones(1, requires_grad=True) * i for i in range(100)]\nlast = xs[-1] + 1\n"
    )
    scene = _scene(3, script)
    assert 90 == len(scene.tensors) + len(scene.nodes)
    assert "last" in [box.title for box in scene.tensors]
    assert f"{scene.left_out} more tensors and nodes are not drawn" in as_dot(
        story(script), moment_at(story(script), 3)
    )


def test_leaves_that_no_op_has_used_stand_in_rows():
    """A module's parameters before its first call make no endless row."""
    script = "import torch\nws = [torch.ones(1, requires_grad=True) for _ in range(12)]\n"
    dot = as_dot(story(script), moment_at(story(script), 2))
    assert "no graph leads here" in dot
    assert 7 == dot.count("[style=invis]")


def test_an_error_at_a_line_that_changed_nothing_is_a_moment_of_its_own():
    """In the second pass of a loop nothing changes but the error."""
    script = "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\n"
    script += "for _ in range(2):\n    y.backward()\n"
    last = moments(story(script))[-1]
    assert (5, "save/freed-refused") == (last.line, last.error.rule)


ODD = """import torch
markup = {"<b>&\\"</b>": torch.ones(1, requires_grad=True)}
größe = torch.ones(1, requires_grad=True)
π = größe * 2  # 🙂
control = {"\\x00\\x1b[1m": torch.ones(1)}
n = 1
no_numbers = torch.tensor([float('nan'), float('inf')], requires_grad=True)
z = torch.tensor(1 + 2j, requires_grad=True)
i = torch.arange(3)
empty = torch.ones(0, 3)
"""


def test_odd_names_and_values_are_drawn():
    """A picture escapes markup, letters beyond ASCII and control characters."""
    moment = moment_at(story(ODD), None)
    dot = as_dot(story(ODD), moment)
    assert [] == [c for c in dot if ord(c) < 32 and c != "\n"]
    titles = [box.title for box in scene_of(moment).tensors]
    assert {"größe", "π", "markup['<b>&\"</b>']", "control['\\x00\\x1b[1m']"} <= set(titles), titles
    if shutil.which("dot"):
        assert "größe" in as_svg(story(ODD), moment)


def test_a_script_without_tensors_has_a_picture():
    """It holds the line alone."""
    found = story("n = 1\n")
    assert "line 1: n = 1" in as_dot(found, moment_at(found, None))


@pytest.mark.parametrize("way", ["dot", "node"])
def test_the_svg_tells_the_same_as_the_scene(way, monkeypatch, tmp_path):
    """Laid out by either, each box stands in a group of its own with its title and all of its facts."""
    program = shutil.which(way)
    if program is None:
        pytest.skip(f"{way} is not installed")
    (tmp_path / way).symlink_to(program)
    monkeypatch.setenv("PATH", str(tmp_path))
    for line in (6, 8, 10):
        moment = moment_at(story(), line)
        scene = scene_of(moment)
        groups = {
            group.get("id"): [
                "".join(text.itertext()).replace("\xa0", " ").strip()
                for text in group.iter("{http://www.w3.org/2000/svg}text")
            ]
            for group in ElementTree.fromstring(as_svg(story(), moment)).iter("{http://www.w3.org/2000/svg}g")
        }
        for box in scene.tensors:
            told = [box.title, *(part for fact in box.facts for part in (fact.label, *fact.lines))]
            assert told == groups[f"tensor-{box.number}"]
        for node in scene.nodes:
            told = [part for fact in node.facts for part in (fact.label, *fact.lines)]
            assert told == groups[f"node-{node.number}"][-len(told) or 99 :]
        heading = groups["graph0"][: 4 + 3 * len(moment.mishaps)]
        assert f"line {line}: {story().text_of(line)}" == heading[0]
        for rule in (*moment.because, *(m.rule for m in moment.mishaps)):
            assert any(rule in text for text in heading)


def test_values_are_shown_in_few_digits_and_rows():
    """As PyTorch prints them, a matrix row by row, what is large by its shape."""
    assert "[1.0, 0.3333, 1e-08, nan]" == shown([1.0, 1 / 3, 1e-8, "nan"])
    assert ["[[1.0, 2.0, 3.0]", " [4.0, 5.0, 6.0]]"] == contents(
        [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], (2, 3), "float32"
    )
    assert ["float32 (64, 3)"] == contents(None, (64, 3), "float32")
    assert ["float32 (64,)"] == contents(None, (64,), "float32")


def test_the_engine_is_the_file_that_its_note_names():
    """Nobody changed it; the note has its licenses."""
    folder = files("conformance.explanation.pictures")
    digest = hashlib.sha256((folder / ENGINE).read_bytes()).hexdigest()
    note = (folder / "viz-js.txt").read_text("utf-8")
    assert digest in note
    assert "MIT License" in note
    assert "Eclipse Public License" in note
