"""Modes of torch as implementations: what they are given at once, and compilers with a bug each.

One bug each time; all of them under the profile ``soak``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conformance import check
from conformance.adapters import load, load_here
from conformance.comparison.compare import Agree, compare
from conformance.comparison.refusals import as_claimed
from conformance.execution.run import run
from conformance.execution.trace import Unsupported
from conformance.program.parsing import parse

ADAPTERS = Path(__file__).parents[1] / "adapters"
REGIONS = "conformance.targets.torch_regions"

BUGS = {"dropped_write": (0, 3), "reordered_writes": (0, 120), "reused_buffer": (0, 60)}
"""Bugs planted in a compiler, each with a seed and more programs than find it."""
TRIED = BUGS if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else [*BUGS][:1]

MIDDLE = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.mul(3.0)
z = y.exp().sum()
z.backward()
"""
INTEGERS = """
a = torch.tensor([1, 2])
b = torch.tensor(0.0, requires_grad=True)
a.fill_(b)
c = torch.tensor(2.0)
d = a.cos()
"""
ZEROS = """
a = torch.tensor(0.5, requires_grad=True)
b = a.abs()
c, = torch.autograd.grad(b, a, create_graph=True)
d, = torch.autograd.grad(c, a)
"""
REFUSED = """
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.exp()
x.add_(1.0)
z = y.sum()
"""


@pytest.mark.parametrize("bug", TRIED)
def test_a_bug_planted_in_a_compiler_is_found(bug, monkeypatch):
    """It is told in at most 10 lines."""
    monkeypatch.syspath_prepend(str(ADAPTERS))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ADAPTERS), os.environ.get("PYTHONPATH", "")]))
    seed, programs = BUGS[bug]
    report = check(
        f"planted_modes:{bug}", against="reference", programs=programs, seed=seed, source="prng", cases=False,
        workers=1,
    )  # fmt: skip
    assert 1 == report.exit_code
    shortest = min(len(found.script.strip().splitlines()) for found in report.findings)
    assert shortest <= 10


@pytest.mark.parametrize(
    "mode", ["checkpoint", "checkpoint_reentrant", "functionalize", "make_fx", "jit_trace"]
)
def test_a_mode_does_what_eager_torch_does(mode):
    """A function without writes comes to the same."""
    pytest.importorskip("torch")
    program, adapter = parse(MIDDLE), load_here(f"{REGIONS}:{mode}")
    expected = run(program, load("reference"))
    assert isinstance(compare(expected, as_claimed(run(program, adapter), expected, "outside")), Agree)


def test_integers_that_require_grad_are_traced_as_they_are():
    """A write alone makes them so: the copies that are traced have it from a write, too."""
    pytest.importorskip("torch")
    program, adapter = parse(INTEGERS), load_here(f"{REGIONS}:jit_trace")
    expected = run(program, load("reference"))
    assert isinstance(compare(expected, as_claimed(run(program, adapter), expected, "outside")), Agree)


def test_zeros_without_memory_are_not_read_of_functional_torch():
    """The second derivative of abs has none, and its values are refused as eager torch refuses them."""
    pytest.importorskip("torch")
    program, adapter = parse(ZEROS), load_here("conformance.targets.torch_func:vjp")
    expected = run(program, load("reference"))
    assert isinstance(compare(expected, as_claimed(run(program, adapter), expected, "none")), Agree)


def test_refusals_are_not_judged_where_steps_are_done_at_once():
    """An error within a region is nobody's then, and one of another step is judged by its rule."""
    program = parse(REFUSED)
    expected = run(program, load("reference"))
    judged = as_claimed(expected, expected, "outside")
    assert [False, False, True, False] == [type(seen.outcome) is Unsupported for seen in judged.observations]
