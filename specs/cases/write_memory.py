"""Writes to memory that is shown twice or shared: what is one element, and what is refused first."""

import warnings

import torch

from specs.case import refused, warned


def one_element_is_not_shown_twice():
    """A dimension of size 1 is no overlap, whatever its stride.

    Rule: write/overlap-refused.
    """
    x = torch.tensor([1.0]).expand(1, 1)
    x.add_(1)
    y = torch.ones(2).as_strided((2, 1), (1, 0))
    y.add_(x)
    z = torch.ones(3).as_strided((2, 1), (2, 0))
    z.mul_(y)
    assert x.tolist() == [[2.0]] and y.tolist() == [[3.0], [3.0]] and z.tolist() == [[3.0], [3.0]]
    with refused("write/overlap-refused"):
        x.expand(2, 1).add_(1)


def halves_of_one_memory_add_up():
    """A window that ends where the other begins does not overlap it.

    Rules: write/partial-overlap-refused, write/returns-its-tensor.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    x[2:].add_(x[:2])
    assert x.tolist() == [1.0, 2.0, 4.0, 6.0]
    x[:2].add_(x[2:])
    assert x.tolist() == [5.0, 8.0, 4.0, 6.0]
    x[1:3].copy_(x[::3])
    assert x.tolist() == [5.0, 5.0, 6.0, 6.0]
    with refused("write/partial-overlap-refused"):
        x[1:].add_(x[:3])


def memory_is_looked_at_before_dtypes():
    """An expanded tensor refuses for what it is, whether or not the result would fit; a complex one has no
    kernel first.

    Rules: write/overlap-refused, write/result-dtype, op/no-kernel.
    """
    x = torch.tensor([1]).expand(3)
    with refused("write/overlap-refused"):
        x.sqrt_()
    with refused("write/overlap-refused"):
        x.exp_()
    with refused("write/overlap-refused"):
        x.add_(1.5)
    with refused("write/overlap-refused"):
        x.fill_(torch.tensor(1.0))
    b = torch.tensor([True]).expand(3)
    with refused("write/overlap-refused"):
        b.abs_()
    c = torch.tensor([1j]).expand(3)
    with refused("op/no-kernel"):
        c.clamp_(0, 1)
    with refused("write/result-dtype"):
        x.clone().sqrt_()
    with refused("op/no-kernel"):
        b.clone().abs_()


def a_refused_masked_fill_of_an_expanded_tensor_may_warn():
    """It does once mask and value are known to be such. Rule: write/expanded-deprecated."""
    x = torch.tensor([1.0]).expand(3)
    counts = []
    with warnings.catch_warnings(record=True, action="always") as told:
        with refused("op/shapes-broadcast"):
            x.masked_fill_(torch.tensor([True, False]), 1.0)
        counts += [len(told)]
        with refused("write/broadcast-shape"):
            x.masked_fill_(torch.ones(2, 3, dtype=torch.bool), 1.0)
        counts += [len(told)]
        with refused("op/value-overflow"):
            torch.tensor([1]).expand(3).masked_fill_(torch.tensor([True, False, True]), 1e30)
        counts += [len(told)]
    assert counts == [1, 2, 3]


def a_transposed_copy_of_itself_is_refused():
    """The same elements in another order overlap; in the same order nothing is written.

    Rule: write/partial-overlap-refused.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    x.copy_(x)
    with refused("write/partial-overlap-refused"):
        x.copy_(x.t())
    assert x.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def a_masked_element_may_come_from_its_own_tensor():
    """Assigned by a mask a single element is taken out first; several are not.

    Rule: write/partial-overlap-refused.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    x[torch.tensor([True, False, True])] = x[1:2]
    assert x.tolist() == [2.0, 2.0, 2.0]
    y = torch.tensor([1.0, 2.0, 3.0])
    with refused("write/partial-overlap-refused"):
        y[torch.tensor([True, False, True])] = y[1:]
    assert y.tolist() == [1.0, 2.0, 3.0]


def one_masked_element_fills_all_that_show_it():
    """Its place among them is no matter. Rule: write/expanded-deprecated."""
    x = torch.tensor([1.0]).expand(3)
    y = torch.tensor([1.0]).expand(3)
    with warned("write/expanded-deprecated"):
        x.masked_fill_(torch.tensor([True, False, False]), 5.0)
    with warned("write/expanded-deprecated"):
        y.masked_fill_(torch.tensor([False, False, True]), 5.0)
    assert x.tolist() == [5.0, 5.0, 5.0] and y.tolist() == [5.0, 5.0, 5.0]


def what_is_put_elsewhere_shares_no_memory_with_the_target():
    """Neither positions nor the values that are put there may be the target, not even the whole of it.

    Rule: write/partial-overlap-refused.
    """
    i = torch.tensor([1, 0])
    x = torch.tensor([1.0, 2.0])
    with refused("write/partial-overlap-refused"):
        x.index_add_(0, i, x)
    with refused("write/partial-overlap-refused"):
        x.scatter_add_(0, i, x[:])
    with refused("write/partial-overlap-refused"):
        i.scatter_add_(0, i, torch.tensor([5, 6]))
    with refused("write/partial-overlap-refused"):
        x[i] = x[:]
    with refused("write/partial-overlap-refused"):
        i[i[:]] = 5
    assert x.tolist() == [1.0, 2.0] and i.tolist() == [1, 0] and x._version == 0


def sizes_are_looked_at_before_memory_and_memory_before_positions():
    """Sizes that do not fit are refused first, a position that is out of range last.

    Rules: write/partial-overlap-refused, write/overlap-refused, op/index-add-shape, op/gather-range.
    """
    x = torch.tensor([1.0, 2.0])
    e = torch.tensor([1.0]).expand(2)
    far = torch.tensor([0, 5])
    with refused("op/index-add-shape"):
        e.scatter_add_(0, far, torch.ones(1))
    with refused("write/overlap-refused"):
        e.scatter_add_(0, far, x)
    with refused("write/partial-overlap-refused"):
        x.scatter_add_(0, far, x)
    with refused("op/gather-range"):
        x.scatter_add(0, far, torch.ones(2))
    with refused("op/index-add-shape"):
        e.index_add_(0, far, torch.ones(3))
    with refused("write/overlap-refused"):
        e.index_add_(0, far, x)
    assert e.tolist() == [1.0, 1.0]


def positions_to_scatter_to_are_in_range():
    """They count from the front, and fit what is scattered.

    Rules: op/gather-range, op/index-add-shape, write/partial-overlap-refused.
    """
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0])
    with refused("op/gather-range"):
        x.scatter(0, torch.tensor([0, -1]), y)
    with refused("op/gather-range"):
        x.scatter(0, torch.tensor([2]), 5.0)
    with refused("op/index-add-shape"):
        x.scatter(0, torch.tensor([0, 1, 1]), y)
    with refused("write/partial-overlap-refused"):
        x.scatter_(0, torch.tensor([1, 0]), x)
    with refused("write/partial-overlap-refused"):
        x.index_copy_(0, torch.tensor([1, 0]), x)
    with refused("write/partial-overlap-refused"):
        x.put_(torch.tensor([1, 0]), x)
    assert x.scatter(0, torch.tensor([1, 0]), y).tolist() == [4.0, 3.0]


def an_element_that_is_shown_twice_is_filled_where_it_is_named():
    """The other place, which the mask or the positions leave out, does not write it back.

    Rules: version/write-bumps, window/on-the-storage.
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    w = x.as_strided((2, 2), (1, 1))
    w.masked_fill_(torch.tensor([[False, True], [False, False]]), 9.0)
    assert x.tolist() == [1.0, 9.0, 3.0] and w.tolist() == [[1.0, 9.0], [9.0, 3.0]]
    w[torch.tensor([0]), torch.tensor([1])] = 7.0
    assert x.tolist() == [1.0, 7.0, 3.0] and x._version == 2


def elements_that_lie_between_are_no_overlap():
    """A read element may lie between written ones.

    Rules: write/partial-overlap-refused, version/write-bumps.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    x[::2].add_(x[1:2])
    x[1::2].sub_(x[::2])
    assert x.tolist() == [3.0, -1.0, 5.0, -1.0] and x._version == 2
    with refused("write/partial-overlap-refused"):
        x[1:].add_(x[:3])


def half_precision_is_computed_in_the_layout_it_has():
    """The stride of a dimension of size 1 orders those of the result, and another view of it overlaps it.

    Rule: write/partial-overlap-refused.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float16).as_strided((2, 1, 2), (2, 7, 1))
    y = x > torch.tensor(2.0)
    assert y.stride() == (2, 4, 1)
    z = y.reshape((2, 1, 2))
    assert z.stride() == (2, 2, 1)
    with refused("write/partial-overlap-refused"):
        y.copy_(z)


def a_repeated_element_is_found_before_a_missing_kernel():
    """Ops of each element by itself look at what they write to before they look for a kernel; a sum and a
    draw look for it first, and so does everything at the dtype.

    Rules: write/overlap-refused, op/no-kernel, write/result-dtype.
    """
    seen = []
    i = torch.ones(1, dtype=torch.int64)
    b = torch.ones(1, dtype=torch.bool)
    x = torch.ones(1)
    r = i.expand(2)
    t = b.expand(2)
    s = x.expand(2)
    with refused("write/overlap-refused"):
        r.frac_()
    with refused("write/overlap-refused"):
        r.exp_()
    with refused("op/no-kernel"):
        i.frac_()
    with refused("write/result-dtype"):
        i.exp_()
    with refused("op/no-kernel"):
        r.uniform_()
    with refused("op/no-kernel"):
        t.cumsum_(0)
    with refused("write/result-dtype"):
        t.clamp_(0, 1)
    with refused("write/overlap-refused"):
        s.exp_()
    seen += [i.tolist(), b.tolist(), x.tolist(), x._version]
    assert seen == [[1], [True], [1.0], 0]
    y = torch.tensor([1.0, 2.0])
    y.fill_(y[1])
    assert y.tolist() == [2.0, 2.0] and y._version == 1


def shapes_are_refused_before_dtypes():
    """Neither fits. Rules: op/shapes-broadcast, write/broadcast-shape, write/result-dtype."""
    x = torch.tensor([1, 2])
    with refused("op/shapes-broadcast"):
        x.add_(torch.tensor([1.0, 2.0, 3.0]))
    with refused("write/broadcast-shape"):
        x.add_(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    with refused("write/result-dtype"):
        x.add_(torch.tensor([1.0, 2.0]))
    assert x.tolist() == [1, 2]
