"""Gradients of windows that repeat or leave out elements, and copies between windows."""

import torch

from specs.case import refused


def gradients_of_overlapping_windows():
    """An element that a window shows several times gets the sum, in one dimension or two.

    Rules: window/sums-what-it-repeats, backward/gradient-is-upstream.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], requires_grad=True)
    g = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    y = x * 1
    assert torch.autograd.grad(y.as_strided((2, 3), (1, 2)), x, g)[0].tolist() == [
        1.0,
        10.0,
        2.0,
        20.0,
        3.0,
        30.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 3), (1, 1), 1), x, g)[0].tolist() == [
        0.0,
        1.0,
        12.0,
        23.0,
        30.0,
        0.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 3), (2, 1)), x, g)[0].tolist() == [
        1.0,
        2.0,
        13.0,
        20.0,
        30.0,
        0.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 3), (0, 1), 2), x, g)[0].tolist() == [
        0.0,
        0.0,
        11.0,
        22.0,
        33.0,
        0.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 3), (3, 0)), x, g)[0].tolist() == [
        6.0,
        0.0,
        0.0,
        60.0,
        0.0,
        0.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 3), (3, 1)), x, g)[0].tolist() == [
        1.0,
        2.0,
        3.0,
        10.0,
        20.0,
        30.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 1), (4, 7), 1), x, g[:, :1])[0].tolist() == [
        0.0,
        1.0,
        0.0,
        0.0,
        0.0,
        10.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((1, 2, 3), (9, 3, 1)), x, g[None])[0].tolist() == [
        1.0,
        2.0,
        3.0,
        10.0,
        20.0,
        30.0,
    ]
    assert torch.autograd.grad((x * 1).as_strided((2, 0), (1, 1)), x, g[:, :0])[0].tolist() == [0.0] * 6
    assert torch.autograd.grad((x * 1).view(2, 3).t().as_strided((2, 3), (3, 1)), x, g)[0].tolist() == [
        1.0,
        2.0,
        3.0,
        10.0,
        20.0,
        30.0,
    ]
    assert torch.autograd.grad((x * 1)[1::2].as_strided((2, 2), (1, 1), 1), x, g[:, :2])[0].tolist() == [
        0.0,
        1.0,
        0.0,
        20.0,
        0.0,
        0.0,
    ]
    e = (x * 1)[:2].view(2, 1).expand(2, 3)
    assert torch.autograd.grad(e.as_strided((2, 3), (1, 0)), x, g)[0].tolist() == [
        6.0,
        60.0,
        0.0,
        0.0,
        0.0,
        0.0,
    ]


def windows_take_sizes_and_strides():
    """Tuples or lists of them, as many of the one as of the other, and none negative.

    Rules: op/arguments, window/strides, view/window-outside-base.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    with refused("op/arguments"):
        x.as_strided(2, (1,))
    with refused("op/arguments"):
        x.as_strided((2,), 1)
    with refused("window/strides"):
        x.as_strided((2, 2), (1,))
    with refused("window/strides"):
        x.as_strided((2,), (-1,))
    with refused("view/window-outside-base"):
        x.as_strided((3,), (2,))
    with refused("view/window-outside-base"):
        x.as_strided((2,), (1,), 3)
    assert x[1:].as_strided([2], [2]).tolist() == [2.0, 4.0] and x[1:].as_strided((2,), (1,), 0).tolist() == [
        1.0,
        2.0,
    ]


def copies_between_windows():
    """Of one memory: at another place elements are copied, and the history is; at the same nothing happens.

    Rules: write/copy-passes-gradient, version/write-bumps.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    x[:2].copy_(x[2:])
    assert x.tolist() == [3.0, 4.0, 3.0, 4.0]
    x.view(2, 2)[0].copy_(x[1::2] * 2)
    assert x.tolist() == [8.0, 8.0, 3.0, 4.0]
    version = x._version
    x[2:].copy_(x[2:])
    assert x._version == version + 1 and x.tolist() == [8.0, 8.0, 3.0, 4.0]
    m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    m.copy_(m.t().clone())
    assert m.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    a = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    y = a * 1
    y[:2].copy_(y[2:] * 10)
    y.backward(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert a.grad.tolist() == [0.0, 0.0, 13.0, 24.0]


def results_in_given_memory():
    """An out= is resized, written and returned; it may have a wider dtype, and nothing is recorded.

    Rules: write/out-is-not-recorded, write/result-dtype.
    """
    x = torch.tensor([1.0, 2.0])
    y = torch.tensor([3.0, 4.0], requires_grad=True)
    out = torch.zeros(2)
    version = out._version
    assert torch.add(x, x, out=out) is out and out.tolist() == [2.0, 4.0] and out._version > version
    wide = torch.zeros(2, dtype=torch.float64)
    torch.mul(x, x, out=wide)
    assert wide.tolist() == [1.0, 4.0] and wide.dtype == torch.float64
    with refused("write/result-dtype"):
        torch.mul(x, x, out=torch.zeros(2, dtype=torch.int64))
    with refused("write/out-is-not-recorded"):
        torch.mul(x, y, out=out)
    with refused("write/out-is-not-recorded"):
        torch.mul(x, x, out=torch.zeros(2, requires_grad=True))
    with torch.no_grad():
        torch.mul(x, y, out=out)
    assert out.tolist() == [3.0, 8.0] and out.requires_grad is False
    empty = torch.empty(0)
    torch.exp(torch.zeros(3), out=empty)
    assert empty.tolist() == [1.0, 1.0, 1.0]
    torch.sum(x, 0, out=empty.resize_(0))
    assert empty.tolist() == 3.0


def gradients_of_windows_are_copied_where_nothing_repeats():
    """A copy keeps the sign of a zero, a sum does not; the second derivative goes through a copy.

    Rules: window/sums-what-it-repeats, double/create-graph-records.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    g = torch.tensor([-0.0, 2.0], requires_grad=True)
    (a,) = torch.autograd.grad(x.as_strided((2,), (2,)), x, g, create_graph=True)
    assert (1 / a).tolist() == [float("-inf"), float("inf"), 0.5, float("inf")]
    (b,) = torch.autograd.grad(a.sum(), g)
    assert b.tolist() == [1.0, 1.0]
    h = torch.tensor([[-0.0, -0.0], [-0.0, 2.0]])
    (c,) = torch.autograd.grad(x.as_strided((2, 2), (1, 1)), x, h)
    assert (1 / c).tolist() == [float("inf"), float("inf"), 0.5, float("inf")]


def what_a_scattered_window_keeps_has_the_gradient():
    """A copy of which a window has other values. Rule: op/as-strided-scatter-keeps-the-rest."""
    x = torch.zeros(3, requires_grad=True)
    w = torch.tensor([2.0], requires_grad=True)
    y = torch.as_strided_scatter(x, w, (1,), (1,), 1)
    y.backward(torch.tensor([1.0, 2.0, 3.0]))
    assert y.tolist() == [0.0, 2.0, 0.0]
    assert x.grad.tolist() == [1.0, 0.0, 3.0]
    assert w.grad.tolist() == [2.0]


def a_written_window_on_a_base_with_gaps():
    """It has the gradient of what both show, and what lies between stays out of it.

    Rules: write/rewrites-the-base, window/on-the-storage.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = torch.tensor([5.0, 6.0], requires_grad=True)
    g = torch.tensor([[1.0, 10.0], [100.0, 1000.0]])
    seen = []
    x.register_hook(lambda given: seen.append(given.tolist()))
    b = torch.ones(6)
    b.as_strided_((2, 2), (4, 1))
    b.mul_(x)
    b.as_strided((2,), (3,), 1).mul_(y)
    b.backward(g)
    assert seen == [[[1.0, 50.0], [600.0, 1000.0]]] and y.grad.tolist() == [20.0, 300.0]
    c = torch.ones(6)
    c.as_strided_((2, 2), (4, 1))
    c.mul_(x)
    c.as_strided((6,), (1,)).mul_(2)
    c.backward(g)
    assert seen[1:] == [[[2.0, 20.0], [200.0, 2000.0]]]


def a_window_beside_a_base_without_elements():
    """It gives the base a gradient that has none either. Rule: window/on-the-storage."""
    x = torch.ones(4)[:0].detach().requires_grad_()
    y = x.as_strided((2,), (1,))
    y.sum().backward()
    assert y.tolist() == [1.0, 1.0] and x.grad.shape == (0,)
