"""The .data attribute."""

import torch

from specs.case import refused, warned


def data_cuts_the_graph():
    """.data is a leaf that does not require grad and shares memory. Rule: data/cuts."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    d = y.data
    assert d.requires_grad is False and d.is_leaf is True and d.grad_fn is None
    assert d._is_view() is False
    d.mul_(3)
    assert y.tolist() == [6.0, 12.0] and y.grad_fn.name() == "MulBackward0"
    z = x * x.data
    z.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0]


def writing_to_data_changes_what_was_saved():
    """Zeroing .data of a saved result silently zeroes the gradient.

    Rules: version/data-has-its-own, data/cuts.
    """
    x = torch.tensor([0.0, 0.0], requires_grad=True)
    y = x.exp()
    d = y.data
    d.zero_()
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


def assigned_data_is_shared():
    """After b.data = n both show one memory. Rule: data/assign-swaps."""
    b = torch.tensor([1.0, 2.0])
    n = torch.tensor([5.0, 6.0])
    b.data = n
    n.add_(1)
    assert b.tolist() == [6.0, 7.0]


def assigning_data_keeps_the_tensor():
    """Flags, grad and place in the graph stay; shape and dtype are those of the new data.

    Rule: data/assign-swaps.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    x.data = torch.tensor([5.0, 6.0])
    assert x.is_leaf is True and x.requires_grad is True and x.tolist() == [5.0, 6.0]
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    y.data = torch.tensor([7.0, 8.0])
    assert y.grad_fn.name() == "MulBackward0" and y.tolist() == [7.0, 8.0]
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    w.data = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)
    assert w.dtype == torch.float64 and w.tolist() == [1.0, 2.0, 3.0] and w.requires_grad is True


def assigned_data_loses_its_history():
    """Only the memory of the assigned tensor counts, not its graph. Rule: data/assign-swaps."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    u = torch.tensor([3.0, 4.0], requires_grad=True)
    x.data = u * 2
    assert x.is_leaf is True and x.grad_fn is None and x.tolist() == [6.0, 8.0]
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0] and u.grad is None


def a_views_base_is_not_swapped_along():
    """After x.data = t a view of x still shows the old memory, with x as its base.

    Rule: data/assign-swaps.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = x.view(2)
    x.data = torch.tensor([5.0, 6.0])
    assert v.tolist() == [1.0, 2.0] and v._base is x


def integer_data_is_refused():
    """A tensor that requires grad takes no integer data; one that does not takes any.

    Rule: data/assign-dtype.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    with refused("data/assign-dtype"):
        x.data = torch.tensor([1, 2])
    with refused("data/assign-dtype"):
        y.data = torch.tensor([True, False])
    b = torch.tensor([1.0, 2.0])
    b.data = torch.tensor([1, 2])
    assert b.dtype == torch.int64 and x.tolist() == [1.0, 2.0]


def data_must_be_a_tensor():
    """Numbers and None are no data. Rule: data/assign-type."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("data/assign-type"):
        x.data = 3
    with refused("data/assign-type"):
        x.data = None
    assert x.tolist() == [1.0, 2.0]


def casting_complex_to_real_warns():
    """The imaginary parts go, with a warning. Rule: data/complex-to-real-warns."""
    x = torch.tensor([1.0 + 2.0j, 3.0 - 1.0j])
    with warned("data/complex-to-real-warns"):
        y = x.to(torch.float32)
    assert y.tolist() == [1.0, 3.0]


# -- data of another size or kind ------------------------------------------------------------------
def an_index_that_no_longer_fits():
    """A gradient that has become of another length than its index is refused, not cut off.

    Rule: op/index-add-shape.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = torch.tensor([0, 2])
    y = x.index_select(0, i)
    z = x.gather(0, i)
    i.data = torch.tensor([0, 1, 2])
    with refused("op/index-add-shape"):
        y.sum().backward()
    with refused("op/index-add-shape"):
        z.sum().backward()
    assert x.grad is None


def an_index_that_became_floats():
    """Backward refuses a saved index that became floats, as the forward pass would.

    Rules: op/index-dtype, op/index-dtype-in-brackets, op/where-condition.
    """
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    i = torch.tensor([0, 2])
    m = torch.tensor([True, False, True])
    y = x.gather(0, i)
    z = x[i]
    w = torch.where(m, x, 0.0)
    i.data = torch.tensor([0.0, 2.0])
    m.data = torch.tensor([1, 0, 1])
    with refused("op/index-dtype"):
        y.sum().backward()
    with refused("op/index-dtype-in-brackets"):
        z.sum().backward()
    with refused("op/where-condition"):
        w.sum().backward()


def a_leaf_of_another_width_gets_its_old_grad():
    """An op recorded before .data was assigned sends a gradient of the dtype the leaf had then.

    Rule: data/assign-swaps.
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = x.sum()
    x.data = torch.tensor([1.0, 2.0])
    y.backward()
    assert x.dtype is torch.float32 and x.grad.dtype is torch.float64
    y = x.sum()
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def another_dtype_begins_a_new_end():
    """Data of the same dtype keep the accumulator; with other data later uses end in a new one.

    Rules: data/assign-swaps, leaf/edges-end-in-accumulators.
    """
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 3
    ends = []
    ends.append(y.grad_fn.next_functions[0][0])
    x.data = torch.tensor([5.0])
    assert (x * 1).grad_fn.next_functions[0][0] is ends[0]
    x.data = torch.tensor([5.0], dtype=torch.float64)
    assert (x * 1).grad_fn.next_functions[0][0] is not ends[0]
    y.backward()
    assert x.grad.dtype == torch.float32 and (x * 2).dtype == torch.float64


def assigned_data_leaves_the_grad():
    """The very tensor, also if the data has another size. Rules: data/assign-swaps, grad/accumulates."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * 3).sum().backward()
    g = x.grad
    x.data = torch.tensor([5.0, 6.0])
    assert x.grad is g and x.tolist() == [5.0, 6.0]
    (x * 3).sum().backward()
    assert g.tolist() == [6.0, 6.0]
    x.data = torch.tensor([1.0])
    assert x.grad is g and x.shape == (1,)
