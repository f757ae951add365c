"""Full disks, closed and narrow outputs, odd names and failing system calls end in a documented exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from conformance.adapters import checked
from conformance.adapters.errors import AdapterError
from conformance.report import as_json, as_junit, as_markdown, words
from conformance.report.exit_codes import SUITE_FAILED
from conformance.report.files import write_file
from conformance.report.value import Subject
from reports import FINDING, report
from sources import ROOT

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
FULL = Path("/dev/full")
PROGRAM = "import torch\nx = torch.ones(2)\n"
COMMAND = [sys.executable, "-m", "conformance"]
GRADE = [*COMMAND, "grade", "--source", "prng", "--programs", "20", "--no-cases", "--workers", "1"]

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no device that is always full")


def done(command: list[str], **changed: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the shell."""
    text = " ".join(command)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **changed}
    return subprocess.run(["bash", "-c", text], env=environment, capture_output=True, text=True, timeout=600)


def tidy(found: subprocess.CompletedProcess[str]) -> bool:
    """Tell whether nothing was said on standard error but one line of ours."""
    return (
        all(line.startswith("error: ") for line in found.stderr.splitlines()) and found.stderr.count("\n") < 2
    )


@pytest.mark.parametrize(
    ("command", "redirected", "code"),
    [
        (GRADE, "> /dev/full", 5),
        (GRADE, ">&-", 0),
        ([*COMMAND, "rules"], ">&- 2>&- <&-", 0),
        ([*COMMAND, "rules"], "> /dev/full 2>&1", 5),
        (GRADE, "| head -1; exit ${PIPESTATUS[0]}", 0),
        ([*COMMAND, "rules"], "> /dev/full", 5),
        ([*COMMAND, "rules"], "| head -1; exit ${PIPESTATUS[0]}", 0),
        ([*COMMAND, "rules", "x"], "2>&-", 2),
        ([*COMMAND, "rules", "x"], "2>/dev/full", 2),
        ([*COMMAND, "--help"], "> /dev/full", 5),
    ],
)  # fmt: skip
def test_an_output_that_fails_is_no_verdict(command, redirected, code):
    """A reader that goes away, or an output that is closed, changes nothing; what is lost is said."""
    found = done([*command, redirected])
    assert code == found.returncode, found.stderr
    assert tidy(found), found.stderr


ASCII = {"PYTHONIOENCODING": "ascii"}
POSIX = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": ""}
"""The POSIX locale, without the encoding that tox asks for."""


@pytest.mark.parametrize("changed", [ASCII, POSIX], ids=["ascii", "posix"])
def test_an_ascii_terminal_gets_ascii(changed, tmp_path):
    file = tmp_path / "p.py"
    file.write_text(PROGRAM + "y = x.view(torch.int\N{GREEK SMALL LETTER ALPHA})\n", encoding="utf-8")
    for command in ([*COMMAND, "rules"], [*COMMAND, "--help"], [*COMMAND, "run", str(file)]):
        found = done(command, **changed)
        assert (found.stdout + found.stderr).isascii()
        assert found.returncode in (0, 2), found.stderr
        assert tidy(found), found.stderr


def test_the_scorecard_comes_before_files_and_one_that_fails_costs_no_other(tmp_path):
    """Two files that cannot be written are one line."""
    files = ["--json", "/dev/full", "--junit", str(tmp_path / "x.xml"), "--markdown", "/dev/full"]
    found = done([*GRADE, *files])
    assert (5, True) == (found.returncode, tidy(found)), found.stderr
    assert "/dev/full, /dev/full" in found.stderr or "/dev/full cannot" in found.stderr
    assert found.stdout.rstrip().endswith("reference conforms")
    assert "testsuites" == Xml.parse(tmp_path / "x.xml").getroot().tag
    assert ["x.xml"] == os.listdir(tmp_path)


def test_a_cache_that_cannot_be_written_is_no_failure(tmp_path):
    """Nothing that a check keeps for later is needed."""
    nowhere = "/proc/nowhere"
    caches = ("TORCH_EXTENSIONS_DIR", "HYPOTHESIS_STORAGE_DIRECTORY", "PYTHONPYCACHEPREFIX")
    changed = dict.fromkeys((*caches, "HOME", "XDG_CACHE_HOME"), nowhere)
    found = done([*GRADE, "--source", "hypothesis", "--device", "cpu"], **changed)
    assert 0 == found.returncode, found.stderr
    assert "reference conforms" in found.stdout
    assert "Traceback" not in found.stderr


FAILING = '''
import contextlib, io, json, os, sys
from conformance.cli import main

EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "socket.connect", "tempfile.mkstemp")
armed, left = "", 0

def hook(event, arguments):
    global left
    if event == armed:
        left -= 1
        if left == 0:
            raise OSError(28, "No space left on device")

def ended(folder, event="", number=0):
    """Exit code, standard error, and how many such calls were left to come."""
    global armed, left
    sys.argv = ["x", "grade", "--source", "prng", "--programs", "3", "--no-cases", "--workers", "1",
                "--against", os.environ["AGAINST"],
                "--json", folder + "/x.json", "--junit", folder + "/x.xml"]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        armed, left = event, number
        try:
            main()
        except SystemExit as exited:
            code = exited.code
        finally:
            armed = ""
    return code, err.getvalue(), left

if __name__ == "__main__":
    sys.addaudithook(hook)
    folder, cold = sys.argv[1], len(sys.argv) > 2
    if cold:
        print(json.dumps([(*sys.argv[2:4], *ended(folder, sys.argv[2], int(sys.argv[3])))]))
        sys.exit()
    found = [("", 0, *ended(folder))]
    for event in EVENTS:
        for number in range(1, 41):
            found.append((event, number, *ended(folder, event, number)))
            if found[-1][-1] > 0:
                break
    print(json.dumps(found))
'''


@pytest.mark.parametrize(
    "cold", [(), *(("_posixsubprocess.fork_exec", n) for n in (1, 2)), *(("open", n) for n in (1, 5, 20))]
)
def test_a_call_of_the_system_that_fails_is_no_verdict(cold, tmp_path):
    """The first to the 40th call of each kind fails, in a process that has run before, and in a fresh one."""
    script, kept, temporary = tmp_path / "failing.py", tmp_path / "kept", tmp_path / "tmp"
    script.write_text(FAILING)
    kept.mkdir()
    temporary.mkdir()
    found = done(
        [sys.executable, str(script), str(kept), *map(str, cold)],
        TMPDIR=str(temporary),
        TORCHINDUCTOR_CACHE_DIR=str(tmp_path),
        AGAINST="torch" if cold or SOAK else "reference",  # torch is loaded at each of some hundred runs
    )
    outcomes = json.loads(found.stdout)
    for event, number, code, said, _ in outcomes:
        assert code in (0, SUITE_FAILED), (event, number, code, said)
        assert len(said.splitlines()) == (code != 0), (event, number, said)
    # A server of Python's whose client has failed tells of that on its own; ours say nothing.
    assert str(ROOT) not in found.stderr, found.stderr
    assert {"x.json", "x.xml"} >= set(os.listdir(kept))
    left = [name for name in os.listdir(temporary) if not name.startswith("autograd-conformance-")]
    assert [] == left


@pytest.mark.parametrize("name", ["[red]x[/red] :smile:", "[/nope]"])
def test_a_name_is_shown_as_it_is(name, tmp_path):
    """Nothing in a name is markup."""
    made = f"from conformance.adapters.reference import load\nadapter = load()\nadapter.name = {name!r}\n"
    (tmp_path / "mine.py").write_text(made)
    program = tmp_path / "p.py"
    program.write_text(PROGRAM)
    found = done([*COMMAND, "run", str(program), "--on", f"reference,{tmp_path}/mine.py"], COLUMNS="300")
    assert (0, True) == (found.returncode, tidy(found)), found.stderr
    assert name in found.stdout


class Named:
    """An adapter that is all name."""

    version = "1"
    start = perform = facts = refusal = staticmethod(lambda *_: None)

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "\0", "a\tb", "\ud800", "x" * 10_000])
def test_a_name_that_cannot_be_shown_breaks_the_adapter(name):
    with pytest.raises(AdapterError) as raised:
        checked(Named(name), "mine.py")
    assert 3 == raised.value.code
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize(
    "text", ["\ud800", "\0", "\x1b[31mred", "[/nope]", "a\nb\r\n", "x" * 10_000, "]]>&<"]
)
def test_any_text_of_an_implementation_can_be_written(text, tmp_path):
    """A report of it is JSON, XML, Markdown and lines that steer no terminal."""
    odd = dict.fromkeys(("expected", "actual", "name", "line"), text)
    made = report(subject=Subject("mine", text), findings=(replace(FINDING, **odd),), broken=(text,))
    for form in (as_json, as_junit, as_markdown):
        write_file(tmp_path / "file", form.render(made))
    write_file(tmp_path / "json", as_json.render(made))
    write_file(tmp_path / "xml", as_junit.render(made))
    assert text == json.loads((tmp_path / "json").read_text(encoding="utf-8"))["broken"][0]
    Xml.parse(tmp_path / "xml")
    assert "\x1b" not in words.plain(text)


def test_a_link_stays_one_and_keeps_its_mode(tmp_path):
    """The file behind it is the one written."""
    (tmp_path / "real").write_text("before")
    (tmp_path / "real").chmod(0o600)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_file(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink()
    assert ("after", 0o600) == ((tmp_path / "real").read_text(), (tmp_path / "real").stat().st_mode & 0o777)
