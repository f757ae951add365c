"""retain_grad() and retains_grad."""

import warnings

import torch

from specs.case import refused, warned


def retain_grad_fills_a_non_leaf():
    """After retain_grad() backward fills a non-leaf's .grad.

    Rule: retain/fills-grad. Source: seed 002_5576f5c856adb572.txt, seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward()
    assert a.grad.tolist() == [6.0]
    assert b.grad.tolist() == [1.0]


def retained_grad_is_what_flows_in():
    """The retained gradient is that of the value, not of the operands. Rule: retain/fills-grad."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 4
    y.retain_grad()
    z = (y * y).sum()
    z.backward()
    assert y.grad.tolist() == [8.0, 16.0]
    assert x.grad.tolist() == [32.0, 64.0]


def retained_grad_is_the_sum_of_all_uses():
    """The retained grad is the whole gradient, summed over all uses.

    Rules: retain/fills-grad, grad/sums-paths. Source: seed 003_08ed0c2a945abd78.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y * 3 + y * 5
    z.sum().backward()
    assert y.grad.tolist() == [8.0, 8.0]
    assert x.grad.tolist() == [16.0, 16.0]


def flag_tells_of_retain_grad():
    """retains_grad is False before and True after, and False on leaves.

    Rule: retain/flag. Source: seed 001_ab61d14c9099960f.txt, seed 002_5576f5c856adb572.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    assert x.retains_grad is False and y.retains_grad is False
    y.retain_grad()
    z = y * 2
    assert y.retains_grad is True and z.retains_grad is False
    assert x.retains_grad is False


def retained_gradients_retain_none_themselves():
    """The gradients themselves are leaves that require no grad and retain none.

    Rules: double/plain-without, retain/flag. Source: seed 002_5576f5c856adb572.txt.
    """
    a = torch.tensor([3.0], requires_grad=True)
    b = a * a
    b.retain_grad()
    b.backward()
    g = a.grad
    h = b.grad
    assert g.requires_grad is False and g.retains_grad is False and g.is_leaf is True
    assert h.requires_grad is False and h.retains_grad is False and h.is_leaf is True


def retain_grad_on_a_leaf_does_nothing():
    """A leaf's gradient is filled once, with or without retain_grad().

    Rule: retain/leaf-is-noop. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.retain_grad()
    assert x.retains_grad is False
    y = x * 3
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def retain_grad_needs_requires_grad():
    """A tensor that does not require grad cannot retain it.

    Rule: retain/needs-requires-grad. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0])
    with refused("retain/needs-requires-grad"):
        x.retain_grad()
    y = torch.tensor([1.0, 2.0], requires_grad=True)
    z = (y * 2).detach()
    with refused("retain/needs-requires-grad"):
        z.retain_grad()
    assert x.retains_grad is False and z.retains_grad is False


def backward_inputs_must_be_able_to_retain():
    """Naming a tensor that does not require grad in inputs= asks it to retain grad, and is refused so.

    Rule: retain/needs-requires-grad.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    c = torch.tensor([1.0, 2.0])
    y = (x * c).sum()
    with refused("retain/needs-requires-grad"):
        y.backward(inputs=[c])
    assert x.grad is None and c.grad is None


def retained_grad_is_apart_from_the_given_gradient():
    """Writing to the tensor passed as gradient= does not change the retained gradient.

    Rule: retain/keeps-a-copy.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([1.0, 2.0])
    y = x * 2
    y.retain_grad()
    y.backward(g)
    g.zero_()
    assert y.grad.tolist() == [1.0, 2.0]


def retained_grad_is_apart_from_other_gradients():
    """Two retained gradients of one value flowing through do not share memory. Rule: retain/keeps-a-copy."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    z = y + 1
    y.retain_grad()
    z.retain_grad()
    z.backward(torch.tensor([1.0, 2.0]))
    h = z.grad
    h.zero_()
    assert y.grad.tolist() == [1.0, 2.0]
    assert x.grad.tolist() == [1.0, 2.0]


def retained_grads_accumulate():
    """A second backward adds to the retained gradient, in a new tensor.

    Rule: retain/accumulates. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y.sum()
    z.backward(retain_graph=True)
    g = y.grad
    z.backward()
    assert y.grad.tolist() == [2.0, 2.0]
    assert g.tolist() == [1.0, 1.0]


def retaining_adds_to_an_assigned_grad():
    """A retained gradient adds to a grad assigned to the non-leaf before.

    Rules: retain/accumulates, grad/accepted-on-non-leaf.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.grad = torch.tensor([1.0, 2.0])
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [2.0, 3.0]


def retaining_follows_a_write():
    """After an in-place op the gradient of the written value is retained, not that of the old one.

    Rule: retain/moves-with-write.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    assert y.retains_grad is True
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [6.0, 6.0]


def uses_before_the_write_are_not_retained():
    """A use of the value before the write does not count for the retained gradient.

    Rule: retain/moves-with-write.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    z = y * 3
    y.mul_(5)
    w = z + y
    w.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [16.0, 16.0]


def retaining_of_a_base_follows_a_write_through_its_view():
    """A write to a view moves the base's request to the base's new grad_fn.

    Rules: retain/moves-with-write, write/rewrites-the-base.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y.view(2)
    y.retain_grad()
    v.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [6.0, 6.0]


def retaining_of_a_view_follows_its_new_history():
    """A stale view takes its request along when it gets its new grad_fn.

    Rules: retain/moves-with-write, view/stale-regenerates.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y.view(2)
    v.retain_grad()
    y.mul_(3)
    v.sum().backward()
    assert v.retains_grad is True
    assert v.grad.tolist() == [1.0, 1.0]
    assert x.grad.tolist() == [6.0, 6.0]


def retain_grad_twice_is_once():
    """Calling retain_grad() twice does not double the gradient. Rule: retain/twice-is-once."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def retain_grad_of_a_view_twice_is_once():
    """Nor does it for a view, also where its history was made anew. Rule: retain/twice-is-once."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[:1]
    v.retain_grad()
    v.retain_grad()
    y.mul_(3)
    v.retain_grad()
    v.sum().backward()
    assert v.grad.tolist() == [1.0] and x.grad.tolist() == [6.0, 0.0]


def the_flag_outlives_detach_in_place():
    """detach_() leaves retains_grad True. Rule: retain/outlives-detach-in-place."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.detach_()
    assert y.retains_grad is True and y.requires_grad is False and y.is_leaf is True
    assert y.grad is None


def three_tensors_three_backwards():
    """Gradients of three tensors that retain theirs after each backward: 1; 5 and 1; 25, 6 and 1.

    Rules: retain/fills-grad, retain/accumulates, grad/accumulates, backward/leaf-root,
    backward/retain-graph-keeps. Source: seed 004_fc81070469924520.txt.
    """
    a = torch.tensor(7.0, requires_grad=True)
    a.backward()
    assert a.grad.item() == 1.0
    b = a * 4
    b.retain_grad()
    assert b.item() == 28.0 and b.is_leaf is False
    assert a.grad.item() == 1.0
    b.backward(retain_graph=True)
    assert a.grad.item() == 5.0 and b.grad.item() == 1.0
    c = b * 5
    c.retain_grad()
    assert c.item() == 140.0 and c.grad is None
    assert a.grad.item() == 5.0 and b.grad.item() == 1.0
    c.backward()
    assert a.grad.item() == 25.0 and b.grad.item() == 6.0 and c.grad.item() == 1.0
    assert a.is_leaf is True and b.is_leaf is False and c.is_leaf is False


def detached_in_place_becomes_a_leaf_again():
    """With detach_().requires_grad_() the third tensor is a leaf, and what is upstream keeps its gradients.

    Rules: detach/in-place-makes-a-leaf, retain/leaf-is-noop, backward/leaf-root.
    Source: seed 004_fc81070469924520.txt.
    """
    a = torch.tensor(7.0, requires_grad=True)
    a.backward()
    b = a * 4
    b.retain_grad()
    b.backward()
    c = b * 5
    c = c.detach_().requires_grad_(requires_grad=True)
    c.retain_grad()
    assert c.is_leaf is True and c.grad is None and c.grad_fn is None
    c.backward()
    assert a.grad.item() == 5.0 and b.grad.item() == 1.0 and c.grad.item() == 1.0
    assert b.is_leaf is False and c.is_leaf is True and c.retains_grad is False


def a_retained_grad_lies_by_rows():
    """Transposed and expanded gradients are copied so. Rule: retain/keeps-a-copy."""
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 2
    y.retain_grad()
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y.t().backward(g)
    assert y.grad.stride() == (2, 1) and y.grad.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    z = x * 2
    z.retain_grad()
    z.sum().backward()
    assert z.grad.stride() == (2, 1) and z.grad._version == 0
    w = x * 2
    w.retain_grad()
    w.backward(g)
    g.add_(1)
    assert w.grad.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def an_empty_grad_that_is_retained_is_read_in_silence():
    """It will be filled; another would not. Rules: retain/fills-grad, grad/non-leaf-read-warns."""
    x = torch.ones(1, requires_grad=True)
    y, z = x * 2, x * 3
    y.retain_grad()
    told = []  # read one after the other
    with warnings.catch_warnings(record=True, action="always") as kept:
        told.append(y.grad)
    with warned("grad/non-leaf-read-warns"):
        told.append(z.grad)
    y.backward()
    assert kept == [] and told == [None, None] and y.grad.tolist() == [1.0]
