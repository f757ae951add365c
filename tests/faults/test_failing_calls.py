"""The n-th write, open, mkdir or fork of a process fails: that is no verdict, and one line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.__main__ import INTERRUPTED as EXIT_INTERRUPTED
from conformance.__main__ import SUITE_FAILED as EXIT_SUITE_FAILED
from conformance.report.exit_codes import SUITE_FAILED
from conformance.report.value import INTERRUPTED, PROCESSES_KILLED
from sources import ROOT

SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
COMPILER = shutil.which("cc")

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform != "linux", reason="needs a C compiler and Linux"
)

ONE = ["--source", "prng", "--programs", "2", "--no-cases", "--workers", "1", "--device", "cpu"]
ONE += [] if SOAK else ["--against", "reference"]  # each process that is tried would load torch

WARM = """
import contextlib, ctypes, io, json, sys
from conformance.__main__ import main

system = ctypes.CDLL(None)

def ended(call, number, for_good):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        system.arm(call.encode(), number, for_good)
        try:
            main()
        except SystemExit as exited:
            code = exited.code
        finally:
            left = system.left()
            system.arm(b"", 0, 0)
    return call, number, for_good, code, err.getvalue(), left

if __name__ == "__main__":
    folder, numbers, *arguments = sys.argv[1:]
    files = ["--json", folder + "/x.json", "--junit", folder + "/x.xml"]
    sys.argv = ["x", "grade", "reference", *arguments, *files]
    found = [ended("", 0, 0)]
    for call in ("write", "open", "mkdir", "fork"):
        for number in json.loads(numbers):
            found += [ended(call, number, for_good) for for_good in (0, 1)]
            if found[-2][-1] > 0:  # so many do not come
                break
    print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of the compiled library."""
    made = tmp_path_factory.mktemp("preloaded") / "failing_calls.so"
    source = Path(__file__).with_name("failing_calls.c")
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return str(made)


def environment(library: str, folder: Path, **more: str) -> dict[str, str]:
    own = {"PYTHONPATH": str(ROOT), "LD_PRELOAD": library, "TMPDIR": str(folder), "OMP_NUM_THREADS": "1"}
    return os.environ | own | {"TORCHINDUCTOR_CACHE_DIR": str(folder / "torchinductor_")} | more


def test_a_call_that_fails_in_a_process_that_has_run_before_is_no_verdict(library, tmp_path):
    """The grader's own first to 40th call of each kind fails, that one alone or all from there on."""
    script, kept, temporary = tmp_path / "warm.py", tmp_path / "kept", tmp_path / "tmp"
    script.write_text(WARM)
    kept.mkdir()
    temporary.mkdir()
    numbers = list(range(1, 41)) if SOAK else [1, 2, 3, 5, 8, 13, 21, 40]
    command = [sys.executable, str(script), str(kept), json.dumps(numbers), *ONE]
    done = subprocess.run(command, env=environment(library, temporary), capture_output=True, text=True)
    outcomes = json.loads(done.stdout)
    assert {"", "write", "open", "mkdir", "fork"} == {call for call, *_ in outcomes}
    for call, number, for_good, code, said, _ in outcomes:
        assert code in (0, SUITE_FAILED, PROCESSES_KILLED), (call, number, for_good, code, said)
        # Python warns on its own where it has to start a process of its own anew.
        errors = [line for line in said.splitlines() if line.startswith("error: ")]
        assert len(errors) == (code != 0), (call, number, for_good, said)
        assert "Traceback" not in said
    assert 0 == outcomes[0][3]
    assert {"x.json", "x.xml"} >= set(os.listdir(kept))


OF_EACH = {"write": range(1, 41), "open": range(1, 41), "mkdir": range(1, 41), "fork": range(1, 41)}
SOME = {"write": (7,), "mkdir": (1,), "fork": (1,)}
COLD = [(call, number) for call, numbers in (OF_EACH if SOAK else SOME).items() for number in numbers]


@pytest.mark.parametrize(("call", "number"), COLD)
def test_a_call_that_fails_in_every_process_is_no_verdict(library, tmp_path, call, number):
    """The grader and whatever it starts each lose the call of that number, from their first moment on."""
    command = [sys.executable, "-m", "conformance", "grade", "reference", *ONE]
    changed = environment(library, tmp_path, FAILING_CALL=f"{call}:{number}")
    done = subprocess.run(command, env=changed, capture_output=True, text=True, timeout=300)
    # Where Python itself cannot begin, it ends with 1 before any of our code runs.
    last = done.stderr.strip().rpartition("\n")[2]
    unread = any(f"conformance/{name}.py'" in last for name in ("__init__", "__main__"))
    began = done.returncode != 1 or ("conformance" in done.stderr and not unread)
    assert done.returncode in (0, SUITE_FAILED, PROCESSES_KILLED) or not began, (done.returncode, done.stderr)
    if done.returncode == 0:
        assert "reference conforms" in done.stdout


def test_a_suite_that_cannot_be_loaded_is_no_verdict():
    """Nor are its codes others than those of the rest."""
    assert (EXIT_INTERRUPTED, EXIT_SUITE_FAILED) == (INTERRUPTED, SUITE_FAILED)
    command = [sys.executable, "-S", "-m", "conformance", "grade"]  # without the packages that it needs
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    assert SUITE_FAILED == done.returncode
    assert done.stderr.startswith("error: the suite cannot be loaded: ModuleNotFoundError: No module named")
