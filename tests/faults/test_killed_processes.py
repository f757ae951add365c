"""Processes that are killed from outside cost time, and nothing else."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from pathlib import Path

import pytest

import conformance
from conformance.comparison.known_crashes import records
from conformance.execution.isolate import MOST_DEATHS, OFTEN, Died, ProcessesKilled, survive
from conformance.grading import chunks
from conformance.grading.campaign import Chunk
from conformance.grading.tally import Tally
from conformance.program import Program
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from conformance.report import as_json

ROOT = Path(__file__).parents[2]


def workers() -> list[int]:
    """Return the processes that do the work."""
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def server() -> list[int]:
    """Return the process that forks them."""
    pid = forkserver._forkserver._forkserver_pid  # type: ignore[attr-defined]
    return [] if pid is None else [pid]


@contextmanager
def killing(
    seed: int, every: float, most: int = 1000, whom: Callable[[], list[int]] = workers
) -> Iterator[list[int]]:
    """Kill one of this process's own at a time, at moments that the seed decides, and so many at most."""
    choices, over, killed = random.Random(seed), threading.Event(), list[int]()

    def kill() -> None:
        while not over.wait(choices.uniform(0.5, 1.5) * every):
            running = [pid for pid in whom() if pid not in killed]
            if running and len(killed) < most:
                killed.append(choices.choice(running))
                os.kill(killed[-1], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def graded(**options: object) -> str:
    """The JSON of a report, free of what differs between two runs."""
    report = conformance.check(
        "reference", source="prng", programs=400, rules="version/*", workers=2, **options
    )
    return as_json.render(report.without_times())


@pytest.fixture(scope="module")
def undisturbed() -> str:
    """The report of a run that nobody disturbs."""
    return graded()


@pytest.mark.parametrize(("whom", "most"), [(workers, 8), (server, 4)])
def test_a_run_whose_processes_are_killed_gives_the_same_report(undisturbed, whom, most):
    """The report is the same to the letter, whatever was killed.

    As often as a slow machine can bear: a chunk that is killed begins again, and ends if it is left alone.
    """
    with killing(1, every=1.5, most=most, whom=whom) as killed:
        disturbed = graded()
    assert killed
    assert undisturbed == disturbed


def slow(item: int) -> int:
    time.sleep(0.2)
    return item


def test_items_whose_processes_are_killed_have_their_results():
    """No result is lost, and none is a death, while no item can have been killed `OFTEN`."""
    with killing(3, every=0.3, most=OFTEN - 1) as killed:
        assert list(range(20)) == list(survive(slow, range(20), workers=2, chunk=4, preload=()))
    assert killed


def forever(item: int) -> None:
    time.sleep(3600)


def test_a_machine_that_goes_on_killing_is_named(monkeypatch):
    """An item that is killed again and again, each time differently, ends the work with those words."""
    monkeypatch.setattr("conformance.execution.isolate.MOST_DEATHS", 3)
    monkeypatch.setattr("conformance.execution.isolate.OFTEN", 9)
    with killing(4, every=0.3), pytest.raises(ProcessesKilled, match="processes keep ending"):
        list(survive(forever, [1], preload=()))


PROGRAM = parse("a = torch.ones(2, requires_grad=True)")


def dying(monkeypatch, how: str, times: int, program: Program = PROGRAM) -> Tally:
    """Work through a chunk whose process dies so often, at a program that by itself kills no process."""
    results = iter([*[Died(how, program, 0)] * (times - 1), Tally()])
    monkeypatch.setattr(chunks, "survive", lambda *_, **__: iter([next(results)]))
    monkeypatch.setattr(chunks, "_death_again", lambda died, side: None)
    chunk = Chunk("reference", "torch", "prng", 0, first=0, count=100)
    return chunks._surviving(chunk, Died(how, program, 0), lambda chunk: Tally())


def test_a_sigkill_that_a_program_alone_does_not_get_is_never_its_fault(monkeypatch):
    """It costs time, and ends the run at last."""
    assert () == dying(monkeypatch, "SIGKILL", MOST_DEATHS - 1).crashes
    with pytest.raises(ProcessesKilled, match="SIGKILL"):
        dying(monkeypatch, "SIGKILL", MOST_DEATHS)


def test_a_crash_seen_twice_counts_although_the_program_alone_lives(monkeypatch):
    """Programs that ran before it in the process have a part in it."""
    assert () == dying(monkeypatch, "SIGSEGV", 1).crashes
    (crash,) = dying(monkeypatch, "SIGSEGV", 2).crashes
    assert ("SIGSEGV", "by itself it does not kill a process") == (crash.error, crash.not_reduced)
    assert crash.known is None


def test_a_recorded_crash_that_kills_later_is_known(monkeypatch):
    """A program that uses freed memory as one on record does dies of that, wherever its death comes."""
    record = next(each for each in records() if "register_hook" in each.program and each.error == "SIGSEGV")
    program = parse(record.program + "z = x.mul(2.0)\n")
    (crash,) = dying(monkeypatch, "SIGSEGV", 2, program).crashes
    assert crash.known == record.issue


def test_a_program_that_dies_elsewhere_than_it_did_is_told_whole():
    """A process may die where the program began, of what came from outside: that step alone kills none."""
    program = parse("a = torch.ones(2, requires_grad=True)\nb = a.mul(2.0)\n")
    chunk = Chunk("reference", "torch", "prng", 0, first=0, count=100)
    (crash,) = chunks._crash(chunk, Died("SIGSEGV", program, 0), "torch", ("each", 0)).crashes
    assert (to_text(program), "it kills now and then") == (crash.script, crash.not_reduced)


def test_a_process_that_always_dies_before_it_begins_is_a_result(monkeypatch):
    """An implementation that ends each process as it is loaded is told so."""
    (died,) = survive(leaves, [1], preload=())
    assert died == Died("exit code 0")


def leaves(item: int) -> None:
    os._exit(0)


PARENT = """
import signal
from conformance.execution.isolate import survive
from tests_killed import work
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's `command &` has it ignored
    print(list(survive(work, range(4), workers=2, chunk=1, preload=())))
"""
WORK = """
import os, time
def work(item):
    with open(os.environ["PIDS"], "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(60)
"""


def alive(pid: int) -> bool:
    """Tell whether a process runs still."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def eventually(true: object, seconds: float = 20) -> bool:
    """Wait until a condition holds, for a while."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if true():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_workers_end_with_their_parent_and_leave_no_file(tmp_path, number):
    """Any end of the parent leaves no process and no file of it."""
    (tmp_path / "parent.py").write_text(PARENT)
    (tmp_path / "tests_killed.py").write_text(WORK)
    temporary, pids = tmp_path / "tmp", tmp_path / "pids"
    temporary.mkdir()
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    parent = subprocess.Popen(
        [sys.executable, str(tmp_path / "parent.py")],
        env=os.environ | {"PYTHONPATH": path, "PIDS": str(pids), "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    parent.send_signal(number)
    parent.wait(30)
    workers = [int(pid) for pid in pids.read_text().split()]
    assert eventually(lambda: not any(map(alive, workers)))
    assert eventually(lambda: not list(temporary.iterdir())), list(temporary.rglob("*"))


def cancelled(file: Path, after: float, *more: str) -> tuple[int, bytes, bytes]:
    """A check that gets SIGTERM after so many seconds: its exit code and what it printed."""
    command = [sys.executable, "-m", "conformance", "grade", "reference", "--against", "reference"]
    options = ["--source", "prng", "--programs", "100000", "--rules", "version/*", "--json", str(file)]
    command += [*options, *more]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(after)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_a_check_from_standard_input_starts_processes():
    """They do not look for the file of a main module that has none."""
    text = "import conformance\n"
    text += "print(conformance.check('reference', against='reference', programs=3, cases=False).exit_code)\n"
    command = [sys.executable, "-"]
    ended = subprocess.run(command, input=text, cwd=ROOT, capture_output=True, text=True)
    assert ("0\n", "", 0) == (ended.stdout, ended.stderr, ended.returncode)


@pytest.mark.parametrize("after", [0.8, 2.0, 4.0])
def test_a_job_cancelled_early_says_so(tmp_path, after):
    """It is no verdict, and one line or a report; at first Python itself may end of the signal."""
    code, out, err = cancelled(tmp_path / "report.json", after)
    if code != -signal.SIGTERM:
        assert code == 130, (out, err)
        lines = (err if err else out).decode().strip().splitlines()
        assert "interrupted" in lines[-1]
        assert len(lines) == 1 or not err


def test_an_interruption_before_any_command_says_so():
    """Arguments are read by a library that ends without a word."""
    text = "import os, signal, sys, typer.core\nfrom conformance import cli\n"
    text += "from conformance.execution.interruption import listen\nlisten()\n"
    text += "typer.core.TyperGroup.parse_args = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\n"
    text += "sys.argv = ['autograd-conformance', 'grade']\ncli.main()\n"
    ended = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True)
    assert (130, "") == (ended.returncode, ended.stdout)
    assert ended.stderr.startswith("error: interrupted before there was anything to report")


def test_an_interruption_ends_with_the_documented_code(tmp_path):
    """Python would end of the signal where it strikes text being run, as when a dataclass is made."""
    (tmp_path / "ended.py").write_text(
        "import conformance.cli as cli\n"
        "cli.app = lambda **options: exec('raise KeyboardInterrupt')\n"
        "cli.main()\n"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    command = [sys.executable, "-m", "ended"]  # a module: a script's end does not ask
    ended = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert ended.returncode == 130, ended.stderr
    assert "interrupted" in ended.stderr


LOSES = """
import conformance.cli as cli
from conformance.execution.interruption import listen
from conformance.execution.isolate import survive
import os, signal
def lost(**options):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
    except KeyboardInterrupt:
        {then}
cli.app = lost
if __name__ == "__main__":
    listen()
    cli.main()
"""


@pytest.mark.parametrize("then", ["raise ImportError('torch')", "list(survive(abs, range(3), preload=()))"])
def test_an_interruption_that_something_swallows_is_not_lost(tmp_path, then):
    """Finalizers swallow it, and imports of compiled modules make another error of it."""
    (tmp_path / "ended.py").write_text(LOSES.format(then=then))
    ended = subprocess.run(
        [sys.executable, str(tmp_path / "ended.py")],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 130, ended.stderr
    assert "interrupted" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_sigterm_gives_the_report_as_ctrl_c_does(tmp_path):
    """A job that is cancelled has said what it found."""
    file = tmp_path / "report.json"
    for after in (5, 20, 75):  # how long a machine takes to run the first programs
        code, out, err = cancelled(file, after, "--no-cases", "--workers", "1")
        if b"as far as it was run" in out:
            break
    assert b"as far as it was run" in out, out + err
    assert code == 130, err
    assert json.loads(file.read_text())["unrun"] > 0


def test_the_path_of_the_temporary_folder_may_be_long(tmp_path):
    """Processes start although no socket can have its name there, and leave nothing of theirs behind."""
    long = tmp_path / ("long" * 30)
    long.mkdir()
    command = [sys.executable, "-m", "conformance", "grade", "reference", "--against", "reference"]
    options = ["--source", "prng", "--programs", "3", "--no-cases", "--workers", "1"]
    environment = os.environ | {"TMPDIR": str(long)}
    ended = subprocess.run([*command, *options], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert all(path.name.startswith("torchinductor_") for path in long.iterdir()), "torch's own folder apart"


def test_the_temporary_folder_is_where_the_test_thinks():
    """The check for files left looks into the folder that processes use."""
    assert Path(tempfile.gettempdir()).is_dir()
