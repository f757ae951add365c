"""Optimizers and their tensors, flags and grads, and the training loops of the seeds."""

import torch

from specs.case import refused, warned


def step_writes_to_the_leaf():
    """A step changes the leaf in place: the same tensor, still without grad_fn, and its grad untouched.

    Rules: optim/step-is-not-recorded, optim/step-is-a-write, optim/leaves-grads-alone.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    (w * w).sum().backward()
    o.step()
    assert w.tolist() == [0.0, 0.0] and w.grad.tolist() == [2.0, 4.0]
    assert w.is_leaf is True and w.grad_fn is None and w.requires_grad is True
    assert w._version == 1


def second_backward_after_a_step_is_refused():
    """The graph has saved the leaf as it was before the step, so it cannot be differentiated again.

    Rules: optim/step-is-a-write, save/modified-refused. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    loss = (w * w).sum()
    loss.backward(retain_graph=True)
    o.step()
    with refused("save/modified-refused"):
        loss.backward()


def training_loop_that_rebuilds_the_graph():
    """Each round builds the graph anew from w and x, so backward, step and zero_grad can go round.

    Rules: optim/step-is-not-recorded, nn/zero-grad-forgets. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.tensor([3.0, 4.0])
    o = torch.optim.SGD([w], lr=0.5)
    loss = (w * x).sum()
    o.zero_grad()
    loss.backward()
    o.step()
    assert w.tolist() == [-0.5, 0.0]
    loss = (w * x).sum()
    o.zero_grad()
    assert w.grad is None
    loss.backward()
    assert w.grad.tolist() == [3.0, 4.0]
    o.step()
    assert w.tolist() == [-2.0, -2.0]


def training_loop_with_an_op_outside():
    """An op before the loop is not rebuilt: the second backward reaches a graph that has been freed.

    Rules: save/freed-refused, optim/step-is-not-recorded. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    x = torch.tensor([3.0, 4.0])
    o = torch.optim.SGD([w], lr=0.5)
    f = w * x
    loss = f.sum()
    loss.backward()
    o.step()
    assert w.tolist() == [-0.5, 0.0]
    assert f.tolist() == [3.0, 8.0]
    o.zero_grad()
    again = f.sum()
    with refused("save/freed-refused"):
        again.backward()
    assert w.grad is None


def step_skips_what_has_no_grad():
    """A leaf whose grad is None is not written to, not even by weight decay.

    Rule: optim/skips-what-has-no-grad.
    """
    v = torch.tensor([1.0], requires_grad=True)
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([v, w], lr=0.5, weight_decay=1.0)
    v.sum().backward()
    o.step()
    assert v.tolist() == [0.0]
    assert w.tolist() == [1.0] and w._version == 0


def zeros_are_not_none_to_a_step():
    """A grad of zeros is a grad: weight decay moves the leaf.

    Rules: optim/leaves-grads-alone, optim/skips-what-has-no-grad, nn/zero-grad-fills-in-place.
    """
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5, weight_decay=1.0)
    w.sum().backward()
    o.zero_grad(set_to_none=False)
    assert w.grad.tolist() == [0.0]
    o.step()
    assert w.tolist() == [0.5] and w.grad.tolist() == [0.0]


def frozen_is_stepped_while_it_has_a_grad():
    """An optimizer goes by grads: a frozen leaf with an old grad is changed, without one it is not.

    Rule: optim/steps-what-it-was-given. Source: seed 003_08ed0c2a945abd78.txt.
    """
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    w.sum().backward()
    w.requires_grad_(False)
    o.step()
    assert w.tolist() == [0.5]
    o.zero_grad()
    o.step()
    assert w.tolist() == [0.5]


def optimizer_sees_what_it_was_given():
    """A tensor that has taken the name of a parameter is not the one the optimizer holds.

    Rules: optim/steps-what-it-was-given, optim/step-is-not-recorded.
    """
    w = torch.tensor([1.0], requires_grad=True)
    v = torch.tensor([4.0])
    o = torch.optim.SGD([w, v], lr=0.5)
    w = torch.tensor([2.0], requires_grad=True)
    w.sum().backward()
    v.grad = torch.tensor([2.0])
    o.step()
    assert w.tolist() == [2.0]
    assert v.tolist() == [3.0] and v.requires_grad is False


def momentum_outlives_the_grad():
    """The first gradient is copied into the momentum: neither clearing nor filling grads changes it.

    Rules: optim/momentum-is-its-own, nn/zero-grad-fills-in-place.
    """
    w = torch.tensor([8.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=1.0, momentum=0.5)
    w.sum().backward()
    g = w.grad
    o.step()
    assert w.tolist() == [7.0]
    o.zero_grad(set_to_none=False)
    assert w.grad is g
    assert g.tolist() == [0.0]
    o.step()
    assert w.tolist() == [6.5]


def zero_grad_forgets_or_fills():
    """zero_grad() drops the grads and leaves them to whoever holds them; set_to_none=False zeroes those.

    Rules: nn/zero-grad-forgets, nn/zero-grad-fills-in-place.
    """
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    w.sum().backward()
    g = w.grad
    o.zero_grad()
    assert w.grad is None
    assert g.tolist() == [1.0]
    w.sum().backward()
    h = w.grad
    o.zero_grad(set_to_none=False)
    assert h.tolist() == [0.0]
    assert w.grad is h


def zero_grad_takes_the_grad_out_of_its_graph():
    """Filled with zeros, a recorded grad is a leaf that requires no grad.

    Rule: nn/zero-grad-fills-in-place.
    """
    w = torch.tensor([3.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    (w * w).sum().backward(create_graph=True)
    assert w.grad.requires_grad is True
    o.zero_grad(set_to_none=False)
    assert w.grad.requires_grad is False and w.grad.is_leaf is True
    assert w.grad.tolist() == [0.0]


def step_with_a_recorded_grad():
    """A grad that is part of a graph is read as any other: the leaf stays a leaf.

    Rule: optim/step-is-not-recorded.
    """
    w = torch.tensor([3.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    (w * w).sum().backward(create_graph=True)
    o.step()
    assert w.tolist() == [0.0] and w.is_leaf is True
    w.grad = None


def optimizers_take_leaves():
    """A result is refused, unless it retains its grad. Rule: optim/needs-leaves."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("optim/needs-leaves"):
        torch.optim.SGD([y], lr=0.5)
    y.retain_grad()
    o = torch.optim.SGD([y], lr=0.5)
    y.sum().backward()
    o.step()
    assert y.tolist() == [1.5, 3.5]
    assert y.is_leaf is False


def optimizers_need_parameters():
    """Nothing, a bare tensor, and what is no tensor are refused.

    Rules: optim/needs-parameters, optim/needs-a-list, optim/needs-tensors.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("optim/needs-parameters"):
        torch.optim.SGD([], lr=0.5)
    with refused("optim/needs-a-list"):
        torch.optim.SGD(x, lr=0.5)
    with refused("optim/needs-tensors"):
        torch.optim.SGD([3], lr=0.5)


def parameters_may_have_names():
    """Pairs as named_parameters() gives them, in all groups. Rule: optim/all-have-names-or-none."""
    x = torch.tensor([1.0], requires_grad=True)
    y = torch.tensor([2.0], requires_grad=True)
    o = torch.optim.SGD([("x", x)], lr=0.5)
    o.add_param_group({"params": [("y", y)], "lr": 0.25})
    (x * y).sum().backward()
    o.step()
    assert x.item() == 0.0 and y.item() == 1.75
    assert [group["param_names"] for group in o.param_groups] == [["x"], ["y"]]
    with refused("optim/all-have-names-or-none"):
        o.add_param_group({"params": [torch.ones(1)]})
    with refused("optim/all-have-names-or-none"):
        torch.optim.SGD([("x", x), y], lr=0.5)


def parameter_listed_twice():
    """A tensor that is listed twice is stepped twice, after a warning.

    Rule: optim/same-parameter-twice-warns.
    """
    x = torch.tensor([1.0], requires_grad=True)
    with warned("optim/same-parameter-twice-warns"):
        o = torch.optim.SGD([x, x], lr=0.25)
    x.sum().backward()
    o.step()
    assert x.tolist() == [0.5]


def parameter_in_two_groups():
    """A tensor cannot be in two groups. Rule: optim/one-group-each."""
    x = torch.tensor([1.0], requires_grad=True)
    with refused("optim/one-group-each"):
        torch.optim.SGD([{"params": [x]}, {"params": [x]}], lr=0.5)


def closure_is_recorded():
    """A closure may differentiate although step() was called under no_grad.

    Rules: optim/closure-records, optim/step-is-not-recorded.
    """
    w = torch.tensor([1.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=0.5)
    with torch.no_grad():
        o.step(lambda: (w * 3).sum().backward())
    assert w.tolist() == [-0.5]


def frozen_layers_of_a_model():
    """An optimizer that was given all parameters leaves the frozen ones alone, for they get no grad.

    Rules: nn/freezes-the-parameters-themselves, optim/skips-what-has-no-grad.
    Source: seed 003_08ed0c2a945abd78.txt.
    """
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 1))
    o = torch.optim.SGD(model.parameters(), lr=0.5, weight_decay=0.5)
    model[0].requires_grad_(False)
    before = [p.tolist() for p in model.parameters()]
    assert len(o.param_groups[0]["params"]) == 4
    model(torch.ones(3, 2)).sum().backward()
    assert model[0].weight.grad is None
    o.step()
    after = [p.tolist() for p in model.parameters()]
    assert before[:2] == after[:2] and before[3] != after[3]


def training_a_model():
    """Modules, losses and optimizers together: the parameters stay the leaves the optimizer was given.

    Rules: optim/step-is-not-recorded, nn/assigned-parameters-are-found, nn/loss-is-the-mean.
    """
    model = torch.nn.Linear(2, 1, bias=False)
    model.load_state_dict({"weight": torch.tensor([[1.0, 2.0]])})
    w = next(model.parameters())
    o = torch.optim.SGD(model.parameters(), lr=0.5)
    loss = torch.nn.MSELoss()(model(torch.tensor([[1.0, 0.0], [0.0, 1.0]])), torch.zeros(2, 1))
    assert loss.item() == 2.5
    loss.backward()
    assert w.grad.tolist() == [[1.0, 2.0]]
    o.step()
    assert model.weight is w and w.is_leaf is True
    assert w.tolist() == [[0.5, 1.0]]
    o.zero_grad()
    assert w.grad is None


def after_zero_grad_a_step_sees_its_own_gradient_alone():
    """Dropped or filled with zeros, the old gradient has no part in the next step.

    Rules: nn/zero-grad-fills-in-place, nn/zero-grad-forgets, optim/step-is-not-recorded.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    o = torch.optim.SGD([w], lr=1.0)
    (w * 3).sum().backward()
    g = w.grad
    o.zero_grad(set_to_none=False)
    assert w.grad is g and g.tolist() == [0.0, 0.0]
    (w * 2).sum().backward()
    assert w.grad.tolist() == [2.0, 2.0]
    o.step()
    o.zero_grad()
    assert w.grad is None and g.tolist() == [2.0, 2.0]
    (w * 5).sum().backward()
    o.step()
    assert w.tolist() == [-6.0, -5.0]


def groups_may_not_share_one_parameter():
    """Nor may one of several be in two groups. Rule: optim/one-group-each."""
    x = torch.ones(1, requires_grad=True)
    y = torch.ones(1, requires_grad=True)
    o = torch.optim.SGD([x, y], lr=0.5)
    with refused("optim/one-group-each"):
        o.add_param_group({"params": [y]})
    assert len(o.param_groups) == 1
