"""Differences of CUDA from the CPU, shown without a GPU by the stand-in in its place."""

from __future__ import annotations

import pytest
import torch

from conformance.adapters import load, standin
from conformance.adapters.torch import Torch
from conformance.comparison.compare import Incomparable, compare
from conformance.comparison.judge import Decision
from conformance.execution.run import run
from conformance.execution.trace import DONE, Refused, Trace, Unsupported
from conformance.grading.cuda_kernels import as_the_cpu_says, run_beside
from conformance.grading.participants import Participants
from conformance.program.parsing import parse
from specs.fact import DENSITIES
from specs.rule import classify

TORCH = load("torch")
INDEXED = "a = torch.ones(2{there})\ni = torch.tensor([5]{there})\nb = a.index_select(0, i)\nc = a + 1\n"


@pytest.fixture
def as_cuda(monkeypatch):
    """The stand-in taken for CUDA."""
    if TORCH.device != standin.NAME:
        pytest.skip("`cuda` is not the stand-in here")
    monkeypatch.setattr(TORCH, "device", "cuda")


def traces(text: str, density: str = "each") -> tuple[Trace, Trace]:
    program = parse("import torch\n" + text)
    reference = run(program, load("reference"), density)
    return run_beside(reference, program, TORCH, density), reference


@pytest.mark.parametrize("density", DENSITIES)
def test_what_a_kernel_asserts_is_not_run(as_cuda, density):
    """An index out of range would end the process; the comparison ends there instead, and says why."""
    trace, reference = traces(INDEXED.format(there=", device='cuda'"), density)
    found = compare(reference, trace)
    assert isinstance(found, Incomparable)
    assert (2, "a kernel of CUDA asserts what the CPU refuses") == (found.step, found.why)


@pytest.mark.parametrize("density", DENSITIES)
def test_the_rest_of_the_program_is_judged_without_it(as_cuda, density):
    """Each step that is left to the kernels is left out, and no other."""
    text = INDEXED.format(there=", device='cuda'") + "d = a.gather(0, i)\ne = b + 1\nf = c * a\n"
    program = parse("import torch\n" + text)
    judged = Participants("reference", "torch").judged(program, density)
    assert Decision.AGREE is judged.found.decision
    left = tuple(step for step in program if step.op not in ("index_select", "gather"))
    assert left == judged.reference.program.steps == judged.right.program.steps
    assert {"a", "i", "c", "f"} == set(judged.right[-1].facts)


def test_what_is_on_the_cpu_is_run(as_cuda):
    """A program that has a tensor on a device may be refused on the CPU."""
    trace, _ = traces("x = torch.ones(2, device='cuda')\n" + INDEXED.format(there=""))
    assert Refused("op/index-range") == trace[3].outcome
    assert DONE == trace[4].outcome


def test_what_was_refused_on_the_cpu_before_hides_no_assertion(as_cuda):
    """The first refusal that is an assertion on the device ends the comparison, not the first of its kind."""
    both = INDEXED.format(there="") + INDEXED.format(there=", device='cuda'")
    trace, _ = traces(both)
    assert Refused("op/index-range") == trace[2].outcome
    assert isinstance(trace[6].outcome, Unsupported)


@pytest.mark.parametrize(("size", "ends"), [(0, True), (2, False)])
def test_an_index_of_no_elements_may_be_of_any_dtype(as_cuda, size, ends):
    """CUDA looks at the dtype in the loop over the elements; where it does not, the comparison ends."""
    trace, reference = traces(f"b = torch.ones({size}, device='cuda')\nd = b.index_select(0, b)\n")
    assert Refused("op/index-dtype") == reference[1].outcome
    seen = as_the_cpu_says(replaced(trace, trace[1]._replace(outcome=DONE)), reference)
    assert ends == isinstance(seen[1].outcome, Unsupported)


@pytest.mark.parametrize("by", ["torch", "reference"])
def test_a_kernel_that_one_of_both_lacks_ends_the_comparison(as_cuda, by):
    """Kernels are no matter of autograd; nothing is compared after the step."""
    trace, reference = traces("a = torch.tensor([True], device='cuda')\nb = a.neg()\nc = a * 2\n")
    lacking = Refused("op/no-kernel")
    has, has_not = (side[1]._replace(outcome=end) for side, end in ((trace, DONE), (trace, lacking)))
    theirs, ours = (has_not, has) if by == "torch" else (has, has_not)
    seen = as_the_cpu_says(replaced(trace, theirs), replaced(reference, ours))
    assert isinstance(seen[1].outcome, Unsupported)
    both = as_the_cpu_says(replaced(trace, has_not), replaced(reference, has_not))
    assert lacking == both[1].outcome


@pytest.mark.parametrize("rule", ["write/partial-overlap-refused", "op/index-put-dtype"])
def test_a_check_that_cuda_alone_makes_ends_the_comparison(as_cuda, rule):
    """A value on a device is not taken out of the memory that a mask chooses from."""
    trace, reference = traces("a = torch.ones(1, device='cuda')\na[[True]] = a\nc = a + 1\n")
    assert DONE == reference[1].outcome
    seen = as_the_cpu_says(replaced(trace, trace[1]._replace(outcome=Refused(rule))), reference)
    assert isinstance(seen[1].outcome, Unsupported)


def replaced(trace: Trace, second) -> Trace:
    first, _, *rest = trace.observations
    return Trace(trace.program, trace.adapter, trace.density, (first, second, *rest))


def test_another_check_of_the_same_counts_as_the_refusal_it_is(as_cuda):
    """CUDA's masked_fill_ says of a mask that it cannot be expanded; elsewhere this is another rule."""
    text = "a = torch.ones(2, device='cuda')\nm = torch.tensor([True, True, True], device='cuda')\n{}\n"
    for line, taken in (("a.masked_fill_(m, 1.0)", True), ("a.mul_(m)", False)):
        trace, reference = traces(text.format(line))
        said = trace[2]._replace(outcome=Refused("op/expand-size"))
        own = Trace(trace.program, trace.adapter, trace.density, (*trace.observations[:2], said))
        assert taken == (as_the_cpu_says(own, reference)[2].outcome == reference[2].outcome)


def test_a_copy_to_cuda_warns_twice_of_what_it_converts(as_cuda):
    """It converts by a copy of its own; a user sees one warning, since PyTorch gives it once a process."""
    text = "n = torch.tensor([complex(1.0, 2.0)])\nt = n.to('cuda:0', torch.float32)\n"
    trace, reference = traces(text)
    assert ("data/complex-to-real-warns",) == trace[1].warnings
    for seen, agrees in (
        (trace[1].warnings * 2, True),
        ((), False),
        (("grad/non-leaf-read-warns",) * 2, False),
    ):
        own = as_the_cpu_says(replaced(trace, trace[1]._replace(warnings=seen)), reference)
        assert agrees == (own[1].warnings == reference[1].warnings)


def test_a_copy_that_stays_on_the_cpu_warns_once(as_cuda):
    """A second warning there is a difference, whatever else the program has on a device."""
    text = (
        "n = torch.tensor([complex(1.0, 2.0)])\nt = n.to(torch.float32)\nx = torch.ones(2, device='cuda')\n"
    )
    trace, reference = traces(text)
    twice = replaced(trace, trace[1]._replace(warnings=trace[1].warnings * 2))
    assert as_the_cpu_says(twice, reference)[1].warnings != reference[1].warnings


def test_a_backward_that_records_runs_in_the_thread_that_asks():
    """Threads of devices number their nodes by all that they ever made, and a later backward goes by that."""
    adapter = Torch(torch, "cuda")
    backward, grad = map(adapter.resolve, ("backward", "torch.autograd.grad"))
    hessian = adapter.resolve("torch.autograd.functional.hessian")
    seen: list[bool] = []

    def hooked():
        x = torch.ones(2, requires_grad=True)
        x.register_hook(lambda g: seen.append(torch._C._is_multithreading_enabled()))
        return x

    backward((hooked() * 2).sum())
    x = hooked()
    grad((x * x).sum(), x, create_graph=True)
    hessian(lambda x: (x * x).sum() + (hooked() * x).sum(), torch.ones(2))
    assert [True, False] == seen[:2]
    assert not any(seen[2:])
    assert torch._C._is_multithreading_enabled()


def test_what_a_device_itself_refuses_is_told_by_rule():
    """Its errors are of a class of their own."""
    said = "CUDA error: invalid device ordinal\nGPU device may be out of range, do you have enough GPUs?\n"
    assert "device/ordinal-exists" == classify("AcceleratorError", said)


POISONED = """
from conformance.execution.flight_recorder import give_up
name, version = "poisoned", "1"
def start(): return None
def perform(session, step, operands):
    if step.op == "mul": give_up()
    return object()
def facts(session, value): return {"is_leaf": True}
def refusal(error): return None
"""


def test_a_process_whose_device_is_poisoned_is_replaced(tmp_path):
    """The program that did it crashes, and the next one runs in a process of its own."""
    (tmp_path / "poisoned.py").write_text(POISONED, encoding="utf-8")
    adapter = load(f"isolated:{tmp_path / 'poisoned.py'}")
    try:
        dies, lives = (parse(f"import torch\na = torch.ones(2)\nb = a.{op}(a)\n") for op in ("mul", "add"))
        assert ["exit code 70", None] == [run(p, adapter, "each")[1].crash for p in (dies, lives)]
    finally:
        adapter.close()


@pytest.mark.parametrize("density", DENSITIES)
def test_torch_elsewhere_is_cut_at_the_same_step(as_cuda, density):
    """The steps before it are compared, whatever is seen at the end of what ran."""
    program = parse("import torch\n" + INDEXED.format(there=", device='cuda'"))
    reference = run(program, load("reference"), density)

    class Elsewhere:
        name, device = "elsewhere", "cuda"

        def run_program(self, program, density):
            return run(program, TORCH, density)

    trace = run_beside(reference, program, Elsewhere(), density)
    found = compare(reference, trace)
    assert isinstance(found, Incomparable)
    assert 2 == found.step
    assert found.compared > 0
