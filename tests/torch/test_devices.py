"""Devices: the reference's virtual ones, what stands for `cuda` under torch, and programs that move.

What each rule says is in ``specs/cases/device.py``.
"""

from __future__ import annotations

import weakref

import pytest

import reference_impl as torch
from conformance.adapters import load, standin
from conformance.adapters.capabilities import FEATURES, Capabilities
from conformance.adapters.errors import AdapterError
from conformance.adapters.reference import Reference
from conformance.adapters.torch import _device
from conformance.comparison.judge import Decision
from conformance.execution.run import Runner, run
from conformance.generate.guide.guide import Drawn, draw
from conformance.generate.state.choices import Prng
from conformance.grading.cases import lacks_device
from conformance.grading.participants import Participants
from conformance.program import Device
from conformance.program.parsing import parse
from conformance.program.printing import to_text
from reference_impl.base.session import STATE
from specs.active_rules import fired
from specs.fact import GRAD_FACTS, POSITION, TOPOLOGY, UNSEEN

TORCH = load("torch")
needs_device = pytest.mark.skipif(bool(TORCH.lacking), reason=TORCH.lacking)
needs_standin = pytest.mark.skipif(TORCH.device != standin.NAME, reason="`cuda` is not the stand-in here")


# -- the reference's -------------------------------------------------------------------------------
def test_virtual_devices_are_there():
    """Scripts that ask before they move find two."""
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 2
    assert torch.cuda.is_initialized()
    assert torch.cuda.is_bf16_supported()
    x = torch.zeros(2).cuda()
    assert x.is_cuda
    assert not x.is_cpu
    assert x.get_device() == 0
    assert x.device == torch.device("cuda", 0) != torch.device("cuda") != torch.device("cpu")
    assert repr(x) == "tensor([0., 0.], device='cuda:0')"
    assert x.type() == "torch.cuda.FloatTensor"
    assert x.type("torch.FloatTensor").is_cpu
    assert torch.cuda.DoubleTensor([1.0]).device == x.device


@pytest.mark.parametrize("name", ["tpu", "cuda:x", "meta"])
def test_other_devices_are_not(name):
    """A device that nobody has is refused by its name."""
    with pytest.raises((AssertionError, RuntimeError)):
        torch.zeros(2, device=name)


def test_programs_on_the_cpu_are_not_asked_where_they_are():
    """The reference counts the memory of devices, and forgets what is gone."""
    before = STATE.devices
    x = torch.zeros(2).cuda()
    y = x * 2
    assert STATE.devices > before
    del x, y
    assert STATE.devices == before


def test_a_scripted_training_step_moves():
    """Module, input, loss and optimizer on a device, as in everyday scripts."""
    model = torch.nn.Linear(2, 1).to("cuda")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    before = model.weight.tolist()
    loss = torch.nn.functional.mse_loss(model(torch.ones(1, 2).cuda()), torch.zeros(1, 1, device="cuda"))
    loss.backward()
    optimizer.step()
    assert model.weight.is_cuda
    assert model.weight.grad.is_cuda
    assert model.weight.tolist() != before
    model.weight.grad = None
    with torch.autograd.graph.save_on_cpu():
        y = (model.weight * model.weight).sum()
    y.backward()
    assert model.weight.grad.is_cuda


def test_a_block_says_which_device_cuda_is():
    """`cuda` without a number is the current device, which a block or a call changes."""
    with torch.cuda.device(1):
        assert 1 == torch.cuda.current_device() == torch.zeros(2, device="cuda").get_device()
    torch.cuda.set_device(1)
    assert "cuda:1" == str(torch.ones(2).cuda().device)
    torch.cuda.set_device("cuda:0")
    assert "cuda:0" == str(torch.ones(2).cuda().device)


def test_streams_and_events_have_nothing_to_wait_for():
    """Calls of scripts are accepted; the time between two events is that of the clock."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        assert side is torch.cuda.current_stream()
        side.wait_event(side.record_event())
    torch.cuda.current_stream().wait_stream(side)
    assert torch.cuda.current_stream() is torch.cuda.default_stream()
    with pytest.raises(ValueError, match="must be recorded"):
        begin.elapsed_time(end)
    end.record(side)
    assert begin.elapsed_time(end) >= 0
    assert end.query()
    with pytest.raises(ValueError, match="enable_timing"):
        begin.elapsed_time(torch.cuda.Event())


# -- what stands for `cuda` ------------------------------------------------------------------------
def test_a_device_that_is_asked_for_must_be_there():
    """Asked for by name what is missing is an error; `auto` and `cpu` say why there is none."""

    class Bare:
        class cuda:
            is_available = staticmethod(lambda: False)

    with pytest.raises(AdapterError, match="no CUDA device"):
        _device(Bare, "cuda")
    with pytest.raises(AdapterError, match="no device 'gpu'"):
        _device(Bare, "gpu")
    assert ("cpu", "devices were not asked for") == _device(Bare, "cpu")


@needs_standin
def test_a_gradient_comes_back_by_one_copy():
    """The copy's gradient crosses once, whatever was computed of the copy."""
    import torch as real

    x = real.tensor([1.0, 2.0], requires_grad=True)
    y = (x.standin() * 3).sum()
    before = real.standin.copies()
    y.backward()
    assert real.standin.copies() == before + 1


# -- programs --------------------------------------------------------------------------------------
def drawn(count: int, able: Capabilities) -> list[Drawn]:
    """Programs that speak of devices."""
    found = (draw(Prng(5, index), load("reference"), able) for index in range(count))
    return [one for one in found if "cuda" in to_text(one.program)]


def test_nothing_moves_where_there_is_nowhere_to_go():
    """Programs drawn without a device stay on the CPU."""
    found = (draw(Prng(5, index), load("reference")).program for index in range(200))
    assert not any(type(arg) is Device or step.op == "cuda" for p in found for step in p for arg in step.args)


SECOND = parse("import torch\na = torch.ones(2)\nb = a.cuda(1)\n")


def test_nothing_moves_to_a_second_device_where_there_is_one():
    """With one device, as on most machines that have a GPU, no program is drawn for two."""
    one, two = Capabilities(features=FEATURES - {"two_devices"}), Capabilities(features=FEATURES)
    assert {lacks_device(one, each.program) for each in drawn(240, one)} == {""}
    assert {lacks_device(one, each.program) for each in drawn(240, two)} == {"", lacks_device(one, SECOND)}
    assert lacks_device(two, SECOND) == ""


@pytest.mark.device
@needs_device
def test_moving_programs_agree():
    """Torch does on its device what the reference does on a virtual one."""
    sides = Participants("reference", "torch")
    programs = drawn(240, TORCH.capabilities)
    assert len(programs) >= 24
    agree = 0
    for one in programs:
        found = sides.judged(one.program, one.density, one.trace).found
        assert found.decision in (Decision.AGREE, Decision.KNOWN, Decision.INCOMPARABLE), to_text(one.program)
        agree += found.decision is Decision.AGREE
    assert agree >= 0.9 * len(programs)


def test_what_is_open_is_so_in_one_program():
    """The next one tells its ages again, whatever is left of the one before."""
    text = "import torch\na = torch.ones(2, requires_grad=True)\nb = a * 2\n"
    kept = Runner(load("reference"))
    for step in parse(text):
        kept.step(step)
    STATE.unordered_sums.add(kept.env["b"].grad_fn)
    STATE.unordered_hooks.append("MulBackward0")
    wiring = run(parse(text), load("reference")).topology
    assert wiring is not None
    assert wiring["b"][TOPOLOGY.index("age")] == (0, 1)
    assert Reference.orderly()
    kept.close()


@needs_standin
def test_nodes_made_between_backwards_are_of_no_age_on_the_stand_in():
    """jacobian() makes some where it was called, and those of the device do not count along."""
    text = (
        "import torch\na = torch.tensor(-2.0, device='cuda')\n"
        "c = torch.autograd.functional.jacobian(lambda t: t * t, a, create_graph=True)\n"
    )
    seen = run(parse(text), TORCH).topology
    assert seen is not None
    assert seen["c"][TOPOLOGY.index("age")] is UNSEEN


def test_what_is_unpacked_on_another_device_is_in_no_order_with_hooks():
    """Each device has a thread: one calls the hook of a leaf, the other one unpacks what was saved."""
    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    there = x.cuda()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        z = there.abs()
    y.register_hook(lambda g: -g)
    torch.autograd.backward([y, z])
    assert STATE.unordered_hooks == ["AbsBackward0"]
    torch.autograd.backward([y])
    assert not STATE.unordered_hooks


@needs_standin
@pytest.mark.parametrize(("more", "told"), [("", True), ("c = torch.ones(2)\n", False)])
def test_ages_are_told_where_threads_number_in_one_row(more, told):
    """The nodes of a recorded backward have their ages as long as all is on one device."""
    text = (
        "import torch\na = torch.ones(2, requires_grad=True, device='cuda')\nb = a * a\n"
        f"b.sum().backward(create_graph=True)\ng = a.grad\n{more}"
    )
    for adapter in (TORCH, load("reference")) if told else (TORCH,):
        wiring = run(parse(text), adapter).topology
        assert wiring is not None
        ages = wiring["g"][TOPOLOGY.index("age")]
        assert (ages is not UNSEEN) is told
        assert not told or len(ages) > 2


@needs_standin
def test_a_look_is_one_copy():
    """All tensors and grads on the device are copied over together."""
    import torch as real

    runner = Runner(TORCH)
    steps = parse(
        "import torch\na = torch.ones(2, 3, device='cuda', requires_grad=True)\nb = a.t().cuda()\n"
        "c = b.to(torch.float64)\nd = torch.tensor([complex(1.0, 2.0)], device='cuda').conj()\n"
        "e = torch.ones(0, device='cuda')\nf = c > 2\ng = a.diagonal(2)\nc.sum().backward()\n"
    )
    try:
        for step in steps:
            runner.step(step)
        before = real.standin.copies()
        seen = runner.look()
        assert real.standin.copies() == before + 1
    finally:
        runner.close()
    value, grad = POSITION["value"], POSITION["grad"]
    assert seen["a"][value] == [[1.0] * 3] * 2 == seen["a"][grad][GRAD_FACTS.index("value")]
    others = [seen[name][value] for name in "bdefg"]
    assert others == [
        [[1.0] * 2] * 3,
        [1 - 2j],
        [],
        [[False] * 2] * 3,
        [1.0],
    ]


@pytest.mark.parametrize(
    ("root", "told"),
    [
        ("h.backward(create_graph=True)", True),
        ("torch.autograd.backward([f, h], create_graph=True)", False),
    ],
)
def test_a_sum_of_two_threads_does_not_tell_its_order(root, told):
    """Gradients from the threads of two devices arrive in either order; those from one thread in order."""
    program = parse(
        "import torch\na = torch.tensor([1.0, 2.0], requires_grad=True)\nb = a.to('cuda:1')\nf = b.sum()\n"
        f"d = b.matmul(b)\nh = d.cuda()\n{root}\nq = a.grad\n"
    )
    trace = run(program, load("reference"))
    assert (trace.topology["q"][TOPOLOGY.index("history")] is not UNSEEN) is told


def test_a_backward_leaves_no_trace_of_itself():
    """As long as there is memory of a device it takes down who runs, and keeps nobody alive for it."""
    there = torch.ones(2, device="cuda")
    leaf = torch.ones(2, requires_grad=True)
    leaf.register_hook(lambda g: None)
    (leaf * 2).sum().backward()
    gone = weakref.ref(leaf)
    del leaf
    assert gone() is None
    assert there.is_cuda


def test_memory_elsewhere_changes_nothing_on_the_cpu():
    """Memory that an earlier program still holds on a device fires no rule in a program on the CPU."""
    kept = torch.ones(2, device="cuda")
    parameter = torch.nn.Parameter(torch.ones(2))
    fired()
    torch.optim.SGD([parameter], lr=1.0).step()
    assert not [rule for rule in fired() if rule.startswith("device/")]
    assert kept.is_cuda
