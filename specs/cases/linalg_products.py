"""torch.linalg: derivatives of products and of pseudo-inverses."""

import torch

from specs.cases._measures import derivatives, error_kinds, graded


def derivatives_of_products_and_pseudo_inverses():
    """Along a dimension, of many matrices, of Hermitian ones. Rule: op/derivatives-beyond-programs."""
    linalg = torch.linalg
    a = torch.tensor([[2.0, 1.0], [-1.0, 0.5], [3.0, -2.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([[0.5, -2.0], [1.0, 3.0], [0.25, 1.5]], dtype=torch.float64, requires_grad=True)
    assert derivatives(linalg.pinv(a), a) == [
        [-0.79039, 0.07728, 0.76559, 1.8894, 0.59902, 0.67531],
        [-4.71291, -9.66764, -1.4324, 0.15842, 1.07543, 4.0252],
        [0.14076, 0.46296, 0.18704, 0.3993, 1.10013, 0.41288],
    ]
    assert derivatives(linalg.pinv(a.t() @ a, hermitian=True), a) == [
        [-0.67949, -1.50887, -0.01997, -0.035, 0.23977, 0.49972],
        [-3.8307, -8.60353, -0.11106, -0.24894, 1.3464, 3.02216],
        [0.18465, 0.42053, 0.42053, 0.9518],
    ]
    assert derivatives(linalg.vecdot(a, b), a, b) == [
        [0.5, -2.0, 2.0, 6.0, 0.75, 4.5],
        [2.0, 1.0, -2.0, 1.0, 9.0, -6.0],
        [4.0, 2.0, -8.0, 4.0, 54.0, -36.0],
        [1.0, -4.0, 8.0, 24.0, 4.5, 27.0],
        [18.5, 45.0, 91.875],
    ]
    assert derivatives(linalg.vecdot(a, b, dim=0), a, b) == [
        [0.5, -4.0, 1.0, 6.0, 0.25, 3.0],
        [2.0, 2.0, -1.0, 1.0, 3.0, -4.0],
        [4.0, 8.0, -2.0, 4.0, 6.0, -16.0],
        [1.0, -16.0, 2.0, 24.0, 0.5, 12.0],
        [30.625, 82.0],
    ]
    pair, c, e = torch.view_as_real, torch.complex(a, b), torch.complex(b, b)
    assert derivatives(pair(linalg.vecdot(c, e)), a, b) == [
        [1.5, -6.0, 7.0, 21.0, 2.75, 16.5],
        [5.0, 7.0, -9.0, -2.5, 32.5, -25.0],
        [30.0, 42.0, -126.0, -35.0, 715.0, -550.0],
        [-11.0, -64.0, 134.0, 304.0, -69.5, 463.0],
        [13.5, 105.5, 89.5, 221.5, 228.375, 463.375],
    ]
    assert derivatives(linalg.cross(a, b, dim=0), a, b) == [
        [4.25, 12.0, -2.25, 15.0, 0.5, -14.0],
        [14.0, -11.0, 7.0, 10.0, -7.0, -3.0],
        [112.0, 144.0, -154.0, 120.0, 70.0, -128.0],
        [25.5, -292.0, 41.5, 200.0, -30.0, -36.0],
        [-30.125, 166.0, 110.375, 70.0, 66.75, 163.0],
    ]
    assert derivatives(linalg.diagonal(a * b), a, b) == [
        [0.5, 0.0, 0.0, 6.0, 0.0, 0.0],
        [2.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        [4.0, 0.0, 0.0, 4.0, 0.0, 0.0],
        [1.0, 0.0, 0.0, 24.0, 0.0, 0.0],
        [8.5, 37.0],
    ]
    assert derivatives(linalg.diagonal(a * b, offset=-1), a, b) == [
        [0.0, 0.0, 1.0, 0.0, 0.0, 3.0],
        [0.0, 0.0, -1.0, 0.0, 0.0, -4.0],
        [0.0, 0.0, -2.0, 0.0, 0.0, -16.0],
        [0.0, 0.0, 2.0, 0.0, 0.0, 12.0],
        [4.0, 25.0],
    ]
    assert derivatives(linalg.diagonal(torch.stack([a, b]) ** 2, dim1=0, dim2=1), a, b) == [
        [4.0, 6.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 4.0, 24.0, 0.0, 0.0],
        [16.0, 72.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 32.0, 384.0, 0.0, 0.0],
        [32.0, 16.0, 24.0, 288.0],
    ]
    assert derivatives(linalg.multi_dot([a[0], b.t(), a]), a, b) == [
        [0.75, -11.5, 5.0, 10.0, 2.0, 4.0],
        [8.0, 4.0, 0.0, 0.0, -2.0, -1.0],
        [187.5, 476.5, -67.5, -135.0, -44.125, -88.25],
        [-83.0, -136.5, 100.0, 50.0, 38.5, 43.0],
        [165.125, 280.25],
    ]
    assert derivatives(linalg.multi_dot([a, b.t(), a[:, 0]]), a, b) == [
        [13.25, -2.5, -1.5, -5.0, -1.5, -7.5],
        [18.0, -8.0, -9.0, 4.0, 27.0, -12.0],
        [795.25, -178.5, 130.5, -357.0, 1264.375, -535.5],
        [261.5, -246.0, -38.5, 82.0, 7.5, -198.0],
        [376.875, -328.0, 1176.75],
    ]
    assert derivatives(linalg.multi_dot([a[0], b[0]]), a, b) == [
        [0.5, -2.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [4.0, 2.0, 0.0, 0.0, 0.0, 0.0],
        [1.0, -4.0, 0.0, 0.0, 0.0, 0.0],
        [18.5],
    ]
    x = linalg.multi_dot([a, b.t(), a, b.t()])
    assert graded(x, a, b) == [(3, 3), 221.9375, -1081.6875, 964.25]
    assert (
        error_kinds(
            [
                lambda: linalg.multi_dot([a]),
                lambda: linalg.multi_dot([]),
                lambda: linalg.matrix_power(a, 2),
                lambda: linalg.pinv(a, hermitian=True),
                lambda: linalg.pinv(a[0]),
                lambda: linalg.pinv(a.half()),
            ]
        )
        == "oooooo"
    )
