"""The layout, size and dtype of grads."""

import torch


def a_grad_has_the_size_of_its_leaf():
    """Dimensions that broadcasting added or stretched are summed over, in front and within.

    Rules: grad/reduces-broadcast, backward/gradient-is-upstream.
    """
    x = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
    y = torch.tensor(
        [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [0.0, 1.0, 2.0]]], requires_grad=True
    )
    (x * y).sum().backward()
    assert x.grad.tolist() == [[12.0, 16.0, 20.0]]
    w = torch.tensor([[[2.0], [3.0]]], requires_grad=True)
    (x + w * y).backward(y.detach())
    assert w.grad.tolist() == [[[208.0], [82.0]]]
    assert x.grad.tolist() == [[24.0, 32.0, 40.0]]
    b = torch.tensor(2.0, requires_grad=True)
    (b - y).backward(y.detach())
    assert b.grad.item() == 48.0
    z = torch.tensor([[[1.0]]], requires_grad=True)
    (z * x).sum().backward()
    assert z.grad.tolist() == [[[6.0]]]


def grads_of_leaves_with_gaps_lie_by_rows():
    """Those of dense leaves lie as these do, unless the gradient itself becomes the grad.

    Rules: grad/copied-when-layout-differs, grad/copied-when-shared.
    """
    x = torch.zeros(2, 4)[:, ::2].detach().requires_grad_()
    g = torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    x.backward(g)
    assert x.grad.stride() == (2, 1) and x.grad.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    y = torch.zeros(2, 4)[:, ::2].detach().requires_grad_()
    h = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    y.backward(h)
    assert y.grad.stride() == (2, 1) and y.grad is not h
    z = torch.zeros(2, 3).t().detach().requires_grad_()
    (z * torch.ones(3, 2)).sum().backward()
    assert z.grad.stride() == (1, 3)
    e = torch.zeros(2, 1).expand(2, 3).detach().requires_grad_()
    e.sum().backward()
    assert e.grad.stride() == (3, 1)


def a_grad_dtype_counts_for_graphs_that_are_there():
    """For one that was recorded before the dtype was set, and again after it was set anew.

    Rules: grad/any-dtype, grad/own-dtype.
    """
    made = []
    doubled = type(
        "Doubled",
        (torch.autograd.Function,),
        {
            "forward": staticmethod(lambda ctx, x: x * 2),
            "backward": staticmethod(lambda ctx, g: g.double() * 2),
        },
    )
    x = torch.tensor([1.0], requires_grad=True)
    made += [doubled.apply(x), doubled.apply(x), doubled.apply(x)]
    y, z, w = made
    y.backward()
    assert x.grad.dtype == torch.float32
    x.grad = None
    x.grad_dtype = None
    z.backward()
    assert x.grad.dtype == torch.float64 and x.grad_dtype is None
    x.grad = None
    x.grad_dtype = torch.float16
    w.backward()
    assert x.grad.dtype == torch.float16 and x.grad_dtype == torch.float16


def what_is_expanded_to_nothing_keeps_its_strides():
    """A copy, a cast and a gradient of no elements are laid out as the tensor itself; a result is not.

    Rules: grad/copied-when-layout-differs, copy/clone-shares-nothing.
    """
    x = torch.ones(1, 1).expand(0, 3)
    assert x.stride() == (0, 0) and x.clone().stride() == (0, 0) and x.detach().stride() == (0, 0)
    assert x.double().stride() == (0, 0) and torch.zeros_like(x).stride() == (0, 0)
    assert (x + 1).stride() == (3, 1) and x.exp().stride() == (3, 1)
    y = torch.zeros(2, 0, 3).permute(2, 0, 1)
    assert y.stride() == (1, 3, 3) and y.double().stride() == (1, 3, 3) and (y * y).stride() == (2, 1, 1)
    z = torch.ones(1).expand(0).requires_grad_()
    (z * 2).sum().backward()
    assert z.grad.stride() == (0,)
