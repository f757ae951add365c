"""Cells of a notebook explained: as a script, by the magic, and as they show."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from conformance.explanation.pictures.summary import as_plain, as_summary
from conformance.notebook.cells import Cell, given_by, script_of, told_as_text
from explained import explained


# -- cells as a script -------------------------------------------------------------------------------
def test_cells_become_one_script_whose_lines_know_their_cell():
    """The last cell's lines need no number; the lines of a magic are passed over in place."""
    script = script_of([Cell(1, "a = 1\n%time b = 2\n!ls"), Cell(4, "c = 3")], "%%explain\nd = a\ne = d")
    assert "a = 1\npass  # %time b = 2\npass  # !ls\nc = 3\nd = a\ne = d\n" == script.text
    labels = [script.label(line) for line in range(1, 7)]
    expected = ["In [1] line 1", "In [1] line 2", "In [1] line 3", "In [4] line 1", "line 1", "line 2"]
    assert expected == labels


KINDS = {
    "the body of a timed cell": ("%%time\nx = 1", ["x = 1"]),
    "a cell of another language": ("%%bash\nls", ["", ""]),
    "no Python": ("x = = 1", []),
    "a question": ("x?", ["pass  # x?"]),
    "a text that looks like a magic": ('s = """\n%d\n"""', ['s = """', "%d", '"""']),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_cell_is_taken_as_far_as_it_is_python(name):
    """Its other lines change nothing."""
    text, lines = KINDS[name]
    assert [*lines, "y = 1"] == script_of([Cell(1, text)], "y = 1").text.splitlines()


def test_a_cell_that_failed_is_taken_up_to_the_statement_that_failed():
    """That one runs with its error passed over, for what it did before it failed; the rest never ran."""
    text = "a = 1\nfor i in range(3):\n    1 / i\nb = 2"
    script = script_of([Cell(7, text, failed=3)], "c = 1")
    told = "a = 1\ntry:\n for i in range(3):\n     1 / i\nexcept BaseException: pass\nc = 1\n"
    assert told == script.text
    assert [1, 2, 2, 3, 3, 1] == [line for _, line in script.places]
    quoted = script_of([Cell(7, 'f("""a\n  b""")', failed=1)], "")
    assert "try:\n f('a\\n  b')\nexcept BaseException: pass\n" == quoted.text


def test_plain_values_that_no_cell_defines_are_told_as_text():
    """Those that the cell uses, as far as a text tells them."""
    names = {"lr": 0.1, "other": 1, "model": object(), "sizes": [1, (2, 3)], "known": 1}
    assert ["lr = 0.1", "sizes = [1, (2, 3)]"] == given_by(
        names, [Cell(1, "known = 1")], "model; lr; sizes; known"
    )
    assert told_as_text(object()) is None
    assert told_as_text(float("nan")) is None


# -- as it shows -------------------------------------------------------------------------------------
SCRIPT = """import torch
w = torch.ones(2, requires_grad=True)
d = {"<b>&</b>": w * 2}  # </div><script>
for _ in range(3):
    (w * 2).sum().backward()
w.add_(1)
"""


class _Elements(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.met = [], set()

    def handle_starttag(self, tag, attrs):
        self.met.add(tag)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_display_is_closed_in_itself():
    """No script, no identifiers, no style that reaches beyond it; what the script says is text."""
    html = as_summary(explained(SCRIPT))
    elements = _Elements()
    elements.feed(html)
    assert [] == elements.open
    assert set() == elements.met & {"script", "link", "iframe", "b", "object"}
    assert not re.search(r"\sid=|\son\w+=|https?://", html.partition("data:image")[0])
    selectors = re.findall(
        r"^([^{}]+)\{", html.partition("<style>")[2].partition("</style>")[0], re.MULTILINE
    )
    assert selectors
    for selector in ",".join(selectors).split(","):
        assert selector.strip().startswith(".agc-explanation"), selector


def test_the_display_and_its_text_tell_the_same():
    """Lines, facts, rules, the error and its cure."""
    found = explained(SCRIPT)
    html, text = as_summary(found), as_plain(found)
    assert (
        set(found.rules())
        == set(re.findall(r"\((\w+/[\w-]+)\)", html))
        == set(re.findall(r"\((\w+/[\w-]+)\)", text))
    )
    for told in (html, text):
        assert "w.grad" in told
        assert found.error.cure in told
        assert found.error.message in told


def test_an_explanation_shows_itself():
    """It has a rich form, a plain one, and gives its pictures and page."""
    found = explained("import torch\nx = torch.ones(1, requires_grad=True)\ny = x * 2\n")
    assert "agc-explanation" in found._repr_html_()
    assert "MulBackward0" in found.dot(3)
    assert "MulBackward0" not in found.dot(2)
    assert "<!doctype html>" in found.html()
    with pytest.raises(KeyError):
        found.dot(99)


# -- the magic ---------------------------------------------------------------------------------------
@pytest.fixture
def run():
    """A function that runs a cell in a shell of IPython and returns its result."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell(config=config)
    shell.run_cell("n = 2", store_history=True)

    def run(text, store_history=True):
        return shell.run_cell(text, store_history=store_history).result

    run("%load_ext conformance")
    yield run
    run("%unload_ext conformance")


def test_a_cell_is_explained_with_what_earlier_cells_defined(run, capsys):
    """Cells before the extension was loaded, after it, explained ones, and those that failed."""
    run("import reference_impl as torch\nw = torch.ones(n, requires_grad=True)")
    run("y = w * 3\n1 / 0")
    run("%%explain\nz = y.sum()")
    found = run("%%explain\nz.backward()\nw.add_(1)")
    assert ("error", "write/leaf-refused") == (found.ending, found.error.rule)
    assert "In [3] line 2" in found.why("error")
    text = str(found)
    assert text.startswith("line 1  z.backward()\n    w.grad = [3.0, 3.0]\n    because ")
    assert "In [3] line 2" in text.partition("caused by")[2]
    assert "MulBackward0" not in text
    html = found._repr_html_()
    assert '<span class="agc-line">line 2</span> <code class="agc-code">w.add_(1)</code>' in html
    assert "ZeroDivisionError" not in html
    capsys.readouterr()


def test_the_notebook_stays_as_it_is_unless_told(run):
    """``--run`` runs the cell there too, and it is seen once by later cells."""
    run("k = 1")
    run("%%explain\nk += 1")
    assert 1 == run("k")
    run("%%explain --run\nk += 1\nimport reference_impl as torch\nx = torch.ones(k)")
    found = run("_")
    assert [3] == [t.shape[0] for t in found.steps[-1].tensors.values()]
    assert 2 == run("k")


def test_a_cell_without_history_and_names_without_a_cell_are_seen(run):
    """Cells that ran unnumbered, and names that something else put into the notebook."""
    run("import reference_impl as torch", store_history=False)
    run("globals()['a' + 'b'] = 4; t = torch.arange(3.0, requires_grad=True)", store_history=False)
    found = run("%%explain --seconds 20\nu = t * ab")
    assert "u.grad_fn = MulBackward0" in str(found)


def test_what_the_reference_refuses_in_an_earlier_cell_is_passed_over_and_said(run):
    """The cell is explained all the same."""
    run("s = 'x'\nif s == 'x':\n    import reference_impl as torch\n    torch_compile = 1")
    run("assert 'ipykernel' not in s\nimport sys\nassert 'IPython' in sys.modules")
    found = run("%%explain\nv = torch.ones(1)")
    assert "finished" == found.ending
    assert found.passed_over == ("In [4] line 3 is passed over: AssertionError: ",)
    assert "In [4] line 3 is passed over" in found._repr_html_()


def test_questions_pages_and_wrong_options(run, tmp_path):
    """``--why`` answers, ``--page`` shows the page in a frame, ``--html`` writes it."""
    cell = "import torch\na = torch.ones(1, requires_grad=True) * 1\na.sum().backward()"
    assert "a.grad is None because a is no leaf" in run(f"%%explain --why a.grad\n{cell}")
    assert "no tensor goes by 'b'" in run(f"%%explain --why b.grad\n{cell}")
    frame = run(f"%%explain --fresh --page\n{cell}")._repr_html_()
    assert frame.startswith("<iframe ")
    assert 2 == frame.count("<")
    assert f"wrote {tmp_path}/p.html" == run(f"%%explain --html {tmp_path}/p.html\n{cell}")
    assert "unrecognized arguments: --nonsense\nusage: %%explain" in run(f"%%explain --nonsense\n{cell}")


def test_a_cell_that_is_no_python_is_told_so(run):
    """With the line in the cell."""
    found = run("%%explain\nx = 1\ny = = 2")
    assert ("syntax error", "line 2: invalid syntax") == (found.ending, str(found))
