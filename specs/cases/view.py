"""Tensors that share memory: bases, creation tags, and how a view learns of writes."""

import torch

from specs.case import refused


def a_view_shows_its_bases_memory():
    """A write to the base is seen in the view and the other way round. Rule: view/shares-storage."""
    b = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    v = b[0]
    w = b.t()
    b.mul_(2)
    assert v.tolist() == [2.0, 4.0]
    v.zero_()
    assert b.tolist() == [[0.0, 0.0], [6.0, 8.0]]
    assert w.tolist() == [[0.0, 6.0], [0.0, 8.0]]


def a_clone_shows_its_own():
    """clone copies, and stays connected.

    Rules: leaf/op-result-is-no-leaf, view/shares-storage. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x.clone()
    assert y.is_leaf is False and y._is_view() is False
    y.mul_(3)
    assert x.tolist() == [1.0, 2.0] and x._version == 0
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def the_base_is_the_root():
    """The base of a view of a view is the tensor that is no view. Rule: view/base-is-the-root."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x.view(2)
    w = v[:1]
    assert x._is_view() is False and x._base is None
    assert v._is_view() is True and v._base is x
    assert w._is_view() is True and w._base is x


def plain_views_have_a_base_too():
    """Views are views also where nothing requires grad. Rule: view/base-is-the-root."""
    b = torch.tensor([1.0, 2.0])
    v = b[:1]
    w = v.view(1)
    y = b + 1
    assert v._base is b and w._base is b and v._is_view() is True
    assert y._is_view() is False and y._base is None


def outputs_of_unbind_share_a_node():
    """b, c, d = a.unbind(): one UnbindBackward0 with outputs 0, 1, 2.

    Rule: view/outputs-share-a-node. Source: seed 003_08ed0c2a945abd78.txt.
    """
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    b, c, d = a.unbind()
    assert b.output_nr == 0 and c.output_nr == 1 and d.output_nr == 2
    assert b.grad_fn.name() == "UnbindBackward0"
    assert b.grad_fn is d.grad_fn
    e = b * c * d
    assert e.grad_fn.next_functions[1][0].name() == "UnbindBackward0"
    assert e.grad_fn.next_functions[1][1] == 2
    e.backward()
    assert a.grad.tolist() == [6.0, 3.0, 2.0]


def a_no_grad_view_is_a_leaf_that_requires_grad():
    """A view made under no_grad reports its base's flag, has no grad_fn, and passes no gradient on.

    Rule: view/no-grad-tag.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    with torch.no_grad():
        v = b.view(2)
    assert v._is_view() is True and v._base is b
    assert v.requires_grad is True and v.is_leaf is True and v.grad_fn is None
    (v * 2).sum().backward()
    assert x.grad is None and v.grad is None


def a_plain_view_is_a_leaf():
    """A view of what does not require grad has no history. Rule: view/leaf-without-a-history."""
    v = torch.tensor([1.0, 2.0])[:1]
    assert v._is_view() is True and v.grad_fn is None and v.is_leaf is True


def a_recorded_view_is_no_leaf():
    """A view of a leaf that requires grad has a history. Rule: view/leaf-without-a-history."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x[:1]
    assert v._is_view() is True and v.grad_fn is not None and v.is_leaf is False


def a_view_does_not_show_the_grad_of_its_base():
    """The leaf is filled, its view is not. Rules: view/has-its-own-grad, grad/only-leaves-are-filled."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x[:]
    v.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    assert v.grad is None


def a_plain_view_does_not_show_the_grad_of_its_base():
    """Neither does a view that is a leaf itself. Rule: view/has-its-own-grad."""
    x = torch.tensor([1.0, 2.0])
    v = x[:]
    x.grad = torch.tensor([3.0, 4.0])
    assert v.is_leaf is True and v.grad is None


def a_base_does_not_show_the_grad_of_its_view():
    """A grad assigned to a view stays there. Rule: view/has-its-own-grad."""
    x = torch.tensor([1.0, 2.0])
    v = x[:]
    v.grad = torch.tensor([3.0, 4.0])
    assert v.grad.tolist() == [3.0, 4.0]
    assert x.grad is None


def a_no_grad_view_cannot_be_written_to_later():
    """The tag is what makes a later write refuse. Rules: view/no-grad-tag, write/no-grad-view-refused."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    with torch.no_grad():
        v = b.view(2)
    with refused("write/no-grad-view-refused"):
        v.mul_(2)


def pieces_are_tagged():
    """A piece of unbind, split or chunk refuses writes, a slice does not.

    Rules: view/multi-output-tag, write/multi-output-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    a, b = y.unbind()
    c, d = y.split(1)
    e, f = y.chunk(2)
    v = y[:1]
    with refused("write/multi-output-refused"):
        a.mul_(2)
    with refused("write/multi-output-refused"):
        c.mul_(2)
    with refused("write/multi-output-refused"):
        f.mul_(2)
    v.mul_(2)
    assert y.tolist() == [2.0, 2.0]


def plain_pieces_are_tagged_but_writable():
    """A piece of a plain tensor takes plain writes, but nothing that requires grad.

    Rules: view/multi-output-tag, write/multi-output-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor([1.0, 1.0])
    v, w = b.unbind()
    v.mul_(3.0)
    assert b.tolist() == [3.0, 1.0] and w._version == 1
    with refused("write/multi-output-refused"):
        v.mul_(x[0])


def a_view_of_a_no_grad_view_is_tagged():
    """Viewing once more, with grad mode on, does not launder the tag.

    Rules: view/tag-is-inherited, write/no-grad-view-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    with torch.no_grad():
        v = b[:1]
    w = v.view(1)
    with refused("write/no-grad-view-refused"):
        w.mul_(2)
    c = torch.tensor([1.0, 1.0])
    with torch.no_grad():
        v = c.view(2)
    w = v.view(2)
    with refused("write/no-grad-view-refused"):
        w.mul_(x)


def a_view_of_a_piece_is_tagged():
    """A view of a piece refuses writes as the piece does.

    Rules: view/tag-is-inherited, write/multi-output-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    a, b = y.split(1)
    v = a.view(1)
    with refused("write/multi-output-refused"):
        v.mul_(2)
    with refused("write/multi-output-refused"):
        a[0] = 2.0


def a_slice_of_nothing_has_its_place():
    """Its offset and strides are those of what it would show. Rule: view/shares-storage."""
    x = torch.tensor([1.0, 2.0, 3.0])
    places = []
    for_each = (slice(1, 1), slice(3, None), slice(2, 1), slice(0, 0, 2), slice(2, 2, 2))
    places += [(x[at].storage_offset(), tuple(x[at].stride()), tuple(x[at].shape)) for at in for_each]
    assert places == [(1, (1,), (0,)), (3, (1,), (0,)), (2, (1,), (0,)), (0, (2,), (0,)), (2, (2,), (0,))]
    v = x[:]
    v[0] = 5.0
    assert x.tolist() == [5.0, 2.0, 3.0]


def dimensions_come_and_go_in_views():
    """Flattening what lies together is a view, too. Rule: view/shares-storage."""
    x = torch.zeros(2, 1, 2)
    gone = x.squeeze()
    kept = x.squeeze(0)
    more = x.unsqueeze(0)
    flat = x.flatten()
    x[1, 0, 1] = 3.0
    assert gone.tolist() == [[0.0, 0.0], [0.0, 3.0]] and kept.tolist() == [[[0.0, 0.0]], [[0.0, 3.0]]]
    assert more.tolist() == [[[[0.0, 0.0]], [[0.0, 3.0]]]] and flat.tolist() == [0.0, 0.0, 0.0, 3.0]
    assert gone._base is x and kept._base is x and more._base is x and flat._base is x
