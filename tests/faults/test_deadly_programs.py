"""A program that kills its process is reduced, and a record excuses only what it describes."""

from __future__ import annotations

import random

import pytest
import torch

from conformance.adapters import load
from conformance.comparison.known_crashes import issue_of, records, words_of
from conformance.generate.guide.guide import draw
from conformance.generate.state.choices import Prng
from conformance.grading import deadly
from conformance.grading.deadly import shrink_deadly
from conformance.program import Program
from conformance.program.parsing import parse

ADAPTER = """
import ctypes, os, time
name, version = "deadly", "1"
def start(): return None
def perform(session, step, operands):
    if step.op == "mul": ctypes.string_at(0)
    if step.op == "exp": time.sleep(3600)
    if step.op == "neg": os._exit(7)
    return object()
def facts(session, value): return {"is_leaf": True}
def refusal(error): return None
"""

LONG = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.add(1.0)
a = y.sub(2.0)
b = a.add(y)
z = y.{op}({operand})
w = z.add(1.0)
"""


@pytest.fixture(scope="module")
def adapter(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("deadly") / "deadly.py"
    path.write_text(ADAPTER, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("op", "operand", "how"),
    [("mul", "2.0", "SIGSEGV"), ("exp", "", "no answer for 30 s"), ("neg", "", "exit code 7")],
)
def test_a_deadly_program_is_reduced(adapter, op, operand, how):
    """Crashes, hangs and exits are told in two statements."""
    program = parse(LONG.format(op=op, operand=operand))
    small = shrink_deadly(program, adapter, "each", (how, 4))
    assert ["torch.tensor", op] == [step.op for step in small or ()]


def test_a_new_process_for_each_candidate_gives_the_same(adapter, monkeypatch):
    """It is the way where the system has no fork."""
    monkeypatch.setattr(deadly, "_forks", lambda: False)
    program = parse(LONG.format(op="mul", operand="2.0"))
    small = shrink_deadly(program, adapter, "each", ("SIGSEGV", 4))
    assert ["torch.tensor", "mul"] == [step.op for step in small or ()]


BEGINS_WITH_ITS_DEVICE = """
device = "cuda"
began = os.getpid()
def start():
    assert began == os.getpid(), "the device was begun before the fork"
"""

ON_CUDA = """
import torch
device = "cuda"
def start(): torch.ones(2, device="cuda").sum().item()
"""


@pytest.mark.parametrize(
    "device",
    [BEGINS_WITH_ITS_DEVICE, pytest.param(ON_CUDA, marks=pytest.mark.device)],
    ids=["made up", "CUDA"],
)
def test_a_device_that_does_not_survive_a_fork_is_begun_in_each_child(device, tmp_path):
    """The process that forks leaves it alone."""
    if device is ON_CUDA and not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    path = tmp_path / "deadly_on_cuda.py"
    path.write_text(ADAPTER + device, encoding="utf-8")
    program = parse(LONG.format(op="mul", operand="2.0"))
    small = shrink_deadly(program, str(path), "each", ("SIGSEGV", 4))
    assert ["torch.tensor", "mul"] == [step.op for step in small or ()]


def test_what_is_not_seen_to_die_again_is_not_reduced(adapter):
    """It is not taken for the same death, nor cut where it does not die."""
    program = parse(LONG.format(op="mul", operand="2.0"))
    assert shrink_deadly(program, adapter, "each", ("SIGABRT", 4)) is None


@pytest.mark.parametrize("op", ["unsqueeze", "exp", "matmul", "torch.cat", "requires_grad_"])
def test_no_record_excuses_a_crash_of_another_operation(op):
    """Long random programs that end in an operation that no record names match no record of a signal."""
    reference, choices = load("reference"), random.Random(0)
    excused = []
    for number in range(60):
        steps = draw(Prng(7, number), reference).program.steps
        ending = parse("x = torch.ones(2)\ny = x.exp()\n").steps[-1]._replace(op=op)
        program = Program((*steps[: choices.randint(1, len(steps))], ending))
        for error in ("SIGSEGV", "SIGABRT", "SIGKILL"):
            issue = issue_of(words_of(program), "torch", "2.13.0", error)
            named = [r for r in records() if r.issue == issue and r.steps[-1] != ".*"]
            excused += [(issue, error)] * bool(named)
    assert excused == []
