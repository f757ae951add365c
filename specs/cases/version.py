"""The version counter: what bumps it and who shares it."""

import copy

import torch

from specs.case import refused


def each_write_bumps():
    """Every in-place op adds one, assignment by index included; an op that is not in place adds none.

    Rule: version/write-bumps. Source: seed 003_08ed0c2a945abd78.txt.
    """
    c = torch.tensor([1.0, 2.0])
    assert c._version == 0
    c += 1
    assert c._version == 1
    c.zero_()
    c.fill_(2.0)
    c.copy_(torch.tensor([3.0, 4.0]))
    assert c._version == 4
    c[0] = 1.0
    assert c._version == 5
    d = c + 1
    assert c._version == 5 and d._version == 0


def writes_bump_in_every_mode():
    """A write under no_grad counts, and one to a tensor with history counts once.

    Rule: version/write-bumps.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.mul_(3)
    assert y._version == 1
    with torch.no_grad():
        y.mul_(3)
        x.add_(1)
    assert y._version == 2 and x._version == 1


def a_refused_write_bumps_nothing():
    """A write that is refused leaves version and data as they were.

    Rules: write/leaf-refused, version/write-bumps.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with refused("write/leaf-refused"):
        x.add_(1)
    assert x._version == 0 and x.tolist() == [1.0, 2.0]


def views_share_the_counter():
    """A write through a view counts for the base and for its other views. Rule: version/shared-by-views."""
    b = torch.tensor([1.0, 2.0])
    b.add_(1)
    v = b[:1]
    w = b.view(2)
    assert v._version == 1 and w._version == 1
    v.add_(1)
    assert b._version == 2 and v._version == 2 and w._version == 2


def a_write_through_a_view_is_noticed():
    """Saved b, written to through its view: backward refuses.

    Rules: version/shared-by-views, save/modified-refused.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = x * 1
    v = b.view(2)
    y = b * b
    v.add_(1)
    s = y.sum()
    with refused("save/modified-refused"):
        s.backward()


def detach_shares_the_counter():
    """A write to the detached tensor counts for the original, and backward refuses.

    Rules: version/shared-by-detach, save/modified-refused. Source: seed 001_ab61d14c9099960f.txt.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    y = (x * w).sum()
    d = w.detach()
    d.add_(1)
    assert w._version == 1 and d._version == 1
    with refused("save/modified-refused"):
        y.backward()


def data_counts_its_own():
    """A write to .data does not count for the original, and backward silently uses the new values.

    Rule: version/data-has-its-own.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    y = (x * w).sum()
    d = w.data
    d.add_(1)
    assert w._version == 0 and d._version == 1
    y.backward()
    assert x.grad.tolist() == [2.0, 2.0]


def data_starts_at_zero():
    """A tensor written to before has .data of version 0, but a detached one of its own version.

    Rules: version/data-has-its-own, version/shared-by-detach.
    """
    b = torch.tensor([1.0, 2.0])
    b.add_(1)
    d = b.data
    e = b.detach()
    assert b._version == 1 and d._version == 0 and e._version == 1


def assigning_data_keeps_the_version():
    """x.data = t is no write. Rule: version/set-data-keeps."""
    b = torch.tensor([1.0, 2.0])
    n = torch.tensor([5.0, 6.0])
    n.add_(1)
    b.data = n
    assert b._version == 0 and n._version == 1
    b.add_(1)
    assert b._version == 1 and n._version == 1


def assigning_data_goes_unnoticed():
    """A saved tensor whose data is swapped is used with its new data.

    Rules: data/assign-swaps, version/set-data-keeps.
    """
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([1.0, 1.0])
    y = (x * w).sum()
    w.data = torch.tensor([5.0, 6.0])
    y.backward()
    assert x.grad.tolist() == [5.0, 6.0]


def a_copy_into_a_leafs_view_counts_for_all():
    """Under no_grad a copy into a view of a leaf counts for the view, the leaf and what was saved of it.

    Rules: version/write-bumps, version/shared-by-views, save/modified-refused.
    """
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    v = w[:1]
    z = (w * w).sum()
    with torch.no_grad():
        v.copy_(torch.tensor([5.0]))
    assert w._version == 1 and v._version == 1 and w.tolist() == [5.0, 2.0]
    with torch.no_grad():
        w[1:].copy_(torch.tensor([6.0]))
    assert w._version == 2 and v._version == 2 and w.tolist() == [5.0, 6.0]
    with refused("save/modified-refused"):
        z.backward()


def deepcopy_begins_at_version_one():
    """The copy gets its memory by set_(), whatever was written before; a parameter's copy is a clone.

    Rule: copy/deepcopy-counts-one.
    """
    x = torch.tensor([1.0, 2.0])
    x.add_(1.0).mul_(2.0)
    assert x._version == 2
    assert copy.deepcopy(x)._version == 1
    assert copy.deepcopy(torch.nn.Parameter(torch.ones(2)))._version == 0


def an_inference_tensor_counts_no_increment():
    """It is passed over among others, inside the mode or outside.

    Rules: version/increment-counts, inference/has-no-version.
    """
    x = torch.tensor([1.0])
    with torch.inference_mode():
        y = torch.tensor([1.0])
        torch.autograd.graph.increment_version(y)
    torch.autograd.graph.increment_version(y)
    torch.autograd.graph.increment_version([y, x])
    assert x._version == 1 and y.is_inference()
    with refused("inference/has-no-version"):
        y._version
