"""Casts: what they give back where there is nothing to do."""

import torch


def a_cast_to_its_own_dtype_is_no_cast():
    """A leaf is one still after float() of float32, and after contiguous() of what lies row by row.

    Rule: copy/nothing-to-do-is-itself.
    """
    x = torch.tensor([[1.0, 2.0]], requires_grad=True)
    y = x.float()
    assert y.is_leaf is True and y.grad_fn is None
    z = x.to(torch.float32)
    assert z.is_leaf is True
    w = x.contiguous()
    assert w.is_leaf is True
    (y * z).sum().backward()
    assert x.grad.tolist() == [[2.0, 4.0]] and w.grad.tolist() == [[2.0, 4.0]]
    c = x.to(torch.float32, copy=True)
    assert c.is_leaf is False and c.grad_fn.name() == "ToCopyBackward0"
    t = x.expand(2, 2)
    d = t.contiguous()
    assert d.is_leaf is False and d.grad_fn.name() == "CloneBackward0"


def what_a_cast_gives_back_may_be_written_to():
    """The result of a cast that does nothing is no copy: a write to it counts for the tensor.

    Rule: copy/nothing-to-do-is-itself.
    """
    x = torch.tensor([1.0, 2.0])
    y = x.float()
    y.mul_(3.0)
    assert x.tolist() == [3.0, 6.0] and x._version == 1
    z = x.contiguous()
    z.mul_(2.0)
    assert x.tolist() == [6.0, 12.0] and x._version == 2
    w = x.to(torch.float64)
    w.zero_()
    assert x.tolist() == [6.0, 12.0] and x._version == 2
