"""Adapters that end, kill, patch, flood and lie: whatever comes of them is theirs, and not the suite's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conformance.adapters.errors import AdapterError
from conformance.adapters.remote import Raised
from conformance.execution.trace import Crashed, Done, Trace
from conformance.execution.wire import WireError, decode, encode
from conformance.program.parsing import parse
from hostile import COMPARISON_REPLACED, PROGRAM, adapter

AT_IMPORT = {
    "sys.exit(0)": "import sys; sys.exit(0)",
    "sys.exit(1)": "import sys; sys.exit(1)",
    "sys.exit with words": "import sys; sys.exit('enough')",
    "os._exit(0)": "import os; os._exit(0)",
    "SystemExit in a factory": adapter(more="def make(): raise SystemExit(0)\nadapter = make"),
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "BaseException": "raise BaseException",
    "a segfault": "import ctypes; ctypes.string_at(0)",
    "SIGKILL": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "SIGTERM to its group's members": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "abort": "import os; os.abort()",
    "an exception": "1 / 0",
    "an exception without words": "class E(Exception): __str__ = None\nraise E",
    "a syntax error": "def",
    "deep recursion": "def f(): f()\nf()",
    "too much memory": "x = bytearray(1 << 40)",
    "nothing": "",
    "no functions": "name, version = 'mine', '1'",
    "a name that is no text": adapter(more="name = 3"),
    "capabilities that are none": adapter(more="capabilities = 'everything'"),
    "an unknown feature": adapter(
        more="from conformance.adapters.capabilities import Capabilities\n"
        "capabilities = Capabilities(features=frozenset(['inplaces']))"
    ),
    "text on stdout, then the end": "import os\nos.write(1, b'[1, 2, 3, 4]\\n' * 9)\nos._exit(0)",
    "a closed stdin": "import os\nos.close(0)\nos._exit(4)",
    "builtins replaced": adapter(more="import builtins\nbuiltins.len = builtins.isinstance = lambda *a: 0"),
    "a trace function that raises": adapter(more="sys.settrace(lambda *a: 1 / 0)"),
    "capabilities that raise": adapter(more="def __getattr__(name): raise ValueError(name)"),
    "SIGKILL to its group": "import os, signal; os.kill(0, signal.SIGKILL)",
}


@pytest.mark.parametrize("text", AT_IMPORT.values(), ids=AT_IMPORT)
def test_what_cannot_be_imported_is_an_adapter_error_in_one_line(remote, text):
    """Neither the exit code nor the death of an implementation is the suite's."""
    with pytest.raises(AdapterError) as raised:
        remote(text)
    assert raised.value.code in (2, 3)
    assert "Traceback" not in str(raised.value)


def test_what_hangs_as_it_is_imported_is_given_up(remote, monkeypatch):
    monkeypatch.setattr("conformance.adapters.remote.STARTING", 2.0)
    with pytest.raises(AdapterError, match="cannot be imported: no answer for 2 s"):
        remote("import time; time.sleep(3600)")


DEADLY = {
    "sys.exit(0)": ("sys.exit(0)", "exit code 0"),
    "os._exit(0)": ("os._exit(0)", "exit code 0"),
    "os._exit(5)": ("os._exit(5)", "exit code 5"),
    "a segfault": ("ctypes.string_at(0)", "SIGSEGV"),
    "abort": ("os.abort()", "SIGABRT"),
    "SIGKILL": ("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "a hang": ("time.sleep(3600)", "no answer for 3 s"),
    "a loop": ("exec('while True: pass')", "no answer for 3 s"),
    "a deadlock": ("threading.Lock().acquire() and threading.Event().wait()", "no answer for 3 s"),
    "a hang in an exit": ("__import__('atexit').register(time.sleep, 3600); sys.exit(3)", "exit code 3"),
    "a thread that stays": (
        "threading.Thread(target=time.sleep, args=(3600,)).start(); sys.exit(3)",
        "exit code 3",
    ),
    "closed pipes": ("os.closerange(0, 64)", "exit code 1"),
    "SIGKILL to its group": ("os.kill(0, signal.SIGKILL)", "SIGKILL"),
    "SIGTERM to its group": ("os.killpg(0, signal.SIGTERM)", "SIGTERM"),
    "a child that holds its pipes": (
        "__import__('subprocess').Popen(['sleep', '600']); os._exit(3)",
        "exit code 3",
    ),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", "exit code 1"),
    "a stop": ("os.kill(os.getpid(), signal.SIGSTOP)", "no answer for 3 s"),
    "a stop of its group": ("os.kill(0, signal.SIGSTOP)", "no answer for 3 s"),
    "an exit in a thread": (
        "threading.Thread(target=os._exit, args=(7,)).start(); time.sleep(1)",
        "exit code 7",
    ),
}


@pytest.mark.parametrize(("perform", "how"), DEADLY.values(), ids=DEADLY)
def test_a_death_is_a_crash_at_its_step_each_time(remote, perform, how):
    """Steps before it are observed, and a program that does not die of it runs as ever."""
    mine = remote(adapter(perform=f"\n    if step.op == 'sum': {perform}\n    return Value()"))
    if how == "no answer for 3 s":
        mine.timeout = 3.0
    for _ in range(2):
        trace = mine.run_program(PROGRAM, "each")
        assert ["Done", "Done", "Crashed", "Unbound"] == [
            type(o.outcome).__name__ for o in trace.observations
        ]
        assert {"x", "y"} == set(trace[1].facts)
        assert isinstance(trace[2].outcome, Crashed)
        if how != "exit code 1":
            assert how == trace[2].outcome.error
    short = parse("x = torch.tensor(1.0)\n")
    assert isinstance(mine.run_program(short, "each")[0].outcome, Done)


def running(pid: str) -> bool:
    """Tell whether a process runs still."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def still_running(pids: list[str]) -> list[str]:
    """Return the processes that do not end: one that is killed ends when the system next runs it."""
    for _ in range(200):
        if not any(map(running, pids)):
            break
        time.sleep(0.1)
    return list(filter(running, pids))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_what_an_implementation_forks_ends_with_it(remote, tmp_path):
    """Also where it is killed together with the worker that asked it, which tells nobody."""
    pids = tmp_path / "pids"
    forks = f"""
    pid = os.fork()
    if not pid: time.sleep(600)
    with open({str(pids)!r}, "a") as file: file.write(f"{{pid}} ")
    return Value()"""
    mine = remote(adapter(perform=forks))
    assert 4 == len(mine.run_program(PROGRAM, "each"))
    mine._process.kill()
    forked = pids.read_text().split()
    assert (4, []) == (len(forked), still_running(forked))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("end", ["pass", "os._exit(3)"], ids=["closed", "ended by itself"])
def test_what_an_implementation_starts_in_a_session_of_its_own_ends_with_it(remote, tmp_path, end):
    """Its group is ended, and what has left that group is known by its environment."""
    pids = tmp_path / "pids"
    starts = f"""
    started = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    with open({str(pids)!r}, "a") as file: file.write(f"{{started.pid}} ")
    {end}
    return Value()"""
    mine = remote(adapter(perform=starts, more="import subprocess"))
    mine.run_program(PROGRAM, "each")
    mine.close()
    started = pids.read_text().split()
    assert (bool(started), []) == (True, still_running(started))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_fork_ends_also_where_its_parent_ended_before_it_ran(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\n"
        "from conformance.grading.host import end_forks_with_their_parent\n"
        "os.register_at_fork(after_in_child=lambda: time.sleep(0.5))\n"
        "end_forks_with_their_parent()\n"
        "forked = os.fork()\n"
        "if not forked: time.sleep(600)\n"
        "os._exit(0)\n"
    )
    # The fork holds the pipe open, so that this waits for its end, too.
    assert 0 == subprocess.run([sys.executable, script], stdout=subprocess.PIPE, timeout=60).returncode


BROKEN = {
    "start raises": adapter(more="def start(): raise ValueError('start')"),
    "facts raise": adapter(facts="raise KeyError('facts')"),
    "refusal raises": adapter(perform="raise ValueError", refusal="raise OSError('refusal')"),
    "stop raises": adapter(more="def stop(session): raise ValueError('stop')"),
    "facts are None": adapter(facts="return None"),
    "facts are a list": adapter(facts="return [1, 2]"),
    "a fact that there is not": adapter(facts="return {'isleaf': True}"),
    "a flag that is a number": adapter(facts="return {'is_leaf': 1.5}"),
    "a fact that is not equal to itself": adapter(
        more="class V:\n    def __eq__(self, other): raise ValueError('equal')",
        facts="return {'is_leaf': V()}",
    ),
    "a value that is a set": adapter(facts="return {'value': {1}}"),
    "a value of a gigabyte": adapter(facts="return {'value': [0.0] * 30_000_000}"),
    "a text of a hundred megabytes": adapter(facts="return {'dtype': 'x' * 100_000_000}"),
    "200,000 nested lists": adapter(
        more="def nest():\n    x = 1.0\n    for _ in range(200_000): x = [x]\n    return x",
        facts="return {'value': nest()}",
    ),
    "a list that holds itself": adapter(
        more="def knot():\n    x = []\n    x.append(x)\n    return x", facts="return {'value': knot()}"
    ),
    "a shape without end": adapter(facts="return {'shape': iter(int, 1)}"),
    "a refusal that is no rule": adapter(perform="raise ValueError", refusal="return 5"),
    "a refusal by a rule that there is not": adapter(
        perform="raise ValueError", refusal="return 'backward/second_time'"
    ),
    "facts without end": adapter(more="def f(): return f()", facts="return f()"),
    "an error that cannot be told": adapter(
        more="class E(Exception):\n    def __str__(self): raise ValueError('str')", perform="raise E"
    ),
    "a number of 5,000 digits": adapter(facts="return {'value': 10**5000}"),
    "an array for a shape": adapter(more="import numpy", facts="return {'shape': numpy.array([2])}"),
    "a text of its own": adapter(
        more="class S(str):\n    def __eq__(self, other): raise ValueError\n    __hash__ = str.__hash__",
        facts="return {'dtype': S('float32')}",
    ),
    "StopIteration": adapter(more="def start(): raise StopIteration"),
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_a_broken_contract_is_an_error_and_no_verdict(remote, text):
    """It ends the program with one line, and the next one can be asked for."""
    mine = remote(text)
    for _ in range(2):
        with pytest.raises((AdapterError, Raised)) as raised:
            mine.run_program(PROGRAM, "each")
        assert str(raised.value) or raised.type is not AdapterError


# -- what comes from there -----------------------------------------------------------------------
def whole() -> tuple[Trace, str]:
    from conformance import adapters
    from conformance.execution.run import run

    trace = run(PROGRAM, adapters.load("reference"))
    return trace, encode(trace)


def test_a_trace_survives_the_way():
    trace, line = whole()
    again = decode(line, PROGRAM, trace.adapter, trace.density)
    assert [o._replace(fired=()) for o in trace.observations] == list(again.observations)
    assert (trace.topology, trace.complete) == (again.topology, again.complete)


def test_every_spoiled_line_is_no_trace_or_one():
    """Nothing but `WireError` comes of a line that was cut or changed."""
    trace, line = whole()
    for at in range(0, len(line), 7):
        for spoiled in (line[:at], line[:at] + "[" + line[at:], line[:at] + "9" + line[at + 1 :]):
            try:
                decode(spoiled, PROGRAM, "mine", trace.density)
            except WireError:
                continue


@pytest.mark.parametrize(
    "line", ["", "null", "[]", "[1,2,3]", "{}", "[[],true,null]", "[" * 100_000, "\ud800"]
)
def test_an_answer_that_is_no_trace_is_an_error(line):
    with pytest.raises(WireError):
        decode(line, PROGRAM, "mine", "each")


# -- the command ---------------------------------------------------------------------------------
COMMANDS = {
    "ends as it is imported": (AT_IMPORT["sys.exit(0)"], 3),
    "dies of everything": (adapter(perform="ctypes.string_at(0)"), 3),
    "breaks its contract": (BROKEN["a value of a gigabyte"], 3),
    "replaces the comparison": (adapter(more=COMPARISON_REPLACED), 1),
}


@pytest.mark.parametrize(("text", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_the_command_ends_with_the_verdict(tmp_path, text, expected):
    """Exit code, no traceback, no process and no file left."""
    (tmp_path / "mine.py").write_text(text, encoding="utf-8")
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    options = ["--programs", "10", "--rules", "leaf/*", "--against", "reference", "--workers", "1"]
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "conformance",
            "grade",
            str(tmp_path / "mine.py"),
            *options,
            "--json",
            "report.json",
        ],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert expected == ended.returncode, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert [] == [path.name for path in temporary.iterdir() if "torchinductor" not in path.name]
    if expected == 1:
        assert json.loads((tmp_path / "report.json").read_text())["verdict"] == "nonconformance"
