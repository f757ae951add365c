"""Assigning .grad: the tensor kept and the refusals. Accumulation is in grad."""

import torch

from specs.case import refused, warned


def grad_can_be_assigned():
    """A gradient can be set by hand, whether its tensor requires grad or not.

    Rule: grad/assigned-as-is. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor(7.0, requires_grad=True)
    assert x.grad is None
    x.grad = torch.tensor(4.0)
    assert x.grad.item() == 4.0 and x.is_leaf is True
    y = torch.tensor(7.0, requires_grad=False)
    y.grad = torch.tensor(4.0)
    assert y.grad.item() == 4.0 and y.is_leaf is True


def complex_grad_can_be_assigned():
    """The same for complex tensors. Rule: grad/assigned-as-is. Source: seed 004_fc81070469924520.txt."""
    x = torch.tensor(7.0 + 0.0j, requires_grad=True)
    x.grad = torch.tensor(4.0 + 0.0j)
    assert x.grad.item() == 4.0 + 0.0j and x.is_leaf is True
    y = torch.tensor(7.0 + 0.0j, requires_grad=False)
    y.grad = torch.tensor(4.0 + 0.0j)
    assert y.grad.item() == 4.0 + 0.0j


def assigned_grad_is_that_very_object():
    """.grad is the assigned tensor itself, and later gradients are added to it.

    Rules: grad/assigned-as-is, grad/accumulates-in-place.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    g = torch.tensor([1.0, 1.0])
    x.grad = g
    assert x.grad is g
    x.sum().backward()
    assert x.grad is g
    assert g.tolist() == [2.0, 2.0]


def assigned_grad_keeps_its_flags():
    """An assigned gradient may require grad and have a history. Rule: grad/assigned-as-is."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    x.grad = u * 3
    assert x.grad.requires_grad is True and x.grad.is_leaf is False
    assert x.grad.tolist() == [9.0, 12.0]


def assigning_none_clears():
    """After x.grad = None the next backward starts afresh. Rule: grad/assign-none-clears."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 2).sum().backward()
    g = x.grad
    x.grad = None
    assert x.grad is None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    assert g.tolist() == [2.0, 2.0]


def grad_of_other_size_is_refused():
    """A gradient must have its tensor's shape.

    Rule: grad/assign-size. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("grad/assign-size"):
        x.grad = torch.tensor([1.0, 2.0, 3.0])
    with refused("grad/assign-size"):
        x.grad = torch.tensor(1.0)
    assert x.grad is None


def grad_of_other_dtype_is_refused():
    """A gradient must have its tensor's dtype; the dtype is looked at before the shape.

    Rule: grad/assign-dtype. Source: seed 004_fc81070469924520.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("grad/assign-dtype"):
        x.grad = torch.tensor([1.0, 2.0], dtype=torch.float64)
    with refused("grad/assign-dtype"):
        x.grad = torch.tensor([1, 2, 3])
    assert x.grad is None


def grad_of_other_type_is_refused():
    """A number is no gradient. Rule: grad/assign-type. Source: seed 004_fc81070469924520.txt."""
    x = torch.tensor(7.0, requires_grad=True)
    with refused("grad/assign-type"):
        x.grad = 4.0
    with refused("grad/assign-type"):
        x.grad = [1.0]
    assert x.grad is None


def a_tensor_is_not_its_own_grad():
    """x.grad = x is refused. Rule: grad/assign-self."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("grad/assign-self"):
        x.grad = x
    assert x.grad is None


def grad_of_a_non_leaf_can_be_assigned():
    """A non-leaf takes a gradient by hand, and backward leaves it alone. Rule: grad/accepted-on-non-leaf."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.grad = torch.tensor([5.0, 6.0])
    assert y.grad.tolist() == [5.0, 6.0]
    y.sum().backward()
    assert y.grad.tolist() == [5.0, 6.0]
    assert x.grad.tolist() == [2.0, 2.0]


def grad_of_a_non_leaf_is_checked_alike():
    """Shape and dtype are looked at on non-leaves too. Rules: grad/assign-size, grad/assign-dtype."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("grad/assign-size"):
        y.grad = torch.tensor([1.0])
    with refused("grad/assign-dtype"):
        y.grad = torch.tensor([1, 2])
    assert y.retains_grad is False


def accumulating_into_a_grad_of_another_layout_warns():
    """A grad assigned by hand in another layout than its leaf's is accumulated into, with a warning.

    Rule: grad/layout-warns.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    x.grad = g
    y = x.sum()
    with warned("grad/layout-warns"):
        y.backward()
    assert x.grad is g and g.tolist() == [[2.0, 4.0], [3.0, 5.0]]


def assigning_grad_asks_the_history():
    """The grad_fn says which dtype the grad of a non-leaf has, and a stale view is brought up to date for it.

    Rules: grad/assign-asks-history, grad/assign-dtype, view/stale-tag-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.data = torch.ones(2, dtype=torch.float64)
    y.grad = torch.ones(2)
    assert y.grad.dtype == torch.float32
    with refused("grad/assign-dtype"):
        y.grad = torch.ones(2, dtype=torch.float64)
    e, f = x.split((1, 1), 0)
    with torch.no_grad():
        x.fill_(3.0)
    with refused("view/stale-tag-refused"):
        f.grad = torch.ones(1)


def a_grad_can_be_deleted():
    """As if None were assigned: the next one is a first one. Rule: grad/assign-none-clears."""
    x = torch.tensor([1.0], requires_grad=True)
    (x * 2).backward()
    kept = []
    kept.append(x.grad)
    del x.grad
    assert x.grad is None and kept[0].tolist() == [2.0]
    (x * 3).backward()
    assert x.grad.tolist() == [3.0] and kept[0].tolist() == [2.0]


def a_grad_may_share_its_leafs_memory():
    """Only the leaf itself is refused. Rules: grad/assign-self, grad/assigned-as-is."""
    x = torch.ones(2, requires_grad=True)
    d = x.detach()
    x.grad = d
    assert x.grad is d
    v = x.view(2)
    x.grad = v
    assert x.grad is v
    with refused("grad/assign-self"):
        x.grad = x
