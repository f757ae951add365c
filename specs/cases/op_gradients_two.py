"""Gradients by formula, with uneven upstream gradients: products and elementwise ops."""

import torch


def gradients_of_products_of_matrices():
    """Of both operands, be they vectors, matrices or batches.

    Rules: backward/gradient-is-upstream, double/create-graph-records.
    """
    x = torch.tensor([[1.0, 2.0, 4.0], [-2.0, 8.0, 0.5]], requires_grad=True)
    c = torch.tensor(
        [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[1.0, 0.0], [2.0, 1.0]]], requires_grad=True
    )
    v = torch.tensor([2.0, -1.0, 4.0], requires_grad=True)
    w = torch.tensor([[1.0, 2.0], [0.5, -1.0], [4.0, 2.0]], requires_grad=True)
    u = torch.tensor([3.0, -2.0], requires_grad=True)
    z = torch.tensor([[1.0, 2.0, 2.0], [0.0, 8.0, 1.0]], requires_grad=True)
    g22 = torch.tensor([[1.0, 2.0], [-4.0, 0.5]])
    dx, dw = torch.autograd.grad(x.mm(w), [x, w], g22)
    assert dx.tolist() == [[5.0, -1.5, 8.0], [-3.0, -2.5, -15.0]] and dw.tolist() == [
        [9.0, 1.0],
        [-30.0, 8.0],
        [2.0, 8.25],
    ]
    g2 = torch.tensor([1.0, 2.0])
    dx, dv = torch.autograd.grad(x @ v, [x, v], g2)
    assert dx.tolist() == [[2.0, -1.0, 4.0], [4.0, -2.0, 8.0]] and dv.tolist() == [-3.0, 18.0, 5.0]
    one = torch.tensor(1.0)
    (dv,) = torch.autograd.grad(v.dot(v), v, one)
    assert dv.tolist() == [4.0, -2.0, 8.0]
    dx, dv = torch.autograd.grad(x.mv(v), [x, v], g2)
    assert dx.tolist() == [[2.0, -1.0, 4.0], [4.0, -2.0, 8.0]] and dv.tolist() == [-3.0, 18.0, 5.0]
    g3 = torch.tensor([1.0, 2.0, -4.0])
    dx, du = torch.autograd.grad(u @ x, [x, u], g3)
    assert dx.tolist() == [[3.0, 6.0, -12.0], [-2.0, -4.0, 8.0]] and du.tolist() == [-11.0, 12.0]
    g32 = torch.tensor([[1.0, 2.0], [-4.0, 0.5], [8.0, -1.0]])
    dc, du = torch.autograd.grad(c @ u, [c, u], g32)
    assert dc.tolist() == [
        [[3.0, -2.0], [6.0, -4.0]],
        [[-12.0, 8.0], [1.5, -1.0]],
        [[24.0, -16.0], [-3.0, 2.0]],
    ] and du.tolist() == [-3.5, -11.0]
    g322 = torch.tensor([[[1.0, 2.0], [-4.0, 0.5]], [[8.0, -1.0], [4.0, -2.0]], [[16.0, 0.25], [-8.0, 3.0]]])
    (dc,) = torch.autograd.grad(c @ c, c, g322)
    assert dc.tolist() == [
        [[-6.0, 14.5], [-17.0, -4.0]],
        [[102.0, 29.0], [88.0, -10.0]],
        [[16.0, 38.5], [-16.0, -10.0]],
    ]
    (dc,) = torch.autograd.grad(c.bmm(c), c, g322)
    assert dc.tolist() == [
        [[-6.0, 14.5], [-17.0, -4.0]],
        [[102.0, 29.0], [88.0, -10.0]],
        [[16.0, 38.5], [-16.0, -10.0]],
    ]
    (dc,) = torch.autograd.grad(c @ c[0], c, g322)
    assert dc.tolist() == [
        [[62.0, 1.75], [55.0, -23.0]],
        [[6.0, 20.0], [0.0, 4.0]],
        [[16.5, 49.0], [-2.0, -12.0]],
    ]
    dx, dw, du = torch.autograd.grad(torch.addmm(u, x, w), [x, w, u], g22)
    assert (
        dx.tolist() == [[5.0, -1.5, 8.0], [-3.0, -2.5, -15.0]]
        and dw.tolist() == [[9.0, 1.0], [-30.0, 8.0], [2.0, 8.25]]
        and du.tolist() == [-3.0, 2.5]
    )
    (dx,) = torch.autograd.grad(torch.nn.functional.linear(x, x), x, g22)
    assert dx.tolist() == [[6.0, -12.0, 7.0], [-4.0, 4.0, -7.5]]
    dx, du, dz = torch.autograd.grad(torch.nn.functional.linear(x, z, u), [x, u, z], g22)
    assert (
        dx.tolist() == [[1.0, 18.0, 4.0], [-4.0, -4.0, -7.5]]
        and du.tolist() == [-3.0, 2.5]
        and dz.tolist() == [[9.0, -30.0, 2.0], [1.0, 8.0, 8.25]]
    )
    g23 = torch.tensor([[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]])
    (first,) = torch.autograd.grad(x.mm(w), x, g22, create_graph=True)
    (dw,) = torch.autograd.grad(first, w, g23)
    assert dw.tolist() == [[-1.0, 2.25], [-30.0, 8.0], [0.0, -8.5]]
    (first,) = torch.autograd.grad(x @ v, x, g2, create_graph=True)
    (dv,) = torch.autograd.grad(first, v, g23)
    assert dv.tolist() == [2.0, 18.0, -6.0]
    (first,) = torch.autograd.grad(c.bmm(c), c, g322, create_graph=True)
    (dc,) = torch.autograd.grad(first, c, g322)
    assert dc.tolist() == [
        [[22.0, -3.0], [-3.0, 20.5]],
        [[145.0, 18.0], [18.0, 25.0]],
        [[576.0625, -147.25], [-147.25, 82.0625]],
    ]


def gradients_of_elementwise_ops():
    """Of operands that are broadcast, numbers and tensors, with ties and zeros.

    Rules: backward/gradient-is-upstream, double/create-graph-records.
    """
    x = torch.tensor([[1.0, 2.0, 4.0], [-2.0, 8.0, 0.5]], requires_grad=True)
    v = torch.tensor([2.0, -1.0, 4.0], requires_grad=True)
    z = torch.tensor([[1.0, 2.0, 2.0], [0.0, 8.0, 1.0]], requires_grad=True)
    g23 = torch.tensor([[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]])
    dx, dv = torch.autograd.grad(x * v, [x, v], g23)
    assert dx.tolist() == [[2.0, -2.0, -16.0], [1.0, -8.0, -4.0]] and dv.tolist() == [0.0, 68.0, -16.5]
    (dx,) = torch.autograd.grad(x * 3, x, g23)
    assert dx.tolist() == [[3.0, 6.0, -12.0], [1.5, 24.0, -3.0]]
    (dx,) = torch.autograd.grad(x / x[:1].detach().clamp(1.0, 4.0), x, g23)
    assert dx.tolist() == [[1.0, 1.0, -1.0], [0.5, 4.0, -0.25]]
    (dx,) = torch.autograd.grad(3 - x, x, g23)
    assert dx.tolist() == [[-1.0, -2.0, 4.0], [-0.5, -8.0, 1.0]]
    dx, dv = torch.autograd.grad(x.sub(v, alpha=2), [x, v], g23)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]] and dv.tolist() == [-3.0, -20.0, 10.0]
    dx, dv = torch.autograd.grad(x.add(v, alpha=-3), [x, v], g23)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.5, 8.0, -1.0]] and dv.tolist() == [-4.5, -30.0, 15.0]
    (dx,) = torch.autograd.grad(-x, x, g23)
    assert dx.tolist() == [[-1.0, -2.0, 4.0], [-0.5, -8.0, 1.0]]
    (dz,) = torch.autograd.grad(z.abs(), z, g23)
    assert dz.tolist() == [[1.0, 2.0, -4.0], [0.0, 8.0, -1.0]]
    (dx,) = torch.autograd.grad(x.reciprocal(), x, g23)
    assert dx.tolist() == [[-1.0, -0.5, 0.25], [-0.125, -0.125, 4.0]]
    (dx,) = torch.autograd.grad(x.square(), x, g23)
    assert dx.tolist() == [[2.0, 8.0, -32.0], [-2.0, 128.0, -1.0]]
    (dx,) = torch.autograd.grad(x**3, x, g23)
    assert dx.tolist() == [[3.0, 24.0, -192.0], [6.0, 1536.0, -0.75]]
    (dz,) = torch.autograd.grad(z**2, z, g23)
    assert dz.tolist() == [[2.0, 8.0, -16.0], [0.0, 128.0, -2.0]]
    (dz,) = torch.autograd.grad(z**0, z, g23)
    assert dz.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    (dx,) = torch.autograd.grad(x * x, x, g23)
    assert dx.tolist() == [[2.0, 8.0, -32.0], [-2.0, 128.0, -1.0]]
    dx, dz = torch.autograd.grad(torch.maximum(z, x), [x, z], g23)
    assert dx.tolist() == [[0.5, 1.0, -4.0], [0.0, 4.0, 0.0]] and dz.tolist() == [
        [0.5, 1.0, 0.0],
        [0.5, 4.0, -1.0],
    ]
    dx, dz = torch.autograd.grad(torch.minimum(x, z), [x, z], g23)
    assert dx.tolist() == [[0.5, 1.0, 0.0], [0.5, 4.0, -1.0]] and dz.tolist() == [
        [0.5, 1.0, -4.0],
        [0.0, 4.0, 0.0],
    ]
    (dx,) = torch.autograd.grad(x.clamp(1.5, 3.0), x, g23)
    assert dx.tolist() == [[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
    (dx,) = torch.autograd.grad(x.relu(), x, g23)
    assert dx.tolist() == [[1.0, 2.0, -4.0], [0.0, 8.0, -1.0]]
    (dz,) = torch.autograd.grad(z.sign(), z, g23)
    assert dz.tolist() == [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    (dx,) = torch.autograd.grad(4 / x, x, g23)
    assert dx.tolist() == [[-4.0, -2.0, 1.0], [-0.5, -0.5, 16.0]]
    dx, dv = torch.autograd.grad(x / v, [x, v], g23)
    assert dx.tolist() == [[0.5, -2.0, -1.0], [0.25, -8.0, -0.25]] and dv.tolist() == [0.0, -68.0, 1.03125]
    (first,) = torch.autograd.grad(x * v, x, g23, create_graph=True)
    (dv,) = torch.autograd.grad(first, v, g23)
    assert dv.tolist() == [1.25, 68.0, 17.0]
    (first,) = torch.autograd.grad(x**3, x, g23, create_graph=True)
    (dx,) = torch.autograd.grad(first, x, g23)
    assert dx.tolist() == [[6.0, 48.0, 384.0], [-3.0, 3072.0, 3.0]]
    (first,) = torch.autograd.grad(x.reciprocal(), x, g23, create_graph=True)
    (dx,) = torch.autograd.grad(first, x, g23)
    assert dx.tolist() == [[2.0, 1.0, 0.5], [-0.0625, 0.25, 16.0]]
    (first,) = torch.autograd.grad(x / v, x, g23, create_graph=True)
    (dv,) = torch.autograd.grad(first, v, g23)
    assert dv.tolist() == [-0.3125, -68.0, -1.0625]
    g2 = torch.tensor([1.0, 2.0])
    (first,) = torch.autograd.grad(z.prod(1), z, g2, create_graph=True)
    (dz,) = torch.autograd.grad(first, z, g23)
    assert dz.tolist() == [[-4.0, -2.0, 4.0], [0.0, 1.0, 8.0]]
    (first,) = torch.autograd.grad(x.square(), x, g23, create_graph=True)
    (dx,) = torch.autograd.grad(first, x, g23)
    assert dx.tolist() == [[2.0, 8.0, 32.0], [0.5, 128.0, 2.0]]
