"""Programs whose result depends on a reading: each once without and once with it.

Reading the history of a stale view (grad_fn, is_leaf, or to be used) makes it anew; nothing else does. What
staleness is lives in view_stale.
"""

import torch

from specs.case import refused, warned


def a_stale_view_that_nobody_looked_at():
    """A view of a plain tensor that joined a graph later is taken for a leaf until its history is read.

    Rules: view/unread-passes-for-a-leaf, write/leaf-refused. Source: measured on torch 2.11 to 2.15.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    b.mul_(x)
    with refused("write/leaf-refused"):
        v.mul_(2)


def a_stale_view_that_was_looked_at():
    """Once its history was read the same write is recorded.

    Rule: view/stale-regenerates. Source: measured on torch 2.11 to 2.15.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    b.mul_(x)
    assert v.is_leaf is False
    v.mul_(2)
    v.sum().backward()
    assert x.grad.tolist() == [2.0]


def a_stale_view_retains_nothing():
    """retain_grad() takes it for a leaf, does nothing, and says so nowhere.

    Rules: retain/leaf-is-noop, view/unread-passes-for-a-leaf. Source: measured on torch 2.11 to 2.15.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    b.mul_(x)
    v.retain_grad()
    assert v.retains_grad is False
    v.sum().backward()
    assert x.grad.tolist() == [1.0]


def a_stale_view_that_was_looked_at_retains():
    """Once its history was read it is no leaf, and retains its grad.

    Rules: view/stale-regenerates, retain/fills-grad. Source: measured on torch 2.13.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    b.mul_(x)
    assert v.is_leaf is False
    v.retain_grad()
    v.sum().backward()
    assert v.grad.tolist() == [1.0]


def reading_the_grad_of_a_stale_view():
    """Nobody warns of the grad of what passes for a leaf; once its history was read, it is a non-leaf's.

    Rules: view/stale-regenerates, grad/non-leaf-read-warns. Source: measured on torch 2.13.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    b.mul_(x)
    v.grad
    assert v.is_leaf is False
    with warned("grad/non-leaf-read-warns"):
        v.grad


def what_detaching_the_base_does_to_a_view():
    """After detach_() of the base a view is a leaf, or has a history, as it was looked at before or not.

    Rules: view/stale-regenerates, view/unread-passes-for-a-leaf. Source: measured on torch 2.11 to 2.15.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    w = b[1:]
    b.mul_(x)
    assert w.is_leaf is False
    b.detach_()
    assert v.requires_grad is False
    assert w.requires_grad is True


def a_retained_grad_that_nobody_looked_at():
    """A view that retains its grad goes on being filled by the older graph, whatever became of its base.

    Rules: retain/fills-grad, retain/accumulates. Source: measured on torch 2.13.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    v.retain_grad()
    z = v.sum()
    z.backward(retain_graph=True)
    with torch.no_grad():
        y.mul_(3)
    z.backward()
    assert v.grad.tolist() == [2.0]


def a_retained_grad_that_was_looked_at():
    """Once its history was read it retains the gradient of that, and the older graph fills nothing.

    Rules: view/stale-regenerates, retain/moves-with-write. Source: measured on torch 2.13.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    v.retain_grad()
    z = v.sum()
    z.backward(retain_graph=True)
    with torch.no_grad():
        y.mul_(3)
    assert v.grad_fn.name() == "AsStridedBackward0"
    z.backward()
    assert v.grad.tolist() == [1.0]


def where_a_view_leads_whose_base_lost_its_flag():
    """A stale view of a leaf leads to it, or nowhere, as it was looked at before the flag was taken or not.

    Rules: view/stale-regenerates, requires_grad/flag-is-set-in-place. Source: measured on torch 2.13.
    """
    b = torch.tensor([1.0, 2.0], requires_grad=True)
    v = b[:1]
    w = b[1:]
    with torch.no_grad():
        b.mul_(2)
    assert w.grad_fn.name() == "AsStridedBackward0"
    b.requires_grad_(False)
    assert v.grad_fn.next_functions[0][0] is None
    assert w.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    b.requires_grad_(True)
    (v + w).sum().backward()
    assert b.grad.tolist() == [0.0, 1.0]


def where_a_view_leads_whose_base_gained_its_flag():
    """A stale view that was looked at while its base was plain leads nowhere ever after.

    Rules: view/stale-regenerates, grad/plain-leaves-get-none. Source: measured on torch 2.13.
    """
    b = torch.tensor([1.0, 2.0], requires_grad=True)
    v = b[:1]
    w = b[1:]
    b.requires_grad_(False)
    b.mul_(2)
    assert w.grad_fn.next_functions[0][0] is None
    b.requires_grad_(True)
    assert v.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert w.grad_fn.next_functions[0][0] is None
    (v + w).sum().backward()
    assert b.grad.tolist() == [1.0, 0.0]


def dropping_the_flag_of_a_stale_view():
    """A stale view that nobody looked at may drop the flag, as leaves may; once looked at it may not.

    Rules: view/stale-regenerates, requires_grad/non-leaf-cannot-drop. Source: measured on torch 2.13.
    """
    x = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b[:1]
    b.mul_(x)
    v.requires_grad_(False)
    assert v.is_leaf is False
    with refused("requires_grad/non-leaf-cannot-drop"):
        v.requires_grad_(False)


def the_hook_of_a_stale_view_that_nobody_looked_at():
    """A view that was a leaf and joined a graph since: the hooks it had as a leaf are called by older graphs,
    which are refused only then.

    Rule: backward/leaf-moved-inside. Source: measured on torch 2.13.
    """
    x = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([1.0, -1.0])
    v = b.view(2, 1)
    v.requires_grad_(True)
    seen = []
    v.register_hook(lambda g: seen.append(g.tolist()))
    y = v.sum()
    b.add_(x)
    with refused("backward/leaf-moved-inside"):
        y.backward()
    assert seen == [[[1.0], [1.0]]]


def the_hook_of_a_stale_view_that_was_looked_at():
    """Once its history was read they are called no more: the view is no leaf, and has forgotten them.

    Rules: view/stale-regenerates, hook/stays-with-old-history. Source: measured on torch 2.13.
    """
    x = torch.tensor(2.0, requires_grad=True)
    b = torch.tensor([1.0, -1.0])
    v = b.view(2, 1)
    v.requires_grad_(True)
    seen = []
    v.register_hook(lambda g: seen.append(g.tolist()))
    y = v.sum()
    b.add_(x)
    assert v.is_leaf is False
    with refused("backward/leaf-moved-inside"):
        y.backward()
    assert seen == []
