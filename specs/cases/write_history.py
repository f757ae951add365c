"""Histories after a write; permission to write lives in write."""

import torch

from specs.case import refused
from specs.cases._functions import Nothing


def the_grad_fn_becomes_the_write():
    """After y.mul_(3) y's grad_fn is a MulBackward0 on top of the AddBackward0 before it.

    Rule: write/history-becomes-the-write.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x + 1
    y.mul_(3)
    assert y.grad_fn.name() == "MulBackward0" and y.is_leaf is False
    assert y.grad_fn.next_functions[0][0].name() == "AddBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def writes_in_a_row_are_all_differentiated():
    """Each write counts. Rule: write/history-becomes-the-write."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y *= 3
    y += x
    y -= 1
    assert y.tolist() == [6.0, 13.0]
    y.sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]


def an_earlier_use_keeps_its_history():
    """A use before the write is differentiated with the old value. Rule: write/history-becomes-the-write."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    z = y + 1
    y.mul_(5)
    z.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def a_write_to_a_view_rewrites_the_base():
    """After a write to y[:1] y's grad_fn is CopySlices. Rule: write/rewrites-the-base."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[:1]
    v.mul_(3)
    assert y.tolist() == [6.0, 4.0]
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "MulBackward0"
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 2.0]


def writes_to_two_views_stack_up():
    """Two slices written to: two CopySlices. Rule: write/rewrites-the-base."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * 1
    a = y[:1]
    b = y[1:]
    a.mul_(u[:1])
    b.mul_(u[1:])
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert y.grad_fn.next_functions[0][0].name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    assert u.grad.tolist() == [1.0, 2.0]


def assignment_by_index_is_differentiated():
    """y[0] = 5 cuts the first element, y[1] = u[0] replaces the second.

    Rules: write/rewrites-the-base, write/cuts-what-it-overwrites, write/copy-passes-gradient.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    u = torch.tensor([7.0], requires_grad=True)
    y = x * 2
    y[0] = 5.0
    y[1] = u[0]
    assert y.tolist() == [5.0, 7.0, 6.0]
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 2.0]
    assert u.grad.tolist() == [1.0]


def a_plain_buffer_joins_the_graph():
    """A buffer into which something tracked is written requires grad and is no leaf.

    Rule: write/plain-tensor-joins-graph.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.zeros(2)
    assert b.is_leaf is True
    b += x
    assert b.requires_grad is True and b.is_leaf is False
    assert b.grad_fn.name() == "AddBackward0"
    b.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def a_plain_buffer_is_filled_row_by_row():
    """Rows assigned one after the other pass their gradients to what they came from.

    Rules: write/plain-tensor-joins-graph, write/copy-passes-gradient.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.zeros(2, 2)
    b[0] = x
    b[1] = x * 2
    assert b.requires_grad is True and b.is_leaf is False
    b.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def a_write_to_a_plain_view_draws_the_base_in():
    """The base, and its other views, join with the view.

    Rules: write/plain-tensor-joins-graph, view/requires-grad-follows-base.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.zeros(2)
    v = b[:1]
    w = b[1:]
    v.add_(x[:1])
    assert b.requires_grad is True and b.is_leaf is False
    assert w.requires_grad is True and w.is_leaf is False
    b.sum().backward()
    assert x.grad.tolist() == [1.0, 0.0]


def an_overwritten_value_gets_zeros():
    """After zero_ and fill_ the old value's gradient is zeros, not None.

    Rule: write/cuts-what-it-overwrites.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]
    z = x * 2
    z.fill_(3.0)
    z.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0] and z.requires_grad is True


def copy_replaces_the_gradients_way():
    """After y.copy_(u) u gets the gradient and what y was before gets zeros.

    Rules: write/cuts-what-it-overwrites, write/copy-passes-gradient.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    y = x * 2
    y.copy_(u)
    assert y.grad_fn.name() == "torch::autograd::CopyBackwards"
    (y * 5).sum().backward()
    assert u.grad.tolist() == [5.0, 5.0]
    assert x.grad.tolist() == [0.0, 0.0]


def copy_sums_and_casts_for_its_source():
    """The source was broadcast and cast, so its gradient is summed and cast back.

    Rule: write/copy-passes-gradient.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = torch.zeros(2, 2, dtype=torch.float64)
    y.copy_(x)
    assert y.dtype == torch.float64 and y.requires_grad is True
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0] and x.grad.dtype == torch.float32


def a_view_of_a_leaf_of_two_dimensions_is_refused():
    """A row, an element and a turned leaf are views of it as a slice is.

    Rule: write/view-of-leaf-refused.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    v = x.t()
    with refused("write/view-of-leaf-refused"):
        v.mul_(2)
    v = x[0]
    with refused("write/view-of-leaf-refused"):
        v.mul_(2)
    v = x[1, 1]
    with refused("write/view-of-leaf-refused"):
        v.zero_()
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]] and x._version == 0


def a_result_saved_through_a_view_has_its_history():
    """The root of a part, taken in place, can be differentiated twice.

    Rules: double/create-graph-records, write/rewrites-the-base.
    """
    x = torch.tensor([4.0, 16.0], requires_grad=True)
    y = x * 1
    v = y[:1]
    v.sqrt_()
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.tolist() == [0.25, 1.0]
    (h,) = torch.autograd.grad(g.sum(), x)
    assert h.tolist() == [-0.03125, 0.0]


def a_view_of_a_view_without_recording_is_refused():
    """The mode in which a view was made counts for a view of a view too.

    Rules: write/no-grad-view-refused, view/no-grad-tag.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = x * 2
    v = y.view(4)
    with torch.no_grad():
        w = v[:2]
    with refused("write/no-grad-view-refused"):
        w.mul_(2)
    v.mul_(2)
    assert y.tolist() == [[4.0, 8.0], [12.0, 16.0]]


def integers_take_what_requires_grad():
    """A copy into them is not recorded, in brackets neither. Rule: leaf/no-history-without-requires-grad."""
    x = torch.tensor([1.5, 2.5], requires_grad=True)
    n = torch.tensor([0, 0])
    n.copy_(x)
    assert n.tolist() == [1, 2] and n.requires_grad is False and n.grad_fn is None
    n[0] = x[1]
    assert n.tolist() == [2, 2] and n.requires_grad is False and n._version == 2


def a_write_to_a_view_of_a_base_that_begins_later():
    """The gradient's window is counted from where the base begins. Rule: write/rewrites-the-base."""
    w = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor([5.0, 6.0, 2.0, 3.0])[2:].detach()
    v = b[1:]
    v.mul_(w)
    assert b.tolist() == [2.0, 9.0]
    b.backward(torch.tensor([1.0, 10.0]))
    assert w.grad.item() == 30.0


def a_write_to_a_view_of_a_base_that_lies_by_columns():
    """The gradient is laid out as the base before the window is taken. Rule: write/rewrites-the-base."""
    w = torch.tensor(3.0, requires_grad=True)
    p = torch.ones(3, 2, requires_grad=True)
    b = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]).t().clone()
    assert b.stride() == (1, 3)
    b.mul_(p)
    a = b[0]
    a.mul_(w)
    c = b[:, 1]
    c.add_(w)
    b.backward(torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    assert w.grad.item() == 18.0
    assert p.grad.tolist() == [[0.0, 18.0], [3.0, 16.0], [10.0, 30.0]]


def a_base_may_begin_within_its_memory():
    """A detached part is a base of its own; a write to a view of its view finds its place in the gradient.

    Rules: write/rewrites-the-base, view/base-is-the-root.
    """
    m = torch.tensor([1.0, 2.0, 3.0, 4.0])
    w = torch.tensor([5.0], requires_grad=True)
    x = m[1:].detach()
    v = x[1:][1:]
    v.mul_(w)
    assert x.tolist() == [2.0, 3.0, 20.0] and v._base is x and x._base is None
    (x * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert w.grad.tolist() == [400.0]


def a_write_through_a_view_that_gets_no_gradient_holds_nobody_up():
    """Uses of the base before it are still reached; with a gradient the write counts.

    Rule: write/rewrites-the-base.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 2
    before = b * 5
    b[0:1].mul_(3)
    after = Nothing.apply(b)
    (after.sum() + before.sum()).backward(retain_graph=True)
    assert x.grad.tolist() == [10.0, 10.0]
    (b.sum() + x.sum()).backward()
    assert x.grad.tolist() == [17.0, 13.0]
