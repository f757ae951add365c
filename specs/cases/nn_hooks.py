"""Full backward hooks of modules: what they are given, and what they may return."""

import warnings

import torch

from specs.case import refused, warned


def full_backward_hooks_make_views():
    """Arguments and result of a module with a backward hook lie behind a node each.

    Rule: nn/backward-hooks-stand-before-and-behind.
    """
    m = torch.nn.ReLU()
    m.register_full_backward_hook(lambda module, gi, go: None)
    x = torch.tensor([1.0, -2.0], requires_grad=True)
    y = m(x)
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    assert y._is_view() is True
    assert y.grad_fn.next_functions[0][0].name() == "ReluBackward0"
    before = y.grad_fn.next_functions[0][0].next_functions[0][0]
    assert before.name() == "BackwardHookFunctionBackward"
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def hooks_of_a_first_layer_are_called():
    """No argument requires grad, and the hook is called all the same.

    Rule: nn/backward-hook-fires-without-inputs.
    """
    m = torch.nn.Linear(2, 1)
    seen = []
    m.register_full_backward_hook(lambda module, gi, go: seen.append((gi, len(go))))
    y = m(torch.ones(1, 2)).sum()
    with warned("nn/backward-hook-fires-without-inputs"):
        y.backward()
    assert seen == [((None,), 1)]


def hooks_before_a_first_layer_are_silent():
    """They need no gradients of arguments. Rule: nn/backward-pre-hooks-alone-are-silent."""
    m = torch.nn.Linear(2, 1)
    seen = []
    m.register_full_backward_pre_hook(lambda module, go: seen.append(len(go)))
    y = m(torch.ones(1, 2)).sum()
    with warnings.catch_warnings(record=True, action="always") as told:
        y.backward()
    assert (seen, told) == ([1], [])


def hooks_of_a_first_layer_replace_nothing():
    """There is no gradient to replace.

    Rules: nn/backward-hook-replaces-no-inputs, nn/backward-hook-fires-without-inputs.
    """
    m = torch.nn.Linear(2, 1)
    m.register_full_backward_hook(lambda module, gi, go: go)
    y = m(torch.ones(1, 2)).sum()
    with warned("nn/backward-hook-fires-without-inputs"), refused("nn/backward-hook-replaces-no-inputs"):
        y.backward()


def backward_hooks_return_as_many_gradients():
    """One argument has one gradient. Rule: nn/backward-hook-returns-as-many."""
    m = torch.nn.ReLU()
    m.register_full_backward_hook(lambda module, gi, go: gi + gi)
    y = m(torch.ones(2, requires_grad=True)).sum()
    with refused("nn/backward-hook-returns-as-many"):
        y.backward()


def backward_pre_hooks_return_as_many_gradients():
    """One result has one gradient; as many replace it. Rule: nn/backward-pre-hook-returns-as-many."""
    m = torch.nn.ReLU()
    handle = m.register_full_backward_pre_hook(lambda module, go: go + go)
    x = torch.ones(2, requires_grad=True)
    y = m(x).sum()
    with refused("nn/backward-pre-hook-returns-as-many"):
        y.backward()
    handle.remove()
    m.register_full_backward_pre_hook(lambda module, go: (go[0] * 3,))
    m(x).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def backward_hooks_need_floats():
    """Integers that an in-place op made require grad have no node for a hook; beside floats they do no harm.

    Rule: nn/backward-hooks-need-floats.
    """
    n = torch.tensor(2)
    n.fill_(torch.tensor(3.0, requires_grad=True))
    assert n.requires_grad
    m = torch.nn.Identity()
    handle = m.register_full_backward_hook(lambda module, gi, go: gi)
    with refused("nn/backward-hooks-need-floats"):
        m(n)
    handle.remove()
    assert m(n) is n
