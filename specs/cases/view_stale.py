"""Views whose base was written to later. Views as such are in view."""

import torch

from specs.case import refused


def a_stale_view_gets_a_new_history():
    """After a write to the base a view's grad_fn leads through the write. Rule: view/stale-regenerates."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y[:1]
    assert v.grad_fn.name() == "SliceBackward0"
    y.mul_(3)
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert v.tolist() == [6.0]
    v.backward()
    assert x.grad.tolist() == [6.0, 0.0]


def a_stale_view_is_regenerated_by_use():
    """A stale view that nobody looked at is used with its new history. Rule: view/stale-regenerates."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y.view(2)
    y.mul_(3)
    (v * 5).sum().backward()
    assert x.grad.tolist() == [30.0, 30.0]


def another_views_write_makes_a_view_stale():
    """A write to one view changes the history of another.

    Rules: view/stale-regenerates, write/rewrites-the-base.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    v = y.view(2)
    a = y[:1]
    a.mul_(3)
    assert v.tolist() == [6.0, 4.0]
    v.sum().backward()
    assert x.grad.tolist() == [6.0, 2.0]


def a_plain_view_joins_with_its_base():
    """A view of a plain base requires grad as soon as the base does, and is no leaf any more.

    Rules: view/requires-grad-follows-base, view/stale-regenerates.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v = b.view(2)
    assert v.requires_grad is False and v.is_leaf is True
    b.mul_(x)
    assert v.requires_grad is True and v.is_leaf is False
    v.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def a_view_of_a_flagged_leaf_passes_nothing_on():
    """A view made before its base's flag was set reports the flag but stays a leaf without gradient.

    Rule: view/requires-grad-follows-base.
    """
    b = torch.tensor([1.0, 2.0])
    v = b.view(2)
    b.requires_grad_(True)
    assert v.requires_grad is True and v.is_leaf is True and v.grad_fn is None
    v.sum().backward()
    assert v.grad is None and b.grad is None


def a_stale_no_grad_view_refuses_to_be_looked_at():
    """A view made under no_grad cannot follow a write to its base. Rule: view/stale-tag-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    with torch.no_grad():
        v = b.view(2)
    b.mul_(2)
    assert v.requires_grad is True
    with refused("view/stale-tag-refused"):
        v.grad_fn
    with refused("view/stale-tag-refused"):
        v.is_leaf
    with refused("view/stale-tag-refused"):
        v * 3
    assert v.tolist() == [2.0, 4.0]


def a_stale_piece_refuses_to_be_looked_at():
    """A piece of an unbind cannot follow a write to its base. Rule: view/stale-tag-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    v, w = b.unbind()
    b.mul_(2)
    with refused("view/stale-tag-refused"):
        v.grad_fn
    with refused("view/stale-tag-refused"):
        w * 2


def a_gradient_without_elements_is_looked_at_from_behind():
    """The gradient of a window drops its size-1 dimensions, the last first, and each drop reads it, until a
    size-0 dimension makes it zeros.

    Rules: view/stale-tag-refused, window/on-the-storage.
    """
    x = torch.ones(2, 1, requires_grad=True)
    y = torch.ones(1, 2, requires_grad=True)
    v = x.narrow(0, 2, 0)
    w = y.narrow(1, 2, 0)
    (g,) = v.split(1, 1)
    (h,) = w.split(1, 0)
    with torch.no_grad():
        x.mul_(2)
        y.mul_(2)
    with refused("view/stale-tag-refused"):
        v.backward(g, create_graph=True)
    w.backward(h, create_graph=True)
    assert x.grad is None and y.grad.tolist() == [[0.0, 0.0]]


def a_write_under_no_grad_makes_stale_too():
    """The write that makes a tagged view stale may itself be unrecorded, and be made through that very view.

    Rule: view/stale-tag-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.no_grad():
        v = x.view(2)
        v.mul_(2)
    assert x.tolist() == [2.0, 4.0] and x._version == 1
    with refused("view/stale-tag-refused"):
        v.is_leaf


def reshape_is_a_view_where_it_can_be():
    """reshape of a contiguous tensor is a view, of a transposed one a copy.

    Rule: view/reshape-copies-when-it-must.
    """
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    s = m.reshape(4)
    r = m.t().reshape(4)
    assert s._is_view() is True and s._base is m
    assert r._is_view() is False and r.tolist() == [1.0, 3.0, 2.0, 4.0]
    assert s.grad_fn.name() == "ViewBackward0"
    with torch.no_grad():
        m.zero_()
    assert s.tolist() == [0.0, 0.0, 0.0, 0.0] and r.tolist() == [1.0, 3.0, 2.0, 4.0]


def window_may_fall_outside_a_base_whose_data_was_assigned():
    """A write through a view of a base that got other data: the backward finds no such window.

    Rule: view/window-outside-base.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    d = x * 1
    h = d[2:]
    d.data = torch.tensor([5.0])
    h.zero_()
    with refused("view/window-outside-base"):
        d.backward()
    assert x.grad is None


def a_view_of_another_dtype_is_brought_up_to_date_in_any_mode():
    """The steps that make it are recorded even if it is read under no_grad. Rule: view/stale-regenerates."""
    x = torch.tensor([1.0 + 2.0j], requires_grad=True)
    z = x * 1
    parts = torch.view_as_real(z)
    z.mul_(2)
    with torch.no_grad():
        node = parts.grad_fn
    assert node.name() == "ViewAsRealBackward0"
    parts.sum().backward()
    assert x.grad.tolist() == [2.0 + 2.0j]


def a_real_view_of_a_part_is_brought_up_to_date():
    """By the part that it shows. Rule: view/stale-regenerates."""
    x = torch.tensor([complex(1.0, 2.0), complex(3.0, 4.0), complex(5.0, 6.0)], requires_grad=True)
    y = x * 1
    v = torch.view_as_real(y[1:])
    y.mul_(2)
    v.backward(torch.tensor([[1.0, 10.0], [100.0, 1000.0]]))
    assert x.grad.tolist() == [0j, complex(2.0, 20.0), complex(200.0, 2000.0)]


def a_stale_view_may_get_no_gradient():
    """Its new history passes none on. Rule: view/stale-regenerates."""
    seen = []
    made = type(
        "Made",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, a: a * 2),
            "backward": staticmethod(lambda ctx, g: seen.append(g.tolist())),
        },
    )
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    y = x * 1
    z = y[:1]
    y.mul_(2)
    made.apply(z).sum().backward()
    assert z.grad_fn.name() == "AsStridedBackward0" and seen == [[1.0]] and x.grad is None
