"""torch.linalg: factors of matrices that are not square, and of several at once."""

import torch

from specs.cases._measures import derivatives, error_kinds, wave


def _joined(*parts):
    """Return the elements of several tensors in a row."""
    return torch.cat([each.reshape(-1) for each in parts])


def _comes_back(x):
    """Tell whether the product of the factors is the matrix."""
    p, lower, upper = torch.lu_unpack(*torch.linalg.lu_factor(x))
    return torch.allclose(p @ lower @ upper, x)


def triangular_factors_of_wide_and_tall_matrices():
    """The columns and rows beyond the square have their share. Rule: op/derivatives-beyond-programs."""
    m = torch.tensor([[1.0, 2.0, -1.0], [3.0, 0.5, 2.0]], dtype=torch.float64, requires_grad=True)
    p, lower, upper = torch.linalg.lu(m)
    assert [p.tolist(), p.requires_grad, lower.requires_grad, upper.grad_fn.name()] == [
        [[0.0, 1.0], [1.0, 0.0]],
        False,
        True,
        "LinalgLuBackward0",
    ]
    assert derivatives(_joined(lower, upper), m) == [
        [-7.16667, 9.0, 10.0, 7.38889, 3.0, 3.66667],
        [-7.14198, 0.0, 0.0, -43.62757, 57.77778, 64.19753],
        [0.0, 0.0, -6.41975, 0.0, 14.77778, 6.0, 7.33333, 0.0, 19.20988, 30.39506],
    ]
    t = m.detach().mT.contiguous().requires_grad_()
    p, lower, upper = torch.linalg.lu(t)
    assert [tuple(each.shape) for each in (p, lower, upper)] == [(3, 3), (3, 2), (2, 2)]
    assert derivatives(_joined(lower, upper), t) == [
        [-0.55372, 8.21488, 8.25413, 4.98347, 1.95455, 2.18182],
        [-39.592, 12.89551, -6.8184, 13.26625, -24.27156, -10.93819],
        [0.0, 0.0, -4.68079, 0.0, 6.08161, -1.80862, 16.50826, 9.96694, 0.0, 13.78667],
    ]
    assert derivatives(torch.linalg.lu_factor(m)[0], m) == [
        [-3.5, 5.0, 6.0, 2.16667, 0.33333, 1.0],
        [-0.05556, 0.0, 0.0, -9.83333, 14.07407, 16.88889],
        [4.33333, 0.66667, 2.0, -2.81481, 11.18519, 16.96296],
    ]
    assert derivatives(torch.linalg.lu_factor(t)[0], t) == [
        [0.94628, 2.21488, 1.50413, 1.98347, 1.95455, 2.18182],
        [-5.58843, -0.91216, -6.08052, -6.81132, -6.80152, -1.86381],
        [3.00826, 3.96694, 0.19421, 2.34917, 2.70661, 1.117],
    ]
    assert [_comes_back(m), _comes_back(t)] == [True, True]
    both, pivots = torch.linalg.lu_factor(m)
    nothing = torch.lu_unpack(both, pivots, unpack_data=False)
    assert [tuple(each.shape) for each in nothing] == [(2, 2), (0,), (0,)]
    nothing = torch.lu_unpack(both, pivots, unpack_pivots=False)
    assert [tuple(each.shape) for each in nothing] == [(0,), (2, 2), (2, 3)]
    assert [pivots.tolist(), pivots.dtype is torch.int32, pivots.requires_grad, both.requires_grad] == [
        [2, 2],
        True,
        False,
        True,
    ]


def systems_by_factors_that_are_given():
    """From the left or right, plain or adjoint. Rule: op/derivatives-beyond-programs."""
    a = torch.tensor([[1.0, 2.0], [3.0, 0.5]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[1.0, -2.0], [0.5, 4.0]], dtype=torch.float64, requires_grad=True)
    both, pivots = torch.linalg.lu_factor(a)
    assert derivatives(torch.linalg.lu_solve(both, pivots, b), a, b) == [
        [-3.41322, 2.93388, 0.01653, 0.08264],
        [1.54545, 2.0, -0.18182, 0.0],
        [17.95493, -40.32123, -12.16042, 10.53264],
        [-5.88963, -7.64237, 5.48187, 7.09842],
        [-0.25558, -2.25941, 0.64996, 14.04931],
    ]
    assert derivatives(torch.linalg.lu_solve(both, pivots, b, left=False), a, b) == [
        [-1.77273, -1.72727, 0.18182, 0.36364],
        [0.63636, 0.18182, 1.18182, 0.90909],
        [-2.00075, -10.58002, -2.3426, -0.59805],
        [-0.39444, 1.63937, -1.06311, 4.19684],
        [-2.0278, -0.38467, 4.31217, 1.9414],
    ]
    assert derivatives(torch.linalg.lu_solve(both, pivots, b, adjoint=True), a, b) == [
        [-3.19008, -0.8595, 1.57851, 0.52893],
        [1.0, 1.27273, 0.0, 0.36364],
        [4.3503, -14.425, -12.66354, 4.47766],
        [-1.72802, -2.39601, 4.05409, 5.57066],
        [-0.19589, 1.43242, 0.83164, 6.92849],
    ]
    assert derivatives(torch.linalg.lu_solve(both, pivots, b, left=False, adjoint=True), a, b) == [
        [-1.8719, -0.04132, -0.5124, 0.16529],
        [1.0, 0.0, 1.90909, 0.36364],
        [0.97724, -8.32555, -2.7496, -1.62684],
        [-0.29527, 1.34636, -0.66314, 2.72768],
        [-0.32436, -0.33181, 0.02093, 4.51752],
    ]
    x = torch.linalg.lu_solve(both.detach(), pivots, b)
    assert [x.grad_fn.name(), torch.allclose(a.detach() @ x, b)] == ["LinalgLuSolveBackward0", True]
    assert (
        error_kinds(
            [
                lambda: torch.linalg.lu_solve(both, pivots.double(), b),
                lambda: torch.linalg.lu_solve(both, pivots, b.float()),
                lambda: torch.linalg.lu_solve(both, pivots, torch.ones(3, 2, dtype=torch.float64)),
                lambda: torch.linalg.lu_factor(torch.ones(3)),
                lambda: torch.linalg.lu(torch.ones(2, 2).long()),
            ]
        )
        == "ooooN"
    )
    z = torch.tensor([[1.0 + 1j, 2.0], [0.5, 1.0 - 2j]], dtype=torch.complex128, requires_grad=True)
    c, pivots = torch.linalg.lu_factor(z)
    x = torch.linalg.lu_solve(c, pivots, torch.eye(2, dtype=torch.complex128))
    (g,) = torch.autograd.grad(x.abs().sum(), z)
    assert [[round(each, 5) for each in part.reshape(-1).tolist()] for part in (g.real, g.imag)] == [
        [-1.88416, 0.99731, 2.64761, -0.3501],
        [-1.33407, -0.27505, -1.1002, 1.25029],
    ]


def orthogonal_factors_of_wide_and_tall_matrices():
    """Further columns follow from the first ones. Rule: op/derivatives-beyond-programs."""
    m = torch.tensor([[1.0, 2.0, -1.0], [3.0, 0.5, 2.0]], dtype=torch.float64, requires_grad=True)
    q, r = torch.linalg.qr(m)
    assert derivatives(_joined(q, r), m) == [
        [7.66852, -10.43552, -11.70043, -7.82664, -2.84605, -3.47851],
        [20.475, -17.55, -21.45, -70.2, 64.35, 72.15],
        [-5.85, 1.95, 1.95, 5.85, 10.0, 1.275, 23.75, 0.0, 24.825, 29.75],
    ]
    q, r = torch.linalg.qr(m.mT)
    assert derivatives(_joined(q, r), m) == [
        [-14.59975, -6.2096, -9.87253, 3.51217, -6.18037, 10.74735],
        [35.00524, -196.02652, 243.30946, 134.40339, 119.21139, 22.82088],
        [9.58731, 5.08891, 0.40345, 12.15933, 10.39422, -4.94738, 14.0, 65.7521, 0.0, 31.45165],
    ]
    q, r = torch.linalg.qr(m, mode="complete")
    assert derivatives(_joined(q, r), m) == [
        [7.66852, -10.43552, -11.70043, -7.82664, -2.84605, -3.47851],
        [20.475, -17.55, -21.45, -70.2, 64.35, 72.15],
        [-5.85, 1.95, 1.95, 5.85, 10.0, 1.275, 23.75, 0.0, 24.825, 29.75],
    ]
    nothing, r = torch.linalg.qr(m, mode="r")
    assert [tuple(nothing.shape), tuple(r.shape), r.requires_grad] == [(0,), (2, 3), True]
    square, tall = torch.linalg.qr(m.mT, mode="complete")
    assert [tuple(square.shape), tuple(tall.shape)] == [(3, 3), (3, 2)]
    assert (
        error_kinds(
            [lambda: r.sum().backward(), lambda: tall.sum().backward(), lambda: torch.linalg.qr(m, "x")]
        )
        == "ooo"
    )
    w = wave(2, 2, 3)
    q, r = torch.linalg.qr(w)
    assert [tuple(q.shape), tuple(r.shape)] == [(2, 2, 2), (2, 2, 3)]
    assert derivatives((q @ r).sum((-1, -2)), w)[0] == [
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        1.0,
        2.0,
        2.0,
        2.0,
        2.0,
        2.0,
        2.0,
    ]


def products_along_dimensions():
    """Of vectors and matrices, along dimensions that are named. Rule: op/derivatives-beyond-programs."""
    x = torch.tensor([[1.0, 2.0, -1.0], [3.0, 0.5, 2.0]], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[0.5, -1.0, 2.0], [1.0, 4.0, 0.25]], dtype=torch.float64, requires_grad=True)
    assert derivatives(torch.linalg.vecdot(x, y), x, y) == [
        [0.5, -1.0, 2.0, 2.0, 8.0, 0.5],
        [1.0, 2.0, -1.0, 6.0, 1.0, 4.0],
        [2.0, 4.0, -2.0, 24.0, 4.0, 16.0],
        [1.0, -2.0, 4.0, 8.0, 32.0, 2.0],
        [22.5, 121.25],
    ]
    assert derivatives(torch.linalg.vecdot(x, y, dim=0), x, y) == [
        [0.5, -2.0, 6.0, 1.0, 8.0, 0.75],
        [1.0, 4.0, -3.0, 3.0, 1.0, 6.0],
        [2.0, 16.0, -18.0, 6.0, 4.0, 36.0],
        [1.0, -8.0, 36.0, 2.0, 32.0, 4.5],
        [22.5, 85.0, 54.375],
    ]
    assert derivatives(torch.linalg.vecdot(x[0], y[0]), x, y) == [
        [0.5, -1.0, 2.0, 0.0, 0.0, 0.0],
        [1.0, 2.0, -1.0, 0.0, 0.0, 0.0],
        [2.0, 4.0, -2.0, 0.0, 0.0, 0.0],
        [1.0, -2.0, 4.0, 0.0, 0.0, 0.0],
        [22.5],
    ]
    assert derivatives(torch.linalg.cross(x, y), x, y) == [
        [-7.0, 0.5, 2.0, 22.75, -5.0, -11.0],
        [-8.0, 4.0, 0.0, 7.0, 10.0, -13.0],
        [24.0, 48.0, -40.0, 250.0, -188.0, -10.0],
        [5.0, -46.0, 29.0, -50.0, 361.0, -267.5],
        [14.0, 46.0, 53.5, 32.5, 72.625, 245.0],
    ]
    assert derivatives(torch.linalg.multi_dot((x, y.mT, x)), x, y) == [
        [27.5, 56.0, 26.0, 61.25, 143.0, 81.875],
        [26.0, 8.0, 14.0, 89.5, 33.25, 43.0],
        [4663.75, 6769.75, 4245.4375, 17548.75, 24140.6875, 19936.75],
        [4801.0, 3928.0, 3163.0, 13689.5, 12521.75, 9478.625],
        [3180.875, 2632.5, 2659.3125, 7420.5625, 3803.34375, 4937.25],
    ]
    assert derivatives(torch.einsum(x, [0, 1], y, [2, 1], [2, 0]), x, y) == [
        [3.5, 11.0, 2.75, 5.0, 14.0, 5.0],
        [7.0, 3.0, 3.0, 15.0, 8.0, 5.0],
        [104.0, 54.0, 36.0, 148.0, 76.0, 52.0],
        [27.0, 78.0, 25.5, 61.0, 178.0, 56.5],
        [12.5, 54.0, 148.375, 242.5],
    ]
    assert derivatives(torch.einsum(x, [Ellipsis, 1], y, [Ellipsis, 1]), x, y) == [
        [0.5, -1.0, 2.0, 2.0, 8.0, 0.5],
        [1.0, 2.0, -1.0, 6.0, 1.0, 4.0],
        [2.0, 4.0, -2.0, 24.0, 4.0, 16.0],
        [1.0, -2.0, 4.0, 8.0, 32.0, 2.0],
        [22.5, 121.25],
    ]
    assert derivatives(torch.einsum("ij,kj->", x, y), x, y) == [
        [1.5, 3.0, 2.25, 1.5, 3.0, 2.25],
        [4.0, 2.5, 1.0, 4.0, 2.5, 1.0],
        [16.0, 10.0, 4.0, 16.0, 10.0, 4.0],
        [6.0, 12.0, 9.0, 6.0, 12.0, 9.0],
        [158.25],
    ]
    assert derivatives(torch.einsum("ii->i", x[:, :2]), x) == [[1.0, 0.0, 0.0, 0.0, 2.0, 0.0], [2.0, 4.0]]
    assert derivatives(torch.tensordot(x, y, dims=([1, 0], [1, 0])), x, y) == [
        [0.5, -1.0, 2.0, 1.0, 4.0, 0.25],
        [1.0, 2.0, -1.0, 3.0, 0.5, 2.0],
        [2.0, 4.0, -2.0, 6.0, 1.0, 4.0],
        [1.0, -2.0, 4.0, 2.0, 8.0, 0.5],
        [83.125],
    ]
    assert (
        error_kinds(
            [
                lambda: torch.einsum(x, [0, 53], y, [2, 1]),
                lambda: torch.einsum("ij,jk", x, y),
                lambda: torch.einsum("i", x),
                lambda: torch.linalg.cross(x[:, :2], y[:, :2]),
                lambda: torch.linalg.multi_dot((x,)),
            ]
        )
        == "Voooo"
    )
