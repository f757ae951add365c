"""False claims in circulation about modules, losses and optimizers, each with the program that refutes it."""

import torch

from specs.case import refused


def myth_eval_disables_gradients():
    """Myth: model.eval() turns gradients off.

    Everything is recorded as before.
    Rule: nn/train-is-a-flag-of-all-modules. Source: seed 003_08ed0c2a945abd78.txt.
    """
    model = torch.nn.Linear(2, 1)
    model.eval()
    model(torch.ones(1, 2)).sum().backward()
    assert model.training is False and torch.is_grad_enabled() is True
    assert model.weight.grad.tolist() == [[1.0, 1.0]]


def myth_no_grad_freezes_a_module():
    """Myth: no_grad around a block "is equivalent to module.requires_grad_(False)".

    Frozen parameters still hand gradients on to what came before; under no_grad the graph ends.
    Rules: nn/freezes-the-parameters-themselves, mode/no-grad-records-nothing.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    first, second = torch.nn.Linear(2, 2), torch.nn.Linear(2, 1)
    h = first(torch.ones(1, 2))
    with torch.no_grad():
        assert second(h).requires_grad is False
    second.requires_grad_(False)
    second(h).sum().backward()
    assert first.bias.grad.tolist() == second.weight.tolist()[0]
    assert second.weight.grad is None


def myth_a_loss_module_is_called_with_tensors():
    """Myth: l = nn.L1Loss(y, gt) is a loss with a grad_fn.

    That would make a module, with the tensors for yes and no; the function is l1_loss, or nn.L1Loss()(y, gt).
    Rules: nn/loss-is-the-mean, op/bool-of-many. Source: seed 001_ab61d14c9099960f.txt.
    """
    y = torch.tensor([[1.0, 2.0]], requires_grad=True)
    gt = torch.tensor([[0.0, 0.0]])
    with refused("op/bool-of-many"):
        torch.nn.L1Loss(y, gt)
    loss = torch.nn.functional.l1_loss(y, gt)
    assert loss.item() == 1.5
    assert loss.grad_fn.name() == "MeanBackward0"


def myth_optimizers_go_by_requires_grad():
    """Myth: "optimizer.step() updates leaf tensors that require grad".

    It updates what it was given and has a grad, whether or not that requires grad, and nothing else.
    Rules: optim/steps-what-it-was-given, optim/skips-what-has-no-grad.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    c = torch.tensor([1.0])
    o = torch.optim.SGD([a, c], lr=0.5)
    b.grad = torch.tensor([2.0])
    c.grad = torch.tensor([2.0])
    o.step()
    assert a.tolist() == [1.0]
    assert b.tolist() == [1.0]
    assert c.tolist() == [0.0]


def myth_zero_grad_frees_the_graph():
    """Myth: zero_grad() frees the graph.

    It touches grads alone: the graph can still be differentiated.
    Rules: nn/zero-grad-forgets, backward/retain-graph-keeps.
    """
    w = torch.tensor([3.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    o.zero_grad()
    assert w.grad is None
    loss.backward()
    assert w.grad.tolist() == [6.0]


def myth_step_clears_the_grads():
    """Myth: step() uses the grads up.

    They stay, and the next backward adds to them.
    Rules: optim/leaves-grads-alone, grad/accumulates.
    """
    w = torch.tensor([3.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5, weight_decay=1.0)
    w.sum().backward()
    o.step()
    assert w.tolist() == [1.0]
    assert w.grad.tolist() == [1.0]
    w.sum().backward()
    assert w.grad.tolist() == [2.0]


def myth_a_cast_module_has_new_parameters():
    """Myth: after module.double() the optimizer holds the old parameters.

    The module's leaves stay the same objects, only their data change.
    Rules: nn/to-swaps-data, optim/step-is-not-recorded.
    """
    model = torch.nn.Linear(1, 1, bias=False)
    o = torch.optim.SGD(model.parameters(), lr=0.5)
    model.double()
    model.load_state_dict({"weight": torch.tensor([[2.0]])})
    model(torch.ones(1, 1, dtype=torch.float64)).sum().backward()
    o.step()
    assert o.param_groups[0]["params"][0] is model.weight
    assert model.weight.tolist() == [[1.5]] and model.weight.dtype == torch.float64
