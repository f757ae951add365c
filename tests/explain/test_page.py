"""The page of an explanation, as far as it can be told without a browser; `tests/browser` opens it."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from html.parser import HTMLParser

import pytest

from conformance.explanation.as_json import as_json
from conformance.explanation.pictures.page import as_page
from conformance.explanation.pictures.shown import shown
from conformance.explanation.pictures.source import coloured
from explained import explained

SCRIPT = """import torch
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a * 2
print(b.grad)
for _ in range(2):
    b.sum().backward(retain_graph=True)
v = b[0]
b.add_(1)
c = (b * b).sum()
b.mul_(3)
c.backward()
"""


@cache
def story(script=SCRIPT):
    """The explanation of a script; each test reads it alone."""
    return explained(script)


@cache
def page(script=SCRIPT):
    """Its page."""
    return as_page(story(script))


def embedded(text, name):
    """The JSON that a page holds under a name."""
    return json.loads(
        re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', text, re.DOTALL)[1]
    )


def test_the_page_holds_the_json_form():
    """The same facts, rules and lines, down to the last."""
    assert json.loads(json.dumps(as_json(story()))) == embedded(page(), "explanation")


def test_each_step_of_the_page_tells_the_changes_and_rules_of_the_story():
    """In the words of the pictures."""
    view, found = embedded(page(), "view"), story()
    assert [step.line for step in found.steps] == [moment["line"] for moment in view["moments"]]
    for step, moment in zip(found.steps, view["moments"], strict=True):
        assert [(c.name, c.fact) for c in step.changes] == [(c[0], c[1]) for c in moment["changes"]]
        grads = [shown(c.after) for c in step.changes if c.fact == "grad"]
        assert grads == [c[3] for c in moment["changes"] if c[1] == "grad"]
        rules = [*step.because, *(rule for c in step.changes for rule in c.because)]
        assert list(dict.fromkeys(rules)) == moment["because"]
        assert set(rules) <= view["rules"].keys()


def test_errors_and_warnings_stand_at_their_line_with_their_cure():
    """In the source, and in the step."""
    found = story()
    assert ("save/modified-refused", 1) == (found.error.rule, len(found.warnings))
    at_line = page().split('<li data-line="11">')[1].split("</li>")[0]
    assert 'data-to="10"' in at_line
    assert found.error.rule in at_line
    assert "grad/non-leaf-read-warns" in page().split('<li data-line="4">')[1].split("</li>")[0]
    last = embedded(page(), "view")["moments"][-1]["mishaps"][0]
    error = found.error
    assert [error.rule, error.cure, list(error.causes)] == [last["rule"], last["cure"], last["causes"]]


def test_the_text_tells_the_same_rules_and_lines():
    """Each step that the text tells is a moment of the page with the same rules."""
    told = str(story())
    moments = embedded(page(), "view")["moments"]
    rules = {rule for moment in moments for rule in moment["because"]} | {
        mishap["rule"] for moment in moments for mishap in moment["mishaps"]
    }
    assert set() == {rule for rule in rules if rule not in told}
    lines = {int(line) for line in re.findall(r"^line (\d+)", told, re.MULTILINE)}
    assert lines <= {moment["line"] for moment in moments}


def test_the_page_asks_for_nothing():
    """It names no address to load from, and forbids itself any request."""
    own = page().replace(re.search(r"<script>(?!\s*\"use strict\").*?</script>", page(), re.DOTALL)[0], "")
    assert [] == re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//|@import|url\(|fetch\(|XMLHttp""", own)
    assert "default-src 'none'" in own


TORCH = "import torch\n"
HOSTILE = {
    "lines that would end an element, fill in the frame, or end a line of JavaScript": (
        'd = {"</script><script>alert(1)</script>": torch.ones(1)}  # </script><!--\n'
        "x = torch.ones(1)  # <!--engine--> <!--view-->\n"
        "e = {'\"\\'`${x}`': torch.ones(1)}\n"
        's = "\u2028"\n'
        f"y = torch.ones(1)  # {'y' * 100_000}\n"
    ),
    "a text without end": "s = '''",
}


class _Elements(HTMLParser):
    """Counts the elements of a page and knows which are open."""

    def __init__(self):
        super().__init__()
        self.started, self.open = Counter(), []

    def handle_starttag(self, tag, attrs):
        self.started[tag] += 1
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", HOSTILE)
def test_no_script_breaks_out_of_the_page(name):
    """All that it says is text: the elements of the page are its own."""
    text = page(TORCH + HOSTILE[name])
    elements = _Elements()
    elements.feed(text)
    counted = {tag: elements.started[tag] for tag in ("h1", "script", "main", "nav")}
    assert ({"h1": 1, "script": 4, "main": 1, "nav": 1}, []) == (counted, elements.open)
    assert embedded(text, "explanation")["source"][0] == "import torch"
    assert len(text) < 1_600_000


def test_a_long_run_is_shown_in_part_and_says_so():
    """The first passes, the end and whatever went wrong."""
    script = (
        "import torch\nw = torch.ones(2, requires_grad=True)\nfor i in range(1000):\n"
        "    (w * i).sum().backward()\n    w.grad\nw.add_(1)\n"
    )
    text = page(script)
    view = embedded(text, "view")
    assert 300 >= len(view["moments"])
    passes = [moment["pass"] for moment in view["moments"] if moment["line"] == 4]
    assert [1, 2, 3, 999, 1000] == [*passes[:3], *passes[-2:]]
    assert "write/leaf-refused" == view["moments"][-1]["mishaps"][0]["rule"]
    assert re.search(r"\d+ of 1,\d+ steps are shown", text)
    assert len(text) < 3_000_000


def test_a_page_of_a_hundred_lines_is_small():
    """Equal parts of its pictures are held once."""
    lines = [f"x{i} = torch.ones(3, requires_grad=True) * {i}" for i in range(30)]
    lines += [f"y{i} = x{i}.exp() + x{i - 1}" for i in range(1, 30)] + [
        f"y{i}.sum().backward()" for i in range(1, 30)
    ]
    text = page("import torch\n" + "\n".join(lines) + "\n")
    assert len(text) < 3_000_000


def test_the_source_is_coloured_and_no_character_is_lost():
    """Keywords, texts over several lines, numbers and comments; what is no Python stays as it is."""
    lines = ["for x in 'a<b':  # not", '    y = """1', ' <2>""" + str(3)']
    html = coloured(lines)
    assert '<span class="keyword">for</span> x <span class="keyword">in</span> ' in html[0]
    assert '<span class="text">&#x27;a&lt;b&#x27;</span>:  <span class="comment"># not</span>' in html[0]
    assert '    y = <span class="text">&quot;&quot;&quot;1</span>' == html[1]
    assert (
        '<span class="text"> &lt;2&gt;&quot;&quot;&quot;</span> + str(<span class="number">3</span>)'
        == html[2]
    )
    assert ["&#x27;&#x27;&#x27; &lt;"] == coloured(["''' <"])
