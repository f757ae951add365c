"""The crashes and departures of torch on record: each still happens on the installed torch, and nothing
else is excused.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from contextlib import suppress

import pytest
import torch

from conformance.adapters import load
from conformance.comparison.judge import Decision
from conformance.comparison.known_crashes import (
    DeadlyScript,
    KnownCrash,
    issue_of,
    issue_within,
    records,
    scripts,
    words_of,
)
from conformance.comparison.known_divergences import known_divergence
from conformance.execution.case import parse_case
from conformance.execution.run import run
from conformance.execution.trace import Trace
from conformance.grading.isolated import run_isolated
from conformance.grading.participants import Participants
from conformance.program import DELETE, Program
from conformance.program.parsing import ProgramError, parse
from specs.active_rules import knocked_out
from specs.case import Case, cases
from specs.rule import within


def end_of(script: str) -> str | None:
    """The signal that a script dies of in an interpreter of its own; None if it ends by itself."""
    code = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False).returncode
    return signal.Signals(-code).name if code < 0 else None


@pytest.mark.parametrize("record", records(), ids=lambda record: record.issue)
def test_a_crash_on_record_still_happens(record: KnownCrash):
    """A stale record fails here: it would excuse a crash that nobody has looked at.

    What reads memory that is not its own may get away with it, though not again and again, nor in an
    interpreter of its own as well.
    """
    steps = parse(record.program).steps
    program = Program(steps[: max(at for at, step in enumerate(steps) if step.op != DELETE) + 1])
    version = load(record.side).version
    expected = record.issue if record.speaks_of(version) else None

    def known() -> str | None:
        trace = run_isolated(program, record.side, "end")
        crash = next(((at, seen.crash) for at, seen in enumerate(trace.observations) if seen.crash), None)
        if crash is None:
            return None
        cut = Program(program.steps[: crash[0] + 1])
        return issue_of(words_of(cut), record.side, version, crash[1])

    def known_alone() -> str | None:
        """In an interpreter that has run nothing before; processes that are kept have one memory's layout."""
        return issue_of(words_of(program), record.side, version, end_of(record.program) or "no crash")

    tries = [known] * 4 + [known_alone] * 2 if expected else [known]
    assert expected in (run() for run in tries)


@pytest.mark.parametrize("record", scripts(), ids=lambda record: record.script.splitlines()[-1])
def test_a_script_on_record_still_crashes(record: DeadlyScript):
    """In a process of its own; it ends well on releases that are out of the record's range."""
    assert (end_of(record.script) == record.error) == within(torch.__version__, record.torch)


@pytest.mark.parametrize(
    ("operations", "side", "version", "error"),
    [
        (["view", "mul_", "register_hook"], "mine", "2.13.0", "SIGSEGV"),
        (["view", "mul_", "register_hook"], "torch", "2.15.0", "SIGSEGV"),
        (["view", "mul_", "register_hook"], "torch", "2.13.0", "SIGABRT"),
        (["mul_", "view", "register_hook"], "torch", "2.13.0", "SIGSEGV"),
        (["view", "mul_", "backward"], "torch", "2.13.0", "SIGSEGV"),
        (["view", "mul", "register_hook"], "torch", "2.13.0", "SIGSEGV"),
    ],
)
def test_what_is_not_on_record_is_not_excused(operations, side, version, error):
    """Another side, a fixed version, another signal, another order or another call is an unknown crash."""
    assert issue_of(operations, side, version, error) is None


@pytest.mark.parametrize("makes_a_view", ["view", "__call__", "torch.nn.functional.linear"])
def test_the_recorded_shape_is_recognized(makes_a_view):
    """The issue is found whatever lies between the steps it needs, and whatever makes the view."""
    operations = ["torch.ones", "mul", makes_a_view, "add", "__imul__", "sum", "register_hook"]
    assert (
        issue_of(operations, "torch", "2.13.0+cpu", "SIGSEGV")
        == "https://github.com/pytorch/pytorch/issues/196459"
    )


def test_a_recorded_shape_that_kills_later_is_recognized():
    """Freed memory that was used kills now or then; what a program does afterwards tells nothing."""
    shape = ["torch.ones", "mul", "view", "__imul__", "register_hook"]
    assert issue_of([*shape, "mul"], "torch", "2.13.0", "SIGSEGV") is None
    assert issue_within([*shape, "mul"], "torch", "2.13.0", "SIGSEGV")
    assert issue_within(shape[:-1], "torch", "2.13.0", "SIGSEGV") is None
    assert issue_within([*shape, "mul"], "torch", "2.13.0", "SIGABRT") is None


def is_program(case: Case) -> bool:
    """Tell whether a case can be run as a program; what it is on torch otherwise, `grade` says."""
    with suppress(ProgramError):
        return bool(parse_case(case).program)
    return False


DEPARTED = [case for case in cases() if case.departed_by(torch.__version__) and is_program(case)]


@pytest.mark.parametrize("case", DEPARTED, ids=lambda case: case.id)
def test_torch_departs_as_the_rule_s_mutant_does(case: Case):
    """In the case's program torch does, throughout, what the reference does without the rule, and that is
    counted as known, whoever is graded.
    """
    program = parse_case(case).program
    for subject, against in (("reference", "torch"), ("torch", "reference")):
        found = Participants(subject, against).judged(program, "each").found
        assert found.decision is Decision.KNOWN
        assert all(rule in case.rules for rule in found.because)


@pytest.mark.parametrize("case", DEPARTED, ids=lambda case: case.id)
def test_a_departure_excuses_nothing_else(case: Case):
    """A second difference in the same program, or a torch that is not on record, is no known departure."""
    program = parse_case(case).program

    def again() -> Trace:
        return run(program, load("reference"), "each")

    reference, real = again(), run(program, load("torch"), "each")
    assert known_divergence(reference, real, "2.10.0", again) is None
    with knocked_out("leaf/op-result-is-no-leaf"):
        wrong = again()
    assert known_divergence(reference, wrong, torch.__version__, again) is None


AFTER_A_DEPARTURE = """
import torch

a = torch.tensor([[4.0, -1.0], [2.0, -3.0]], requires_grad=True)
b = a.squeeze(1)
c = torch.view_as_complex(b)
a.requires_grad_(False)
torch.autograd.graph.register_multi_grad_hook([c, b], lambda gs: None)
f, = torch.autograd.grad(c, c, c)
a.clamp_(max=-2)
c.backward(c)
"""


INTO_A_DEPARTURE = """
import torch

a = torch.tensor([[-1.5, 2.0], [1.0, -0.5]], requires_grad=True)
torch.autograd.graph.register_multi_grad_hook([a, a, a], lambda gs: 1 / 0)
e = a.as_strided((2, 2), (1, 1))
torch.autograd.graph.register_multi_grad_hook([a, a, a], lambda g: g.mul_(2), mode='any')
a.backward(e)
"""


BEHIND_A_DEPARTURE = """
import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor([complex(2.0, 1.0), complex(1.0, -0.5)], requires_grad=True)
c = torch.tensor([1, 0])
d = b.index_add(0, c, b, alpha=complex(-1.0, 1.0))
torch.autograd.graph.register_multi_grad_hook([a, d], lambda gs: 1 / 0)
e, = torch.autograd.grad(d, b, d)
"""


BESIDE_ROUNDING = """
import torch

a = torch.tensor([[-1.5, 2.0, 1.0, -0.5], [0.5, -1.5, 2.0, 1.0]], requires_grad=True)
b = a.mul(a)
b.tanh_()
d, = torch.autograd.grad(b, a, a, create_graph=True)
e, = torch.autograd.grad(d, a, b, retain_graph=True)
h, i = torch.autograd.grad(d, [b, b], e)
a1 = a.mul(a)
torch.autograd.graph.register_multi_grad_hook([a1, a1, a1], lambda gs: 1 / 0)
m1, = torch.autograd.grad(a1, a, a)
"""


@pytest.mark.parametrize("pair", [("reference", "torch"), ("torch", "reference")])
def test_values_may_be_rounded_otherwise_beside_a_departure(pair: tuple[str, str]):
    """A hook of a root is not called, and tanh is not the same to the last bit."""
    assert Participants(*pair).judged(parse(BESIDE_ROUNDING), "each").found.decision is Decision.KNOWN


def test_a_departure_that_another_keeps_from_running_is_known():
    """A hook of a root is not called, so that the gradient is reached whose factor is not conjugated."""
    found = Participants("reference", "torch").judged(parse(BEHIND_A_DEPARTURE), "each").found
    assert found.decision is Decision.KNOWN


def test_what_ends_at_a_departure_is_not_compared():
    """A hook of a root is not called, and another writes to what shows an element twice."""
    found = Participants("reference", "torch").judged(parse(INTO_A_DEPARTURE), "each").found
    assert found.decision is Decision.INCOMPARABLE


def test_a_crash_after_a_departure_is_a_crash():
    """A hook of a root is not called, which is on record, and later torch's own assertion fails."""
    found = Participants("reference", "torch").judged(parse(AFTER_A_DEPARTURE), "end").found
    assert found.decision is Decision.CRASH


def test_what_only_reading_shows_is_on_record_too():
    """If the first reading after a step fails and the next succeeds, the failure is the crash."""
    program = parse(
        "import torch\n\nx = torch.tensor([1.0, 2.0], requires_grad=True)\nz = torch.view_as_complex(x)\n"
        "with torch.inference_mode():\n    x.add_(x)\n"
    )
    error = run(program, load("torch"))[2].crash
    assert error is not None
    assert issue_of(words_of(program), "torch", load("torch").version, error)
