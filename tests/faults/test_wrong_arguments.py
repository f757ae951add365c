"""Wrong arguments are told in one line before any process starts, from Python and on the command line."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

import conformance
from conformance.adapters import load
from conformance.adapters.errors import AdapterError
from conformance.cli import main
from conformance.grading.check import name_of
from conformance.observer_effect.campaign import search
from conformance.recordings.record import make_recording
from conformance.report.value import PROCESSES_KILLED


@pytest.fixture(autouse=True)
def _no_process(monkeypatch):
    """Nothing may start one."""

    def started(*_, **__):
        raise AssertionError("a process was started")

    monkeypatch.setattr("conformance.execution.isolate._Pool", started)
    monkeypatch.setattr("subprocess.Popen", started)


@pytest.fixture
def ended(monkeypatch, capfd):
    """Calls the command line in this process; gives the exit code and standard error."""

    def call(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["autograd-conformance", *map(str, arguments)])
        with pytest.raises(SystemExit) as exited:
            main()
        return int(exited.value.code or 0), capfd.readouterr().err

    return call


WRONG = [
    *[(TypeError, {name: value}) for name in ("programs", "seed") for value in ("a", 1.5, True, [])],
    (TypeError, {"seed": None}),
    *[(TypeError, {"workers": value}) for value in ("a", 1.5, True, [1])],
    *[(ValueError, {"programs": value}) for value in (-1, 10**7 + 1, 10**5000)],
    *[(ValueError, {"seed": value}) for value in (-1, 2**63, -(10**5000))],
    *[(ValueError, {"workers": value}) for value in (-3, 0, 10**6)],
    *[(TypeError, {name: value}) for name in ("fail_fast", "cases") for value in ("x", 1, None)],
    *[(TypeError, {name: value}) for name in ("source", "against", "rules") for value in (1, None, ["*"])],
    *[(ValueError, {name: value}) for name in ("source", "against") for value in ("", "x", "PRNG", "\ud800")],
    *[(TypeError, {"timeout": value}) for value in ("1", None, True)],
    *[(ValueError, {"timeout": value}) for value in (-1, 0, float("nan"), float("inf"), 10**400)],
    *[(ValueError, {"rules": value}) for value in ("", "veiw/*", "[", "\0")],
    *[(TypeError, {"progress": value}) for value in (1, "print", True)],
    (TypeError, {"program": 1}),
    (TypeError, {"against": "recorded", "programs": 1}),
    *[(TypeError, {"against": "recorded", "recordings": value}) for value in ("a.jsonl", Path("a"), 1, [1])],
    (ValueError, {"against": "recorded", "recordings": []}),
    (ValueError, {"against": "recorded", "workers": -3}),
    (TypeError, {"against": "recorded", "progress": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("error", "options"), WRONG, ids=["-".join(options) for _, options in WRONG])
def test_an_argument_of_check_that_is_none_is_an_error(error, options):
    """It is one line that names the argument, and nobody is blamed."""
    with pytest.raises(error) as raised:
        conformance.check("reference", **options)
    assert 1 == len(str(raised.value).splitlines())
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("call", [search, make_recording])
@pytest.mark.parametrize("options", [{"workers": -3}, {"programs": -1}, {"seed": -1}], ids=str)
def test_the_other_campaigns_check_theirs(call, options):
    with pytest.raises(ValueError, match=next(iter(options))):
        call(**options)


NO_ADAPTERS = [
    *(None, 1, b"reference", object(), int, [], Path("reference"), Path("x"), Path("\0.py")),
    *("", "x", "nowhere.py", "a:b:c", "a:", ":b", "a..b:c", "\0.py", "\ud800"),
    *("x" * 10_000, "a" * 5000 + ".py"),
]


@pytest.mark.parametrize("adapter", NO_ADAPTERS, ids=lambda adapter: f"{adapter!r:.20}")
def test_what_cannot_be_loaded_is_an_error_of_the_adapter(adapter):
    with pytest.raises(AdapterError):
        conformance.check(adapter)


def test_a_path_names_an_adapter():
    assert "mine/adapter.py" == name_of(Path("mine") / "adapter.py")


NUMBERS = [("--workers", v) for v in (-3, 0, 1025, "a")] + [("--programs", v) for v in (-1, 1.5, 10**8, "")]
NUMBERS += [("--seed", v) for v in (-1, "a", 2**64)]
USAGE = [
    *[("grade", *pair) for pair in NUMBERS],
    *[("observed", *pair) for pair in NUMBERS],
    *[("record", "--out", "/tmp/x.jsonl", *pair) for pair in NUMBERS],
    ("grade", "--source", "x"),
    ("grade", "--against", "x"),
    ("grade", "--device", "x y"),
    ("grade", "--rules", ""),
    ("grade", "--findings", "-1"),
    ("grade", "--bogus"),
    ("grade", "--json"),
    ("grade", "reference", "torch"),
    ("grade", "no such adapter\n\x1b[31m"),
    ("grade", "x" * 10_000),
    ("grade", "reference", "--recording", "nowhere.jsonl"),
    ("bogus",),
    ("rules", "xyz"),
    ("rules", "--programs", "-1"),
    ("run",),
    ("run", "nowhere.py"),
    ("run", "nowhere.py", "--density", "x"),
]


@pytest.mark.parametrize("arguments", USAGE, ids=lambda a: " ".join(map(str, a))[:60])
def test_wrong_usage_is_one_line_and_exit_code_2(ended, arguments):
    code, said = ended(*arguments)
    assert (2, 1) == (code, len(said.splitlines())), said
    assert said.startswith("error: ")
    assert "(hint: " in said or len(said) > 1000
    assert said[:-1].isprintable()


@pytest.fixture
def places(tmp_path):
    """A folder with what a report may not be written over, and where it cannot be."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "adapter.py").write_text("name = 'x'\n")
    (tmp_path / "link").symlink_to(tmp_path / "out")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "astray").symlink_to(tmp_path / "nowhere" / "out")
    (tmp_path / "again").symlink_to(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        ("--json", "out", "--junit", "out"),
        ("--json", "out", "--markdown", "./folder/../out"),
        ("--junit", "out", "--markdown", "link"),
        ("--json", "again/out", "--junit", "out"),
        ("--json", "adapter.py"),
        ("--json", "again/adapter.py"),
        ("--json", "nowhere/out"),
        ("--json", "folder"),
        ("--json", ""),
        ("--json", "circle"),
        ("--json", "astray"),
        ("--json", "adapter.py/out"),
        ("--json", "x" * 300),
        ("--json", "/proc/out"),
    ],
    ids=" ".join,
)
def test_files_that_cannot_be_written_are_told_first(ended, places, monkeypatch, options):
    """Two reports in one file, also by another spelling, are refused, and so is one over what is read."""
    monkeypatch.chdir(places)
    code, said = ended("grade", "adapter.py", *options)
    assert (2, 1) == (code, len(said.splitlines())), said
    assert "name = 'x'\n" == (places / "adapter.py").read_text()
    assert not (places / "out").exists()


@pytest.mark.skipif(os.name == "nt", reason="there is no such folder")
@pytest.mark.parametrize("command", ["observed", "record"])
def test_other_commands_refuse_such_files(ended, command):
    code, said = ended(command, "--json" if command == "observed" else "--out", "/proc/out")
    assert (2, 1) == (code, len(said.splitlines())), said


def test_a_device_takes_any_number_of_reports(places, monkeypatch):
    """Reports to /dev/null are meant to be lost."""
    from conformance.cli.loading import check_writable

    check_writable(json=Path(os.devnull), junit=Path(os.devnull))


def test_a_folder_that_is_gone_is_told_in_a_line(ended, tmp_path, monkeypatch):
    """It is no failure of the suite."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    code, said = ended("grade", "reference", "--programs", "1", "--json", "x.json")
    monkeypatch.chdir(tmp_path)
    assert (2, "error: the current folder is gone (hint: change to one that exists)\n") == (code, said)


def test_a_dash_is_no_file(ended):
    code, said = ended("grade", "reference", "--json", "-")
    assert (2, "error: - is no name of a file (hint: standard output is /dev/stdout)\n") == (code, said)


def test_a_daemon_process_is_told_that_it_may_start_none(monkeypatch):
    """Python would end it with an assertion."""
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(RuntimeError, match="a daemon process may not"):
        conformance.check("reference")


def test_an_interpreter_without_assertions_is_refused(ended, monkeypatch):
    """Each case would hold, since nothing in it could fail."""
    monkeypatch.setattr(sys, "flags", SimpleNamespace(optimize=1))
    code, said = ended("grade")
    assert (2, 1) == (code, len(said.splitlines()))
    assert "leaves out assertions (-O)" in said
    assert "(hint: unset PYTHONOPTIMIZE" in said
    with pytest.raises(RuntimeError, match="leaves out assertions"):
        conformance.check("reference")


def test_the_end_of_what_starts_processes_is_a_machine_that_kills(ended, monkeypatch):
    """Typer would take it for the end of what somebody types."""

    def gone(*_, **__):
        raise EOFError("unexpected EOF")

    monkeypatch.setattr(sys.modules["conformance.cli.grade"], "check", gone)
    code, said = ended("grade", "reference")
    assert PROCESSES_KILLED == code
    assert "what starts them has ended" in said


def test_threads_that_load_at_once_get_one_adapter(monkeypatch):
    """Two of torch's would register the stand-in twice."""
    made = []

    def slow():
        made.append(load("reference"))
        time.sleep(0.05)
        return made[0]

    monkeypatch.setattr("conformance.adapters.BUILT_IN", ("reference", "slow"))
    monkeypatch.setitem(sys.modules, "conformance.adapters.slow", SimpleNamespace(load=slow))
    with ThreadPoolExecutor(4) as threads:
        found = set(threads.map(load, ["slow"] * 4))
    assert (1, 1) == (len(found), len(made))


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="needs a POSIX system")
def test_signals_that_were_blocked_come_through(ended):
    """Processes inherit what is blocked, and one that cannot be ended was waited for without end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGCHLD})
    ended("rules", "xyz")
    assert set() == signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_a_report_that_is_nested_without_end_is_none(ended, tmp_path):
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000)
    code, said = ended("report", "diff", file, file)
    assert (2, 1) == (code, len(said.splitlines())), said
