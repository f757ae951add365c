"""Causes and cures of errors that scripts meet: what is named, and what is said to do."""

from __future__ import annotations

import pytest

from explained import explained

BEGIN = "import torch\nfrom torch import nn\nx = torch.rand(4, 3, requires_grad=True)\n"
ERRORS = {
    "s = x.sigmoid()\ns.mul_(2)\ns.sum().backward()\n": (
        (5, 4),
        "Write out of place at line 5: s.mul(...) for",
    ),
    "act = nn.ReLU(inplace=True)\ns = x.sigmoid()\nact(s).sum().backward()\n": (
        (6, 5),
        "Leave inplace=True out",
    ),
    "y = x * 2\ny.register_hook(lambda g: g[0])\ny.sum().backward()\n": (
        (5, 6),
        "Return a gradient of the shape",
    ),
    "nn.Linear(3, 2).load_state_dict(nn.Linear(3, 4).state_dict())\n": ((4,), "state.pop('weight')"),
    "nn.Linear(3, 2).load_state_dict({'module.weight': x})\n": ((4,), 'k.removeprefix("module.")'),
    "nn.Linear(3, 2).load_state_dict({'weights': x})\n": ((4,), "own state_dict().keys()"),
    "s = x.sigmoid()\ns[0] = 0.0\ns.sum().backward()\n": ((5, 4), "s = s.clone() before line 5"),
    "s = x.sigmoid()\ns *= x + 1\ns.sum().backward()\n": ((5, 4), "at line 5: s = s * (x + 1); or"),
    "lin = nn.Linear(4, 2)\nlin(x)\n": ((4, 5), "Make it nn.Linear(3, 2)"),
    "kept = {}\nfor _ in 'ab':\n    kept.setdefault('h', x.exp())\n    kept['h'].sum().backward()\n": (
        (6, 7),
        "with kept['h'] = kept['h'].detach(); a dict that keeps results is emptied: kept.clear()",
    ),
    "nn.Embedding(3, 2)(x)\n": ((), "ids.long()"),
    "torch.optim.LBFGS([x]).step()\n": ((), "Give step() a function that clears the grads"),
    "class Net(nn.Module):\n    def forward(self, x):\n        x = x * 2\nNet()(x).sum()\n": (
        (5,),
        "Return the result at its end, after line 6",
    ),
    "x.sum().backward()\nwith torch.no_grad():\n    x = x - 0.1 * x.grad\nx.sum().backward()\n": (
        (6, 7),
        "Change the leaf in place at line 6: x -= 0.1 * x.grad.",
    ),
    "print(x.sum().item())\ng = torch.autograd.grad(x.exp().sum(), x)[0]\ng.sum().backward()\n": (
        (5, 6),
        "Pass create_graph=True at line 5",
    ),
    "net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(inplace=True))\n"
    "net[0].register_full_backward_hook(print)\nnet(x)\n": ((4, 6), "Leave inplace=True out"),
    "nn.LayerNorm(3)(x.double())\n": ((), "x.float()"),
    "nn.PReLU()(x.double())\n": ((), "x.float()"),
}


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_has_its_lines_and_its_cure(text: str) -> None:
    """The decisive line first."""
    lines, cure = ERRORS[text]
    error = explained(BEGIN + text).error
    assert error is not None
    assert lines == error.causes
    assert cure in error.cure


def test_a_state_that_does_not_fit_names_no_tensor() -> None:
    """It is about keys and sizes."""
    error = explained(f"{BEGIN}nn.Linear(3, 2).load_state_dict({{'weights': x}})\n").error
    assert error is not None
    assert () == error.tensors


def test_an_op_is_told_by_its_public_name() -> None:
    """The name is that of its node."""
    script = "with torch.no_grad():\n    y = nn.Conv1d(4, 2, 1)(x)\ny.sum().backward()\n"
    error = explained(BEGIN + script).error
    assert error is not None
    assert "ran convolution() of x while" in error.sentence


def test_a_mapped_function_is_told_once() -> None:
    """As often as PyTorch calls it."""
    script = "def f(row):\n    y = row * 2\n    return y\nz = torch.func.vmap(f)(x)\n"
    passes = [step.passes for step in explained(BEGIN + script).steps if step.line == 5]
    assert [1] == passes


def test_a_tensor_that_its_module_left_behind_becomes_a_buffer() -> None:
    """A plain attribute is not moved by to()."""
    script = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = torch.zeros(3)
        self.out = nn.Linear(3, 1)
    def forward(self, x):
        return self.out(x + self.place)
net = Net().to("cuda")
net(torch.ones(2, 3, device="cuda"))
"""
    error = explained(BEGIN + script).error
    assert error is not None
    assert "self.register_buffer('place', ...)" in error.cure
    assert "x is on cuda:0" in error.sentence


def test_the_backward_that_freed_is_named() -> None:
    """A gradient that was asked for before, and kept the graph, is not at fault."""
    script = "y = x.exp().sum()\ntorch.autograd.grad(y, x, retain_graph=True)\ny.backward()\ny.backward()\n"
    error = explained(BEGIN + script).error
    assert error is not None
    assert (6, 4) == error.causes


def test_copying_a_state_is_no_loss() -> None:
    """A history lost on the way to the loss is told before what load_state_dict() copied."""
    script = """a, b = nn.Linear(3, 1), nn.Linear(3, 1)
b.load_state_dict(a.state_dict())
y = a(x).detach()
(b(x) - y).sum().backward()
"""
    assert "Line 6 `y = a(x).detach()`: detach() cut" in explained(BEGIN + script).why("a.weight.grad")


def test_what_switched_grad_mode_off_is_told() -> None:
    """By its line, where it is no block of no_grad()."""
    script = "with torch.set_grad_enabled(x is None):\n    y = x * 2\ny.sum().backward()\n"
    error = explained(BEGIN + script).error
    assert error is not None
    assert "Run line 5 with grad mode on: line 4 switched it off." == error.cure


def test_functions_that_gradcheck_calls_are_left_out() -> None:
    """It calls them as often as it sees fit."""
    script = "def f(t):\n    y = t * t\n    return y\ntorch.autograd.gradcheck(f, x.double())\nf(x)\n"
    passes = [step.passes for step in explained(BEGIN + script).steps if step.line == 5]
    assert [1] == passes


def test_a_refusal_of_pytorchs_is_no_lack_of_the_reference() -> None:
    """A module without forward() raises NotImplementedError in PyTorch, too."""
    found = explained(f"{BEGIN}nn.Module()(x)\n")
    assert "error" == found.ending
    assert found.error is not None
    assert 'missing the required "forward" function' in found.error.message


def test_an_error_on_a_line_of_its_own_is_told() -> None:
    """Also where no tensor changed on it."""
    assert "error at line 4" in str(explained(f"{BEGIN}raise ValueError\n"))


def test_an_optimizer_takes_the_state_of_as_many_parameters() -> None:
    """Torch's words name no tensor."""
    script = "a, b = (torch.optim.SGD(nn.Linear(1, 1).parameters(), 1) for _ in 'ab')\n"
    script += "b.param_groups[0]['params'].pop()\na.load_state_dict(b.state_dict())\n"
    error = explained(BEGIN + script).error
    assert error is not None
    assert "of as many parameters" in error.cure


def test_what_was_frozen_counts_more_than_a_detach() -> None:
    """A sample is detached on purpose; the weights were left frozen."""
    script = """net = nn.Linear(3, 1)
net.requires_grad_(False)
sample = net(x).detach()
(net.weight * sample.sum()).sum().backward()
"""
    error = explained(BEGIN + script).error
    assert error is not None
    assert (5, 7) == error.causes
    assert "Leave requires_grad on" in error.cure


@pytest.mark.parametrize("name", ["__torch_function__", "__new__"])
def test_a_subclass_with_functions_of_its_own_is_not_modelled(name: str) -> None:
    """It is said where the class is made."""
    found = explained(f"{BEGIN}class Own(torch.Tensor):\n    def {name}(cls, *given):\n        return 1\n")
    assert f"line 4: not modelled: a subclass of torch.Tensor with its own {name}()" in found.note


def test_tensors_of_a_subclass_are_not_modelled() -> None:
    """It is said where one is made: results would be of that class too."""
    found = explained(f"{BEGIN}class Own(torch.Tensor):\n    pass\nOwn([1.0])\n")
    assert "line 6: not modelled: a tensor of Own, a subclass of torch.Tensor" in found.note


def test_anomaly_mode_names_the_line_of_the_node() -> None:
    """Not that of the tensor from which backward started."""
    begin = "torch.autograd.set_detect_anomaly(True)\n"
    error = explained(f"{BEGIN}{begin}y = (x * 0).sqrt()\nz = y * 0\nz.sum().backward()\n").error
    assert error is not None
    assert (5, 7) == error.causes
    assert error.tensors == ()
    assert "torch.sqrt(x + eps)" in error.cure


def test_the_name_that_carries_a_result_on_is_told() -> None:
    """Not a name that is given anew in each pass before the result is taken."""
    script = """loss = None
for _ in range(2):
    new = x.exp().sum()
    loss = new if loss is None else loss + new
    loss.backward()
"""
    error = explained(BEGIN + script).error
    assert error is not None
    assert "to pass with loss = loss.detach()" in error.cure


def test_a_buffer_is_no_parameter() -> None:
    """The cure is to register it as one."""
    script = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))
net = Net()
(x * net.scale).sum().backward()
"""
    assert "Cure: self.scale = nn.Parameter(...) at line 7." in explained(BEGIN + script).why(
        "net.scale.grad"
    )


def test_a_schedule_before_the_optimizer_has_a_cure() -> None:
    """The warning has no rule of autograd."""
    script = "opt = torch.optim.SGD([x], 1.0)\ntorch.optim.lr_scheduler.StepLR(opt, 1).step()\n"
    (warning,) = explained(BEGIN + script).warnings
    assert "Call optimizer.step() first" in warning.cure


def test_a_note_on_how_scripts_run_is_no_answer_about_errors() -> None:
    """A script that asks for compiled code ends as any other."""
    found = explained(f"{BEGIN}y = torch.compile(lambda x: x * 2)(x)\n")
    assert "torch.compile() and torch.jit are off" in found.note
    assert "No error ended the script." == found.why("error")
