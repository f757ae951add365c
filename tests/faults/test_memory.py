"""A worker keeps what it needs for the next program, and no more."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from conformance.adapters import load
from conformance.execution.run import Runner, run
from conformance.program.parsing import parse
from sources import ROOT

COUNTS = """
import gc
from conformance.grading.campaign import Chunk, judge_chunk

for first in range(0, 6000, 100):
    judge_chunk(Chunk("reference", "reference", "prng", 0, first, 100))
    if first in (1900, 3900, 5900):
        gc.collect()
        print(len(gc.get_objects()))
"""


def test_live_objects_stay_as_many_however_many_programs_ran():
    """Tables of calls once were kept for good: 18 objects a program. They grow ever more slowly, at last by
    less than four.
    """
    done = subprocess.run(
        [sys.executable, "-c", COUNTS], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    )
    early, later, late = map(int, done.stdout.split())
    assert late - later < min(later - early, 4 * 2000), (early, later, late)
    assert late < 1.5 * early


CYCLE = parse("""
x = torch.tensor([1.0, 2.0], requires_grad=True)
x.register_hook(lambda g: g * 2)
y = x.mul(x)
z = y.sum()
z.backward(create_graph=True)
""")
"""PyTorch keeps the leaf, its gradient and its hook for good: they are a cycle through C++."""


def test_what_torch_never_frees_keeps_nothing_of_the_run():
    """A hook in such a cycle once kept the trace of its program: 270 objects a program."""
    pytest.importorskip("torch")
    assert len(CYCLE) == len(run(CYCLE, load("torch")))
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is Runner]


def test_a_leaf_and_its_gradient_let_go_of_each_other():
    """With create_graph each leads to the other, and PyTorch would keep both for good."""
    torch = pytest.importorskip("torch")
    adapter = load("torch")

    def tensors() -> int:
        run(CYCLE, adapter)
        gc.collect()
        return sum(type(each) is torch.Tensor for each in gc.get_objects())

    assert tensors() == tensors()


STOPPED = parse("""
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(x)
z = torch.utils.checkpoint.checkpoint(lambda t, u: u * u * u, y, y, use_reentrant=False)
z.backward(x)
""")
"""Once all is computed again that is needed, the checkpoint leaves its function by an exception."""


def test_what_a_function_raised_and_its_caller_caught_is_let_go_with_the_run():
    """Its traceback holds all calls below it, with what their callers had at hand."""
    gc.collect()
    gc.disable()
    try:
        run(STOPPED, load("reference"))
        assert not [each for each in gc.get_objects() if type(each) is Runner]
    finally:
        gc.enable()
