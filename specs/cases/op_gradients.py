"""Gradients by formula, with uneven upstream gradients: reductions, views, and what is picked or joined."""

import torch


def gradients_of_reductions():
    """Along one dimension, several or all, with and without the dimension kept.

    Rule: backward/gradient-is-upstream.
    """
    x = torch.tensor([[1.0, 2.0, 4.0], [-2.0, 8.0, 0.5]], requires_grad=True)
    c = torch.tensor(
        [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[1.0, 0.0], [2.0, 1.0]]], requires_grad=True
    )
    z = torch.tensor([[1.0, 2.0, 2.0], [0.0, 8.0, 1.0]], requires_grad=True)
    one = torch.tensor(1.0)
    (dx,) = torch.autograd.grad(x.sum(), x, one)
    assert dx.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    g2 = torch.tensor([1.0, 2.0])
    (dx,) = torch.autograd.grad(x.sum(1), x, g2)
    assert dx.tolist() == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    g3 = torch.tensor([1.0, 2.0, -4.0])
    (dx,) = torch.autograd.grad(x.sum(0), x, g3)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [1.0, 2.0, -4.0]]
    g21 = torch.tensor([[1.0], [2.0]])
    (dx,) = torch.autograd.grad(x.sum(1, keepdim=True), x, g21)
    assert dx.tolist() == [[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]
    (dx,) = torch.autograd.grad(x.sum((0, -1)), x, one)
    assert dx.tolist() == [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    (dc,) = torch.autograd.grad(c.sum((0, 2)), c, g2)
    assert dc.tolist() == [[[1.0, 1.0], [2.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]], [[1.0, 1.0], [2.0, 2.0]]]
    (dx,) = torch.autograd.grad(x.mean(0), x, g3)
    assert dx.tolist() == [[0.5, 1.0, -2.0], [0.5, 1.0, -2.0]]
    g311 = torch.tensor([[[1.0]], [[2.0]], [[-4.0]]])
    (dc,) = torch.autograd.grad(c.mean((1, 2), True), c, g311)
    assert dc.tolist() == [
        [[0.25, 0.25], [0.25, 0.25]],
        [[0.5, 0.5], [0.5, 0.5]],
        [[-1.0, -1.0], [-1.0, -1.0]],
    ]
    (dx,) = torch.autograd.grad(x.prod(1), x, g2)
    assert dx.tolist() == [[8.0, 4.0, 2.0], [8.0, -2.0, -32.0]]
    (dx,) = torch.autograd.grad(x.prod(), x, one)
    assert dx.tolist() == [[-64.0, -32.0, -16.0], [32.0, -8.0, -128.0]]
    (dz,) = torch.autograd.grad(z.prod(1), z, g2)
    assert dz.tolist() == [[4.0, 2.0, 2.0], [16.0, 0.0, 0.0]]
    (dz,) = torch.autograd.grad(z.prod(0), z, g3)
    assert dz.tolist() == [[0.0, 16.0, -4.0], [1.0, 4.0, -8.0]]
    g23 = torch.tensor([[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]])
    (dx,) = torch.autograd.grad(x.cumsum(1), x, g23)
    assert dx.tolist() == [[-1.0, -2.0, -4.0], [7.5, 7.0, -1.0]]
    (dx,) = torch.autograd.grad(x.cumsum(0), x, g23)
    assert dx.tolist() == [[1.5, 10.0, -5.0], [0.5, 8.0, -1.0]]
    (dz,) = torch.autograd.grad(z.amax(1), z, g2)
    assert dz.tolist() == [[0.0, 0.5, 0.5], [0.0, 2.0, 0.0]]
    (dz,) = torch.autograd.grad(z.amin(1), z, g2)
    assert dz.tolist() == [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
    (dx,) = torch.autograd.grad(x.amax(0), x, g3)
    assert dx.tolist() == [[1.0, 0.0, -4.0], [0.0, 2.0, -0.0]]


def gradients_of_views():
    """Each element's gradient goes back to the place that the element came from.

    Rule: backward/gradient-is-upstream.
    """
    x = torch.tensor([[1.0, 2.0, 4.0], [-2.0, 8.0, 0.5]], requires_grad=True)
    s = torch.tensor([[[2.0]], [[3.0]]], requires_grad=True)
    c = torch.tensor(
        [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[1.0, 0.0], [2.0, 1.0]]], requires_grad=True
    )
    g32 = torch.tensor([[1.0, 2.0], [-4.0, 0.5], [8.0, -1.0]])
    (dx,) = torch.autograd.grad(x.transpose(0, 1), x, g32)
    assert dx.tolist() == [[1.0, -4.0, 8.0], [2.0, 0.5, -1.0]]
    g322 = torch.tensor([[[1.0, 2.0], [-4.0, 0.5]], [[8.0, -1.0], [4.0, -2.0]], [[16.0, 0.25], [-8.0, 3.0]]])
    (dc,) = torch.autograd.grad(c.transpose(1, 2), c, g322)
    assert dc.tolist() == [[[1.0, -4.0], [2.0, 0.5]], [[8.0, 4.0], [-1.0, -2.0]], [[16.0, -8.0], [0.25, 3.0]]]
    (dx,) = torch.autograd.grad(x.t(), x, g32)
    assert dx.tolist() == [[1.0, -4.0, 8.0], [2.0, 0.5, -1.0]]
    g232 = torch.tensor([[[1.0, 2.0], [-4.0, 0.5], [8.0, -1.0]], [[4.0, -2.0], [16.0, 0.25], [-8.0, 3.0]]])
    (dc,) = torch.autograd.grad(c.permute(2, -3, 1), c, g232)
    assert dc.tolist() == [[[1.0, 4.0], [2.0, -2.0]], [[-4.0, 16.0], [0.5, 0.25]], [[8.0, -8.0], [-1.0, 3.0]]]
    (dc,) = torch.autograd.grad(c.permute(1, 0, -1), c, g232)
    assert dc.tolist() == [[[1.0, 2.0], [4.0, -2.0]], [[-4.0, 0.5], [16.0, 0.25]], [[8.0, -1.0], [-8.0, 3.0]]]
    g213 = torch.tensor([[[1.0, 2.0, -4.0]], [[0.5, 8.0, -1.0]]])
    (dx,) = torch.autograd.grad(x.unsqueeze(1), x, g213)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]]
    g2 = torch.tensor([1.0, 2.0])
    (ds,) = torch.autograd.grad(s.squeeze(), s, g2)
    assert ds.tolist() == [[[1.0]], [[2.0]]]
    g21 = torch.tensor([[1.0], [2.0]])
    (ds,) = torch.autograd.grad(s.squeeze(-1), s, g21)
    assert ds.tolist() == [[[1.0]], [[2.0]]]
    (ds,) = torch.autograd.grad(s.squeeze(1), s, g21)
    assert ds.tolist() == [[[1.0]], [[2.0]]]
    g2111 = torch.tensor([[[[1.0]]], [[[2.0]]]])
    (ds,) = torch.autograd.grad(s.unsqueeze(-1), s, g2111)
    assert ds.tolist() == [[[1.0]], [[2.0]]]
    g223 = torch.tensor([[[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]], [[4.0, -2.0, 16.0], [0.25, -8.0, 3.0]]])
    (dx,) = torch.autograd.grad(x.expand(2, 2, 3), x, g223)
    assert dx.tolist() == [[5.0, 0.0, 12.0], [0.75, 0.0, 2.0]]
    g231 = torch.tensor([[[1.0], [2.0], [-4.0]], [[0.5], [8.0], [-1.0]]])
    (ds,) = torch.autograd.grad(s.expand(2, 3, 1), s, g231)
    assert ds.tolist() == [[[-1.0]], [[7.5]]]
    (dx,) = torch.autograd.grad(x.select(1, -1), x, g2)
    assert dx.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]
    g22 = torch.tensor([[1.0, 2.0], [-4.0, 0.5]])
    (dc,) = torch.autograd.grad(c.select(0, 1), c, g22)
    assert dc.tolist() == [[[0.0, 0.0], [0.0, 0.0]], [[1.0, 2.0], [-4.0, 0.5]], [[0.0, 0.0], [0.0, 0.0]]]
    (dx,) = torch.autograd.grad(x.narrow(1, 1, 2), x, g22)
    assert dx.tolist() == [[0.0, 1.0, 2.0], [0.0, -4.0, 0.5]]
    (dx,) = torch.autograd.grad(x[:, ::2], x, g22)
    assert dx.tolist() == [[1.0, 0.0, 2.0], [-4.0, 0.0, 0.5]]
    g1 = torch.tensor([1.0])
    (dx,) = torch.autograd.grad(x[1:, 1], x, g1)
    assert dx.tolist() == [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    (dx,) = torch.autograd.grad(x.diagonal(), x, g2)
    assert dx.tolist() == [[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    (dx,) = torch.autograd.grad(x.reshape(3, 2), x, g32)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]]
    g6 = torch.tensor([1.0, 2.0, -4.0, 0.5, 8.0, -1.0])
    (dx,) = torch.autograd.grad(x.view(-1), x, g6)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]]
    (dx,) = torch.autograd.grad(x.flatten(), x, g6)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]]
    (dx,) = torch.autograd.grad(x.chunk(2, 1)[1], x, g21)
    assert dx.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]
    (dx,) = torch.autograd.grad(x.unbind(1)[2], x, g2)
    assert dx.tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 2.0]]
    (dx,) = torch.autograd.grad(x.split(2, 1)[0], x, g22)
    assert dx.tolist() == [[1.0, 2.0, 0.0], [-4.0, 0.5, 0.0]]
    (dx,) = torch.autograd.grad(x.t(), x, g32)
    assert dx.tolist() == [[1.0, -4.0, 8.0], [2.0, 0.5, -1.0]]


def gradients_of_picked_and_joined_elements():
    """An element that is picked twice has the sum, and one that is not picked has zero.

    Rule: backward/gradient-is-upstream.
    """
    x = torch.tensor([[1.0, 2.0, 4.0], [-2.0, 8.0, 0.5]], requires_grad=True)
    z = torch.tensor([[1.0, 2.0, 2.0], [0.0, 8.0, 1.0]], requires_grad=True)
    m = torch.tensor([[True, False, True], [False, False, True]])
    i = torch.tensor([2, 0])
    g33 = torch.tensor([[1.0, 2.0, -4.0], [0.5, 8.0, -1.0], [4.0, -2.0, 16.0]])
    (dx,) = torch.autograd.grad(x[[1, 1, 0]], x, g33)
    assert dx.tolist() == [[4.0, -2.0, 16.0], [1.5, 10.0, -5.0]]
    g22 = torch.tensor([[1.0, 2.0], [-4.0, 0.5]])
    (dx,) = torch.autograd.grad(x[:, [2, 2]], x, g22)
    assert dx.tolist() == [[0.0, 0.0, 3.0], [0.0, 0.0, -3.5]]
    (dx,) = torch.autograd.grad(x.index_select(1, i), x, g22)
    assert dx.tolist() == [[2.0, 0.0, 1.0], [0.5, 0.0, -4.0]]
    g23 = torch.tensor([[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]])
    (dx,) = torch.autograd.grad(x.flip(0), x, g23)
    assert dx.tolist() == [[0.5, 8.0, -1.0], [1.0, 2.0, -4.0]]
    (dx,) = torch.autograd.grad(x.flip((0, 1)), x, g23)
    assert dx.tolist() == [[-1.0, 8.0, 0.5], [-4.0, 2.0, 1.0]]
    (dx,) = torch.autograd.grad(x.masked_fill(m, 0.0), x, g23)
    assert dx.tolist() == [[0.0, 2.0, 0.0], [0.5, 8.0, 0.0]]
    dx, dz = torch.autograd.grad(torch.where(m, x, z), [x, z], g23)
    assert dx.tolist() == [[1.0, 0.0, -4.0], [0.0, 0.0, -1.0]] and dz.tolist() == [
        [0.0, 2.0, 0.0],
        [0.5, 8.0, 0.0],
    ]
    g26 = torch.tensor([[1.0, 2.0, -4.0, 0.5, 8.0, -1.0], [4.0, -2.0, 16.0, 0.25, -8.0, 3.0]])
    dx, dz = torch.autograd.grad(torch.cat([x, z], 1), [x, z], g26)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [4.0, -2.0, 16.0]] and dz.tolist() == [
        [0.5, 8.0, -1.0],
        [0.25, -8.0, 3.0],
    ]
    g43 = torch.tensor([[1.0, 2.0, -4.0], [0.5, 8.0, -1.0], [4.0, -2.0, 16.0], [0.25, -8.0, 3.0]])
    dx, dz = torch.autograd.grad(torch.cat([z, x]), [x, z], g43)
    assert dx.tolist() == [[4.0, -2.0, 16.0], [0.25, -8.0, 3.0]] and dz.tolist() == [
        [1.0, 2.0, -4.0],
        [0.5, 8.0, -1.0],
    ]
    (dx,) = torch.autograd.grad(x.tril(), x, g23)
    assert dx.tolist() == [[1.0, 0.0, 0.0], [0.5, 8.0, 0.0]]
    (dx,) = torch.autograd.grad(x.triu(1), x, g23)
    assert dx.tolist() == [[0.0, 2.0, -4.0], [0.0, 0.0, -1.0]]
    g3 = torch.tensor([1.0, 2.0, -4.0])
    (dx,) = torch.autograd.grad(x[m], x, g3)
    assert dx.tolist() == [[1.0, 0.0, 2.0], [0.0, 0.0, -4.0]]


def hook_of_a_later_output_gets_its_gradient():
    """Of several outputs of one node each hook is given the gradient of its own.

    Rule: hook/result-replaces.
    """
    x = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    a, b = x.chunk(2)
    b.register_hook(lambda g: g * 2)
    y = (a * 3).sum() + (b * 5).sum()
    y.backward()
    assert x.grad.tolist() == [3.0, 3.0, 10.0, 10.0]
