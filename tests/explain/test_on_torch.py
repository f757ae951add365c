"""Scripts on torch beside the reference: the same random numbers, the same facts; a difference is told."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="needs torch")

import torch

from beside import beside
from conformance.explanation.both_sides import COMPARED, BothSides
from conformance.explanation.explanation import Explanation
from conformance.explanation.on_torch import Beside, explain_on_torch
from conformance.explanation.value import ExecutedLine, TensorState

TRAINED = """import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(3, 4), nn.Linear(4, 1)
    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
x, y = torch.randn(6, 3), torch.rand(6, 1)
for i in range(3):
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
perm = torch.randperm(6)
noise = torch.empty(2).uniform_(-1, 1)
"""


LOADED = """import torch
from torch.utils.data import DataLoader, TensorDataset, random_split
train, test = random_split(TensorDataset(torch.arange(8.0)), [6, 2])
loader = DataLoader(train, batch_size=2, shuffle=True)
seen = [x for x, in loader]
after = torch.rand(2)
"""


def in_processes(script: str) -> Beside:
    """The script on both, each in a process of its own, within the usual limits."""
    return explain_on_torch(script.encode(), "-c", (), 30, 4096)


def test_torch_agrees_on_a_training_loop_with_the_same_random_numbers():
    """Values, grads, versions and histories are the same after every line."""
    found = in_processes(TRAINED)
    assert () == found.disagreements
    assert found.facts > 400
    assert "torch agrees" in str(found)


SCRIPTED = """import torch
from torch import nn
@torch.jit.script
def twice(x):
    return x * 2 + 1
net = torch.jit.trace(torch.jit.script(nn.Linear(3, 2)), torch.ones(1, 3))
net.compile()
x = torch.rand(4, 3, requires_grad=True)
y = twice(net(x))
(y.sum() + torch.norm(y, p="nuc")).backward()
z = nn.RReLU().eval()(x)
"""


def test_scripted_functions_run_as_they_are_written():
    """On both sides, and the last line says so."""
    found = beside(SCRIPTED)
    assert () == found.disagreements
    assert found.facts > 50
    assert "torch.jit are off here" in found.found.note


def test_torch_alone_scripts_what_the_script_saves():
    """The reference has nothing to save, and torch runs with scripting on then."""
    found = in_processes("import torch\ntorch.jit.script(torch.nn.Linear(1, 1)).save('/dev/null')\n").found
    assert found.error is None or "has no attribute" not in found.error.message


def test_numbers_that_a_layer_draws_within_are_not_compared():
    """Those of rrelu() in training, from there on."""
    found = beside("import torch\nx = torch.randn(3, requires_grad=True)\ny = torch.nn.RReLU()(x)\n")
    assert () == found.disagreements
    assert "rrelu()" in str(found)


def test_torch_is_given_the_shuffles_of_a_loader():
    """With the seeds that loaders draw, so that what is drawn afterwards is the same too."""
    found = beside(LOADED)
    assert ((), "") == (found.disagreements, found.note)


def test_an_error_is_the_same_on_torch():
    """The rule of torch's message is the rule of the refusal."""
    found = beside("import torch\nw = torch.ones(2, requires_grad=True)\nw += 1\n")
    assert ((), "write/leaf-refused") == (found.disagreements, found.found.error.rule)


def test_a_disagreement_is_told_with_line_and_fact():
    """A script that asks who runs it gets two answers, and both are told."""
    script = "import torch\nhere = hasattr(torch, '_C')\nw = torch.ones(2, requires_grad=here)\n"
    told = str(beside(script))
    assert "line 3" in told
    assert "w.requires_grad is True on torch, False here" in told
    assert "torch disagrees" in told


def test_an_ending_on_one_side_alone_is_told():
    """In a sentence: the one with its error, the other without."""
    told = str(beside("import torch\nif not hasattr(torch, '_C'):\n    raise ValueError('mine')\n"))
    assert "no error on torch, the script ends with ValueError here" in told


def test_what_is_not_modelled_is_traced_on_torch():
    """Facts without because."""
    found = beside(
        "import torch\nx = torch.ones(2, 2, requires_grad=True)\ny = torch.special.ndtri(x / 2)\n"
        "y.sum().backward()\n"
    )
    assert "facts without because" in found.note
    changes = [change for step in found.found.steps for change in step.changes]
    assert ("y", "is_leaf", False) in [(c.name, c.fact, c.after) for c in changes]
    assert [()] == list({change.because for change in changes})
    assert "grad" in COMPARED


WITHOUT_A_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="torch has a GPU here")


@WITHOUT_A_GPU
def test_a_script_that_asks_for_cuda_takes_the_same_way_on_both():
    """The reference tells a script that asks for CUDA what torch tells it."""
    found = beside(
        "import torch\nscaler = torch.amp.GradScaler()\nw = torch.ones(2, requires_grad=True)\n"
        "scale = 2.0 if torch.cuda.is_available() else 3.0\nscaler.scale((w * scale).sum()).backward()\n"
    )
    assert () == found.disagreements
    assert [3.0, 3.0] == found.found.steps[-1].tensors[found.found.steps[-1].names["w"]].grad_value


@WITHOUT_A_GPU
def test_a_torch_without_cuda_disagrees_with_nothing():
    """The comparison ends at the line that needs a GPU, and says so."""
    found = beside("import torch\nw = torch.ones(2, requires_grad=True)\na = w.cuda()\na.sum().backward()\n")
    assert () == found.disagreements
    assert "torch has no CUDA here: compared up to line 3" in found.note


def test_the_node_of_what_a_vmap_gives_is_torchs_own():
    """The reference computes one by one and stacks, which is said."""
    found = beside(
        "import torch\nx = torch.ones(3, 2, requires_grad=True)\ny = torch.vmap(lambda r: (r * r).sum())(x)\n"
        "y.sum().backward()\n"
    )
    assert () == found.disagreements
    assert "the node of its result is SumBackward1" in found.note


def test_what_a_name_holds_is_not_compared_once_its_values_hang_on_rounding():
    """Later ones come of it, however near to each other torch's own are."""

    def state(value: float) -> TensorState:
        return TensorState(
            1,
            value,
            (),
            "float32",
            "cpu",
            True,
            False,
            False,
            None,
            None,
            0,
            None,
            None,
            0,
            None,
            False,
            0,
            0,
            0,
        )

    def story(*values: float) -> Explanation:
        return Explanation(
            "-",
            (),
            tuple(
                ExecutedLine(n, 1, "", n + 1, (), (), (), "", {"x": 1}, {1: state(value)}, {})
                for n, value in enumerate(values)
            ),
        )

    here, there, again = story(1.0, 2.0, 5.0), story(1.0, 2.1, 4.0), story(1.0, 2.15, 4.0)
    assert not BothSides(here, there, None, again).differ
    assert 1 == len(BothSides(here, there, None, there).differ)
