"""Work that dies or hangs costs one item, and no result depends on how the work was split."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import struct
import subprocess
import sys
import time
from itertools import groupby
from pathlib import Path

import pytest
import torch

from conformance.adapters import load_here
from conformance.adapters.torch import Torch
from conformance.execution.flight_recorder import FlightRecorder, note
from conformance.execution.isolate import Died, _Worker, survive
from conformance.execution.trace import Crashed, Done
from conformance.grading.isolated import run_isolated
from conformance.program import Program
from conformance.program.parsing import parse

LIMIT = 1.0
"""Seconds after which an item hangs: it computes nothing, and what wants to compute is waited for."""
TWO_STEPS = parse("import torch\nx = torch.tensor(1.0)\ny = x.mul(2.0)\n")


def work(item: int) -> int:
    """Squares, but for the items that segfault, exit or hang."""
    note(TWO_STEPS, step=item % 2)
    if item % 10 == 7:
        ctypes.string_at(0)
    if item == 4:
        os._exit(3)
    if item == 13:
        time.sleep(3600)
    return item * item


def raises(item: int) -> int:
    raise LookupError(f"item {item}")


def expected(item: int) -> object:
    if item % 10 == 7:
        return Died("SIGSEGV", TWO_STEPS, item % 2)
    return {4: Died("exit code 3", TWO_STEPS, 0), 13: Died("no answer for 1 s", TWO_STEPS, 1)}.get(
        item, item * item
    )


@pytest.mark.parametrize(("workers", "chunk"), [(1, 30), (2, 4), (3, 1)])
def test_deaths_are_results_of_exactly_their_items(workers: int, chunk: int) -> None:
    """Each item has its own result, in order, whatever the number of workers and the size of the chunks."""
    assert list(map(expected, range(20))) == list(
        survive(work, range(20), workers=workers, chunk=chunk, timeout=LIMIT)
    )


def process(item: int) -> int:
    return os.getpid()


def test_a_process_is_replaced_when_it_has_done_its_share() -> None:
    """Memory that torch never frees ends with the process, so a worker does not grow with its campaign."""
    ids = list(survive(process, range(7), chunk=1, preload=(), items_per_process=3))
    assert [3, 3, 1] == [len(list(same)) for _, same in groupby(ids)]


def test_a_process_can_be_watched_while_it_writes(tmp_path: Path) -> None:
    """An item is overdue or not, whatever the program beside it, of which half may be written."""
    path = tmp_path / "record"
    path.write_bytes(struct.pack("<qqqq", 5, 0, 100, 1).ljust(1 << 16, b"\x80"))
    worker = _Worker(multiprocessing.current_process(), None, FlightRecorder(str(path)))  # type: ignore[arg-type]
    assert not worker.overdue(60)
    assert worker.begun == 1
    worker.recorder.close()


def test_exceptions_are_raised_to_the_caller() -> None:
    """An exception of the function is a bug of the suite, not a death."""
    with pytest.raises(LookupError, match="item 0"):
        list(survive(raises, range(3)))


def test_a_script_without_a_main_guard_is_told_so(tmp_path: Path) -> None:
    """Processes that cannot start are an error with a hint, not the death of every item."""
    path = tmp_path / "unguarded.py"
    path.write_text(
        "from conformance.execution.isolate import survive\nprint(list(survive(abs, range(9), preload=())))\n"
    )
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    told = subprocess.run([sys.executable, path], capture_output=True, text=True, env=here)
    assert told.returncode == 1
    assert "RuntimeError: an isolated process ended before it did anything (exit code 1)" in told.stderr
    assert "item" not in told.stdout


def test_leaving_early_ends_the_processes() -> None:
    """A consumer that stops keeps what it has got, and nothing is left running."""
    before = set(multiprocessing.active_children())
    results = survive(work, range(3), chunk=1)
    assert 0 == next(results)
    del results
    assert before == set(multiprocessing.active_children())


def test_ctrl_c_keeps_what_was_yielded_and_ends_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt reaches the caller; no process outlives it."""
    before = set(multiprocessing.active_children())
    results = survive(work, range(3), chunk=1)
    first = next(results)
    monkeypatch.setattr("conformance.execution.isolate._collect", interrupt)
    with pytest.raises(KeyboardInterrupt):
        list(results)
    assert 0 == first
    assert before == set(multiprocessing.active_children())


def interrupt(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


ADAPTER = """
import ctypes, time
name, version = "deadly", "1"
def start(): return None
def perform(session, step, operands):
    if step.op == "mul": ctypes.string_at(0)
    if step.op == "exp": time.sleep(3600)
    return object()
def facts(session, value): return {"is_leaf": True}
def refusal(error): return None
"""


@pytest.fixture
def deadly(tmp_path: Path) -> str:
    path = tmp_path / "deadly.py"
    path.write_text(ADAPTER, encoding="utf-8")
    return str(path)


def test_a_segfault_is_an_outcome_of_its_step(deadly: str) -> None:
    """The steps before are observed, the deadly one crashed, those after were not run."""
    program = parse("x = torch.tensor(1.0)\ny = x.neg()\nz = y.mul(2.0)\nw = x.neg()\n")
    trace = run_isolated(program, deadly)
    assert [
        "Done",
        "Done",
        "Crashed",
        "Unbound",
    ] == [type(seen.outcome).__name__ for seen in trace.observations]
    assert {"x", "y"} == set(trace[1].facts)
    crash = trace[2].outcome
    assert isinstance(crash, Crashed)
    assert "SIGSEGV" == crash.error


def test_a_hang_is_an_outcome_of_its_step(deadly: str) -> None:
    """A process that gives no answer in time is killed, and the hang is recorded at its step."""
    trace = run_isolated(Program(parse("x = torch.tensor(1.0)\ny = x.exp()\n").steps), deadly, timeout=LIMIT)
    crash = trace[1].outcome
    assert isinstance(crash, Crashed)
    assert "no answer for 1 s" == crash.error


def test_a_harmless_program_runs_isolated(deadly: str) -> None:
    """Isolation changes nothing about a program that does not die."""
    trace = run_isolated(parse("x = torch.tensor(1.0)\n"), deadly, "end")
    assert isinstance(trace[0].outcome, Done)


def asserts_on_the_device(item: int) -> str | None:
    """Two errors as torch's adapter reports them on a machine with CUDA."""
    import torch

    adapter = Torch(torch, "cuda")
    texts = ["CUDA error: invalid argument", "CUDA error: device-side assert triggered"]
    return adapter.refusal(RuntimeError(texts[item]))


def test_what_is_lost_with_the_device_ends_the_process():
    """An error that every later call would repeat is the crash of one item, and others are not."""
    fine, lost, again = survive(asserts_on_the_device, [0, 1, 0])
    assert fine is again is None
    assert isinstance(lost, Died)
    assert lost.how == "an error after which nothing runs any more"


def ends_of_children(count: int) -> set[int]:
    """Go backward in so many children of this process, and return how they end."""
    load_here("torch")
    ends = set()
    for _ in range(count):
        child = os.fork()
        if child == 0:
            x = torch.ones(2, requires_grad=True)
            x.backward(x)
            os._exit(0)
        ends.add(os.waitpid(child, 0)[1])
    return ends


@pytest.mark.skipif(not hasattr(os, "fork") or torch.cuda.is_available(), reason="CUDA dies in a child")
def test_children_of_a_process_with_torch_live() -> None:
    """The engine's threads, one for each device, find a pool of threads: else they make it, and two at once
    abort. Of the children in which they did, one in thirty died.
    """
    assert list(survive(ends_of_children, [100])) == [{0}]
