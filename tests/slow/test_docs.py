"""The README and the documents: their samples print what they show, and their links lead somewhere.

Figures of a scorecard vary with every rule and case that is added, so there any figure will do.
"""

from __future__ import annotations

import doctest
import os
import re
import signal
import subprocess
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_SAMPLES = [page for page in PAGES if "```console" in page.read_text()]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(rf"{BLOCK.pattern}|^    [^\n]*$", BLOCK.flags)
FILE = re.compile(r"# (\w+\.py)\n")
NAMED = re.compile(r"`((?:specs|reference_impl|conformance|tests|benchmarks)/[\w/.-]+)`")
COMMANDS = {"autograd-conformance": ("-m", "conformance"), "python": ()}
FIGURES = re.compile(r"\d[\d,.]*")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def printed(command: str, folder: Path) -> str:
    """Run a command in a folder and return its output."""
    verb, *rest = command.split()
    environment = os.environ | {"PYTHONPATH": str(ROOT), "AUTOGRAD_CONFORMANCE_DEVICE": "cpu"}
    done = subprocess.run(
        [sys.executable, *COMMANDS[verb], *rest], cwd=folder, env=environment, capture_output=True, text=True
    )
    died = "Segmentation fault\n" if done.returncode == -signal.SIGSEGV else ""
    return done.stdout + done.stderr + died


@pytest.mark.skipif(not version("torch").startswith("2.13."), reason="the samples are of torch 2.13")
@pytest.mark.parametrize("page", WITH_SAMPLES, ids=lambda page: page.name)
def test_samples_print_what_they_show(page, tmp_path):
    """A block of Python that begins with a file's name is that file; `...` stands for what is left out."""
    for language, text in BLOCK.findall(page.read_text()):
        if language == "python" and (name := FILE.match(text)):
            (tmp_path / name[1]).write_text(text)
        for sample in text.split("$ ")[1:] if language == "console" else ():
            command, _, expected = sample.partition("\n")
            found = printed(command, tmp_path)
            if command.startswith("autograd-conformance grade"):
                expected, found = FIGURES.sub("0", expected), FIGURES.sub("0", found)
            assert doctest.OutputChecker().check_output(expected, found, FLAGS), f"{command}\n{found}"


@pytest.mark.parametrize("page", ["README.md", "docs/adapters.md"])
def test_the_adapter_in_the_documents_conforms(tmp_path, page, cli):
    """It shows enough that a rule is held."""
    pytest.importorskip("micrograd")
    blocks = BLOCK.findall((ROOT / "docs/adapters.md").read_text())
    in_readme = re.search(r"\n    from micrograd.*?\n\n(?=\S)", (ROOT / "README.md").read_text(), re.DOTALL)
    texts = {
        "docs/adapters.md": next(text for _, text in blocks if text.startswith("# mine.py")),
        "README.md": textwrap.dedent(in_readme[0]),
    }
    (tmp_path / "mine.py").write_text(texts[page])
    code, found, _ = cli("grade", tmp_path / "mine.py", "--programs", "100", "--source", "prng")
    assert code == 0
    assert "cases     1 held, 0 broken" in found
    assert "100 agree, 0 diverge" in found
    assert found.endswith("\nmine conforms\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page):
    for target in re.findall(r"\w\S*\]\(([\w./-]+)[^):]*\)", CODE.sub("", page.read_text())):
        assert (page.parent / target).exists(), target


def test_the_readme_is_a_landing_page():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page):
    for name in NAMED.findall(page.read_text()):
        assert (ROOT / name).exists(), name
