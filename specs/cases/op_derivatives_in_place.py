"""First and second derivatives through writes: what is written, and what it is written with."""

import torch

from specs.cases._measures import derivatives


def derivatives_of_arithmetic_in_place():
    """Both of the old value and of what it is changed by. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.5, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([2.0, -1.5], dtype=torch.float64, requires_grad=True)
    z = torch.tensor([0.25, 4.0], dtype=torch.float64, requires_grad=True)
    assert derivatives((x * x).add_(y * y, alpha=3), x, y) == [
        [1.0, 12.0],
        [12.0, -18.0],
        [4.0, 96.0],
        [144.0, -432.0],
        [290.0, 468.0],
    ]
    assert derivatives((x * x).sub_(y * y, alpha=0.5), x, y) == [
        [1.0, 12.0],
        [-2.0, 3.0],
        [4.0, 96.0],
        [4.0, -12.0],
        [10.0, 153.0],
    ]
    assert derivatives((x * x).mul_(y), x, y) == [
        [2.0, -18.0],
        [0.25, 18.0],
        [16.5, 648.0],
        [4.0, -432.0],
        [8.125, 648.0],
    ]
    assert derivatives((x * x).div_(y), x, y) == [
        [0.5, -8.0],
        [-0.0625, -8.0],
        [1.03125, 128.0],
        [-0.25781, 256.0],
        [0.50781, 128.0],
    ]
    assert derivatives((x * x).pow_(y), x, y) == [
        [0.5, -0.07407],
        [-0.08664, 0.16276],
        [3.07679, -0.05154],
        [-0.46396, 0.13321],
        [0.51501, 0.03198],
    ]
    assert derivatives((x * x).pow_(3), x) == [[0.1875, 2916.0], [0.70312, 28343520.0], [0.07031, 8503056.0]]
    assert derivatives((x * x).mul_(3).add_(2), x) == [[3.0, 36.0], [36.0, 864.0], [18.0, 1296.0]]
    assert derivatives((x * x).neg_().abs_(), x) == [[1.0, 12.0], [4.0, 96.0], [2.0, 144.0]]
    assert derivatives((x * x).addcmul_(y, z, value=0.5), x, y, z) == [
        [1.0, 12.0],
        [0.125, 4.0],
        [1.0, -1.5],
        [4.0, 96.0],
        [1.0, -3.0],
        [0.125, 8.0],
        [4.03125, 162.25],
    ]
    assert derivatives((x * x).addcdiv_(y, z, value=0.5), x, y, z) == [
        [1.0, 12.0],
        [2.0, 0.25],
        [-16.0, 0.09375],
        [4.0, 96.0],
        [256.0, -0.01172],
        [-4128.0, -0.04004],
        [522.0, 144.07129],
    ]
    assert derivatives((x * x).lerp_(y, 0.25), x, y) == [
        [0.75, 9.0],
        [0.25, 0.5],
        [2.25, 54.0],
        [1.25, 81.25],
    ]
    assert derivatives((x * x).clamp_(1.0, 5.0), x) == [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]
    assert derivatives((x * x).fill_(z[0] * z[0]), z) == [[1.5, 0.0], [18.0, 0.0], [1.5, 1.5]]
    assert derivatives((x * x).zero_().add_(y * y), y) == [[4.0, -6.0], [16.0, -48.0], [32.0, 36.0]]
    assert derivatives((x * x).copy_(y * y), y) == [[4.0, -6.0], [16.0, -48.0], [32.0, 36.0]]
    assert derivatives((x * x).masked_fill_(y > 0, 2.0), x) == [[0.0, 12.0], [0.0, 96.0], [0.0, 144.0]]
    assert derivatives((x * x).cumsum_(0), x) == [[3.0, 12.0], [36.0, 96.0], [6.0, 150.0]]


def derivatives_of_functions_in_place():
    """Some save what was there, some what they wrote. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([0.5, 0.75], dtype=torch.float64, requires_grad=True)
    assert derivatives((x * 1).exp_(), x) == [[1.64872, 4.234], [5.43656, 35.85351], [5.43656, 17.92676]]
    assert derivatives((x * 1).log_(), x) == [[2.0, 2.66667], [-16.0, -18.96296], [8.0, 7.11111]]
    assert derivatives((x * 1).sqrt_(), x) == [[0.70711, 1.1547], [-1.0, -1.77778], [1.0, 1.33333]]
    assert derivatives((x * 1).rsqrt_(), x) == [[-1.41421, -1.5396], [-12.0, -9.48148], [4.0, 2.37037]]
    assert derivatives((x * 1).reciprocal_(), x) == [[-4.0, -3.55556], [-128.0, -67.42387], [32.0, 12.64198]]
    assert derivatives((x * 1).sin_(), x) == [[0.87758, 1.46338], [-0.84147, -3.98998], [1.5403, 2.14147]]
    assert derivatives((x * 1).cos_(), x) == [[-0.47943, -1.36328], [0.84147, 3.98998], [0.4597, 1.85853]]
    assert derivatives((x * 1).tanh_(), x) == [[0.78645, 1.19317], [-1.14328, -3.61694], [1.237, 1.42366]]
    assert derivatives((x * 1).sigmoid_(), x) == [[0.235, 0.43579], [-0.02705, -0.13611], [0.11045, 0.18991]]
    assert derivatives((x * x - 0.5).relu_() * x, x) == [[0.0, 2.375], [0.0, 42.75], [0.0, 5.64062]]
    assert derivatives((x * 1).deg2rad_() * x, x) == [
        [0.01745, 0.05236],
        [0.00122, 0.00731],
        [0.00061, 0.00274],
    ]


def derivatives_of_writes_to_parts():
    """The written window has the history of the write, the rest the old one; so does what is taken later.

    Rule: op/derivatives-beyond-programs.
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    v = torch.tensor([5.0, -1.0], dtype=torch.float64, requires_grad=True)
    a = x * x
    a[0] = v * v
    assert derivatives(a, x, v) == [
        [0.0, 0.0, 18.0, 32.0],
        [10.0, -4.0],
        [0.0, 0.0, 216.0, 512.0],
        [40.0, -32.0],
        [200.0, 16.0, 216.0, 512.0],
    ]
    b = x * x
    b[:, 1] *= v
    assert derivatives(b, x, v) == [
        [2.0, 40.0, 18.0, -32.0],
        [8.0, 64.0],
        [8.0, 1728.0, 216.0, 4608.0],
        [640.0, -2048.0],
        [8.0, 1664.0, 216.0, 2560.0],
    ]
    c = x * x
    c.t()[0].mul_(v).add_(c.diagonal().clone())
    assert derivatives(c, x, v) == [
        [20.0, 8.0, -18.0, 56.0],
        [2.0, 27.0],
        [816.0, 64.0, 1188.0, 1568.0],
        [160.0, -648.0],
        [808.0, 64.0, 1598.0, 896.0],
    ]
    d = x * x
    w = d.view(4)
    w[1:3].sin_()
    d.mul_(2)
    assert derivatives(w[1:], x) == [
        [0.0, -5.22915, -21.86713, 48.0],
        [0.0, -225.93171, 2914.19273, 1152.0],
        [54.688, 478.17121, 1536.0],
    ]
    e = x * x
    top, low = e[0], e[1]
    top.copy_(low.clone() * v)
    assert (
        derivatives(e, x, v)
        == [
            [0.0, 0.0, 48.0, 16.0],
            [9.0, 32.0],
            [0.0, 0.0, 1644.0, 1152.0],
            [576.0, 512.0],
            [3042.0, 768.0, 576.0, 256.0],
        ]
        and top.grad_fn.name() == "AsStridedBackward0"
    )
    f = x * x
    f[torch.tensor([0, 0]), torch.tensor([0, 1])] = v * v
    assert derivatives(f, x, v) == [
        [0.0, 0.0, 18.0, 32.0],
        [10.0, -4.0],
        [0.0, 0.0, 216.0, 512.0],
        [40.0, -32.0],
        [200.0, 16.0, 216.0, 512.0],
    ]
    g = x * x
    g[x > 2.5] = v * v
    assert derivatives(g, x, v) == [
        [2.0, 8.0, 0.0, 0.0],
        [30.0, -8.0],
        [8.0, 64.0, 0.0, 0.0],
        [360.0, -128.0],
        [8.0, 64.0, 600.0, 32.0],
    ]
    h = torch.zeros(2, 2, dtype=torch.float64)
    h[1].add_(v * v)
    h[0] = 3.0
    assert h.requires_grad is True and derivatives(h, v) == [
        [30.0, -8.0],
        [360.0, -128.0],
        [0.0, 0.0, 600.0, 32.0],
    ]
